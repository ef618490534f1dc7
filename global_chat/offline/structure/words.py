"""The verbs and nouns of structural requests, as regular expressions over folded text."""

from __future__ import annotations

#: A step: a named one or the open one.
S = r"(?:the |la |le |el |o |a |d[eo] )?(?:§\d+|§t)"
#: "the open step or it".
IT = r"(?:it|this|that|la|le|lo|celle-ci|eso|esto|isso|isto)"
V = r"¤\d+"

RENAME = (
    r"(?:please )?(?:rename|re-name|retitle|renomm(?:e|er|ez)|rebaptis(?:e|er|ez)|renombr(?:a"
    r"|ar|e)|renomei(?:a|ar|e)|rinomina|umbenennen)"
)
CALL = r"(?:call|appell?e[rz]?|llam(?:a|ar|e)|cham(?:a|ar|e)|nenne)"
BE_CALLED = (
    r"(?:(?:should|must|shall|has to|needs to|ought to|will|is to) (?:now )?be (?:called"
    r"|named|renamed(?: to| as)?|titled)|is (?:now )?(?:called|named)|gets the name"
    r"|(?:doit|devrait|devra) (?:plutot )?s'appeler|s'appelle(?:ra)?(?: maintenant"
    r"| desormais)?|(?:debe|deberia|debera|tiene que|ha de) llamarse"
    r"|se llama(?:ra)?(?: ahora)?"
    r"|(?:deve|deveria|devia|tem de|tem que) (?:chamar-se|se chamar|ser chamad[oa])"
    r"|passa a chamar-se|(?:inapaswa |lazima )?iitwe|ipewe jina|sollte? heissen)"
)
NAME_OF = (
    r"(?:change|set|update|edit|modify|make|chang(?:e|er|ez)|modifi(?:e|er|ez)|met(?:s"
    r"|tre|tez)|cambi(?:a|ar|e)|modific(?:a|ar)|pon(?:er|le)?|mud(?:a|ar|e)|troc(?:a|ar)"
    r"|troque"
    r"|alter(?:a|ar|e)|badili(?:sha)?|badilisha) (?:the |le |el |o )?(?:name|title|nom"
    r"|nombre|nome|titulo|titre|jina)(?: (?:of|de|du|d[eo]|la|ya|a))?"
)
TO = (
    r"(?:\s*(?:->|→|=>|:|=|,|-)\s*|\s+(?:to|into|as|in|en|a|para|por|como|par|kuwa|liwe|iwe"
    r"|kwa|zu|su|be|is|should be|must be)\s*:?\s*|\s+)"
)

ADD = (
    r"(?:add|insert|put|place|create|make|include|append|(?:we|i) (?:need|want"
    r"|would like)|i'd like|ajout(?:e|er|ez)|rajout(?:e|er|ez)|inser(?:e|er|ez|ir)"
    r"|met(?:s|tre|tez)|place[rz]?"
    r"|il (?:nous |me )?faut|anad(?:e|ir|an)|agreg(?:a|ar|ue)|inserta(?:r)?|pon(?:er|me"
    r"|ga)?|coloc(?:a|ar)|coloque|adicion(?:a|ar|e)|acrescent(?:a|ar|e)|insira|inseri[r]?"
    r"|poe|ponha"
    r"|ongez(?:a|e)|weka|ingiza|fuge)"
)
REMOVE = (
    r"(?:remove|delete|drop|get rid of|take out|kill|erase|scrap|throw out|supprim(?:e|er"
    r"|ez)|enlev(?:e|er|ez)|retir(?:e|er|ez)|effac(?:e|er|ez)|vire[rz]?|quit(?:a|ar|e)"
    r"|elimin(?:a|ar|e)"
    r"|borr(?:a|ar|e)|suprim(?:e|ir|a)|sac(?:a|ar)|saque|remov(?:a|er|e)|apag(?:a|ar|ue)"
    r"|exclu(?:a|i|ir)|tir(?:a|ar|e)|retir(?:a|ar|e)|ondoa|futa|toa|entfern(?:e|en)"
    r"|losche)"
)
ON = (
    r"(?:(?:turn|switch|put|flip|power|bring)\b(?P<on_mid>(?: (?!on\b"
    r"|off\b)[^ .;]+){0,9}?) (?:back )?on\b(?! (?:every|each|the|mon|tue|wed|thu|fri|sat"
    r"|sun|week|\d))|(?:turn|switch)(?:ed)? on|enable[ds]?|activate[ds]?|re-?activate"
    r"|re-?enable"
    r"|unpause|resume|(?:re)?activ(?:e|er|ez)|rallum\w+|allum(?:e|er|ez)|habilit(?:a|ar"
    r"|e)|enciend(?:e|a)|encender|prende(?:r)?|reanud(?:a|ar)|(?:re)?ativ(?:a|ar|e)"
    r"|lig(?:a|ar|ue)|washa|iwashe|wezesha|aktivier(?:e|en))"
)
OFF = (
    r"(?:(?:turn|switch|put|flip|power|shut|take)\b(?P<off_mid>(?: (?!on\b"
    r"|off\b)[^ .;]+){0,9}?) off\b|(?:turn|switch|shut)(?:ed)? off|disable[ds]?"
    r"|deactivate[ds]?|pause|suspend|mute"
    r"|desactiv(?:e|er|ez|a|ar)|etein(?:s|dre|ez)|eteign(?:s|ez)|arret(?:e|er|ez)"
    r"|suspend(?:s|re|ez)|deshabilit(?:a|ar|e)|inhabilit(?:a|ar)|apag(?:a|ar|ue)|paus(?:a"
    r"|ar|e)"
    r"|desativ(?:a|ar|e)|deslig(?:a|ar|ue)|suspend(?:e|er|a)|zima|izime|lemaza|simamisha"
    r"|sitisha|deaktivier(?:e|en)|stop)"
)
TRIGGER = (
    r"(?:triggers?|cron(?: ?job)?|schedule|webhooks?|timer|workflow|declencheur|planification"
    r"|flux|disparador|programacion|flujo|gatilho|agendamento|fluxo|kichochezi|ratiba"
    r"|mtiririko|automation)"
)
PATH = (
    r"(?:paths?|edges?|connections?|links?|arrows?|branch(?:es)?|routes?|lines?|chemins?"
    r"|liens?|fleches?|connexions?|branches?|caminos?|conexion|flechas?|enlaces?|ramas?"
    r"|rutas?"
    r"|caminhos?|ligacao|conexao|setas?|ramos?|njia|kiungo)"
)
SWAP = (
    r"(?:swap|exchange|switch|interchange|permut(?:e|er|ez)|echang(?:e|er|ez)"
    r"|interverti[rsz]*|inverse[rz]?|intercambi(?:a|ar|e)|inviert(?:e|a)|invertir|troc(?:a"
    r"|ar)|troque|invert(?:a|er|e)|badilishan[ae]|tausche?)"
)
MOVE = (
    r"(?:move|put|place|shift|bring|deplac(?:e|er|ez)|met(?:s|tre|tez)|passe[rz]?|muev(?:e|a)"
    r"|mover|pon(?:er|ga)?|pasa(?:r)?|mov(?:a|er|e)|coloc(?:a|ar)|coloque|poe|ponha|hamisha"
    r"|weka|run|execut(?:e|a|er|ar)|do)"
)
COME = (
    r"(?:(?:has|have|needs?|ought) to (?:come|go|be|run|happen)|(?:should|must|shall|can"
    r"|needs to) (?:come|go|be|run|happen)(?: done| executed)?|comes?|goes|runs?|belongs"
    r"|(?:doit|devrait) (?:venir|passer|etre|aller|s'executer|tourner|se faire)|(?:debe"
    r"|deberia|tiene que|ha de) (?:ir|venir|estar|ejecutarse|correr|pasar)|va|(?:deve"
    r"|deveria|tem de|tem que) (?:vir|ir|ficar|correr|estar|ser)|vem|fica"
    r"|(?:inapaswa|lazima|inatakiwa) (?:iwe|ije|kuwa|kuja)|iwe|ije)"
)
BEFORE = (
    r"(?:before|ahead of|in front of|prior to|avant|devant|antes(?: d[eo]l?| da)?|kabla ya|vor)"
)
AFTER = (
    r"(?:(?:right |directly |straight |immediately |just )?(?:after|behind|following)"
    r"|(?:juste |directement )?apres|(?:justo |directamente )?(?:despues(?: de)?|tras)"
    r"|detras de|(?:logo |diretamente )?(?:depois(?: d[eoa])?|apos)|baada ya|nach)"
)
CONNECT = (
    r"(?:connect|link|join|wire|hook|attach|hang|tie|chain|relie[rz]?|connect(?:e|er|ez)"
    r"|raccord(?:e|er|ez)|branch(?:e|er|ez)|rattach(?:e|er|ez)|conect(?:a|ar|e)|enlaz(?:a"
    r"|ar)|enlace|un(?:e|ir|a)|vincul(?:a|ar)"
    r"|lig(?:a|ar|ue)|unganisha|verbinde)"
)
DISCONNECT = (
    r"(?:disconnect|detach|unlink|unhook|deconnect(?:e|er|ez)|debranch(?:e|er|ez)|detach(?:e"
    r"|er|ez)|desconect(?:a|ar|e)|deslig(?:a|ar|ue)|tenganisha)"
)

SUCCESS = (
    r"(?:on success|(?:only )?(?:when|if|after|once) (?:it |that |this |§\d+ "
    r"|they )?(?:succeeds?|succeeded|has succeeded|worked|works|is ok|was successful"
    r"|went well)|success(?:ful)?(?: only)?|en cas de (?:succes|reussite)|si (?:ca|elle|il"
    r"|§\d+) (?:a )?reussit?|succes|reussite|en caso de exito|si (?:tiene|hay) exito"
    r"|si sale bien|exito|em caso de sucesso|se (?:correr bem|tiver sucesso)|sucesso"
    r"|ikifanikiwa|ikifaulu|mafanikio)"
)
FAILURE = (
    r"(?:on (?:failure|error)|(?:only )?(?:when|if|once|in case|should) (?:it |that "
    r"|this |§\d+ |they )?(?:fails?|failed|has failed|breaks?|errors?|goes wrong|crashes"
    r"|is red)|failure only|only (?:on )?failures?|in case of (?:an )?(?:error|failure)"
    r"|en cas d'(?:echec|erreur)|si (?:ca|elle|il|§\d+) (?:a )?echou(?:e|ent)|quand (?:ca"
    r"|elle|il|§\d+) (?:a )?echoue|en caso de (?:error|fallo)|(?:si"
    r"|cuando) (?:\S+ )?(?:falla|falle|fallo)|em caso de (?:erro|falha)|(?:se"
    r"|quando) (?:\S+ )?(?:falhar|falha|falhou)"
    r"|ikishindwa|ikifeli|imeshindwa)"
)
ALWAYS = (
    r"(?:always|in any case|regardless|whatever happens|no matter what|unconditional(?:ly)?"
    r"|even (?:if|when) (?:it|that|§\d+) (?:fails?|failed|has failed)"
    r"|without (?:any )?condition|toujours|dans tous les cas|sans condition|meme (?:si"
    r"|en cas) \S+(?: \S+)?|siempre|en cualquier caso|sin condicion|sempre|em qualquer caso"
    r"|sem condicao|daima|kila mara|immer)"
)
ONLY = (
    r"(?:only|just|solely|seulement|uniquement|que|solo|solamente|so|somente|apenas|tu|pekee|nur)"
)

#: Words that ask for nothing: courtesy, and what a request may end with.
TAIL = (
    r"(?:\s*[,.;!]?\s*(?:please|pls|plz|thanks?(?: you)?|thx|svp|stp|s'il (?:te|vous) plait"
    r"|merci|por favor|gracias|porfa|obrigad[oa]|se faz favor|tafadhali|asante|bitte|danke"
    r"|ok)\b[\s!.]*)*\s*[.!]?\s*$"
)

NOUN = r"(?:steps?|job|node|etape|paso|passo|etapa|hatua|schritt)"
AND = r"(?:\s*,\s*|\s*,?\s*(?:and|et|y|e|na|und|&|\+)\s+)"

#: What stands between two steps that belong together.
JOIN = r"\s+(?:to|with|and|on|onto|into|a|au|avec|et|con|y|com|e|ao|na|mit)\s+"

"""The words by which a request asks for a removal or for switching something on or off.

All patterns are matched against text in lower case without accents. Swahili verbs carry their
object in front ("iondoe", remove it), so their stems allow such a prefix.
"""

from __future__ import annotations

import re

_SWAHILI_PREFIX = r"(?:(?:u|m|ni|tu)?(?:i|ki|vi|li|ya|zi|u|ku)?)?"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(patterns) + r")\b")


REMOVAL = _any(
    # English
    r"remov(?:e|es|ed|ing|al)|delet(?:e|es|ed|ing|ion)|drop(?:s|ped|ping)?|eliminat(?:e|es|ed|ing)",
    r"take(?:s|n)?(?:\s+\S+){0,6}?\s+(?:out|away)|took(?:\s+\S+){0,6}?\s+out",
    r"g(?:et|ets|etting|ot)\s+rid\s+of|without|replac(?:e|es|ed|ing)|instead\s+of|rather\s+than",
    r"merg(?:e|es|ed|ing)|combin(?:e|es|ed|ing)|eras(?:e|es|ed|ing)|discard(?:s|ed)?|ditch|scrap",
    r"cut(?:\s+\S+){0,6}?\s+out|throw(?:\s+\S+){0,6}?\s+(?:out|away)|strip\s+out|undo|unneeded",
    r"no\s+longer\s+(?:need|want|use)\w*|(?:don't|do\s+not|doesn't)\s+(?:need|want|use)",
    r"(?:must|should|can|has\s+to)\s+go|kick(?:\s+\S+){0,6}?\s+out|obsolete|kill|axe|leave\s+out",
    r"not\s+needed|(?:keep\s+only|only\s+keep)|start\s+(?:over|afresh)|swap(?:\s+\S+){0,6}?\s+for",
    # French
    r"supprim\w+|enlev\w+|retir(?:e|er|ez|ons|ee?s?)|effac\w+|ot(?:e|er|ez)|vir(?:er|ez)",
    r"sans|remplac\w+|fusionn\w+|regroup\w+|debarrass\w+|au\s+lieu\s+d[eu']?",
    r"plus\s+(?:besoin|utile|utilis\w+|necessaires?)|sert\s+plus",
    # Spanish
    r"quit(?:a|ar|e|en|es|o|ad|emos|alo|ala|arlo|arla)|elimin\w+|borr(?:a|ar|e|en|es|o|alo|ala)",
    r"suprim\w+|sac(?:a|ar|alo|ala)|saque(?:n|s)?|sin|(?:re)?emplaz\w+|reemplac\w+|sustitu\w+",
    r"combin(?:a|ar|en)|fusion(?:a|ar|e)|junt(?:a|ar)|descart\w+|deshazte|remuev\w+|prescind\w+",
    r"en\s+(?:lugar|vez)\s+de|ya\s+no\s+(?:necesit|quer|quier|us|hace|sirv)\w*",
    # Portuguese
    r"remov(?:a|er|am|o)|apag(?:a|ar|ue|uem)|exclu(?:a|ir|i|am)|delet(?:a|ar)|tir(?:a|ar|e|em)",
    r"retir(?:a|ar|em)|sem|substitu\w+|junte(?:m)?|fund(?:a|ir)|em\s+(?:lugar|vez)\s+d[eoa]",
    r"nao\s+\w+\s+mais",
    # Swahili
    _SWAHILI_PREFIX + r"(?:ondo(?:a|e|lea|lewe|sha|she)|fut(?:a|e|wa|we)|to[ae])",
    _SWAHILI_PREFIX + r"(?:badilish[ae]|changany[ae])|bila|badala\s+ya",
    r"haihitajiki|hatuhitaji|sihitaji",
    # German
    r"entfern\w*|losch\w*|streich\w*|ohne|ersetz\w*|(?:an)?statt|anstelle|kombinier\w*",
    r"verschmelz\w*|zusammenfuhr\w*|weg(?:lassen|nehmen)?|raus(?:nehmen|werfen)?|nicht\s+mehr",
)

ON = _any(
    # English
    r"enabl(?:e|es|ed|ing)|(?:re)?activat(?:e|es|ed|ing)|unpaus(?:e|ed)|resum(?:e|es|ed)|go\s+live",
    r"make\s+\S+(?:\s+\S+){0,2}?\s+(?:live|active)|(?:switch|turn|flip|power)(?:ed)?\s+(?:back\s+)?on",
    r"(?:switch|turn|flip|put|set|toggle)(?:\s+(?!to\b|into\b|from\b|over\b)\S+){1,6}?\s+on"
    r"(?!\s+(?:(?:mon|tue|wed|thu|fri|sat|sun|week)\w*|the|every|each|an?|any|my|hold|\d+)\b)",
    r"start(?:s)?\s+(?:the\s+)?(?:it|this|cron|trigger|schedule|workflow|webhook|running)\b"
    r"(?!\s+(?:with|from|at|every|by|on|when|after|daily|step))",
    r"toggle|is\s+on|be\s+on|should\s+run\s+again",
    # French
    r"(?:re)?activ(?:e|er|ez|ons|ee?s?)|allum\w+|(?:re)?demarr(?:e|er|ez)|rallum\w+",
    r"(?:en\s+(?:marche|route|service|ligne))|remet\w*\s+en\s+\w+",
    # Spanish
    r"(?:re)?activ(?:a|ar|en|es|ad|alo|ala|arlo|arla)|habilit\w+|encend\w+|enciend\w+|prend(?:e|er|a)",
    r"reanud\w+",
    # Portuguese
    r"(?:re)?ativ(?:a|ar|e|em|ado|ada|a-lo|a-la)|lig(?:a|ar|ue|uem|ado|ada)(?!\w*[^.,;]*\b(?:ao?s?|com)\b)",
    r"retom\w+",
    # Swahili
    _SWAHILI_PREFIX + r"(?:wash[ae]|wezesh[ae]|amilish[ae]|washwe)|anzish[ae]\s+tena",
    # German
    r"(?:re)?aktivier\w*|einschalt\w*|anschalt\w*|anmachen|einzuschalten",
    r"(?:schalt|mach)\w*(?:\s+\S+){1,6}?\s+(?:ein|an)",
)

OFF = _any(
    # English
    r"disabl(?:e|es|ed|ing)|deactivat(?:e|es|ed|ing)|inactive|paus(?:e|es|ed|ing)",
    r"suspend(?:s|ed|ing)?|halt(?:s|ed)?|mut(?:e|ed)|on\s+hold|toggle|is\s+off|be\s+off",
    r"(?:switch|turn|flip|power|shut)(?:ed)?\s+off",
    r"(?:switch|turn|flip|put|set|leave|keep|shut)(?:\s+(?!to\b|into\b|from\b)\S+){1,6}?\s+off",
    r"stop(?:s)?\s+(?:the\s+)?(?:it|this|cron|trigger|schedule|workflow|webhook|running|path)",
    # French
    r"desactiv\w+|etein\w+|eteign\w+|suspend(?:re|s|ez|u)|arret(?:e|er|ez)|en\s+pause|coup(?:e|er|ez)",
    r"stopp(?:e|er|ez)|hors\s+service",
    # Spanish
    r"(?:des|in)(?:ac|h)\w*tiv\w+|deshabilit\w+|inhabilit\w+|apag(?:a|ar|ue|uen|alo|ala)|paus(?:a|ar|alo)",
    r"deten(?:er|lo|la|ga)?|detien\w+|par(?:a|ar|en)\s+(?:el|la|este|esta)|suspend(?:e|er|a)",
    # Portuguese
    r"desativ\w+|deslig\w+|desabilit\w+|par(?:a|ar|e|em)\s+(?:o|a)\s+(?:gatilho|fluxo|cron|agend\w+)",
    # Swahili
    _SWAHILI_PREFIX + r"(?:zim(?:a|e|wa|we)|lemaz[ae]|simamish[ae]|sitish[ae])",
    # German
    r"deaktivier\w*|ausschalt\w*|abschalt\w*|anhalten|pausier\w*|stopp(?:e|en)|auszuschalten",
    r"(?:schalt|mach)\w*(?:\s+\S+){1,6}?\s+(?:aus|ab)",
)

#: "this", "it", "here": how a request means the step whose page is open.
POINTING = _any(
    r"this|that|it|here|cett?e?|celui-ci|celle-ci|ca|est[ae]|es[ae]|est[ae]\s+paso|aqui|isso|isto",
    r"hii|hiki|hapa|huu|hili|dies\w*|das|es|[el]l[ao]|(?:quit|borr|elimin|sac)[ae]r?l[ao]",
    _SWAHILI_PREFIX + r"(?:iondoe|ifute|itoe)|l'(?:enlever|effacer|oter)|\w+-l[ae]",
)

#: Words for what starts a workflow, and for what connects its steps.
TRIGGER = _any(
    r"triggers?|cron|webhooks?|kafka|schedules?|timers?|declencheurs?|planification|horaire",
    r"disparador(?:es)?|programacion|horario|gatilhos?|agendamento|kichochezi|vichochezi|ratiba",
    r"ausloser|zeitplan",
)
PATH = _any(
    r"paths?|edges?|connections?|connectors?|links?|branch(?:es)?|routes?|arrows?|lines?",
    r"chemins?|liens?|connexions?|branches?|fleches?|caminos?|conexion(?:es)?|enlaces?|rutas?|ramas?",
    r"caminhos?|conexao|conexoes|ligacao|ligacoes|ramos?|rotas?|njia|kiungo|viungo|pfade?|kanten?",
    r"verbindung(?:en)?",
)

STEP_NOUN = r"(?:steps?|jobs?|etapes?|pasos?|passos?|etapas?|hatua|schritte?s?|node)"

#: Phrases of removal that hold their own "not": what denies something before them belongs to them.
OWN_DENIAL = re.compile(r"\b(?:no|not|\w+n't|plus|ya no|nao|nicht|ha\w+|sihitaji)\b")
NEGATED_BEFORE = re.compile(
    r"\b(?:not|never|\w+n't|cannot|ne|no|nao|nunca|jamais|jamas|nicht|kein\w*|nothing)\b"
    r"(?<!why not)(?<!\bno longer)|\bn'"
)
NEGATED_AFTER = re.compile(r"^\S*\s*\b(?:pas|jamais|rien|nicht|nichts|kein\w*|nothing)\b")

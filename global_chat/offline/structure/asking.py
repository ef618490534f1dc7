"""One request on structure while it is read: what was understood so far, and what is left."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.claims import Claims, PhraseError
from ..language.demands import demands
from ..language.folding import word_set
from ..language.lexicon import has
from .adaptor_list import AdaptorList
from .draft import Draft


class CannotDo(PhraseError):
    """The request asks for what rules cannot do safely."""


class NeedsPage(Exception):
    """The request speaks of the open step, and nothing says which one that is."""


@dataclass
class Ask(Claims):
    """A request, the workflow it is about, and the parts of its text that are accounted for."""

    draft: Draft
    open_key: str | None
    adaptors: AdaptorList
    open_settings: bool = False

    def key(self, token: str) -> str:
        """The step behind `§n` or `§t`. Raises NeedsPage when it is an open step nobody knows."""
        found = re.search(r"§(\d+|t)", token)
        number = found[1] if found else "t"
        if number != "t":
            return self.masked.steps[int(number)].key
        if self.open_key is None:
            raise NeedsPage
        return self.open_key

    def meant(self, match: re.Match[str], group: str) -> str:
        """The step that a group of a match means. "It" is the step that was named before, else
        the open one.
        """
        if "§" in match[group]:
            return self.key(match[group])
        before = re.search(r"§(?:\d+|t)", self.masked.norm[: match.start(group)])
        return self.key(before[0] if before else "§t")

    def name(self, key: str) -> str:
        return self.draft.name(key)


_DEMAND = ("add", "remove", "rename", "move", "connect", "disconnect", "switch_on", "switch_off")
_NO_CODE_CHANGE = re.compile(
    r"(?:leave|keep|without|don't touch|do not touch) (?:the |its )?code(?: as it is)?"
)
_CODE = ("limits", "logging", "code", "with_code", "filter", "behaviour", "comments")
#: Clauses that give a reason ask for nothing, whatever they speak of.
_REASON = re.compile(
    r"(?:\b(?:because|since|so that|otherwise|we have|they|people|the team|it was|it is"
    r"|its|it's|there is|this way|parce que|car|puisque|sinon|ils|les gens|porque|ya que"
    r"|pues"
    r"|es que|hay|tenemos|pois|ja que|temos|kwa sababu|ili|maana|weil|denn)\b)[^.;\n]*"
)
#: Until when, for how long: a rule can do the one change and leave the other to the user.
_WHILE = re.compile(
    r"\b(?:for|during|until|till|over|pendant|jusqu'au?|durante|hasta|ate|hadi"
    r"|mpaka)\s+(?:the |la |le |les |el |las |los |o |a |as |os )?\w+(?: \w+)?"
)
_IDLE_WORDS = word_set(
    "please pls plz thanks thank you thx hi hello hey good morning afternoon evening dear "
    "team can could would you we i want need like to the a an it is be this that and just"
    " now again only also so then ok okay of in on for at from with directly instead both "
    "all my our us me make set have has should must step steps workflow flow today "
    "tonight"
    " tomorrow moment if possible kindly lets let do does will shall here there too back "
    "new name nothing else change changes everything same stays trigger run runs running "
    "start starts it's"
    " adaptor adapter adaptors version versions path condition cron schedule by as use "
    "put no more longer not any but yes one two three out up into time times"
    " downgrade upgrade bump pin pinned raise lower revert latest newest wait modify "
    "switch turn convert make edit schedule webhook declencheur horaire disparador "
    "horario programacion gatilho agendamento cambia cambiar modifica muda mudar altera "
    "troca passe change changez modifie met badilisha mudando kichochezi ratiba cron job"
    " svp stp merci bonjour salut le la les un une des du de et pour dans avec s'il te "
    "vous plait je veux voudrais nous il faut que soit est maintenant aussi seulement "
    "juste ce cette etape flux"
    " mets mettre fais faire passe passer par en sur au aux plus pas ne rien"
    " por favor gracias hola buenos dias el los las y en para con que se quiero queremos "
    "necesito ahora tambien solo este esta paso flujo pon poner haz hacer sea al del a su "
    "una uno"
    " obrigado obrigada ola bom dia boa tarde noite o os as e no na nos nas um uma para "
    "com quero queremos preciso agora tambem passo fluxo poe por fazer seja ao isso "
    "correr"
    " tafadhali asante habari hatua ya wa na kwa ni iwe sasa tu pia naomba nataka katika "
    "hii kila kuwa wakati"
)
_CLAUSES = re.compile(r"[.,;:!?()\n]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+")


def is_nothing(rest: str) -> bool:
    """Whether only words without weight are left."""
    rest = _NO_CODE_CHANGE.sub(" ", rest)
    return all(w in _IDLE_WORDS or w in _EMPTY_WORDS for w in _WORD.findall(rest))


_EMPTY_WORDS = word_set(
    "leave code blank empty placeholder no without vide vacio vazio tupu sans sin sem "
    "bila yet later myself i'll main chain adaptor adaptador adaptateur"
)


def is_idle(ask: Ask) -> bool:
    """Whether what is left of a request asks for nothing more.

    A named step or a value that nobody used, and a verb that asks for a change, are requests.
    Beside something understood in the same clause only words without weight may be left; a clause
    of its own may give a reason.
    """
    rest = _REASON.sub(lambda m: " " * len(m[0]), ask.rest)
    rest = _WHILE.sub(lambda m: " " * len(m[0]), rest)
    if re.search(r"§(?:\d+|t)|¤\d+", rest) or any(has(concept, rest) for concept in _DEMAND):
        return False
    start = 0
    for end in [*(m.start() for m in _CLAUSES.finditer(ask.masked.norm)), len(rest)]:
        understood = any(start <= s < end or start < e <= end for s, e in ask.claimed)
        left = [w for w in _WORD.findall(rest[start:end]) if w not in _IDLE_WORDS]
        clause = rest[start:end].strip()
        if len(left) > 1 and (
            understood or re.match(r"(?:and|et|y|e|na|only|seulement|solo|apenas)\b", clause)
        ):
            return False
        clause = _NO_CODE_CHANGE.sub(" ", clause)
        if left and any(has(concept, clause) for concept in _CODE):
            return False
        start = end
    return not demands(rest, any_change=False)

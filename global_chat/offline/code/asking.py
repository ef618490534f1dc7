"""One request on code while it is read: its tokens, what was understood, what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..language.literals import Literal
from ..language.masking import Masked, mask
from ..language.mentions import Named
from .javascript import Code

V = r"¤\d+"


class Refused(Exception):
    """The change cannot be made safely; the message is a phrase's name."""

    def __init__(self, phrase: str, **values: str) -> None:
        super().__init__(phrase)
        self.phrase, self.values = phrase, values


class Elsewhere(Exception):
    """What the request speaks of is not in this step."""


@dataclass
class CodeAsk:
    """A request, the code it is about, and the parts of its text that are accounted for."""

    masked: Masked
    code: Code
    focus: str
    said: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    claimed: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def read(cls, content: str, code: str, steps: Sequence[Named], focus: str) -> CodeAsk:
        ask = cls(mask(content, steps, numbers=True), Code(code), focus)
        for match in re.finditer(r"(?:in |dans |en |no passo |na etapa |em |katika |kwenye )?§(?:\d+|t)(?:\s*:)?", ask.masked.norm):
            token = re.search(r"§(\d+|t)", match[0])
            if token and (token[1] == "t" or ask.masked.steps[int(token[1])].key == focus):
                ask.claim(match)
        return ask

    def find(self, pattern: str) -> Iterator[re.Match[str]]:
        """Matches in text that no other command has taken."""
        for match in re.finditer(rf"(?<![\w§¤])(?:{pattern})", self.masked.norm):
            if not any(match.start() < end and start < match.end() for start, end in self.claimed):
                yield match

    def first(self, *patterns: str) -> re.Match[str] | None:
        return next((m for pattern in patterns for m in self.find(pattern)), None)

    def claim(self, match: re.Match[str]) -> None:
        self.claimed.append(match.span())

    def say(self, phrase: str, **values: str) -> None:
        self.said.append((phrase, values))

    def value(self, token: str) -> Literal:
        found = re.search(V, token)
        assert found is not None
        return self.masked.value(found[0])

    def become(self, text: str) -> None:
        """The code is now `text`. Raises Refused when that would no longer parse."""
        changed = Code(text)
        if changed.broken and not self.code.broken:
            raise Refused("would_not_parse")
        self.code = changed

    @property
    def other_steps(self) -> list[str]:
        """Keys of steps that the request names besides this one."""
        return [m.key for m in self.masked.steps if m.key != self.focus]

    @property
    def rest(self) -> str:
        text = self.masked.norm
        for start, end in self.claimed:
            text = text[:start] + " " * (end - start) + text[end:]
        return text


_DEMAND = re.compile(
    r"(?:^|[.,;:!?(\n]|\b(?:and|then|please|also|but|et|puis|aussi|mais|y|luego|tambien|pero|e|depois|tambem|mas|na|kisha|pia|can you|could you|should|must|to)\b)\s*(?:please |also |then |svp |por favor )?"
    r"(?:add|insert|append|remove|delete|send|skip|log|print|throw|write|keep(?! (?:it|the rest|everything))|save|store|drop|filter|sort|round|convert|trim|map|put|set|change|replace|use|make|rename|retry|catch|wrap|ignore|check|move|count|collect|split|join|format|parse|handle|fetch|get|turn|mask|translate|call|include|exclude|take|limit"
    r"|ajoute\w*|supprime\w*|enleve\w*|envoie\w*|ignore\w*|affiche\w*|ecri\w+|garde\w*|filtre\w*|trie\w*|mets|mettre|change\w*|remplace\w*|utilise\w*|renomme\w*|traduis\w*|calcule\w*"
    r"|agreg\w+|anad\w+|quit\w+|elimin\w+|envia\w*|ignora\w*|muestra\w*|escrib\w+|guarda\w*|filtra\w*|ordena\w*|pon\w*|cambia\w*|reemplaz\w+|usa\w*|renombra\w*|traduc\w+"
    r"|adicion\w+|acrescent\w+|remov\w+|apag\w+|tira\w*|manda\w*|escrev\w+|grav\w+|coloca\w*|muda\w*|troca\w*|substitu\w+|renomei\w+|traduz\w*|ongeza|ondoa|futa|tuma|weka|badilisha|tumia|andika)\b"
)
_REASON = re.compile(
    r"\b(?:because|since|otherwise|so that|that way|as (?!well|id\b|the id)|parce que|car|sinon|comme ca|porque|ya que|pues|para que|assim|ja que|kwa sababu|ili)\b[^.;\n]*|\([^()¤§]*\)"
)
_NOTHING_ELSE = re.compile(
    r"\b(?:nothing else|only (?:that|this|the (?:name|number|id|url|text|value))|just (?:that|this)|(?:the )?rest (?:stays|is fine|unchanged)|rien d'autre|seulement (?:ca|cela)|nada mas|solo eso|mais nada|so isso|si kingine)\b[^.;,]*"
)


def is_idle(ask: CodeAsk) -> bool:
    """Whether what is left of a request asks for nothing more.

    A value or another step that nobody used, and a verb that opens a clause, are requests.
    """
    rest = _NOTHING_ELSE.sub(" ", _REASON.sub(lambda m: ";" if "¤" not in m[0] else m[0], ask.rest))
    if re.search(r"§\d+|¤\d+", rest):
        return False
    return not _DEMAND.search(re.sub(r"\s+", " ", rest).strip())

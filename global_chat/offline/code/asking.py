"""One request on code while it is read: its tokens, what was understood, what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..language.claims import Claims, PhraseError
from ..language.demands import demands
from ..language.lexicon import has
from ..language.masking import mask
from ..language.mentions import Named
from ..language.schedules import read_schedule
from .javascript import Code

V = r"¤\d+"


class Refused(PhraseError):
    """The change cannot be made safely."""


class Elsewhere(Exception):
    """What the request speaks of is not in this step."""


@dataclass
class CodeAsk(Claims):
    """A request, the code it is about, and the parts of its text that are accounted for."""

    code: Code
    focus: str

    @classmethod
    def read(cls, content: str, code: str, steps: Sequence[Named], focus: str) -> CodeAsk:
        ask = cls(mask(content, steps, numbers=True), Code(code), focus)
        for match in re.finditer(
            r"(?:in |dans |en |no passo |na etapa |em |katika |kwenye )?§(?:\d+|t)(?:\s*:)?",
            ask.masked.norm,
        ):
            token = re.search(r"§(\d+|t)", match[0])
            if token and (token[1] == "t" or ask.masked.steps[int(token[1])].key == focus):
                ask.claim(match)
        return ask

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


_REASON = re.compile(
    r"\b(?:because|since|otherwise|so that|that way|as (?!well|id\b|the id)|parce que|car"
    r"|sinon|comme ca|porque|ya que|pues|para que|assim|ja que|kwa sababu|ili)\b[^.;\n]*"
    r"|\([^()¤§]*\)"
)
_NOTHING_ELSE = re.compile(
    r"\b(?:nothing else|only (?:that|this|the (?:name|number|id|url|text|value))"
    r"|just (?:that|this)|(?:the )?rest (?:stays|is fine|unchanged)|rien d'autre"
    r"|seulement (?:ca|cela)|nada mas|solo eso|mais nada|so isso|si kingine)\b[^.;,]*"
)


#: How a clause begins whose values are all used: the verb is done with them.
_DONE = re.compile(
    r"^(?:please |svp |por favor |and |then )?(?:use|put|set|change|make|take|write|replace|update"
    r"|send (?:it|this|the \w+|them) to|post (?:it|this) to|mets|utilise\w*|envoie\w*(?: le| la)? a"
    r"|change\w*|pon\w*|usa\w*|cambia\w*|manda\w*(?: lo)? a|poe|coloca\w*|muda\w*|tumia|weka)\b"
)
_CLAUSES = re.compile(r"[.,;:!?()\n]+")


def is_idle(ask: CodeAsk) -> bool:
    """Whether what is left of a request asks for nothing more.

    A value or another step that nobody used, and a verb that opens a clause, are requests.
    """
    rest = _REASON.sub(lambda m: ";" if "¤" not in m[0] else m[0], ask.rest)
    rest = _NOTHING_ELSE.sub(" ", rest)
    if re.search(r"§\d+|¤\d+", rest):
        return False
    structural = any(has(c, rest) for c in ("trigger", "switch_on", "switch_off", "new_workflow"))
    if structural or read_schedule(rest) is not None or (has("add", rest) and has("step", rest)):
        return False
    return not any(demands(clause) for clause in _left_clauses(ask))


def _left_clauses(ask: CodeAsk) -> Iterator[str]:
    """What is left of each clause; a verb whose values are used does not count any more."""
    norm, rest, start = ask.masked.norm, ask.rest, 0
    for end in [*(m.start() for m in _CLAUSES.finditer(norm)), len(norm)]:
        used = any(start <= s < end or start < e <= end for s, e in ask.claimed)
        clause = " ".join(_NOTHING_ELSE.sub(" ", _REASON.sub(" ", rest[start:end])).split())
        yield _DONE.sub("", clause) if used else clause
        start = end

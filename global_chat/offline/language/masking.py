"""A request with its step names and values replaced by tokens, so that grammar stays small.

    rename Find patient to "Lookup patient"      becomes      rename §0 to ¤0

`§n` is a step that is named, `§t` the step that is open ("this step"), `¤n` a quoted value or a
piece of code. Everything else is folded. Places lead back to the user's own words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from .folding import composed, folded
from .literals import Literal, find_literals
from .loose_names import loose_mentions
from .mentions import Mention, Named, exact_mentions

_BEFORE = (
    r"(?:(?:the|la|le|les|l'|el|los|o|a|os|hiyo)\s*)?(?:(?:steps?|jobs?|nodes?|etapes?"
    r"|pasos?|passos?|etapas?|hatua(?: ya)?)\s+"
    r"(?:(?:called|named|appelee?|llamad[oa]|chamad[oa])\s+)?)?$"
)
_AFTER = r"(?:\s+(?:steps?|jobs?|nodes?|one)\b(?!\s+(?:before|after|up|down)))?"
_THIS = re.compile(
    r"(?<!\w)(?:this (?:step|one|job|node)|the (?:open|current) (?:step|job)"
    r"|cette etape(?:-ci)?|ce (?:step|job)|l'etape ouverte|celle-ci"
    r"|est[ea] (?:paso|etapa|job)|est[ea] (?:passo|etapa)|hatua hii|(?:dieser|diesen"
    r"|diesem) schritt)(?!\w)"
)
_THIS_BARE = re.compile(
    r"(?<!\w)(?:(?:before|after|to|into|from|at|reach|towards|between) (?:here"
    r"|this)(?! (?:path|edge|workflow|flow|condition|adapt\w+|trigger|code|file|field))"
    r"|(?:avant|apres) ca|(?:antes|despues) de (?:este|esto)|depois deste|antes deste"
    r"|here)(?!\w)"
)
_KEPT_QUOTES = ("quoted", "url", "email", "path", "identifier", "version")


@dataclass(frozen=True, slots=True)
class Masked:
    """The tokens' text, `norm`, and what stands behind the tokens."""

    text: str
    norm: str
    steps: tuple[Mention, ...]
    values: tuple[Literal, ...]
    places: tuple[int, ...]
    """For each character of `norm`, its place in `text`; one more at the end."""

    def original(self, start: int, end: int) -> str:
        """The user's own words between two places of `norm`."""
        return self.text[self.places[start] : self.places[end]]

    def step(self, token: str) -> str | None:
        """The key behind `§n`; None for the open step."""
        number = token.strip().removeprefix("§")
        return self.steps[int(number)].key if number.isdigit() else None

    def value(self, token: str) -> Literal:
        """The literal behind `¤n`."""
        return self.values[int(token.strip().removeprefix("¤"))]


def mask(
    content: str,
    steps: Sequence[Named],
    *,
    loose: bool = True,
    numbers: bool = False,
    plain_words: Container[str] = (),
) -> Masked:
    """Replace names and values by tokens. `loose` also takes parts of names that are sure enough;
    with `numbers`, numbers are values too. Words in `plain_words` (folded), such as the names of
    systems, stay words although they look like code.
    """
    text = composed(content).strip()
    kinds = (*_KEPT_QUOTES, "number") if numbers else _KEPT_QUOTES
    literals = [
        item
        for item in find_literals(text)
        if item.kind in kinds
        and not (item.kind == "identifier" and folded(item.value) in plain_words)
    ]
    mentions = exact_mentions(text, steps)
    mentions = [m for m in mentions if not _inside_sentence(m, literals)]
    literals = [
        i for i in literals if not any(i.start < m.end and m.start < i.end for m in mentions)
    ]
    if loose:
        taken = [(m.start, m.end) for m in mentions] + [(i.start, i.end) for i in literals]
        mentions += loose_mentions(text, steps, taken)
    mentions.sort(key=lambda m: m.start)
    return _built(text, mentions, literals)


def _inside_sentence(mention: Mention, literals: Sequence[Literal]) -> bool:
    """Whether a name stands inside a longer quoted text, and so is not meant as a step."""
    return any(
        i.start <= mention.start
        and mention.end <= i.end
        and (i.end - i.start) - (mention.end - mention.start) > 2
        for i in literals
    )


def _built(text: str, mentions: Sequence[Mention], literals: Sequence[Literal]) -> Masked:
    plain = folded(text).replace("§", " ").replace("¤", " ")  # these two are ours
    pieces: list[tuple[int, int, str]] = []
    for number, mention in enumerate(mentions):
        pieces.append((*_widened(plain, mention), f"§{number}"))
    for number, literal in enumerate(literals):
        pieces.append((literal.start, literal.end, f"¤{number}"))
    for pattern in (_THIS, _THIS_BARE):
        for match in pattern.finditer(plain):
            if not any(match.start() < end and start < match.end() for start, end, _ in pieces):
                word = match[0].split(" ")[0]
                keep = len(word) + 1 if pattern is _THIS_BARE and " " in match[0] else 0
                pieces.append((match.start() + keep, match.end(), "§t"))
    norm: list[str] = []
    places: list[int] = []
    position = 0
    for start, end, token in sorted(pieces):
        start = max(start, position)
        norm.append(plain[position:start])
        places += range(position, start)
        norm.append(token)
        places += [start] + [end] * (len(token) - 1)
        position = end
    norm.append(plain[position:])
    places += range(position, len(text) + 1)
    return Masked(text, "".join(norm), tuple(mentions), tuple(literals), tuple(places))


def _widened(plain: str, mention: Mention) -> tuple[int, int]:
    """The mention with its article, its "step" and its quotation marks."""
    start, end = mention.start, mention.end
    while (
        start > 0 and end < len(plain) and plain[start - 1] in "\"'`“«‘" and plain[end] in "\"'`”»’"
    ):
        start, end = start - 1, end + 1
    before = re.search(r"(?<!\w)" + _BEFORE, plain[:start])
    if before and before[0].strip():
        start = before.start()
    after = re.match(_AFTER, plain[end:])
    return start, end + (after.end() if after else 0)

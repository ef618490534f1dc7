"""Steps that a request names by a part of their name, by their place or by their system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .folding import composed, folded, name_words
from .mentions import _COMMON, Mention, Named, alike

_NOUN = r"(?:steps?|job|etape|paso|passo|etapa|hatua|one)"
_ORDINALS = (
    r"first|1st|premiere?|primero?a?|primer|primeir[oa]|(?:ya )?kwanza",
    r"second|2nd|deuxieme|seconde?|segund[oa]|(?:ya )?pili",
    r"third|3rd|troisieme|tercer[oa]?|terceir[oa]|(?:ya )?tatu",
    r"fourth|4th|quatrieme|cuart[oa]|quart[oa]|(?:ya )?nne",
    r"fifth|5th|cinquieme|quint[oa]|(?:ya )?tano",
)
_LAST = r"(?:very )?last|final|derniere?|ultim[oa]|(?:ya )?mwisho"


def loose_mentions(
    text: str, steps: Sequence[Named], taken: Sequence[tuple[int, int]]
) -> list[Mention]:
    """Steps named otherwise than in full, outside of the `taken` places.

    A part of a name counts when its words belong to one step only and are no everyday words, or
    are called a step ("the classify step"). Steps are taken to be in order.
    """
    plain = folded(composed(text))
    found: list[Mention] = []
    for mention in (*_by_place(plain, steps), *_by_part(plain, steps)):
        spans = [*taken, *((m.start, m.end) for m in found)]
        if not any(mention.start < end and start < mention.end for start, end in spans):
            found.append(mention)
    return found


def _by_place(plain: str, steps: Sequence[Named]) -> Iterator[Mention]:
    for index, words in enumerate(_ORDINALS):
        pattern = rf"(?<!\w)(?:(?:{words}) {_NOUN}|{_NOUN} (?:{words}))(?!\w)"
        for match in re.finditer(pattern, plain):
            if index < len(steps):
                yield Mention(steps[index].key, *match.span(), exact=False)
    for match in re.finditer(
        rf"(?<!\w){_NOUN} (?:no\.? ?|number |numero |#)?(\d+)(?!\w|[.:]\d)", plain
    ):
        if 1 <= int(match[1]) <= len(steps):
            yield Mention(steps[int(match[1]) - 1].key, *match.span(), exact=False)
        yield from _more_numbers(plain, match.end(), steps)


def _more_numbers(plain: str, position: int, steps: Sequence[Named]) -> Iterator[Mention]:
    """The numbers that follow in "steps 1, 2 and 4"."""
    more = re.compile(r"(?:\s*,\s*|\s+(?:and|et|y|e|na|&)\s+)(\d+)(?!\w|[.:]\d)")
    while match := more.match(plain, position):
        if 1 <= int(match[1]) <= len(steps):
            yield Mention(steps[int(match[1]) - 1].key, match.start(1), match.end(1), exact=False)
        position = match.end()


def _by_part(plain: str, steps: Sequence[Named]) -> Iterator[Mention]:
    tokens = [(m[0], m.start(), m.end()) for m in re.finditer(r"[^\W_]+", plain)]
    names = {step.key: set(name_words(step.name)) | set(name_words(step.key)) for step in steps}
    position = 0
    while position < len(tokens):
        best: Mention | None = None
        for end in range(min(len(tokens), position + 4), position, -1):
            best = _window(plain, tokens[position:end], steps, names)
            if best:
                break
        if best:
            yield best
            position = end
        else:
            position += 1


def _window(
    plain: str,
    tokens: Sequence[tuple[str, int, int]],
    steps: Sequence[Named],
    names: dict[str, set[str]],
) -> Mention | None:
    """The one step whose name has every word of the window, if they are telling."""
    words = [word for word, _, _ in tokens]
    if any(len(word) < 3 and not word.isdigit() for word in (words[0], words[-1])):
        return None
    owners = [
        s.key for s in steps if all(any(alike(w, own) for own in names[s.key]) for w in words)
    ]
    if len(owners) != 1:
        return None
    start, end = tokens[0][1], tokens[-1][2]
    called = re.match(rf"[\"']?\s+{_NOUN}(?!\w)", plain[end:]) or re.search(
        rf"(?<!\w){_NOUN}\s+[\"']?$", plain[:start]
    )
    telling = [w for w in words if w not in _COMMON and len(w) > 3]
    if not called and not (telling and len(words) >= 2):
        return None
    if called and len(words) == 1 and words[0] in ("last", "first", "new", "blank", "empty"):
        return None
    return Mention(owners[0], start, end, exact=False, weight=0.9 if called else 0.7)

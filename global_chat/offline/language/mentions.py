"""Which steps a request names: in full, or by words that only one step's name has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .folding import composed, folded, name_words, word_set

#: Words of names that requests use anyway, so that one of them alone points at no step.
_COMMON = word_set(
    "get fetch find create update upsert add set send post put push pull load save store write read"
    " make build map transform extract check validate log alert notify email sms message run start"
    " the a an of to in on for from with and or if by at is it this that step steps job workflow"
    " data list case cases patient patients all new last first results values record records send"
    " de la le les du des et a en el los las y o do da dos das e para por com con sur pour un une"
    " uma una ya na kwa wa za error errors failure schedule trigger edge cleanup flow team page"
    " code function fields missing clean status summary reports payload settings period"
)
_STEP_NOUN = r"(?:steps?|jobs?|etapes?|pasos?|passos?|etapas?|hatua|one|ones|celle|celui|nodes?)"
_SEPARATOR = r"[\W_]*"


class Named(Protocol):
    """Anything with a key and a name: a step of an outline or of a document."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Mention:
    """A step named at `start`:`end` of the text. `exact` when its whole name or key stands there.

    `weight` says how much of the name was matched by words that are its own, 0 to 1.
    """

    key: str
    start: int
    end: int
    exact: bool = True
    weight: float = 1.0


def exact_mentions(text: str, steps: Sequence[Named]) -> list[Mention]:
    """Steps whose whole name or key stands in `text`, in order of place.

    Longer names are found first, so that "Fetch 2" does not name "Fetch" too. A name that several
    steps share names none of them.
    """
    plain = folded(composed(text))
    keys_of: dict[tuple[str, ...], set[str]] = {}
    for step in steps:
        for words in {name_words(step.key), name_words(step.name)}:
            if words:
                keys_of.setdefault(words, set()).add(step.key)
    found: list[Mention] = []
    for words in sorted(keys_of, key=lambda w: (-len("".join(w)), w)):
        for match in _pattern(words).finditer(plain):
            start, end = match.span(1)
            if any(start < m.end and m.start < end for m in found):
                continue
            keys = keys_of[words]
            if len(keys) == 1:
                found.append(Mention(next(iter(keys)), start, end))
    return sorted(found, key=lambda m: m.start)


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds a name of these words. A name of one everyday word must be marked as a name."""
    body = _SEPARATOR.join(re.escape(word) for word in words)
    if len(words) == 1 and (words[0] in _COMMON or len(words[0]) <= 2):
        before = rf"[\"'`«“]|\b{_STEP_NOUN}\s+"
        return re.compile(rf"(?:{before})({body})(?![^\W_])|(?!)")
    return re.compile(rf"(?<![^\W_])({body})(?![^\W_])")


def partial_mentions(text: str, steps: Sequence[Named]) -> list[Mention]:
    """Steps that some words of `text` point at, although no full name stands there; best first."""
    plain = folded(composed(text))
    tokens = [(m[0], m.start(), m.end()) for m in re.finditer(r"[^\W_]+", plain)]
    shares: dict[str, int] = {}
    found = []
    for step in steps:
        own = _own_words(step, steps, shares)
        hits = [(w, t) for w in own for t in tokens if alike(w, t[0])]
        if not hits:
            continue
        total = sum(own.values())
        weight = sum(own[w] for w in {w for w, _ in hits}) / total if total else 0.0
        start, end = min(t[1] for _, t in hits), max(t[2] for _, t in hits)
        marked = any(_marked(plain, t[1], t[2]) for _, t in hits)
        found.append(Mention(step.key, start, end, False, min(1.0, weight + 0.35 * marked)))
    return sorted(found, key=lambda m: -m.weight)


def _own_words(step: Named, steps: Sequence[Named], shares: dict[str, int]) -> dict[str, float]:
    """The words of a step's name and what each says about it: less when other steps have it.

    `shares` remembers how many steps have a word.
    """
    words = set(name_words(step.name)) | set(name_words(step.key))
    weights = {}
    for word in words:
        if len(word) < 3 and not word.isdigit():
            continue
        if word not in shares:
            shares[word] = sum(_has_word(other, word) for other in steps)
        shared = shares[word]
        weights[word] = (0.25 if word in _COMMON else 1.0) / (shared * shared)
    return weights


def _has_word(step: Named, word: str) -> bool:
    return any(alike(word, other) for other in name_words(step.name) + name_words(step.key))


def _marked(plain: str, start: int, end: int) -> bool:
    """Whether the word is called a step: "the classify step", « l'étape Alerte »."""
    after = re.match(rf"[\"'`]?\s+{_STEP_NOUN}\b", plain[end : end + 12])
    before = re.search(rf"\b{_STEP_NOUN}\s+[\"'`]?$", plain[max(0, start - 12) : start])
    return bool(after or before)


def alike(word: str, other: str) -> bool:
    """Whether two folded words are forms of one: equal, or with a long common beginning."""
    if word == other:
        return True
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) < 4 or len(longer) - len(shorter) > 4:
        return False
    common = next((i for i, c in enumerate(shorter) if c != longer[i]), len(shorter))
    return common >= max(4, len(shorter) - 1) and common >= 0.6 * len(longer)


def without(text: str, mentions: Iterable[Mention], mark: str = "◦") -> str:
    """`text` with each mention replaced by `mark`es, as long as it was."""
    characters = list(text)
    for mention in mentions:
        for index in range(mention.start, mention.end):
            characters[index] = mark
    return "".join(characters)

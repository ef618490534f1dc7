"""Text made comparable: case, width and Latin accents folded away, every place kept.

The folded text has as many characters as the text, so that what a rule finds in the one can be cut
out of the other with the user's own spelling.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_QUOTES = str.maketrans("’‘‛´`ʼ", "''''''")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def composed(text: str) -> str:
    """The text with accents in one piece (NFC), which is what `folded` counts by."""
    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Lower case, no accents on Latin letters, straight apostrophes; exactly as long as `text`."""
    return "".join(map(_fold, text)).translate(_QUOTES)


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    lowered = character.casefold()
    base = unicodedata.normalize("NFKD", lowered)[:1]
    if base.isascii() and base.isalnum():
        return base
    return lowered if len(lowered) == 1 else character


def words(text: str) -> list[str]:
    """The words of a text, folded; letters and digits of any script."""
    return _WORD.findall(folded(composed(text)))


def squeezed(text: str) -> str:
    """Only the letters, marks and digits, folded: what is left when punctuation does not matter."""
    return "".join(c for c in folded(composed(text)) if unicodedata.category(c)[0] in "LMN")


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a step's name or key; `camelCase` counts as two."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", composed(name))
    return tuple(word for part in _WORD.findall(folded(apart)) for word in part.split("'"))


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them, as a set."""
    return frozenset(text.split())

"""Functions on texts that several rooms need: fences, one line, length, lone surrogates, time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n(?P<inside>.*?)\n?[ \t]*```\s*\Z", re.DOTALL)


def without_fence(text: str) -> str:
    """`text` without one Markdown fence around the whole of it; any other text unchanged.

    Some models put a fence around structured replies, although none was asked for.
    """
    match = _FENCE.match(text)
    return match["inside"] if match else text


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that is most like `word`, if one is: 1 is the same, 0 shares nothing."""
    return next(iter(get_close_matches(word, list(known), n=1, cutoff=cutoff)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean `page`?`, with the known word that is most like `word`; "" when none is."""
    near = nearest(word, known)
    return f" Did you mean `{near}`?" if near else ""


def one_line(text: str) -> str:
    """`text` on one line: every run of blanks and line ends becomes one space."""
    return " ".join(text.split())


def shortened(text: str, longest: int, mark: str = "…") -> str:
    """`text`, or its first `longest` characters and `mark` when it has more."""
    return text if len(text) <= longest else text[:longest] + mark


def shortened_to_end(text: str, longest: int) -> str:
    """`text`, or "…" and its last `longest` characters when it has more."""
    return text if len(text) <= longest else "…" + text[-longest:]


def replace_lone_surrogates(text: str) -> str:
    """`text` with split surrogate pairs joined and lone halves replaced by U+FFFD.

    UTF-8 cannot encode half of a surrogate pair, so a text that holds one cannot be sent.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def replace_lone_surrogates_in(value: Any) -> Any:
    """A copy of JSON data with lone surrogates replaced in every text, keys included."""
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if isinstance(value, dict):
        return {
            replace_lone_surrogates_in(k): replace_lone_surrogates_in(v) for k, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [replace_lone_surrogates_in(v) for v in value]
    return value


class PieceJoiner:
    """Replaces lone surrogates in a text that arrives in pieces, which may split a pair."""

    def __init__(self) -> None:
        self._half = ""

    def join(self, piece: str) -> str:
        """The text that is complete with `piece`; the first half of a pair waits for the second."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return replace_lone_surrogates(text)

    def rest(self) -> str:
        """The text that still waits when the last piece has arrived."""
        return replace_lone_surrogates(self.join("") + self._half)


def tree_in_time(parser: Any, source: bytes, until: float) -> Any:
    """The tree that a tree-sitter `parser` makes of a text, or None when it takes too long.

    `until` is a time of `time.monotonic`. The text is parsed twice: only a parse of pieces can be
    stopped, and only one of bytes gives quick access to a node's text.
    """
    try:
        parser.parse(
            lambda offset, _: source[offset : offset + 65_536],
            progress_callback=lambda *_: time.monotonic() > until,
        )
    except ValueError:
        parser.reset()
        return None
    return parser.parse(source)

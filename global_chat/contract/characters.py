"""Text that can be sent: half of a surrogate pair is no character, and no UTF-8 can hold it."""

from __future__ import annotations

from typing import Any


def whole(text: str) -> str:
    """`text` with split surrogate pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole_value(value: Any) -> Any:
    """A copy of JSON data with every text in it made `whole`, the keys included."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole_value(k): whole_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [whole_value(v) for v in value]
    return value


class Joiner:
    """Makes pieces of one text `whole` when a piece may end in the middle of a character."""

    def __init__(self) -> None:
        self._half = ""

    def join(self, piece: str) -> str:
        """The part of the text that is now certain; the first half of a pair waits."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole(text)

    def rest(self) -> str:
        """What still waited when the text ended."""
        return whole(self.join("") + self._half)

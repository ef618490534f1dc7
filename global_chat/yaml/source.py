"""The document's text as it is: line ends, byte order mark, positions, and edits by splicing.

Every offset in this room counts characters of `Source.text`, the byte order mark included, so
`text[node.start:node.end]` is always what stands in the file. Lines and columns count from 1
and are for people: the byte order mark takes no column.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n|\n|\r")

#: (start, end, new text); start == end inserts.
Splice = tuple[int, int, str]


class Source:
    """One text and the places in it. Immutable: `splice` returns a new text."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: Where the first character behind byte order marks stands.
        self.first = len(text) - len(text.lstrip(BOM))

    @cached_property
    def newline(self) -> str:
        """The line end that most lines have; `\\n` when no line ends."""
        windows = self.text.count("\r\n")
        unix = self.text.count("\n") - windows
        mac = self.text.count("\r") - windows
        most = max(unix, windows, mac)
        return "\n" if unix == most else "\r\n" if windows == most else "\r"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [self.first, *(m.end() for m in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = max(bisect_right(self._line_starts, offset), 1)
        return line, max(offset - self._line_starts[line - 1], 0) + 1

    def line(self, offset: int) -> int:
        return self.position(offset)[0]

    def line_start(self, offset: int) -> int:
        """Where the line of `offset` begins."""
        return self._line_starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Where the line of `offset` ends, before its line break."""
        found = _LINE_END.search(self.text, offset)
        return found.start() if found else len(self.text)

    def next_line(self, offset: int) -> int:
        """Where the line after that of `offset` begins; the end of the text after the last."""
        found = _LINE_END.search(self.text, offset)
        return found.end() if found else len(self.text)

    def indent(self, offset: int) -> int:
        """How many characters stand before `offset` on its line: the column, from 0."""
        return offset - self.line_start(offset)

    def splice(self, splices: Iterable[Splice]) -> str:
        """The text with every span replaced. Spans must not overlap; insertions at one place keep
        the order in which they are given.

        Raises ValueError when two spans overlap.
        """
        pieces: list[str] = []
        done = 0
        for start, end, new in sorted(splices, key=lambda s: s[:2]):
            if start < done or end < start:
                raise ValueError("two edits touch the same characters")
            pieces += (self.text[done:start], new)
            done = end
        return "".join((*pieces, self.text[done:]))

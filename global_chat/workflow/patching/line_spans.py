"""Which lines of a document belong to one of its parts, comments and blank lines included."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from global_chat.yaml.source import Source


class Spanned(Protocol):
    """A node or an entry: whatever has a place in the text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def apart(source: Source, parts: Sequence[Spanned]) -> bool:
    """Whether parts that follow each other are kept apart by blank lines, for the most part."""
    gaps = [source.text[a.end : b.start].splitlines()[1:-1] for a, b in pairwise(parts)]
    return 2 * sum(any(not line.strip() for line in gap) for gap in gaps) > len(gaps)


def lines_of(
    source: Source, span: tuple[int, int], *, before: int | None, followed: bool
) -> tuple[int, int]:
    """The whole lines that go when the part at `span` goes.

    With it go the comment lines right above at its indentation, those below that are indented
    deeper, and the blank lines above; below, when it is the first of several. `before` is the
    end of the part before it, None for the first one; `followed` says that another one follows.
    """
    column = source.indent(span[0])
    start, end = source.line_start(span[0]), source.next_line(span[1])
    floor = source.next_line(before) if before is not None else 0
    while start > floor and _comment_at(source, above := source.line_start(start - 1)) == column:
        start = above
    while before is not None and start > floor and is_blank(source, start - 1):
        start = source.line_start(start - 1)
    while end < len(source.text) and (_comment_at(source, end) or 0) > column:
        end = source.next_line(end)
    while before is None and followed and end < len(source.text) and is_blank(source, end):
        end = source.next_line(end)
    return start, end


def below_comments(source: Source, offset: int, column: int) -> int:
    """The end of the line of `offset`, or of the comment lines below it that are indented deeper
    than `column`: they belong to what stands above."""
    end = source.line_end(offset)
    while (below := source.next_line(end)) > end and (_comment_at(source, below) or 0) > column:
        end = source.line_end(below)
    return end


def _comment_at(source: Source, line_start: int) -> int | None:
    """The indentation of the comment that fills the line; None when it is no such line."""
    line = source.text[line_start : source.line_end(line_start)]
    bare = line.lstrip(" ")
    return len(line) - len(bare) if bare.startswith("#") else None


def is_blank(source: Source, offset: int) -> bool:
    """Whether nothing but blanks stands on the line of `offset`."""
    return not source.text[source.line_start(offset) : source.line_end(offset)].strip()

"""What a literal or folded block scalar looks like in the source: its header, indent and end."""

from __future__ import annotations

import re

_HEADER = re.compile(r"[|>]([-+0-9]*)(?=[\s#]|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_FIRST_CONTENT = re.compile(r"[\r\n]( *)[^ \r\n]")


def header_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the header (`|`, `>-`, `|2+`) stands between `start` and `end`; anchor, tag and
    comment are not part of it."""
    found = _HEADER.search(text, start, end)
    return found.span() if found else (start, start)


def content_indent(text: str, start: int, end: int) -> int | None:
    """How many spaces stand before the first line of content; None when every line is blank."""
    found = _FIRST_CONTENT.search(text, header_span(text, start, end)[1], end)
    return len(found[1]) if found else None


def block_end(text: str, start: int, end: int) -> int:
    """Where a block scalar's own text ends, without its last line break.

    `end` is where the parser says it ends, behind the blank lines that follow. With keep chomping
    those are content; otherwise only lines of spaces that reach beyond the content's indent are.
    """
    header_start, header_end = header_span(text, start, end)
    if "+" in text[header_start:header_end]:
        return _before_break(text, header_end, end)
    first_line = _line_end(text, header_end, end)
    last = first_line + len(text[first_line:end].rstrip(" \r\n"))
    indent = content_indent(text, start, last)
    last = _line_end(text, last, end)
    if indent is None or last == end:
        return last
    deeper = re.compile(rf"[\r\n] {{{indent + 1},}}(?=[\r\n]|\Z)")
    return max((m.end() for m in deeper.finditer(text, last, end)), default=last)


def _line_end(text: str, start: int, end: int) -> int:
    """The first line break from `start`, or `end`."""
    found = _LINE_END.search(text, start, end)
    return found.start() if found else end


def _before_break(text: str, start: int, end: int) -> int:
    """`end`, or the start of the line break that ends there."""
    if text.endswith("\r\n", start, end):
        return end - 2
    return end - 1 if text.endswith(("\n", "\r"), start, end) else end

"""What is wrong with a text that is not YAML, in words that help: line, column and what to do."""

from __future__ import annotations

import re
from typing import Any

from global_chat.contract.errors import InvalidWorkflow
from global_chat.yaml.source import Source

_UNREADABLE = re.compile(
    "[^\\t\\n\\r\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]"
)
QUOTE = "If it is meant as text, put the whole value in quotes."

_NO_ENTRY = (
    "This line is not a `key: value` pair.",
    "Add the colon, or indent the line if it belongs to the text above.",
)

#: A part of the parser's complaint: what it means, and what helps.
_MEANINGS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "This line has a second `: `.",
        "Put the value in quotes if the colon belongs to it, as in `name: 'Step 1: fetch'`.",
    ),
    (
        "character '@'",
        "A value begins with `@`.",
        "Put it in quotes: '@openfn/language-http@7.3.2'.",
    ),
    ("character '`'", "A value begins with a backtick.", "Put it in quotes."),
    ("character '%'", "A value begins with `%`.", "Put it in quotes."),
    ("cannot start any token", "A value begins with a character that YAML reserves.", QUOTE),
    ("scanning an alias", "A value begins with `*`.", QUOTE),
    ("scanning an anchor", "`&` names an anchor here.", QUOTE),
    ("scanning a tag", "`!` names a tag here.", QUOTE),
    ("tag handle", "`!` names a tag here.", QUOTE),
    ("quoted scalar", "A quotation mark opens here and is not closed.", "Close it."),
    ("could not find expected ':'", *_NO_ENTRY),
    ("maximum nesting depth", "This is nested too deeply to be read.", ""),
    (
        "did not find expected key",
        "The indentation does not fit the lines around it, or a quote or bracket is missing.",
        "Compare this line with its neighbours.",
    ),
    (
        "expected <block end>",
        "The indentation does not fit the lines around it, or a quote or bracket is missing.",
        "Compare this line with its neighbours.",
    ),
    ("did not find expected ',' or", "A bracket is not closed, or a comma is missing.", ""),
    ("expected ',' or", "A bracket is not closed, or a comma is missing.", ""),
)


class Unreadable(InvalidWorkflow):
    """A text that cannot be used. `problem` says why, `place` where; `details` hold line and column
    for programs. The message is about a workflow: for another text make one of `problem`."""

    def __init__(self, problem: str, place: tuple[int, int] | None = None) -> None:
        self.problem = problem
        self.place = f", line {place[0]}, column {place[1]}" if place else ""
        details = {"line": place[0], "column": place[1]} if place else {}
        super().__init__(
            f"The workflow document cannot be used{self.place}: {problem}", details=details
        )


def refusal(source: Source, offset: int, message: str, suggestion: str = "") -> Unreadable:
    """The refusal of a text at a place in it, with what helps."""
    return Unreadable(f"{message} {suggestion}".rstrip(), source.position(offset))


def syntax_refusal(source: Source, error: Exception) -> Unreadable:
    """The refusal for a parser's error: a character that no YAML may hold, a tab, or its syntax."""
    if bad := _UNREADABLE.search(source.text):
        return refusal(
            source,
            bad.start(),
            f"The character U+{ord(bad[0]):04X} is not allowed in YAML.",
            'Remove it, or write it as an escape inside double quotes, such as "\\x1b".',
        )
    offset = _offset(source, error)
    line_start = source.line_start(offset)
    indent = source.text[line_start : source.line_end(offset)]
    indent = indent[: len(indent) - len(indent.lstrip())]
    if "\t" in indent:
        return refusal(
            source,
            line_start + indent.index("\t"),
            "There is a tab where YAML requires spaces.",
            "Indent with spaces only.",
        )
    if "mapping values are not allowed" in str(error) and _colons(source, offset) < 2:
        # The line is in order; the parser read the one above it as the first half of its key.
        return refusal(source, _start_of_text_above(source, line_start), *_NO_ENTRY)
    return refusal(source, offset, *_meaning(str(error), error))


def _colons(source: Source, offset: int) -> int:
    line = source.text[source.line_start(offset) : source.line_end(offset)]
    return len(re.findall(r":(?=\s|$)", line))


def _start_of_text_above(source: Source, line_start: int) -> int:
    above = source.text[:line_start].rstrip()
    start = source.line_start(len(above))
    return start + len(above[start:]) - len(above[start:].lstrip())


def _offset(source: Source, error: Any) -> int:
    """Where the parser stopped, or where the quote or key begins that it could not end; the end of
    the text when the parser does not say."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = str(error)
    if ("quoted scalar" in said and "unexpected" in said) or "expected ':'" in said:
        mark = getattr(error, "context_mark", None) or mark
    if mark is None:
        return len(source.text)
    return min(int(mark.index) + source.first, len(source.text))


def _meaning(complaint: str, error: Any) -> tuple[str, str]:
    for part, message, suggestion in _MEANINGS:
        if part in complaint:
            return message, suggestion
    problem = str(getattr(error, "problem", None) or complaint.splitlines()[0] or "no YAML")
    return f"It is not valid YAML ({problem}).", ""

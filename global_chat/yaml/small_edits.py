"""A small change of a scalar in its own style: only the changed words of its source are replaced.

Code that is folded or quoted, or has blanks on its empty lines, keeps looking as its owner left it
when a word in it changes. Text and source are brought together by their characters that are no
blanks: those are the same, in the same order, in every style of YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import accumulate

from global_chat.yaml.block_scalars import header_span
from global_chat.yaml.nodes import Scalar
from global_chat.yaml.source import Source, Splice
from global_chat.yaml.writing import is_printable, quoted

#: Longer texts, in characters, are written anew: finding the places takes a second a million.
MAX_CHARACTERS = 200_000
MAX_WORDS = 2_000

_WORD = re.compile(r"\w+|\s+|.")
_VISIBLE = re.compile(r"\S")
_VISIBLE_IN_SINGLE = re.compile(r"''|\S")
_VISIBLE_IN_DOUBLE = re.compile(
    r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\(?:\r\n|[\s\S])|\S"
)
_BLANK_ESCAPES = frozenset({"\\" + sign for sign in "nrtvfNLP_ \t\r\n"} | {"\\\r\n"})


def small_edits(source: Source, value: Scalar, start: int, new: str) -> list[Splice] | None:
    """The splices that make `new` of a scalar whose content begins at `start`.

    None when lines are added or removed, when most of the text changes, when the new text has
    characters that its style cannot hold, or when a change cannot be made within a line of the
    source. Whoever applies them checks what the result reads as.
    """
    old = value.text
    if value.style != '"' and not is_printable(new):
        return None
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(old_lines) != len(new_lines) or max(len(old), len(new)) > MAX_CHARACTERS:
        return None
    visible = list(_visible_spans(source.text, value, start))
    splices: list[Splice] = []
    changed = seen = 0
    for before, after in zip(old_lines, new_lines, strict=True):
        here = len(_VISIBLE.findall(before))
        if before != after:
            spans = _by_offset(before, visible[seen : seen + here])
            for left, right, text in _line_edits(spans, before, after):
                if left < 0 or re.search(r"[\r\n]", source.text[left:right]):
                    return None
                splices.append((left, right, _in_style(text, value.style)))
                changed += right - left
        seen += here
    return splices if seen == len(visible) and changed * 2 <= len(old) else None


def _visible_spans(text: str, value: Scalar, start: int) -> Iterator[tuple[int, int]]:
    """Where each character of the text that is no blank stands in the source."""
    if value.style in ("|", ">"):
        header_end = header_span(text, start, value.end)[1]
        newline = re.compile(r"[\r\n]").search(text, header_end, value.end)
        start = newline.start() if newline else value.end
        yield from (m.span() for m in _VISIBLE.finditer(text, start, value.end))
    elif value.style == "'":
        yield from (m.span() for m in _VISIBLE_IN_SINGLE.finditer(text, start + 1, value.end - 1))
    elif value.style == '"':
        for match in _VISIBLE_IN_DOUBLE.finditer(text, start + 1, value.end - 1):
            if not _is_blank_escape(match[0]):
                yield match.span()
    else:
        yield from (m.span() for m in _VISIBLE.finditer(text, start, value.end))


def _is_blank_escape(token: str) -> bool:
    if len(token) > 2 and token[1] in "xuU":
        return not _VISIBLE.match(chr(int(token[2:], 16)))
    return token in _BLANK_ESCAPES


def _by_offset(line: str, spans: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The spans by the offset of their character in the line."""
    return dict(zip((m.start() for m in _VISIBLE.finditer(line)), spans, strict=False))


def _line_edits(
    spans: dict[int, tuple[int, int]], before: str, after: str
) -> Iterator[tuple[int, int, str]]:
    """The replacements in the source, word by word, that turn the line into the other. The start is
    -1 for one that has no character next to it by which it could be placed."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if max(len(old), len(new)) > MAX_WORDS:
        yield -1, -1, ""
        return
    offsets = [0, *accumulate(len(word) for word in old)]
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        first, last = offsets[i], offsets[j]
        left = spans[first - 1][1] if first - 1 in spans else spans.get(first, (-1, -1))[0]
        right = spans[last][0] if last in spans else spans.get(last - 1, (-1, -1))[1]
        yield (left, right, "".join(new[k:m])) if right >= left else (-1, -1, "")


def _in_style(text: str, style: str) -> str:
    if style == "'":
        return text.replace("'", "''")
    return quoted(text)[1:-1] if style == '"' else text

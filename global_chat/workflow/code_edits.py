"""Applying a model's edits to a step's code: as plain text, in order, all of them or none.

An edit that fits several places, or none, is refused with a sentence by which the model can correct
it: the first match that comes along may be the wrong one, and a wrong edit destroys work. A piece
of code is looked for exactly first. Only when that finds nothing, line ends (CRLF or LF) and blanks
at the ends of lines may differ, and then blanks anywhere: models copy those badly, and JavaScript
hardly sees them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from global_chat.workflow.parts import Step

#: What a comment says that stands for code, in the languages that we speak.
_ELISION = re.compile(
    r"\.\.\.|…|\b(?:rest|remaining|remainder|unchanged|existing|previous|other|same|omitted"
    r"|reste|inchang\w*|existant\w*|resto|restante|igual|sin cambios|sem altera\w*|existente)\b",
    re.IGNORECASE,
)

#: With one of those, the words of a comment that says nothing but that code is left out.
_AROUND_ELISION = frozenset(
    [
        *("the", "of", "your", "all", "code", "job", "step", "file", "is", "as", "before", "above"),
        *(
            "below",
            "stays",
            "remains",
            "here",
            "goes",
            "and",
            "for",
            "brevity",
            "keep",
            "operations",
        ),
        *("du", "de", "le", "la", "el", "o", "do", "del", "code", "código", "codigo", "est", "es"),
    ]
)


@dataclass(frozen=True, slots=True)
class CodeEdit:
    """`replace` puts `new_code` in the place of `old_code`; `rewrite` makes it the whole code."""

    action: Literal["replace", "rewrite"]
    old_code: str | None
    new_code: str


class EditMismatch(Exception):
    """An edit cannot be applied. The message says to the model which one, why, and what to do."""


def apply_code_edits(code: str | None, edits: Sequence[CodeEdit]) -> str:
    """The code after all edits, each applied to the result of the one before.

    On a step without code the new code of any edit becomes the code. Raises EditMismatch when the
    `old_code` of a `replace` is missing or does not fit exactly one place: nothing is applied then.
    """
    text = code or ""
    for number, edit in enumerate(edits, 1):
        which = f"Edit {number} of {len(edits)}" if edits[1:] else "The edit"
        if edit.action == "rewrite" or not Step("", "", code=text).has_code:
            new = _bare(edit.new_code, "\n")
            _check_whole(text, new, which)
            text = new
        else:
            text = _replaced(text, edit, which)
    return text


def _check_whole(old: str, new: str, which: str) -> None:
    """Refuse new code that leaves some of the old out behind a comment which says so.

    That is a new comment line with an ellipsis or a word for what is not written, which says
    nothing else or stands in code that has fewer lines than the old code lost.
    """
    before = Counter(line.strip() for line in old.splitlines() if line.strip())
    after = Counter(line.strip() for line in new.splitlines() if line.strip())
    lost = sum((before - after).values())
    comments = [line for line in after - before if line.startswith(("//", "/*", "*"))]
    gained = sum((after - before).values()) - len(comments)
    told = [line for line in comments if _ELISION.search(line)]
    elided = next((line for line in told if lost > gained or _only_elides(line)), None)
    if elided:
        raise EditMismatch(
            f"{which} leaves code out behind the comment `{elided[:80]}`: that comment would "
            "stand where the code is now. Nothing was changed. Write the code whole, or replace "
            "only the lines that change."
        )


def _only_elides(comment: str) -> bool:
    words = re.findall(r"[^\W\d_]+", _ELISION.sub(" ", comment).lower())
    return all(word in _AROUND_ELISION for word in words)


def _replaced(code: str, edit: CodeEdit, which: str) -> str:
    old = edit.old_code
    if not old or not old.strip():
        raise EditMismatch(
            f"{which} has no old_code. Copy the code that is to be replaced from the step into "
            "old_code, or use the action rewrite with the whole new code."
        )
    found = matches(code, old) or matches(code, _bare(old, ""))
    if len(found) > 1:
        lines = ", ".join(str(line_of(code, start)) for start, _ in found[:10])
        raise EditMismatch(
            f"{which}: old_code occurs {len(found)} times in the code, on lines {lines}. "
            "Nothing was changed. Take in more of the lines around the place that is meant, so "
            "that old_code fits only there."
        )
    if not found:
        raise EditMismatch(
            f"{which}: old_code does not occur in the code. Nothing was changed. Copy it from the "
            f"step's current code, character by character.{_hint(code, old)}"
        )
    start, end = found[0]
    new = _bare(edit.new_code, "")
    _check_whole(code[start:end], new, which)
    if "\r\n" in code:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    if not new:
        start, end = _whole_lines(code, start, end)
    return code[:start] + new + code[end:]


def _whole_lines(code: str, start: int, end: int) -> tuple[int, int]:
    """The place with its indentation and line end, when nothing else stands on its lines: what is
    taken away leaves no line of blanks behind."""
    first = code.rfind("\n", 0, start) + 1
    last = end if code[start:end].endswith("\n") else code.find("\n", end) + 1 or len(code)
    alone = not code[first:start].strip() and not code[end:last].strip()
    return (first, last) if alone and code[start:end].strip() else (start, end)


def _hint(code: str, old: str) -> str:
    line = closest_line(code, old)
    return (
        f" Its first line is like line {line}; the difference may be further down." if line else ""
    )


def _bare(text: str, ending: str) -> str:
    """`text` without a Markdown fence around the whole of it, then with `ending` as its end.

    Fences that belong to the code, in a template literal say, stay: they come in pairs inside the
    outer fence. What is said after the closing fence is no code.
    """
    lines = text.strip().splitlines()
    fences = [i for i, line in enumerate(lines) if line.strip().startswith("```")]
    closing = [i for i in fences if lines[i].strip() == "```"]
    opened = bool(lines) and lines[0].startswith("```") and "`" not in lines[0][3:]
    if not opened or not closing or closing[-1] == 0 or fences.index(closing[-1]) % 2 == 0:
        return text
    return "\n".join(lines[1 : closing[-1]]) + ending


Span = tuple[int, int]


def matches(code: str, piece: str) -> list[Span]:
    """Every place of `piece` in `code`, overlapping ones too, as (start, end). `piece` is not
    blank."""
    exact = [(at, at + len(piece)) for at in _places(code, piece)]
    return exact or _loose_matches(code, piece) or _blank_matches(code, piece)


def line_of(code: str, offset: int) -> int:
    """The line of a place in the code, from 1."""
    return code.count("\n", 0, offset) + 1


def closest_line(code: str, piece: str) -> int | None:
    """The first line of the code that equals the first line of `piece`, blanks aside."""
    first = piece.strip().splitlines()[0].strip()
    lines = enumerate(code.splitlines(), 1)
    return next((number for number, line in lines if line.strip() == first), None)


def _loose_matches(code: str, piece: str) -> list[Span]:
    bare, offsets = _without_blank_ends(code)
    wanted = _without_blank_ends(piece)[0]
    last_line = piece.splitlines()[-1]
    ends: Iterator[int]
    if not piece.endswith("\n") and last_line != last_line.rstrip():
        # The piece ends in a blank: it may only be missing where a line of the code ends.
        ends = (at for at in _places(bare, wanted) if bare[at + len(wanted) :][:1] in ("", "\n"))
    elif bare.endswith(wanted.rstrip("\n")) and not bare.endswith(wanted):
        # The piece ends its last line and the code does not.
        wanted = wanted.rstrip("\n")
        ends = (at for at in _places(bare, wanted) if at + len(wanted) == len(bare))
    else:
        ends = _places(bare, wanted)
    return [(offsets[at], offsets[at + len(wanted) - 1] + 1) for at in ends]


def _blank_matches(code: str, piece: str) -> list[Span]:
    """The places of `piece` where no blank of any kind counts, a no-break space included."""
    offsets = [at for at, character in enumerate(code) if not character.isspace()]
    bare, wanted = "".join(code.split()), "".join(piece.split())
    return [(offsets[at], offsets[at + len(wanted) - 1] + 1) for at in _places(bare, wanted)]


def _places(code: str, piece: str) -> Iterator[int]:
    at = code.find(piece) if piece else -1
    while at >= 0:
        yield at
        at = code.find(piece, at + 1)


def _without_blank_ends(code: str) -> tuple[str, list[int]]:
    """The code without blanks at line ends, and where each of its characters was."""
    kept: list[str] = []
    offsets: list[int] = []
    start = 0
    for line in code.split("\n"):
        text = line.rstrip(" \t\r")
        kept.append(text)
        offsets += range(start, start + len(text))
        offsets.append(start + len(line))
        start += len(line) + 1
    return "\n".join(kept), offsets

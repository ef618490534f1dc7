"""Finding a piece of code in the code of a step.

Exactly first. Only when that finds nothing, line ends (CRLF or LF) and blanks at the ends of lines
are allowed to differ, and then blanks anywhere: models copy those badly, and JavaScript hardly sees
them.
"""

from __future__ import annotations

from collections.abc import Iterator

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

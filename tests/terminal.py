"""A terminal in memory: what a person would see, scrolled-away lines included."""

from __future__ import annotations

import pyte
from pyte.screens import Char


def seen(output: str, columns: int = 60, rows: int = 24) -> list[str]:
    """The lines that `output` leaves, from the first to the last that is not blank."""
    screen = _screen(output, columns, rows)
    above = [_text(row, columns) for row in screen.history.top]
    lines = [*above, *(line.rstrip() for line in screen.display)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def cursor_is_shown(output: str) -> bool:
    return not _screen(output, 60, 24).cursor.hidden


def _screen(output: str, columns: int, rows: int) -> pyte.HistoryScreen:
    screen = pyte.HistoryScreen(columns, rows, history=100_000)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(output)
    return screen


def _text(row: dict[int, Char], columns: int) -> str:
    return "".join(row[x].data if x in row else " " for x in range(columns)).rstrip()

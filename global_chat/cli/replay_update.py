"""`--update`: cases expect what came, after a person has seen the difference."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.syntax import Syntax

from global_chat.disk.writing import write_together
from global_chat.render.text import clean
from global_chat.replay.case import Case
from global_chat.replay.play import play_script
from global_chat.replay.update import Update, update_of


def update(cases: Sequence[Case], screen: Console, errors: Console, *, ask: bool) -> int:
    """Show how the case files would change, and change them when that is wanted.

    Returns the exit code: 1 when a difference is left that only a person can settle, or when
    nothing was written because nobody could be asked.
    """
    updates = [u for case in cases if (u := update_of(case, asyncio.run(play_script(case))))]
    changing = [u for u in updates if u.before != u.after]
    for one in changing:
        screen.print(Syntax(clean(one.diff), "diff", background_color="default", word_wrap=True))
    for one in updates:
        for difference in one.left:
            errors.print(f"{one.path}: {clean(difference)}", markup=False)
    if not updates:
        screen.print("Every case expects what comes. Nothing to update.")
        return 0
    if changing and not _wanted(changing, errors, ask=ask):
        return 1
    write_together({one.path: one.after for one in changing})
    screen.print(f"Updated {len(changing)} of {len(cases)} cases.")
    return int(any(one.left for one in updates))


def _wanted(changing: Sequence[Update], errors: Console, *, ask: bool) -> bool:
    if not ask:
        return True
    if not sys.stdin.isatty():
        errors.print("Nothing was written. Look at the differences, then add --yes.")
        return False
    return typer.confirm(f"Write these {len(changing)} files?")

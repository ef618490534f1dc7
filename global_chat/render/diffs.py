"""What changed in the code of a step, as a coloured unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from global_chat.contract.events import StepDiff

from .safe_text import clean, one_line

#: A longer diff is cut: the terminal is for seeing what kind of change it is.
MAX_LINES = 300

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff_view(step: StepDiff) -> RenderableType:
    """The step's name with the number of lines added and removed, then the diff."""
    lines = list(diff_lines(clean(step.before), clean(step.after)))
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    title = Text.assemble((one_line(step.name), "bold"), f"  +{added} −{removed}")
    shown = [_coloured(line) for line in lines[:MAX_LINES]]
    if not lines:
        shown = [Text("only line ends or unseen characters changed", style="dim")]
    if len(lines) > MAX_LINES:
        left = len(lines) - MAX_LINES
        shown.append(Text(f"… {left:,} more lines; the workflow file has them all", style="dim"))
    return Group(Rule(title, align="left", style="dim"), *shown)


def diff_lines(before: str, after: str) -> Iterator[str]:
    """Unified diff lines with three lines of context, without the two file names."""
    found = difflib.unified_diff(_lines(before), _lines(after), lineterm="")
    for number, line in enumerate(found):
        if number >= 2:
            yield line


def _lines(code: str) -> list[str]:
    lines = code.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _coloured(line: str) -> Text:
    style = _STYLES.get(line[:1], "dim")
    return Text(line, style=style, overflow="fold", tab_size=4)

"""Runs of the history on a terminal: the list of them, and two side by side."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from global_chat.render.text import one_line

from .comparison import Comparison
from .history import Run
from .summary import Summary

_COLOURS = {"broken": "red", "fixed": "green", "other way": "yellow"}


def show_runs(screen: Console, runs: Iterable[tuple[Run, Summary]]) -> None:
    """Every run with what came of it, the newest first."""
    table = _table("run", "started", "backend", "passed", "failed", "what")
    for run, summary in runs:
        table.add_row(
            str(run.id),
            run.started if run.ended else f"{run.started} (cut off)",
            run.backend,
            str(summary.counts["passed"]),
            str(summary.failed),
            Text(one_line(run.selection)),
        )
    screen.print(table)


def show_comparison(screen: Console, first: Run, second: Run, found: Comparison) -> None:
    """The sums of both runs, then each case that differs."""
    table = _table("", f"run {first.id}", f"run {second.id}")
    for name, before, after in _sums(found.before, found.after):
        table.add_row(name, before, after)
    screen.print(table)
    if not found.changes:
        screen.print("Every case came out the same way.")
        return
    changes = _table("case", "", f"run {first.id}", f"run {second.id}")
    for change in found.changes:
        changes.add_row(
            Text(one_line(change.case)),
            Text(change.kind, _COLOURS.get(change.kind, "dim")),
            Text(one_line(change.before)),
            Text(one_line(change.after)),
        )
    screen.print(changes)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _sums(before: Summary, after: Summary) -> list[tuple[str, str, str]]:
    return [(name, a, b) for (name, a), (_, b) in zip(_rows(before), _rows(after), strict=True)]


def _rows(summary: Summary) -> list[tuple[str, str]]:
    tokens = sum(
        total.usage.input_tokens + total.usage.output_tokens for total in summary.agents.values()
    )
    right = f"{summary.right} of {summary.labelled}" if summary.labelled else "no labels"
    return [
        ("passed", f"{summary.counts['passed']} of {summary.total}"),
        ("handed over", f"{summary.handovers} of {summary.routed}"),
        ("routes right", right),
        ("tokens", f"{tokens:,}"),
        ("cost", "not known" if summary.cost is None else f"${summary.cost:.4f}"),
        ("seconds", f"{summary.seconds:.1f}"),
    ]

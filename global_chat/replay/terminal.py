"""A run on a terminal: a bar while it lasts, then a table in case order and every failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TextIO, cast

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from global_chat.render.text import Stream, clean, one_line

from .history import Run
from .result import Result, Status
from .summary import Summary, who_answered

#: A pipe has no width of its own; lines for a file may be as long as a wide window.
PIPE_WIDTH = 160

_MARKS: dict[Status, tuple[str, str]] = {
    "passed": ("✔", "green"),
    "failed": ("✘", "red"),
    "crashed": ("✘", "red"),
    "stopped": ("–", "yellow"),
}


def console(stream: TextIO | None, *, colours: bool) -> Console:
    """A console that shows what the stream's encoding has and never fails.

    It interprets nothing of what it shows. A pipe has no width, so lines there are long.
    """
    safe = Stream(stream)
    return Console(
        file=cast(IO[str], safe),
        width=None if safe.isatty() else PIPE_WIDTH,
        no_color=not colours,
        highlight=False,
        emoji=False,
    )


class Bar:
    """How far the run is, on the error stream. Shows nothing where no person looks."""

    def __init__(self, screen: Console, total: int) -> None:
        self._failed = 0
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=screen,
            transient=True,
            disable=not screen.is_terminal,
        )
        self._task = self._progress.add_task("", total=total, failed="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, result: Result) -> None:
        """One more is done."""
        self._failed += result.failed
        self._progress.update(
            self._task,
            advance=1,
            description=escape(one_line(result.case)),
            failed=f"[red]{self._failed} failed[/]" if self._failed else "",
        )


def show_table(screen: Console, results: Iterable[Result], summary: Summary) -> None:
    """One row a case, in the order of the cases; repetitions of a case are one row."""
    repeated = any(rate.total > 1 for rate in summary.rates.values())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("", "case", "way", "confidence"):
        table.add_column(name, overflow="fold")
    table.add_column("passed (95 % interval)" if repeated else "ms", justify="right")
    for result in _first_of_each(results):
        mark, style = _MARKS[_status(result, summary)]
        last = f"{result.seconds * 1000:,.0f}"
        table.add_row(
            Text(mark, style),
            Text(one_line(result.case)),
            Text(result.way),
            str(result.confidence or ""),
            str(summary.rates.get(result.case, "")) if repeated else last,
        )
    screen.print(table)


def _first_of_each(results: Iterable[Result]) -> Iterator[Result]:
    seen: set[str] = set()
    for result in results:
        if result.case not in seen:
            seen.add(result.case)
            yield result


def _status(result: Result, summary: Summary) -> Status:
    rate = summary.rates.get(result.case)
    return "failed" if rate and rate.passed < rate.total else result.status


def show_failures(screen: Console, results: Iterable[Result]) -> None:
    """Every failure with what was expected and what came."""
    for result in results:
        if not result.failed:
            continue
        repeated = f" (run {result.number})" if result.number > 1 else ""
        screen.print(Text(f"✘ {one_line(result.case)}{repeated}", "bold red"), end=" ")
        screen.print(Text(one_line(result.title)))
        for difference in result.differences:
            lines = clean(difference).splitlines()
            screen.print(Text("\n".join(f"    {line}" for line in lines)))


def show_summary(screen: Console, summary: Summary, run: Run) -> None:
    """The last lines: whose answers these are, how many passed, where they went."""
    word, sentence = who_answered(summary, run.backend)
    screen.print(Text(f"{word}: {sentence}", "dim"))
    found = [f"{summary.counts[name]} {name}" for name in _MARKS if summary.counts[name]]
    colour = "red" if summary.failed else "green"
    handed = f"{summary.handovers} of {summary.routed} handed over"
    right = f", {summary.right} of {summary.labelled} routes right" if summary.labelled else ""
    screen.print(
        Text(f"{', '.join(found) or '0 passed'} of {summary.total}", f"bold {colour}"), end="; "
    )
    screen.print(Text(f"{handed}{right}; run {run.id}"))

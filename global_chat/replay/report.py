"""Reports: on a terminal, as a page of HTML, as JUnit's XML for CI, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from global_chat.contract.names import DESTINATIONS
from global_chat.render.text import clean, one_line
from global_chat.render.wording import dollars

from .history import Run
from .result import EVIDENCE, Result, Status
from .summary import Change, Summary, trend

_MARKS = {"passed": "✔", "failed": "✘", "crashed": "✘", "stopped": "–"}
_COLOURS = {
    **{"passed": "green", "failed": "red", "crashed": "red", "stopped": "yellow"},
    **{"broken": "red", "fixed": "green", "other way": "yellow"},
}


def progress(screen: Console) -> Progress:
    """A progress bar; it shows nothing when the screen is not a terminal."""
    failed, case = TextColumn("{task.fields[failed]}", style="red"), "{task.description}"
    columns = (BarColumn(), MofNCompleteColumn(), failed, TimeElapsedColumn())
    shown = (*columns, TextColumn(case, markup=False))
    return Progress(*shown, console=screen, transient=True, disable=not screen.is_terminal)


def show_run(screen: Console, run: Run, summary: Summary) -> None:
    """A table of the cases, repetitions in one row; every failure; then the totals."""
    repeated = any(rate.total > 1 for rate in summary.rates.values())
    table = _table("", "case", "way", "confidence")
    table.add_column("passed (95 % interval)" if repeated else "ms", justify="right")
    first_of_each: dict[str, Result] = {}
    for result in summary.results:
        first_of_each.setdefault(result.case, result)
    for case, result in first_of_each.items():
        rate = summary.rates.get(case)
        status = "failed" if rate and rate.passed < rate.total else result.status
        last = str(rate or "") if repeated else f"{result.seconds * 1000:,.0f}"
        shown = (one_line(case), result.path, str(result.confidence or ""), last)
        table.add_row(Text(_MARKS[status], _COLOURS[status]), *map(Text, shown))
    screen.print(table)
    for result in summary.results:
        if result.failed:
            again = f" (run {result.number})" if result.number > 1 else ""
            screen.print(Text(f"✘ {one_line(result.case)}{again}", "bold red"), end=" ")
            screen.print(Text(one_line(result.title)))
            for line in clean("\n".join(result.differences)).splitlines():
                screen.print(Text(f"    {line}"))
    answered = ": ".join(summary.answered_by(run.backend))
    cost = f" It cost {summary.cost_told}." if summary.asked else ""
    screen.print(Text(answered + cost, "dim"))
    counts = [f"{n} {name}" for name in _MARKS if (n := summary.counts[name])] or ["0 passed"]  # type: ignore[index]
    colour = "bold red" if summary.failed else "bold green"
    passed = (f"{', '.join(counts)} of {summary.total}", colour)
    screen.print(Text.assemble(passed, f"; {summary.routes_told}; run {run.id}"))


def show_runs(screen: Console, runs: Iterable[tuple[Run, Summary]]) -> None:
    """Every run with its results in numbers, the newest first."""
    table = _table("run", "started", "backend", "passed", "failed", "what")
    for run, summary in runs:
        started = run.started if run.ended else f"{run.started} (not finished)"
        counts = (str(summary.counts["passed"]), str(summary.failed))
        selection = Text(one_line(run.selection))
        table.add_row(str(run.id), started, run.backend, *counts, selection)
    screen.print(table)


def show_comparison(
    screen: Console, first: tuple[Run, Summary], second: tuple[Run, Summary], found: list[Change]
) -> None:
    """The totals of both runs, then each case that differs."""
    runs = [f"run {run.id}" for run, _ in (first, second)]
    table = _table("", *runs)
    before, after = _sums(first[1]), _sums(second[1])
    for name in before:
        table.add_row(name, before[name], after[name])
    screen.print(table)
    if not found:
        screen.print("Every case came out the same way.")
        return
    changes = _table("case", "", *runs)
    for case, kind, was, now in found:
        changed = Text(kind, _COLOURS.get(kind, "dim"))
        changes.add_row(Text(one_line(case)), changed, Text(one_line(was)), Text(one_line(now)))
    screen.print(changes)


def _sums(summary: Summary) -> dict[str, str]:
    right = f"{summary.routes[True]} of {summary.labelled}" if summary.labelled else "no labels"
    return {
        "passed": f"{summary.counts['passed']} of {summary.total}",
        "handed over": f"{summary.handovers} of {summary.routed}",
        "routes right": right,
        "tokens": f"{summary.tokens:,}",
        "cost": summary.cost_told,
        "seconds": f"{summary.seconds:.1f}",
    }


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def html_report(run: Run, summary: Summary, earlier: Sequence[tuple[Run, Summary]] = ()) -> str:
    """One page that needs no other file and no network; `earlier` are the runs of its trend."""
    runs = [*earlier, (run, summary)]
    figures = trend([one for _, one in runs])
    return _filled("report.html.j2", run, summary, runs=[one for one, _ in runs], figures=figures)


def junit_report(run: Run, summary: Summary) -> str:
    """JUnit's XML: one test case a result, named after the case."""
    return _filled("report.junit.j2", run, summary)


def _filled(template: str, run: Run, summary: Summary, **more: Any) -> str:
    shared = {"answered_by": summary.answered_by(run.backend), "destinations": DESTINATIONS}
    filled = _templates().get_template(template)
    return filled.render(run=run, summary=summary, dollars=dollars, marks=_MARKS, **shared, **more)


@cache
def _templates() -> Environment:
    """The templates, with all text in them as text, never markup."""
    return Environment(
        loader=PackageLoader("global_chat.replay", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )


def _printable(value: object) -> object:
    """Text without the characters that HTML and XML cannot hold, not even escaped."""
    if type(value) is not str:  # markup that a macro has made is a subclass
        return value
    return clean(value).translate(dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd"))


def json_report(run: Run, summary: Summary) -> str:
    """One JSON object, two-space indent, characters as they are. Rates come with their interval."""
    counts: dict[str, Any] = {
        "total": summary.total,
        **{status: summary.counts[status] for status in get_args(Status)},
        "scripted": summary.scripted,
        "handovers": summary.handovers,
        "routed": summary.routed,
        "routes_right": summary.routes[True],
        "routes_wrong": summary.routes[False],
        "routes_labelled": summary.labelled,
        "routes_not_labelled": summary.routes[None],
        "matrix": [
            {"expected": expected, "taken": taken, "right": right, "count": count}
            for (expected, taken, right), count in summary.matrix.items()
        ],
        "confidence": {
            str(level): sum(n for (c, _), n in summary.confidence.items() if c == level)
            for level in range(1, 6)
        },
        "agents": {
            name: {"asked_in": total.asked_in, "cost_usd": total.cost, **total.usage.as_dict()}
            for name, total in summary.agents.items()
        },
        "cost_usd": summary.cost,
        "seconds": round(summary.seconds, 3),
        "rates": {
            case: {**rate._asdict(), "interval": rate.interval()}
            for case, rate in summary.rates.items()
            if rate.total > 1
        },
    }
    report = {
        "run": {"id": run.id, "started": run.started, "backend": run.backend},
        "summary": counts,
        "results": [
            result.model_dump(mode="json", exclude_none=True, exclude=set(EVIDENCE))
            for result in summary.results
        ],
    }
    return json.dumps(report, ensure_ascii=False, indent=2)

"""The reports of a run, each from the history, result by result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console

from global_chat.disk.writing import check_writable, write_atomically
from global_chat.render.text import Stream
from global_chat.replay.case import Case
from global_chat.replay.comparison import compare_runs
from global_chat.replay.history import History, Run
from global_chat.replay.report_html import html_report
from global_chat.replay.report_json import json_report
from global_chat.replay.report_junit import junit_report
from global_chat.replay.result import Result
from global_chat.replay.summary import Summary, summarize
from global_chat.replay.terminal import show_failures, show_summary, show_table
from global_chat.replay.terminal_runs import show_comparison, show_runs

from .replay_options import ReportOptions


class Reports:
    """Whatever reports the options ask for."""

    def __init__(self, options: ReportOptions, screen: Console) -> None:
        self._options, self._screen = options, screen

    def check(self) -> None:
        """Raise `BadRequest` for a report that could not be written, before anything is run."""
        check_writable([path for path in (self._options.junit, self._options.html) if path])

    def give(self, history: History, run: Run, cases: Sequence[Case]) -> Summary:
        """Give them all, in the order of the cases, and return what they sum up."""

        def results() -> Iterator[Result]:
            """Of a run that is resumed, results of a case that has changed since do not count."""
            for case in cases:
                for result in history.results(run, case.id):
                    if result.fingerprint == case.fingerprint:
                        yield result

        summary = summarize(results())
        if self._options.as_json:
            Stream(sys.stdout).json(json_report(run, summary, results()))
        else:
            show_table(self._screen, results(), summary)
            show_failures(self._screen, results())
            show_summary(self._screen, summary, run)
        if self._options.junit is not None:
            write_atomically(self._options.junit, junit_report(run, summary, results()))
        if self._options.html is not None:
            page = html_report(run, summary, results, lambda r: history.evidence(run, r))
            write_atomically(self._options.html, page)
        return summary


def list_runs(history: History, screen: Console) -> int:
    """Show every run; the exit code."""
    show_runs(screen, ((run, summarize(history.results(run))) for run in history.runs()))
    return 0


def show_two_runs(history: History, first: str, second: str, screen: Console) -> int:
    """Show what differs between two runs. The exit code is 1 when something broke."""
    before, after = history.run(first), history.run(second)
    found = compare_runs(history.results(before), history.results(after))
    show_comparison(screen, before, after, found)
    return int(any(change.kind == "broken" for change in found.changes))

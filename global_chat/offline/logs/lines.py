"""A run log as lines, each with the step during which it was written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_START = re.compile(
    r"(?:Starting|Running|Started|Executing) (?:step|job"
    r"|operation) (?P<name>.+?)(?: with dataclip.*)?$"
)
_COMPLETED = re.compile(
    r"(?:Completed|Finished|Succeeded) (?:step|job) (?P<name>.+?) (?:in|after) "
)
_FAILED = re.compile(
    r"(?:Failed|Crashed|Errored) (?:step|job) (?P<name>.+?)(?: after [\d.]+ ?m?s\b.*|: .*|$)"
)
_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Fault)\b|error|Error|ERROR|exceeded|was killed"
    r"|Unhandled|violates|refused|denied|rejected|invalid|Invalid)|✘|✖|✗"
)
_STATUS = re.compile(
    r"(?:- |returned |status(?: code)?:? ?|HTTP/[\d.]+ )(?P<code>[1-5]\d\d)\b"
    r"|✘ (?P<code2>[45]\d\d) "
)
_METHOD = re.compile(r"\b(?P<method>GET|POST|PUT|PATCH|DELETE)\b (?:to )?(?P<url>\S+)")
_STACK = re.compile(r"^\s+at \S")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `step` is the name of the step that was running, as the log writes it."""

    number: int
    text: str
    step: str | None

    @property
    def status(self) -> int | None:
        """The HTTP status that the line reports."""
        match = _STATUS.search(self.text)
        return int(match["code"] or match["code2"]) if match else None

    @property
    def request(self) -> tuple[str, str] | None:
        """Method and URL of a request that the line reports, the query aside."""
        match = _METHOD.search(self.text)
        return (match["method"], match["url"].split("?")[0]) if match else None

    @property
    def is_error(self) -> bool:
        return bool(_ERROR.search(self.text)) and not self.is_stack

    @property
    def is_stack(self) -> bool:
        """A line of a stack trace."""
        return bool(_STACK.match(self.text))


@dataclass(slots=True)
class StepRun:
    """One step's run: its lines, and whether it failed."""

    name: str
    lines: list[LogLine] = field(default_factory=list)
    failed: bool = False
    completed: bool = False


@dataclass(frozen=True, slots=True)
class RunLog:
    """A whole log. `after` are lines that belong to no step."""

    lines: tuple[LogLine, ...]
    runs: tuple[StepRun, ...]

    @property
    def failures(self) -> tuple[StepRun, ...]:
        """The steps that failed, in order; a step that started and never ended counts."""
        failed = tuple(run for run in self.runs if run.failed)
        if failed:
            return failed
        return tuple(r for r in self.runs if not r.completed and any(x.is_error for x in r.lines))


def read_log(text: str) -> RunLog:
    """Read a log in any of the forms that the worker and the command line write."""
    lines: list[LogLine] = []
    runs: list[StepRun] = []
    current: StepRun | None = None
    ended = False
    for number, raw in enumerate(text.splitlines()):
        if start := _START.search(raw.rstrip()):
            current, ended = StepRun(start["name"].strip(" '\"")), False
            runs.append(current)
        elif ended and current is not None and not raw.startswith((" ", "\t")):
            current = None
        line = LogLine(number, raw, current.name if current else None)
        lines.append(line)
        if failed := _FAILED.search(raw):
            current = current or _run_named(runs, failed["name"].strip(" '\""))
            current.failed, ended = True, True
        elif _COMPLETED.search(raw) and current is not None:
            current.completed, ended = True, True
        if current is not None:
            current.lines.append(line)
    return RunLog(tuple(lines), tuple(runs))


def _run_named(runs: list[StepRun], name: str) -> StepRun:
    found = next((run for run in reversed(runs) if run.name == name), None)
    if found is None:
        found = StepRun(name)
        runs.append(found)
    return found

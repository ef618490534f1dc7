"""What `check` does: print the problems of workflow files, for people or as JSON lines for CI."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from global_chat.contract.errors import InputError
from global_chat.disk.reading import read_text
from global_chat.knowledge.catalogue import Catalogue
from global_chat.render.safe_text import one_line
from global_chat.render.stream import Stream
from global_chat.workflow.parts import Problem
from global_chat.workflow.whole_file import every_workflow

_CLEAN, _PROBLEMS, _UNREADABLE = 0, 1, 2

#: Where a refusal names the place that stands in front of the line anyway.
_PLACE = re.compile(r"^The workflow document cannot be used, line \d+, column \d+: ")


def run_check(paths: Sequence[str | Path], as_json: bool) -> int:
    """Check every file and print what is wrong with it; `-` is standard input.

    One line a problem on standard output, `file:line:column: severity: message [rule]`, or with
    `as_json` one JSON object. How many there were goes to standard error. Returns the exit code:
    0 when there is no problem, 1 when there are some, 2 when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    known = Catalogue.load().versions
    counts = {"error": 0, "warning": 0}
    unreadable = False
    for path in paths:
        try:
            found = list(_problems(str(path), known))
        except InputError as error:
            unreadable = True
            details = error.details
            said = _PLACE.sub("", error.message)
            problem = Problem(
                "error", "unreadable", said, details.get("line"), details.get("column")
            )
            found = [(None, problem)]
        for workflow, problem in found:
            counts[problem.severity] += 1
            if as_json:
                out.json(_as_json(str(path), workflow, problem))
            else:
                out.line(_line(str(path), problem))
    err.line(_summary(len(paths), counts))
    return _UNREADABLE if unreadable else _PROBLEMS if any(counts.values()) else _CLEAN


def _problems(
    path: str, known: Mapping[str, Collection[str]]
) -> Iterator[tuple[str | None, Problem]]:
    text = read_text(path)
    if not text.removeprefix("\ufeff").strip():
        yield None, Problem("warning", "empty", "The file is empty.", 1, 1)
    for key, workflow in every_workflow(text):
        for problem in workflow.check(known):
            yield key, problem


def _line(path: str, problem: Problem) -> str:
    place = f":{problem.line}:{problem.column or 1}" if problem.line else ""
    hint = f" {problem.suggestion}" if problem.suggestion else ""
    text = f"{path}{place}: {problem.severity}: {problem.message}{hint} [{problem.rule}]"
    return one_line(text)


def _as_json(path: str, workflow: str | None, problem: Problem) -> str:
    values = {
        "file": path,
        "workflow": workflow,
        "line": problem.line,
        "column": problem.column,
        "severity": problem.severity,
        "rule": problem.rule,
        "message": problem.message,
        "suggestion": problem.suggestion,
    }
    return json.dumps({k: v for k, v in values.items() if v is not None}, ensure_ascii=False)


def _summary(files: int, counts: dict[str, int]) -> str:
    found = [_count(number, word) for word, number in counts.items() if number]
    return f"{_count(files, 'file')} checked: {', '.join(found) or 'no problems'}."


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"

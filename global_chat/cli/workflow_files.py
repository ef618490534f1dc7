"""What `check` and `diff` do: say what is wrong with workflow files, and how two of them differ."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from global_chat.contract.errors import InputError
from global_chat.disk.reading import read_text
from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.store import Store, cache_folder
from global_chat.render.text import Stream, clean, counted, diff_lines, one_line
from global_chat.render.wording import error_text
from global_chat.workflow.changes import project_changes
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Problem

#: Exit codes, as those of the `diff` program.
_NOTHING_FOUND, _SOMETHING_FOUND, _UNREADABLE = 0, 1, 2

#: The place in a refusal, which the line begins with anyway.
_PLACE = re.compile(r"^The workflow document cannot be used, line \d+, column \d+: ")

_NO_CHANGE = "Nothing that the workflow does changed: only comments, layout or ids."


def run_check(paths: Sequence[str | Path], as_json: bool) -> int:
    """Check every file and print what is wrong with it; `-` is standard input.

    One line a problem on standard output, `file:line:column: severity: message [rule]`, or with
    `as_json` one JSON object. How many there were goes to standard error. Returns the exit code:
    0 when there is no problem, 1 when there are some, 2 when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    catalogue = _catalogue()
    counts = {"error": 0, "warning": 0}
    unreadable = False
    for path in paths:
        try:
            found = list(_problems(str(path), catalogue))
        except InputError as error:
            unreadable = True
            place = error.details.get("line"), error.details.get("column")
            message = _PLACE.sub("", error.message)
            found = [(None, Problem("error", "unreadable", message, *place))]
        for workflow, problem in found:
            counts[problem.severity] += 1
            if as_json:
                values = {"file": str(path), "workflow": workflow, **asdict(problem)}
                given = {name: value for name, value in values.items() if value is not None}
                out.json(json.dumps(given, ensure_ascii=False))
            else:
                out.line(_line(str(path), problem))
    numbers = [counted(number, word) for word, number in counts.items() if number]
    err.line(f"{counted(len(paths), 'file')} checked: {', '.join(numbers) or 'no problems'}.")
    if unreadable:
        return _UNREADABLE
    return _SOMETHING_FOUND if any(counts.values()) else _NOTHING_FOUND


def _catalogue() -> Catalogue:
    """The catalogue, with the adaptors that were synced."""
    store = Store(cache_folder(os.environ))
    synced = store.adaptor_versions() if store.size() else {}
    store.close()
    return Catalogue.load().with_versions(synced)


def _problems(path: str, catalogue: Catalogue) -> Iterator[tuple[str | None, Problem]]:
    text = read_text(path)
    if not text.removeprefix("\ufeff").strip():
        yield None, Problem("warning", "empty", "The file is empty.", 1, 1)
    for key, workflow in Workflow.every(text):
        for problem in workflow.check(catalogue.versions, catalogue.facts):
            yield key, problem


def _line(path: str, problem: Problem) -> str:
    place = f":{problem.line}:{problem.column or 1}" if problem.line else ""
    hint = f" {problem.suggestion}" if problem.suggestion else ""
    text = f"{path}{place}: {problem.severity}: {problem.message}{hint} [{problem.rule}]"
    return one_line(text)


def run_diff(old: str | Path, new: str | Path) -> int:
    """Print what `new` changes in `old`: one line a change, then the lines of the two texts.

    Returns the exit code, as `diff` does: 0 when the texts are the same, 1 when they differ, 2
    when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    try:
        texts = read_text(old), read_text(new)
        changes = list(_changes(*texts))
    except InputError as error:
        err.line(error_text(error))
        return _UNREADABLE
    if texts[0] == texts[1]:
        return _NOTHING_FOUND
    for change in changes or [_NO_CHANGE]:
        out.line(one_line(change))
    out.line("")
    for line in diff_lines(clean(texts[0]), clean(texts[1])):
        out.line(line)
    return _SOMETHING_FOUND


def _changes(old: str, new: str) -> Iterator[str]:
    """The changes of every workflow, of a project's under its key."""
    before, after = dict(Workflow.every(old)), dict(Workflow.every(new))
    yield from project_changes(next(iter(before.values())), next(iter(after.values())))
    if len(before) == len(after) == 1:
        yield from next(iter(before.values())).changes_to(next(iter(after.values())))
        return
    nothing = Workflow.read(None)
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            yield f"Removed workflow {key}"
            continue
        if key not in before:
            yield f"Added workflow {key}"
        for change in before.get(key, nothing).changes_to(after[key]):
            yield f"{key}: {change}"

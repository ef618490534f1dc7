"""What `check`, `diff`, `new` and `undo` do with workflow files, without asking any model."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from global_chat.contract.errors import BadRequest, InputError, TurnError
from global_chat.contract.texts import did_you_mean
from global_chat.disk.applying import undo_change
from global_chat.disk.project_folder import workflow_file, workflow_files
from global_chat.disk.pulled import WorkflowFiles, open_files
from global_chat.disk.reading import read_text
from global_chat.disk.writing import check_writable, write_together
from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.store import Store, cache_folder
from global_chat.render.text import Stream, clean, counted, diff_lines, one_line
from global_chat.render.wording import error_text
from global_chat.workflow.changes import project_changes
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Problem

#: Exit codes, as those of the `diff` program.
_NOTHING_FOUND, _SOMETHING_FOUND, _UNREADABLE = 0, 1, 2

#: More problems than this are counted, not printed: a person reads the first, and a program asks
#: for JSON.
MOST_PRINTED = 50

FORMATS = ("text", "github", "json", "sarif")

#: The place in a refusal, which the line begins with anyway.
_PLACE = re.compile(r"^The workflow document cannot be used, line \d+, column \d+: ")

_NO_CHANGE = "Nothing that the workflow does changed: only comments, layout or ids."


@dataclass(frozen=True, slots=True)
class _Found:
    """A problem, the file that it is in, and what a project calls its workflow."""

    file: str
    problem: Problem
    workflow: str | None = None
    line: int | None = None
    column: int | None = None

    @property
    def message(self) -> str:
        hint = f" {self.problem.suggestion}" if self.problem.suggestion else ""
        return self.problem.message + hint

    def as_text(self) -> str:
        place = f":{self.line}:{self.column or 1}" if self.line else ""
        problem = self.problem
        text = f"{self.file}{place}: {problem.severity}: {self.message} [{problem.rule}]"
        return one_line(text)

    def as_github(self) -> str:
        """A workflow command, by which GitHub shows the problem beside its line."""
        values = {"file": self.file, "line": self.line or 1, "col": self.column or 1}
        values["title"] = self.problem.rule
        given = ",".join(f"{k}={_escaped(str(v), ':,')}" for k, v in values.items())
        return clean(f"::{self.problem.severity} {given}::{_escaped(one_line(self.message))}")

    def as_json(self) -> str:
        problem = self.problem
        values = {
            **{"file": self.file, "workflow": self.workflow, "severity": problem.severity},
            **{"rule": problem.rule, "message": problem.message, "line": self.line},
            **{"column": self.column, "suggestion": problem.suggestion},
        }
        given = {name: value for name, value in values.items() if value is not None}
        return json.dumps(given, ensure_ascii=False)

    def as_sarif(self) -> dict[str, Any]:
        region = {"startLine": self.line or 1, "startColumn": self.column or 1}
        place = {"artifactLocation": {"uri": Path(self.file).as_posix()}, "region": region}
        return {
            "ruleId": self.problem.rule,
            "level": self.problem.severity,
            "message": {"text": self.message},
            "locations": [{"physicalLocation": place}],
        }


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" + more else c for c in text)


def run_check(paths: Sequence[str | Path], style: str = "text", *, strict: bool = False) -> int:
    """Check every file, and every workflow file of a folder, and print what is wrong; `-` is
    standard input.

    Problems go to standard output in the `style`, how many there were to standard error. Returns
    the exit code: 0 when there is no error (and no warning if `strict`), 1 when there are some, 2
    when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    catalogue = _catalogue()
    counts: Counter[str] = Counter()
    checked = printed = 0
    unreadable = False
    results: list[dict[str, Any]] = []
    for path in _every_file(paths):
        checked += 1
        for found in _problems(path, catalogue):
            counts[found.problem.severity] += 1
            unreadable = unreadable or found.problem.rule == "unreadable"
            if style == "json":
                out.json(found.as_json())
            elif style == "sarif":
                results.append(found.as_sarif())
            elif printed < MOST_PRINTED:
                printed += 1
                out.line(found.as_text() if style == "text" else found.as_github())
    if style == "sarif":
        out.json(_sarif(results))
    elif style != "json" and (more := counts.total() - printed):
        err.line(f"{counted(more, 'more problem')}; --format json shows all of them.")
    numbers = [counted(counts[word], word) for word in ("error", "warning") if counts[word]]
    err.line(f"{counted(checked, 'file')} checked: {', '.join(numbers) or 'no problems'}.")
    if unreadable:
        return _UNREADABLE
    failed = counts["error"] or (strict and counts["warning"]) or out.error
    return _SOMETHING_FOUND if failed else _NOTHING_FOUND


def _every_file(paths: Sequence[str | Path]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from (workflow_files(path) or [path]) if path.is_dir() else [path]


def _catalogue() -> Catalogue:
    """The catalogue, with the adaptors that were synced."""
    store = Store(cache_folder(os.environ))
    synced = store.adaptor_versions() if store.size() else {}
    store.close()
    return Catalogue.load().with_versions(synced)


def _problems(path: Path, catalogue: Catalogue) -> Iterator[_Found]:
    """What is wrong with a file, and with the code in the files that it names."""
    try:
        whole = str(path) == "-"
        opened = open_files(path, strict=False) if not whole else _standard_input()
        if not opened.text.removeprefix("\ufeff").strip():
            empty = Problem("warning", "empty", "The file is empty.", 1, 1)
            yield _Found(str(path), empty, None, 1, 1)
        for fault in opened.faults:
            yield _Found(str(path), fault, None, fault.line, fault.column)
        for key, workflow in Workflow.every(opened.text):
            for problem in workflow.check(catalogue.versions, catalogue.facts):
                file, line, column = opened.place(problem.line or 0, problem.column)
                yield _Found(str(file), problem, key, line or None, column)
    except InputError as error:
        place = error.details.get("line"), error.details.get("column")
        problem = Problem("error", "unreadable", _PLACE.sub("", error.message))
        yield _Found(str(path), problem, None, *place)


def _standard_input() -> WorkflowFiles:
    text = read_text("-")
    return WorkflowFiles(Path("-"), text, text, {})


def _sarif(results: list[dict[str, Any]]) -> str:
    """The log that code scanners exchange, version 2.1.0."""
    rules = [{"id": rule} for rule in sorted({result["ruleId"] for result in results})]
    run = {"tool": {"driver": {"name": "global-chat", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def run_diff(old: Path, new: Path, as_json: bool = False) -> int:
    """Print what `new` changes in `old`: one line a change, then the lines of the two texts; with
    `as_json` one object, `{changes, diff}`. The code of pulled projects is compared as well.

    Returns the exit code, as `diff` does: 0 when the texts are the same, 1 when they differ, 2
    when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    try:
        texts = [open_files(workflow_file(f, None), strict=False).text for f in (old, new)]
        changes = list(_changes(*texts))
    except InputError as error:
        err.line(error_text(error))
        return _UNREADABLE
    same = texts[0] == texts[1]
    if as_json:
        difference = "\n".join(diff_lines(*texts))
        out.json(json.dumps({"changes": changes, "diff": difference}, ensure_ascii=False))
    elif not same:
        for change in changes or [_NO_CHANGE]:
            out.line(one_line(change))
        out.line("")
        for line in diff_lines(*map(clean, texts)):
            out.line(line)
    return _NOTHING_FOUND if same and not out.error else _SOMETHING_FOUND


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


def run_new(kind: str, path: Path) -> int:
    """Write a commented example to start from: a file, or for a case a folder of two. Returns the
    exit code; what exists is never written over. Raises `BadRequest`."""
    known = {
        "workflow": {"workflow.yaml": path},
        "settings": {"settings.toml": path},
        "case": {"case.yaml": path / "case.yaml", "script.yaml": path / "script.yaml"},
    }
    if kind not in known:
        raise BadRequest(f"{kind!r} is none of {', '.join(known)}.{did_you_mean(kind, known)}")
    names = known[kind]
    for file in names.values():
        if file.exists() or file.is_symlink():
            raise BadRequest(f"{file} exists already; name another {kind}.")
    check_writable(list(names.values()), create=path if kind == "case" else None)
    templates = files(__package__) / "templates"
    write_together({f: (templates / name).read_text("utf-8") for name, f in names.items()})
    Stream(sys.stderr).line("wrote " + ", ".join(one_line(str(f)) for f in names.values()))
    return 0


def run_undo(path: Path, page: str | None) -> int:
    """Take back the last change that was written into a workflow's files. Returns the exit code.
    Raises `BadRequest` when there is none, or a file has changed since."""
    changed = undo_change(workflow_file(path, page))
    listed = ", ".join(one_line(str(file)) for file in changed)
    Stream(sys.stderr).line(f"The last change is undone: {listed}")
    return 0


def told(command: Callable[[], int]) -> int:
    """The exit code of a command; its failure is shown as a sentence."""
    try:
        return command()
    except TurnError as error:
        Stream(sys.stderr).line(error_text(error))
        return error.exit_code

"""Writes cases: `--update` corrects what one expects, `--record` keeps a live turn as one."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from global_chat.disk.reading import number_of, read_text
from global_chat.disk.writing import write_together
from global_chat.model.recording import Recording, readable_yaml
from global_chat.model.secrets import scrub_value
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Mapping, data_of
from global_chat.yaml.source import Source

from .cases import Case, Expect, PartExpectation
from .compare import DocumentDiff, covers, differences, document_diff, observed, part_differences
from .play import Outcome

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class Update(NamedTuple):
    """The new text of one case file. `left` are differences that no new text can settle."""

    path: Path
    before: str
    after: str
    left: tuple[str, ...]


def update_of(outcome: Outcome) -> Update | None:
    """The case file that expects what came out; None when it does already."""
    path, found = outcome.case.path, differences(outcome)
    came = _observed(outcome.case.expect, outcome)
    # All other expectations are promises that only a person can make.
    keys = dict.fromkeys(d.key for d in found if d.key in came)
    if "changed" in keys:  # one document, three expectations about it
        keys |= dict.fromkeys(("added", "removed"))
    before = read_text(path)
    after = with_expectations(before, {key: came[key] for key in keys})
    left = tuple(str(d) for d in found if d.key not in keys)
    return Update(path, before, after, left) if found else None


def _observed(expect: Expect, outcome: Outcome) -> dict[str, Any]:
    """What came out, as a case file has it. What did not happen is None or empty."""
    diff = document_diff(outcome.workflow, outcome.after)
    found = observed(outcome)
    lists = {name: [*found[name]] for name in ("agents", "handed_back", "warnings")}
    return {
        **{**found, **lists, "usage": found["usage"] and found["usage"].as_dict()},
        "changed": _parts(expect.changed, diff.changed, diff),
        "added": _parts(expect.added, diff.added, diff),
        "removed": list(diff.removed),
    }


def _parts(
    expected: dict[str, PartExpectation], paths: Iterable[str], diff: DocumentDiff
) -> dict[str, Any]:
    """The paths with what is expected of them where that is met, else with their text."""
    found: dict[str, Any] = {}
    for path in paths:
        wanted = next((p for p in expected if covers(p, path)), path)
        part = expected.get(wanted, PartExpectation())
        found[wanted] = part.model_dump(exclude_defaults=True, mode="json") or None
        if any(part_differences(wanted, part, diff)) and wanted in diff.after:
            text = diff.after[wanted].text
            found[wanted] = found[wanted] if text is None else {"equals": text}
    return found


def kept_in(folder: Path, case: Case, number: int = 1) -> Path:
    """The folder in `folder` that a turn of the case is kept in: `<id>`, from the second run on
    `<id>-<number>`. An id that is not a plain file name is made one, with a hash of it.
    """
    name = _NOT_IN_NAMES.sub("-", case.id)[:80].strip("-.")
    if name != case.id:
        name += f"-{hashlib.sha256(case.id.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return folder / (name if number == 1 else f"{name}-{number}")


def keep(folder: Path, outcome: Outcome, number: int, recording: Recording) -> None:
    """Write a live turn as a case, in `kept_in`.

    Its script is what the models said, its expectations are what came. Secrets are taken out of
    the payload as well as out of the script.
    """
    case = outcome.case
    made = kept_in(folder, case, number)
    made.mkdir(parents=True, exist_ok=True)
    given = scrub_value({k: v for k, v in case.given.items() if k != "api_key"})
    written: dict[str, Any] = {"title": case.title, "payload": "payload.json"}
    if case.label is not None:
        written["route"] = case.label.model_dump(exclude_defaults=True, mode="json")
    written["expect"] = _present(_observed(Expect(), outcome))
    payload = json.dumps(given, ensure_ascii=False, indent=2, default=str) + "\n"
    texts = {"payload.json": payload, "script.yaml": recording.as_yaml()}
    texts["case.yaml"] = readable_yaml(written)
    write_together({made / name: text for name, text in texts.items()})


def with_expectations(text: str, values: dict[str, Any]) -> str:
    """The text of a case file with these keys of `expect` set; empty values are left out.

    Every other character stays, unless `expect` is written in braces: then it is written anew.
    """
    source = Source(text)
    root = compose(source)
    entry = root.own.get("expect") if isinstance(root, Mapping) else None
    if entry is None:
        return text.rstrip("\n") + "\n" + readable_yaml({"expect": _present(values)})
    expect = entry.value
    if not isinstance(expect, Mapping) or expect.flow:
        # Numbers that keep how they are spelled are texts: as expectations they mean the same.
        known = json.loads(json.dumps(data_of(expect, number_of) or {}, default=str))
        anew = readable_yaml({"expect": _present({**known, **values})}).rstrip("\n")
        return source.splice([(entry.start, entry.end, anew)])
    splices, added = [], ""
    for name, value in values.items():
        present = _present({name: value})
        new = readable_yaml(present) if present else ""
        new = textwrap.indent(new, " " * source.indent(expect.start))
        if old := expect.own.get(name):
            splices.append((source.line_start(old.start), source.next_line(old.end), new))
        else:
            added += new
    end = source.next_line(expect.end)
    first = "" if text[:end].endswith("\n") else "\n"
    return source.splice([*splices, (end, end, first + added if added else "")])


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], {})}

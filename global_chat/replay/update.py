"""Writes cases: `--update` makes one expect what came, `--record` keeps a live turn as one."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from global_chat.disk.literal_number import LiteralNumber
from global_chat.disk.reading import read_text
from global_chat.disk.writing import write_together
from global_chat.model.recording import Recording
from global_chat.model.secrets import scrub_value
from global_chat.workflow.reading.compose import compose
from global_chat.workflow.reading.nodes import Mapping, Scalar, data_of
from global_chat.workflow.reading.source import Source

from .case import Expect, PartExpectation
from .collect import spelled
from .compare import differences, observed
from .document_diff import DocumentDiff, covers, document_diff
from .play import Outcome


class Update(NamedTuple):
    """The new text of one case file. `left` are differences that no new text can settle."""

    path: Path
    before: str
    after: str
    left: tuple[str, ...]


def update_of(outcome: Outcome) -> Update | None:
    """What would make the case expect what came; None when it does already."""
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
    """What came, in the words of a case file. What did not happen is None or empty."""
    diff = document_diff(outcome.workflow, outcome.after)
    found = observed(outcome)
    usage = found["usage"].as_dict() if found["usage"] else None
    changed = {
        "changed": _parts(expect.changed, diff.changed, diff),
        "added": _parts(expect.added, diff.added, diff),
        "removed": list(diff.removed),
    }
    lists = {name: [*found[name]] for name in ("agents", "handed_back", "warnings")}
    return {**found, **changed, **lists, "usage": usage}


def _parts(
    expected: dict[str, PartExpectation], paths: Iterable[str], diff: DocumentDiff
) -> dict[str, Any]:
    """The paths with what was expected of them, where that still holds; else with their text."""
    found: dict[str, Any] = {}
    for path in paths:
        wanted = next((p for p in expected if covers(p, path)), path)
        part = expected.get(wanted, PartExpectation())
        text = diff.after[wanted].text if wanted in diff.after else None
        met = text is None or (
            part.equals in (None, text)
            and all(words in text for words in part.contains)
            and not any(words in text for words in part.lacks)
        )
        kept = part.model_dump(exclude_defaults=True, mode="json") or None
        found[wanted] = kept if met else {"equals": text}
    return found


def keep(folder: Path, outcome: Outcome, number: int, recording: Recording) -> None:
    """Write a live turn as the case `<folder>/<id>` (from the second run on `<id>-<number>`).

    Its script is what the models said, its expectations are what came. Secrets are taken out of
    the payload as well as out of the script.
    """
    case = outcome.case
    made = folder / (case.id if number == 1 else f"{case.id}-{number}")
    made.mkdir(parents=True, exist_ok=True)
    given = scrub_value({k: v for k, v in case.given.items() if k != "api_key"})
    written: dict[str, Any] = {"title": case.title, "payload": "payload.json"}
    if case.label is not None:
        written["route"] = case.label.model_dump(exclude_defaults=True, mode="json")
    written["expect"] = _present(_observed(Expect(), outcome))
    # A number of a payload file that keeps how it is spelled becomes text.
    payload = json.dumps(given, ensure_ascii=False, indent=2, default=str) + "\n"
    texts = {"payload.json": payload, "script.yaml": recording.as_yaml()}
    texts["case.yaml"] = _dumped(written)
    write_together({made / name: text for name, text in texts.items()})


def with_expectations(text: str, values: dict[str, Any]) -> str:
    """The text of a case file with these keys of `expect` set; empty values are left out.

    Every other character stays, unless `expect` is written in braces: then it is written anew.
    """
    source = Source(text)
    root = compose(source)
    entry = root.own.get("expect") if isinstance(root, Mapping) else None
    if entry is None:
        return text.rstrip("\n") + "\n" + _dumped({"expect": _present(values)})
    expect = entry.value
    if not isinstance(expect, Mapping) or expect.flow:
        known = spelled(expect) or {}
        anew = _dumped({"expect": _present({**known, **values})}).rstrip("\n")
        return source.splice([(entry.start, entry.end, anew)])
    splices, added = [], ""
    for name, value in values.items():
        new = textwrap.indent(_dumped(_present({name: value})), " " * source.indent(expect.start))
        if old := expect.own.get(name):
            splices.append((source.line_start(old.start), source.next_line(old.end), new))
        else:
            added += new
    end = source.next_line(expect.end)
    first = "" if text[:end].endswith("\n") else "\n"
    return source.splice([*splices, (end, end, first + added if added else "")])


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _dumped(value: dict[str, Any]) -> str:
    """A mapping as YAML that reads back the same; texts of several lines as lines."""
    if not value:
        return ""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes what would not read back: numbers, and (as escapes) line ends of YAML 1.1."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        if not isinstance(data_of(Scalar(0, 0, text)), str):
            style = "'"
        if set(text) & {"\x85", "\u2028", "\u2029"}:
            style = '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(LiteralNumber, lambda dumper, value: dumper.represent_text(str(value)))

"""Reads every case before any runs: a broken one stops the replay here, with its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import Payload
from global_chat.contract.payload import read as read_payload
from global_chat.disk.reading import read_object, read_text
from global_chat.model.scripted import Script

from .case import Attach, Case, CaseFile
from .placed_yaml import Fault, Placed, read

CASE_FILE = "case.yaml"


class BrokenCases(Exception):
    """Cases that cannot be run. `faults` are one line each: file, line, column, what is wrong."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


def collect(paths: Iterable[Path]) -> tuple[Case, ...]:
    """The cases in `paths`, in the order of their folders' names, each once.

    A path is a case's folder, its `case.yaml`, or a folder of such folders at any depth. Raises
    `BrokenCases` with every fault of every case, and when a path holds none.
    """
    found: dict[Path, Case] = {}
    faults: list[str] = []
    for path in paths:
        files = _case_files(path)
        if not files:
            there = "holds no case (a folder with a case.yaml)" if path.exists() else "is not there"
            faults.append(f"{path}: {there}")
        for file in files:
            try:
                found.setdefault(file.resolve(), read_case(file))
            except Fault as fault:
                faults += str(fault).splitlines()
    faults += _same_names(found.values())
    if faults:
        raise BrokenCases(list(dict.fromkeys(faults)))
    return tuple(sorted(found.values(), key=lambda case: case.id))


def _case_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.name == CASE_FILE else []
    return sorted(path.rglob(CASE_FILE)) if path.is_dir() else []


def _same_names(cases: Iterable[Case]) -> list[str]:
    by_id: dict[str, Case] = {}
    faults = []
    for case in cases:
        other = by_id.setdefault(case.id, case)
        if other is not case:
            faults.append(f"{case.path}: {other.path} is a case with the same name; rename one")
    return faults


def read_case(file: Path) -> Case:
    """The case in `file`, named after its folder. Raises `Fault`."""
    placed = read(file)
    written = placed.read_as(CaseFile)
    reading = _Reading(placed, written)
    script = read(reading.beside(("script",), written.script))
    given = reading.payload()
    return Case(
        id=file.resolve().parent.name,
        title=written.title,
        given=given,
        expect=written.expect,
        fingerprint=fingerprint(placed.text, script.text, repr(given)),
        script=script.read_as(Script),
        settings=written.settings,
        label=written.route,
        path=file,
        files=(file, *reading.files),
    )


def fingerprint(*texts: str) -> str:
    """A short name for exactly these texts."""
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()[:16]


class _Reading:
    """One case's files, each remembered when it is read."""

    def __init__(self, placed: Placed, written: CaseFile) -> None:
        self._placed, self._written = placed, written
        self.files: list[Path] = []

    def beside(self, location: tuple[int | str, ...], name: str) -> Path:
        """The file `name`, seen from the case's folder. Raises `Fault` when it is not there."""
        path = self._placed.path.parent / name
        if not path.is_file():
            raise self._placed.fault(location, f"the file {name} is not there")
        self.files.append(path)
        return path

    def payload(self) -> dict[str, Any]:
        """The payload with the workflow and the attachments that the case names beside it.

        It must be one that a turn accepts, unless its refusal is what the case is about.
        """
        written = self._written
        try:
            given = self._given()
            if written.workflow is not None:
                given["workflow_yaml"] = read_text(self.beside(("workflow",), written.workflow))
            more = [self._attachment(i, a) for i, a in enumerate(written.attach)]
            if more:
                given["attachments"] = [*(given.get("attachments") or []), *more]
            if written.expect.error != BadRequest.type:
                read_payload(Payload, given)
        except BadRequest as error:
            raise self._placed.fault(("payload",), error.message) from None
        return given

    def _given(self) -> dict[str, Any]:
        payload: object = self._written.payload
        if isinstance(payload, str):
            payload = read_object(self.beside(("payload",), payload))
        if not isinstance(payload, dict):
            raise BadRequest("The payload must be one object.")
        return dict(payload)

    def _attachment(self, number: int, attach: Attach) -> dict[str, str]:
        text = attach.text * attach.times
        if attach.file is not None:
            text = read_text(self.beside(("attach", number, "file"), attach.file))
        return {"type": attach.type, "content": text}

"""Labelled requests, one a line of a JSON lines file, as cases that a model answers.

The fields are those of `fixtures/routing.jsonl`: `id`, `workflow` (a file beside it or in its
folder `workflows`), `page`, `content`, `history`, `attachments`, and the label `destination`,
`also_ok`, `job_key`, with `kind` and `note` for people.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from global_chat.contract.errors import BadRequest
from global_chat.contract.names import Destination
from global_chat.contract.payload import Payload
from global_chat.contract.payload import read as read_payload
from global_chat.contract.settings import Settings
from global_chat.disk.reading import read_text

from .case import Case, Expect, Label
from .collect import BrokenCases, fingerprint

LONGEST_TITLE = 100


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    content: str
    destination: Destination
    workflow: str | None = None
    page: str | None = None
    history: list[dict[str, Any]] = []
    attachments: list[dict[str, Any]] = []
    also_ok: tuple[Destination, ...] = ()
    job_key: str | None = None
    kind: str | None = None
    note: str | None = None


def read_labelled(file: Path, settings: Settings) -> tuple[Case, ...]:
    """The requests of a file, in its order. Raises `BrokenCases` with every line that is wrong."""
    try:
        text = read_text(file).removeprefix("\ufeff")
    except BadRequest as error:
        raise BrokenCases([error.message]) from None
    cases: dict[str, Case] = {}
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            case = _case(file, line, settings)
            if case.id in cases:
                raise ValueError(f"the id {case.id!r} is used twice")
            cases[case.id] = case
        except (ValueError, BadRequest) as error:
            faults += [f"{file}:{number}: {problem}" for problem in _problems(error)]
    if not cases and not faults:
        faults.append(f"{file}: holds no request")
    if faults:
        raise BrokenCases(faults)
    return tuple(cases.values())


def _problems(error: ValueError | BadRequest) -> Iterator[str]:
    if isinstance(error, ValidationError):
        for one in error.errors(include_url=False, include_input=False):
            yield f"{'.'.join(map(str, one['loc'])) or 'the line'}: {one['msg']}"
    else:
        yield error.message if isinstance(error, BadRequest) else str(error)


def _case(file: Path, text: str, settings: Settings) -> Case:
    line = _Line.model_validate(json.loads(text))
    given: dict[str, Any] = {
        "content": line.content,
        "history": line.history,
        "attachments": line.attachments,
    }
    if line.page is not None:
        given["page"] = line.page
    files: tuple[Path, ...] = (file,)
    if line.workflow is not None:
        workflow = _beside(file, line.workflow)
        given["workflow_yaml"] = read_text(workflow)
        files = (file, workflow)
    read_payload(Payload, given)
    return Case(
        id=line.id,
        title=line.content if len(line.content) <= LONGEST_TITLE else _cut(line.content),
        given=given,
        expect=Expect(),
        fingerprint=fingerprint(text, repr(given)),
        settings=settings,
        label=Label(destination=line.destination, also_ok=line.also_ok, job_key=line.job_key),
        kind=line.kind,
        path=file,
        files=files,
    )


def _beside(file: Path, name: str) -> Path:
    """The workflow's file: beside the requests, or in the folder `workflows` there."""
    for path in (file.parent / name, file.parent / "workflows" / name):
        if path.is_file():
            return path
    raise ValueError(f"the workflow {name} is neither beside the file nor in its workflows folder")


def _cut(text: str) -> str:
    return text[: LONGEST_TITLE - 1] + "…"

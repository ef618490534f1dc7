"""Writes a change back into a workflow's files, and takes the last one back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path

from global_chat.contract.errors import BadRequest

from .pulled import WorkflowFiles
from .reading import read_object, read_text
from .writing import check_writable, write_together


def apply_change(given: WorkflowFiles, after: str) -> list[Path]:
    """Write the document `after` into the files that it was read from; return those that changed.

    What they held is kept in the user's state folder, for `undo_change`; where that folder cannot
    be written to, nothing is kept. Raises `BadRequest` when a file was changed since it was read
    or cannot be written, `InternalError` when writing fails: then all are as they were.
    """
    if changed := given.changed_since():
        raise BadRequest(
            f"{changed} was changed by something else since it was read, so it was left alone."
        )
    files = given.split(after)
    check_writable(list(files))
    record = _record(given.path)
    kept = {
        "before": {str(path.absolute()): given.files.get(path) for path in files},
        "after": {str(path.absolute()): _mark(text) for path, text in files.items()},
    }
    written: dict[Path, str | None] = dict(files)
    with suppress(OSError, BadRequest):
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_writable([record])
        written[record] = json.dumps(kept, indent=1)
    write_together(written)
    return list(files)


def undo_change(workflow: Path) -> list[Path]:
    """Take the last change back that was written into a workflow's files; return the files.

    Raises `BadRequest` when none is known, and when a file is not as that change left it.
    """
    record = _record(workflow)
    if not record.exists():
        raise BadRequest(
            f"There is nothing to undo: no change that global-chat wrote into {workflow} is kept."
        )
    match read_object(record):
        case {"before": dict() as before, "after": dict() as after} if (
            before.keys() == after.keys()
        ):
            pass
        case _:
            raise BadRequest(f"{record} does not hold a change. Delete it.")
    for path, mark in after.items():
        if _now(Path(path)) != mark:
            raise BadRequest(
                f"{path} was changed since global-chat wrote it, so nothing was undone. What it "
                f"held before is in {record}."
            )
    files: Mapping[Path, str | None] = {Path(path): text for path, text in before.items()}
    check_writable([path for path, text in files.items() if text is not None])
    write_together({**files, record: None})
    return list(files)


def _record(workflow: Path) -> Path:
    """Where the last change of a workflow's files is kept."""
    name = _mark(os.path.realpath(workflow))[:32]
    return user_state_path("global-chat") / "undo" / f"{name}.json"


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _now(path: Path) -> str | None:
    with suppress(BadRequest):
        return _mark(read_text(path))
    return None

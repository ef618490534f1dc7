"""Where the results of a turn go, and whether they can go there: decided before any model call."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

from global_chat.contract.errors import BadRequest

from .writing import temporary_beside


@dataclass(frozen=True, slots=True)
class ResultPaths:
    """The response JSON, the updated workflow, and what was finished when a turn failed."""

    response: Path
    workflow: Path
    partial: Path


def result_paths(
    source: str | Path | None,
    *,
    output: Path | None = None,
    workflow_out: Path | None = None,
    output_dir: Path | None = None,
) -> ResultPaths:
    """The result files of a turn whose payload is `source` (a path, `-`, or None). Touches no disk.

    `tmp/payload.json` gives `tmp/payload.response.json` and `tmp/payload.workflow.yaml`; without a
    payload file, `global-chat.…` in the current folder. `output_dir` replaces the folder; `output`
    and `workflow_out` replace one path each. The partial workflow stands beside the workflow.
    """
    file = None if source is None or str(source) == "-" else Path(source)
    if file is None or file.parts[:2] == ("/", "dev"):
        folder, stem = Path(), "global-chat"
    else:
        folder, stem = file.parent, file.stem
    folder = output_dir or folder
    workflow = workflow_out or folder / f"{stem}.workflow.yaml"
    kept = workflow.stem.removesuffix(".workflow")
    return ResultPaths(
        response=output or folder / f"{stem}.response.json",
        workflow=workflow,
        partial=workflow.with_name(f"{kept}.workflow.partial.yaml"),
    )


def check_writable(
    outputs: Sequence[Path], *, inputs: Sequence[Path] = (), create: Path | None = None
) -> None:
    """Make sure that every output can be written, so that a wrong path costs no model call.

    `create` is the one folder that is made when it is missing (`--output-dir`). `inputs` are files
    that no result may replace: the payload, attachments, a workflow that is not to be updated.

    Raises `BadRequest` when a folder is missing or cannot be written to, when an output is a
    folder or write-protected, when two outputs are one file, and when an output is an input.
    """
    if create is not None:
        try:
            create.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise BadRequest(f"The folder {create} cannot be made: {_reason(error)}.") from None
    for path in outputs:
        _check_target(path)
    for first, second in combinations(outputs, 2):
        if _same_file(first, second):
            raise BadRequest(f"Two results would go to the same file, {second}; name two files.")
    for path, given in product(outputs, inputs):
        if _same_file(path, given):
            raise BadRequest(f"The result would replace the input {given}; name another file.")


def _check_target(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path} cannot be written: {_reason(error)}.") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise BadRequest(f"{path} is a folder; name a file in it.")
    if mode is not None and not os.access(path, os.W_OK):
        raise BadRequest(f"{path} is write-protected; name another file.")
    if mode is None or stat.S_ISREG(mode):
        _check_folder(path)


def _check_folder(path: Path) -> None:
    """Only making a file shows that it can be done: permissions are not the whole story."""
    temporary = temporary_beside(Path(os.path.realpath(path)))
    folder = temporary.parent
    if not folder.is_dir():
        raise BadRequest(
            f"{path} cannot be written: the folder {folder} does not exist; check the path, "
            "or make the folder."
        )
    try:
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise BadRequest(
            f"{path} cannot be written: no file can be made in {folder} ({_reason(error)})."
        ) from None


def _same_file(a: Path, b: Path) -> bool:
    if a.exists() and b.exists():
        return a.is_file() and a.samefile(b)
    return os.path.realpath(a) == os.path.realpath(b)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)

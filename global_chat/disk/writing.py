"""Where the results of a turn go, and how they are written: all of one run, or none of it.

Whether a path can be written is found out before any model call. Each text then goes to a
temporary file beside its target; when all of them are on the disk they take their targets' names.
An interrupt in between waits until that is done, so that a reader finds the old files or the new
ones, never half of either, and a response and its workflow always belong to the same run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from types import FrameType

from global_chat.contract.errors import BadRequest, InternalError
from global_chat.contract.texts import replace_lone_surrogates

_SIGNALS = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]


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


def refuse_links(paths: Iterable[Path]) -> None:
    """Raise `BadRequest` for a link under a name that the program chose: it may lead anywhere."""
    for path in paths:
        if path.is_symlink():
            raise BadRequest(
                f"{path} is a link to another file, so nothing is written there. Delete the link, "
                "or name the file yourself with --output and --workflow-out."
            )


def _check_target(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path} cannot be written: {_reason(error)}.") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise BadRequest(f"{path} is a folder; name a file in it.")
    if mode is not None and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISBLK(mode)):
        # What `/dev/stdout` and `>(command)` stand for is open already, and is read.
        if path.parts[:2] not in (("/", "dev"), ("/", "proc")):
            raise BadRequest(f"{path} is not a file; name a file, or use --json and a pipe.")
    elif mode is not None and not (mode & 0o222 and os.access(path, os.W_OK)):
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


def write_atomically(path: Path, text: str) -> None:
    """Write one file; see `write_together`."""
    write_together({path: text})


def write_together(files: Mapping[Path, str | None]) -> None:
    """Write several files that belong to one run: all of them or, when one has no room, none.

    Text becomes UTF-8 as it is, line ends included; half of a surrogate pair becomes U+FFFD. None
    takes a file away. A file that exists keeps its permissions, a link stays a link. A device such
    as `/dev/stdout` is written straight through. No temporary file stays behind. SIGINT, SIGTERM
    and SIGHUP are held back for the moment that this takes; a second one is not.

    Raises `InternalError` with the reason when a file cannot be written.
    """
    path = Path()
    with (
        _signals_held_back(),
        contextlib.ExitStack() as temporary,
        contextlib.ExitStack() as undo,
    ):
        try:
            staged = []
            for path, text in files.items():
                data = None if text is None else replace_lone_surrogates(text).encode()
                staged.append((path, data, _staged(path, data, temporary)))
            for path, data, new in staged:
                if new is None and data is not None:
                    path.write_bytes(data)
                else:
                    _put(new, Path(os.path.realpath(path)), undo, temporary)
        except OSError as error:
            raise InternalError(
                f"{path} could not be written: {_reason(error)}. Free the disk or name another "
                "file, and try again."
            ) from error
        undo.pop_all()


def _staged(path: Path, data: bytes | None, temporary: contextlib.ExitStack) -> Path | None:
    """The data in a file beside `path`; None when there is none, and for a device."""
    if data is None or (path.exists() and not path.is_file()):
        return None
    target = Path(os.path.realpath(path))
    new = temporary_beside(target)
    temporary.callback(new.unlink, missing_ok=True)
    _stage(data, new, target)
    return new


def _put(
    new: Path | None, target: Path, undo: contextlib.ExitStack, temporary: contextlib.ExitStack
) -> None:
    """Put `new` in the place of `target`; `undo` brings back what was there."""
    old = temporary_beside(target)
    if target.exists():
        # A second name for the old bytes costs no room; not every file system has them.
        try:
            os.link(target, old)
        except OSError:
            shutil.copy2(target, old)
        temporary.callback(old.unlink, missing_ok=True)
        undo.callback(old.replace, target)
    else:
        undo.callback(target.unlink, missing_ok=True)
    if new is not None:
        new.replace(target)
    else:
        target.unlink(missing_ok=True)


def temporary_beside(target: Path) -> Path:
    """An unused name in the same folder, which is what makes a rename atomic."""
    return target.with_name(f".global-chat-{secrets.token_hex(8)}.tmp")


def _stage(data: bytes, temporary: Path, target: Path) -> None:
    """Have `data` on the disk, with the owner and the permissions of the file it will replace."""
    with temporary.open("xb") as file:
        if target.exists():
            before = target.stat()
            # Only root can give files away, and not every system has owners.
            with contextlib.suppress(OSError, AttributeError):
                os.chown(temporary, before.st_uid, before.st_gid)
            shutil.copymode(target, temporary)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Deliver signals that ask the process to end when the block is done; a second one at once."""
    waiting: list[int] = []

    def hold_back(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if waiting:
            raise KeyboardInterrupt
        waiting.append(number)

    before = {}
    # Only the main thread may set handlers, and only there do signals interrupt Python code.
    with contextlib.suppress(ValueError):
        for number in filter(None, _SIGNALS):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, hold_back)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)

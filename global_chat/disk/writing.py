"""Writes results so that a reader finds the old file or the new one, never half of either.

Each text goes to a temporary file beside its target; when all of them are on the disk they take
their targets' names. An interrupt in between waits until that is done, so that a response and its
workflow always belong to the same run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from global_chat.contract.errors import InternalError
from global_chat.contract.texts import replace_lone_surrogates

_SIGNALS = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]


def write_atomically(path: Path, text: str) -> None:
    """Write one file; see `write_together`."""
    write_together({path: text})


def write_together(files: Mapping[Path, str]) -> None:
    """Write several files that belong to one run: all of them or, when one has no room, none.

    Text becomes UTF-8 as it is, line ends included; half of a surrogate pair becomes U+FFFD. A
    file that exists keeps its permissions, a link stays a link. A target that is no file, such as
    `/dev/stdout`, is written straight through. No temporary file stays behind. SIGINT, SIGTERM
    and SIGHUP are held back for the moment that this takes; a second one is not.

    Raises `InternalError` with the reason when a file cannot be written.
    """
    staged = {path: _Staged.of(path) for path in files}
    path = Path()
    with _signals_held_back():
        try:
            for path, text in files.items():
                staged[path].fill(replace_lone_surrogates(text).encode())
            for path in files:
                staged[path].take_place()
        except OSError as error:
            raise InternalError(
                f"The result could not be written to {path}: {error.strerror or error}. "
                "Free the disk or name another file, and try again."
            ) from error
        finally:
            for one in staged.values():
                one.clear()


def temporary_beside(target: Path) -> Path:
    """An unused name in the same folder, which is what makes a rename atomic."""
    return target.with_name(f".global-chat-{secrets.token_hex(8)}.tmp")


@dataclass(slots=True)
class _Staged:
    """A text on its way to `path`, in a temporary file beside the file that `path` leads to."""

    path: Path
    target: Path
    temporary: Path
    through: bytes | None = None
    """What to write straight to a target that is no file."""

    @classmethod
    def of(cls, path: Path) -> _Staged:
        target = Path(os.path.realpath(path))
        return cls(path, target, temporary_beside(target))

    def fill(self, data: bytes) -> None:
        if self.path.exists() and not self.path.is_file():
            self.through = data
            return
        with self.temporary.open("xb") as file:
            if self.target.exists():
                self._keep_owner_and_permissions()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _keep_owner_and_permissions(self) -> None:
        before = self.target.stat()
        # Only root can give files away, and not every system has owners.
        with contextlib.suppress(OSError, AttributeError):
            os.chown(self.temporary, before.st_uid, before.st_gid)
        shutil.copymode(self.target, self.temporary)

    def take_place(self) -> None:
        if self.through is None:
            self.temporary.replace(self.target)
        else:
            self.path.write_bytes(self.through)

    def clear(self) -> None:
        self.temporary.unlink(missing_ok=True)


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

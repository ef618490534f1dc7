"""Writes a trace as JSON lines, one span a line, each as soon as it ends."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from global_chat.contract.errors import BadRequest, InternalError

from .spans import Span, Spans


class TraceWriter(Spans):
    """A listener that adds a turn's spans to a file. A crash loses at most the spans still open.

    Children end before their parents, so a turn's own span is its last line; `parent` refers to
    another line's `span`, within one `turn_id`. A full disk costs the rest of the trace and not
    the turn; `close` then says so.
    """

    def __init__(self, path: Path, clock: Callable[[], int] = time.time_ns) -> None:
        """Open `path` to append to it. Raises `BadRequest` when that is not possible."""
        super().__init__(clock)
        self._path = path
        self._failure: OSError | None = None
        try:
            self._file = path.open("a", encoding="utf-8", errors="replace", newline="\n")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadRequest(f"The trace cannot be written to {path}: {reason}.") from None

    def close(self) -> None:
        """Write what is still open, marked `unfinished`, and close the file.

        Raises `InternalError` when some span could not be written.
        """
        super().close()
        self._file.close()
        if self._failure is not None:
            raise InternalError(
                f"The trace in {self._path} is not complete: "
                f"{self._failure.strerror or self._failure}. Free the disk or name another file."
            )

    def closed(self, span: Span) -> None:
        if self._file.closed:
            return
        try:
            print(json.dumps(span.as_dict(), ensure_ascii=False), file=self._file, flush=True)
        except OSError as error:
            self._failure = error
            # Closing tries to write once more.
            with contextlib.suppress(OSError):
                self._file.close()

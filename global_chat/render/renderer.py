"""What every renderer is; by itself it draws nothing of the turn, which is what `--json` wants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from global_chat.contract.errors import TurnError
from global_chat.contract.events import Event, Warned

from .safe_text import one_line
from .stream import Stream
from .wording import error_text, warning_line


class Renderer:
    """A listener that draws one turn. Diagnostics go to `err`; nothing here raises.

    The turn runs inside `with renderer:`. After it come `failed`, if it failed or never began, and
    `finish`, once the files are written.
    """

    def __init__(self, err: TextIO | None, *, warnings: bool = True) -> None:
        """With `warnings` false, only notes and a failure are shown (`--quiet`)."""
        self._err = Stream(err)
        self._warnings = warnings

    def __call__(self, event: Event) -> None:
        if isinstance(event, Warned) and self._warnings:
            self._err.line(warning_line(event))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the screen in order, also after Ctrl-C."""

    def note(self, line: str) -> None:
        """A line of `--verbose`."""
        self._err.line(one_line(line))

    def failed(self, error: TurnError) -> None:
        """Say why there is no answer. To be called once, whatever failed and when."""
        self._err.line(error_text(error))

    def finish(self, files: Sequence[Path], seconds: float) -> None:
        """Say how it went: `files` were written, and the turn took `seconds`."""

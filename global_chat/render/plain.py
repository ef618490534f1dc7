"""Plain text for pipes and simple terminals: the answer on one stream, the rest on the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from global_chat.contract.events import (
    Changes,
    Event,
    Status,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnEnded,
    Warned,
)

from .renderer import Renderer
from .safe_text import clean, one_line
from .stream import Stream
from .wording import RESTARTED, Closing, warning_line


class Plain(Renderer):
    """Writes the answer's text to `out`: as it comes, or whole at the end when `stream` is false.

    Diagnostics that come while a line of the answer is unfinished wait for its end, so that the
    two streams can share a terminal.
    """

    def __init__(self, out: TextIO | None, err: TextIO | None, *, stream: bool = True) -> None:
        super().__init__(err)
        self._out = Stream(out)
        self._stream = stream
        self._closing = Closing()
        self._waiting: list[str] = []
        self._in_block = False
        self._line_open = False
        self._blocks = 0

    def __call__(self, event: Event) -> None:
        self._closing(event)
        match event:
            case TextDelta(text=text) if self._stream:
                self._text(text)
            case TextRestarted() if self._in_block:
                self._end_line()
                self._out.line(RESTARTED)
            case TextEnded():
                self._end_block()
            case Status(text=text):
                self._diagnostic(f"· {one_line(text)}")
            case Warned():
                self._diagnostic(warning_line(event))
            case Changes(summary=summary):
                for line in summary:
                    self._diagnostic(f"* {one_line(line)}")
            case TurnEnded(response=response):
                self._end_block()
                if not self._blocks:
                    self._text(response.response)
                    self._end_block()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end_block()

    def note(self, line: str) -> None:
        self._diagnostic(one_line(line))

    def finish(self, files: Sequence[Path], seconds: float) -> None:
        self._err.line(self._closing.text(files, seconds))

    def _text(self, text: str) -> None:
        if not self._in_block:
            self._out.write("\n" if self._blocks else "")
            self._blocks += 1
            self._in_block = True
        text = clean(text)
        self._out.write(text)
        self._out.flush()
        self._line_open = not text.endswith("\n") if text else self._line_open

    def _end_block(self) -> None:
        self._end_line()
        self._in_block = False
        for line in self._waiting:
            self._err.line(line)
        self._waiting.clear()

    def _end_line(self) -> None:
        if self._line_open:
            self._out.line("")
            self._line_open = False

    def _diagnostic(self, line: str) -> None:
        if self._in_block:
            self._waiting.append(line)
        else:
            self._err.line(line)

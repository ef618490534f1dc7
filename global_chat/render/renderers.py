"""What draws a turn without Rich: nothing but warnings, plain text, or JSON lines.

`Renderer` is also what the live view builds on. Which one a command gets is decided in `choice`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    Changes,
    Event,
    RetryPlanned,
    Status,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)

from .text import Stream, clean, one_line
from .wording import RESTARTED, Closing, LogLines, error_text, retry, warning_line


class Renderer:
    """A listener that draws one turn; by itself it shows at most warnings, as `--json` wants.

    Diagnostics go to `err`; nothing here raises. The turn runs inside `with renderer:`. After it
    come `failed`, if it failed or never began, and `finish`, once the files are written.
    """

    verbose = False
    """Whether what was decided is shown too, as lines of a log."""

    def __init__(self, err: TextIO | None, *, warnings: bool = True) -> None:
        """With `warnings` false, only notes and a failure are shown (`--quiet`)."""
        self._err = Stream(err)
        self._warnings = warnings
        self.closing, self._log_line = Closing(), LogLines()

    def __call__(self, event: Event) -> None:
        self.closing(event)
        if (line := self._log_line(event)) and self.verbose:
            self.note(line)
        if isinstance(event, RetryPlanned):
            event = Status(retry(event.error_type, event.wait_seconds), parent=event.parent)
        self.draw(event)

    @property
    def output_error(self) -> OSError | None:
        """Why the answer could not be written to its stream, when that is so."""
        out: Stream | None = getattr(self, "_out", None)
        return out.error if out else None

    def draw(self, event: Event) -> None:
        """Show what the event means to the person who watches."""
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
        self.leave()

    def leave(self) -> None:
        """Leave the screen in order, also after Ctrl-C."""

    def note(self, line: str) -> None:
        """Show a line that is not part of the answer."""
        self._err.line(one_line(line))

    def failed(self, error: TurnError) -> None:
        """Say why there is no answer. To be called once, whatever failed and when."""
        self._err.line(error_text(error))

    def finish(self, files: Sequence[Path], seconds: float) -> None:
        """Say how it went: `files` were written, and the turn took `seconds`."""


class Plain(Renderer):
    """For pipes and simple terminals: the answer on `out`, everything else on `err`.

    The answer is written as it comes, or whole at the end when `stream` is false. Diagnostics that
    come while a line of the answer is unfinished wait for its end, so that the two streams can
    share a terminal.
    """

    def __init__(self, out: TextIO | None, err: TextIO | None, *, stream: bool = True) -> None:
        super().__init__(err)
        self._out = Stream(out)
        self._stream = stream
        self._waiting: list[str] = []
        self._in_block = False
        self._line_open = False
        self._blocks = 0

    def draw(self, event: Event) -> None:
        match event:
            case TextDelta(text=text) if self._stream:
                self._text(text)
            case TextRestarted() if self._in_block:
                self._end_line()
                self._out.line(RESTARTED)
            case TextEnded():
                self.leave()
            case Status(text=text):
                self._diagnostic(f"· {one_line(text)}")
            case Warned():
                self._diagnostic(warning_line(event))
            case Changes(summary=summary):
                for line in summary:
                    self._diagnostic(f"* {one_line(line)}")
            case TurnEnded(response=response):
                self.leave()
                if not self._blocks:
                    self._text(response.response)
                    self.leave()

    def leave(self) -> None:
        """End the block of text that is open, and show what waited for that."""
        self._end_line()
        self._in_block = False
        for line in self._waiting:
            self._err.line(line)
        self._waiting.clear()

    def note(self, line: str) -> None:
        self._diagnostic(one_line(line))

    def finish(self, files: Sequence[Path], seconds: float) -> None:
        self._err.line(self.closing.text(files, seconds))

    def _text(self, text: str) -> None:
        if not self._in_block:
            self._out.write("\n" if self._blocks else "")
            self._blocks += 1
            self._in_block = True
        text = clean(text)
        self._out.write(text)
        self._out.flush()
        self._line_open = not text.endswith("\n") if text else self._line_open

    def _end_line(self) -> None:
        if self._line_open:
            self._out.line("")
            self._line_open = False

    def _diagnostic(self, line: str) -> None:
        if self._in_block:
            self._waiting.append(line)
        else:
            self._err.line(line)


class JsonLines(Renderer):
    """The stream for programs (`--events`): one JSON object a line, in the Messages API's manner.

    `message_start`, then per block of text `content_block_start`, `content_block_delta`… and
    `content_block_stop`; among them `status`, `warning` and `changes`; at the end `message_delta`
    with the usage, or `error`; and always `message_stop` as the last line. When a block breaks off
    and begins again, `content_block_restart` says that the text of its index so far is void. It is
    strict JSON in ASCII, so that no encoding and no terminal can spoil it.
    """

    def __init__(self, out: TextIO | None, err: TextIO | None) -> None:
        super().__init__(err, warnings=False)
        self._out = Stream(out)
        self._started = self._ended = self._in_block = False
        self._blocks = 0

    def draw(self, event: Event) -> None:
        match event:
            case TurnStarted(turn_id=turn_id):
                self._start(turn_id)
            case TextDelta(text=text):
                self._text(text)
            case TextRestarted() if self._in_block:
                self._write("content_block_restart", index=self._blocks - 1)
            case TextEnded():
                self._end_block()
            case Status(text=text):
                self._write("status", content=text)
            case Warned(message=message):
                self._write("warning", content=message)
            case Changes():
                self._changes(event)
            case TurnEnded():
                self._answered(event)
            case TurnFailed(error=error):
                self._error(error.as_dict() | {"usage": event.usage.as_dict()})

    def leave(self) -> None:
        """A turn that ended without a last event was interrupted."""
        if self._started and not self._ended:
            interrupted = "The turn was interrupted before it had an answer."
            self._error({"code": 499, "type": "INTERRUPTED", "message": interrupted})

    def failed(self, error: TurnError) -> None:
        """The error as the stream's end, unless the stream has ended; and on standard error."""
        if not self._ended:
            self._start("none")
            self._error(error.as_dict())
        super().failed(error)

    def _start(self, turn_id: str) -> None:
        if self._started:
            return
        self._started = True
        message: dict[str, Any] = {
            "id": turn_id,
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._write("message_start", message=message)

    def _text(self, text: str) -> None:
        if not self._in_block:
            block = {"type": "text", "text": ""}
            self._write("content_block_start", index=self._blocks, content_block=block)
            self._in_block = True
            self._blocks += 1
        delta = {"type": "text_delta", "text": text}
        self._write("content_block_delta", index=self._blocks - 1, delta=delta)

    def _end_block(self) -> None:
        if self._in_block:
            self._in_block = False
            self._write("content_block_stop", index=self._blocks - 1)

    def _changes(self, event: Changes) -> None:
        steps = [
            {"key": step.key, "name": step.name, "before": step.before, "after": step.after}
            for step in event.steps
        ]
        self._write(
            "changes", workflow_yaml=event.workflow_yaml, steps=steps, summary=list(event.summary)
        )

    def _answered(self, event: TurnEnded) -> None:
        if not self._blocks:
            self._text(event.response.response)
        self._end_block()
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        self._write("message_delta", delta=delta, usage=event.response.usage.as_dict())
        self._stop()

    def _error(self, error: dict[str, Any]) -> None:
        self._end_block()
        self._write("error", error=error)
        self._stop()

    def _stop(self) -> None:
        self._write("message_stop")
        self._ended = True

    def _write(self, type_: str, **facts: Any) -> None:
        if not self._ended:
            text = json.dumps({"type": type_, **facts}, allow_nan=False, default=str)
            self._out.line(text)

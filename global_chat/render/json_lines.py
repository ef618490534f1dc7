"""The stream for programs (`--events`): one JSON object a line, in the Messages API's manner.

`message_start`, then per block of text `content_block_start`, `content_block_delta`… and
`content_block_stop`; among them `status`, `warning` and `changes`; at the end `message_delta` with
the usage, or `error`; and always `message_stop` as the last line. When a block breaks off and
begins again, `content_block_restart` says that the text of its index so far is void.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, TextIO

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    Changes,
    Event,
    Status,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)

from .renderer import Renderer
from .stream import Stream


class JsonLines(Renderer):
    """Writes strict JSON in ASCII, so that no encoding and no terminal can spoil it."""

    def __init__(self, out: TextIO | None, err: TextIO | None) -> None:
        super().__init__(err, warnings=False)
        self._out = Stream(out)
        self._started = self._ended = self._in_block = False
        self._blocks = 0

    def __call__(self, event: Event) -> None:
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._started and not self._ended and error is not None:
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

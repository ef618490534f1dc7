"""Asking a model once, for every agent: events, timing, and stop reasons in one place."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol

from global_chat.contract.errors import (
    InvalidOutput,
    OutputTruncated,
    PromptTooLong,
    Refused,
    TurnError,
)
from global_chat.contract.events import Emit, ModelCallEnded, ModelCallStarted
from global_chat.contract.names import Usage
from global_chat.contract.settings import Settings
from global_chat.model.seam import Message, Model, ModelRequest, Reply, Restarted, TextPiece

from .knowledge import Knowledge, NoKnowledge

#: How often a paused reply is continued before it counts as endless.
MAX_PAUSES = 5


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What every agent of one turn works with."""

    model: Model
    settings: Settings
    emit: Emit
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    calls: Iterator[int] = field(default_factory=lambda: itertools.count(1))


class Listener(Protocol):
    """Somebody who follows a reply while it arrives."""

    def piece(self, text: str) -> None:
        """The next piece of text."""
        ...

    def restart(self) -> None:
        """The pieces so far are void: the reply begins again."""
        ...


class Silence:
    """Listens to nothing."""

    def piece(self, text: str) -> None:
        pass

    def restart(self) -> None:
        pass


def as_message(reply: Reply) -> Message:
    """The reply as the assistant's turn of the conversation, ready to be sent back.

    Keys that start with `_` are notes of ours and do not travel. Nor do blank texts, which
    models write and providers refuse.
    """
    blocks = ({k: v for k, v in b.items() if not k.startswith("_")} for b in reply.content)
    kept = (b for b in blocks if b.get("type") != "text" or b["text"].strip())
    return Message("assistant", tuple(kept))


async def ask(
    context: AgentContext, request: ModelRequest, listener: Listener | None = None
) -> Reply:
    """One complete reply to `request`; a paused one is continued.

    Raises a `TurnError`: the model's own, or `OutputTruncated`, `PromptTooLong` or `Refused` when
    the reply stopped for such a reason. What was cut off is never returned as if it were whole.
    """
    listener = listener or Silence()
    reply = await _one_call(context, request, listener)
    for _ in range(MAX_PAUSES):
        so_far = as_message(reply)
        if reply.stop_reason != "pause_turn" or not so_far.content:
            break
        going_on = replace(request, messages=(*request.messages, so_far))
        more = await _one_call(context, going_on, listener)
        reply = replace(more, content=reply.content + more.content, usage=reply.usage + more.usage)
    _check_stop_reason(reply, request)
    return reply


def _check_stop_reason(reply: Reply, request: ModelRequest) -> None:
    match reply.stop_reason:
        case "max_tokens":
            raise OutputTruncated(
                f"The answer was cut off at {request.max_tokens:,} tokens, so none of it was used. "
                f"Ask for less at once, or raise {request.agent}.max_tokens in the configuration."
            )
        case "model_context_window_exceeded":
            raise PromptTooLong(
                "The request fills the model's context window. Start a new conversation, or attach "
                "a shorter log."
            )
        case "refusal":
            raise Refused("The model declined to answer this request. Try to word it differently.")
        case "pause_turn":
            raise InvalidOutput("The model paused without coming to an end. Try again.")


async def _one_call(context: AgentContext, request: ModelRequest, listener: Listener) -> Reply:
    watch = _Watch(context, request, next(context.calls))
    watch.start()
    try:
        async with aclosing(context.model.complete(request)) as events:
            async for event in events:
                match event:
                    case TextPiece(text=text):
                        watch.first_piece()
                        listener.piece(text)
                    case Restarted(usage=usage, error_type=error_type):
                        watch.end(usage, None, error_type)
                        watch.start()
                        listener.restart()
                    case Reply():
                        watch.end(event.usage, event.stop_reason)
                        return event
    except TurnError as error:
        watch.end(error.usage, None, error.type)
        raise
    raise InvalidOutput("The model's answer ended before it was complete. Try again.")


class _Watch:
    """Times one call and reports its attempts."""

    def __init__(self, context: AgentContext, request: ModelRequest, call: int) -> None:
        self._emit, self._request, self._call = context.emit, request, call
        self._attempt = 0
        self._began = 0.0
        self._first: float | None = None

    def start(self) -> None:
        self._attempt += 1
        self._began, self._first = time.perf_counter(), None
        self._emit(ModelCallStarted(self._call, self._request.agent, self._request.model))

    def first_piece(self) -> None:
        if self._first is None:
            self._first = (time.perf_counter() - self._began) * 1000

    def end(self, usage: Usage, stop_reason: str | None, error_type: str | None = None) -> None:
        self._emit(
            ModelCallEnded(
                call=self._call,
                agent=self._request.agent,
                model=self._request.model,
                milliseconds=(time.perf_counter() - self._began) * 1000,
                first_token_ms=self._first,
                usage=usage,
                stop_reason=stop_reason,
                attempt=self._attempt,
                error_type=error_type,
            )
        )

"""Every model call of every agent: the conversation that goes out, and the reply as it arrives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from global_chat.contract.errors import (
    InvalidOutput,
    OutputTruncated,
    PromptTooLong,
    Refused,
    TurnError,
)
from global_chat.contract.events import (
    Emit,
    ModelCallEnded,
    ModelCallStarted,
    RetryPlanned,
    TextDelta,
    TextEnded,
    TextRestarted,
)
from global_chat.contract.names import NO_MODEL, Usage
from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Block, Message, ModelRequest, Reply, Restarted, TextPiece

from .context import TurnContext

#: How often a paused reply is continued before it counts as endless.
MAX_PAUSES = 5

#: How often an agent may correct a reply that cannot be used.
CORRECTION_ROUNDS = 1

#: Stands where providers want a user's turn and there was none. It puts no words into the user's
#: mouth, so that what the assistant said first, such as a question, stays the assistant's.
OPENING = "[No message from the user yet: the assistant speaks first.]"


def messages(history: Sequence[HistoryEntry], content: str) -> tuple[Message, ...]:
    """The history and this turn's request as messages, alternating and starting with the user.

    Neighbours of one role become one message. `history` is the payload's, without blank turns.
    """
    turns = [(turn.role, turn.content) for turn in history]
    if turns and turns[0][0] == "assistant":
        turns.insert(0, ("user", OPENING))
    joined: list[Message] = []
    for role, text in [*turns, ("user", content)]:
        if joined and joined[-1].role == role:
            joined[-1] = Message(role, f"{joined[-1].content}\n\n{text}")
        else:
            joined.append(Message(role, text))
    return tuple(joined)


def continued(request: ModelRequest, reply: Reply, answer: str | tuple[Block, ...]) -> ModelRequest:
    """The request that goes on from `reply` with the user's side of the next round."""
    more = (reply.as_message(), Message("user", answer))
    return replace(request, messages=(*request.messages, *more))


class Listener(Protocol):
    """Follows a reply while it arrives."""

    def piece(self, text: str) -> None:
        """The next piece of text."""
        ...

    def restart(self) -> None:
        """The pieces so far are void: the reply begins again."""
        ...


async def ask(
    context: TurnContext, request: ModelRequest, listener: Listener | None = None
) -> Reply:
    """One complete reply to `request`; a paused one is continued.

    Raises a `TurnError`: the model's own, or `OutputTruncated`, `PromptTooLong` or `Refused` when
    the reply stopped for such a reason. A reply that was cut off is never returned. Usage is in
    the events alone, one `ModelCallEnded` an attempt.
    """
    content: tuple[Block, ...] = ()
    asked, pauses = request, 0
    while True:
        call = _Call(context, request)
        reply: Reply | None = None
        try:
            async with aclosing(context.services.model.complete(asked)) as events:
                async for event in events:
                    match event:
                        case TextPiece(text=text):
                            call.first_piece()
                            if listener:
                                listener.piece(text)
                        case Restarted():
                            call.end(event.usage, error_type=event.error_type)
                            call.wait(event)
                            call.start()
                            if listener:
                                listener.restart()
                        case Reply():
                            reply = event
                            break
        except TurnError as error:
            call.end(error.usage, error_type=error.type)
            raise
        if reply is None:
            raise InvalidOutput("The model's answer ended before it was complete. Try again.")
        if reply.model == NO_MODEL:
            call.model = None
        call.end(reply.usage, reply.stop_reason)
        content += reply.content
        reply = replace(reply, content=content)
        so_far = reply.as_message()
        if reply.stop_reason != "pause_turn" or not so_far.content or pauses == MAX_PAUSES:
            _check_stop_reason(reply, request)
            return reply
        asked, pauses = replace(request, messages=(*request.messages, so_far)), pauses + 1


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


class _Call:
    """Times one call and emits an event at the start and the end of each attempt."""

    def __init__(self, context: TurnContext, request: ModelRequest) -> None:
        self._emit, self._request, self._number = context.emit, request, next(context.calls)
        self._attempt = 0
        self.model: str | None = request.model
        self._first: float | None = None
        self.start()

    def start(self) -> None:
        self._attempt += 1
        self._began, self._first = time.perf_counter(), None
        self._emit(ModelCallStarted(self._number, self._request.agent, self._request.model))

    def wait(self, restarted: Restarted) -> None:
        why, seconds = restarted.error_type, restarted.wait_seconds
        self._emit(RetryPlanned(self._number, self._request.agent, why, seconds))

    def first_piece(self) -> None:
        if self._first is None:
            self._first = (time.perf_counter() - self._began) * 1000

    def end(
        self, usage: Usage, stop_reason: str | None = None, error_type: str | None = None
    ) -> None:
        self._emit(
            ModelCallEnded(
                call=self._number,
                agent=self._request.agent,
                model=self.model,
                milliseconds=(time.perf_counter() - self._began) * 1000,
                first_token_ms=self._first,
                usage=usage,
                stop_reason=stop_reason,
                attempt=self._attempt,
                error_type=error_type,
            )
        )


class VisibleText:
    """A listener that shows each piece at once, and nothing twice.

    When the reply begins again after some of it was shown, the new pieces are held until they
    either go on from what was shown, which is then simply continued, or differ from it, which
    `TextRestarted` announces.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._shown = ""
        self._again: str | None = None

    def piece(self, text: str) -> None:
        if self._again is not None:
            self._compare(self._again + text)
            return
        self._show(text if self._shown else text.lstrip())

    def restart(self) -> None:
        if self._shown:
            self._again = ""

    def end(self) -> None:
        """The block is complete."""
        if self._again is not None and self._again != self._shown:
            self._replace(self._again)
        if self._shown:
            self._emit(TextEnded())
        self._shown, self._again = "", None

    def finish(self, text: str) -> None:
        """Show what is missing of `text`, which is the whole block; what differs is replaced."""
        self.restart()
        self.piece(text)
        self.end()

    def withdraw(self) -> None:
        """Take back what a broken attempt had shown; nothing takes its place here."""
        if self._shown:
            self._emit(TextRestarted())
        self._shown, self._again = "", None

    def _compare(self, again: str) -> None:
        self._again = again = again.lstrip()
        if again.startswith(self._shown):
            rest, self._again = again[len(self._shown) :], None
            self._show(rest)
        elif not self._shown.startswith(again):
            self._replace(again)

    def _replace(self, text: str) -> None:
        self._emit(TextRestarted())
        self._shown, self._again = "", None
        self._show(text)

    def _show(self, text: str) -> None:
        if text:
            self._shown += text
            self._emit(TextDelta(text))


#: A text this long, in characters, or one that goes on after an empty line, answers. A shorter one
#: may still turn out to announce a tool call.
LONGEST_LEAD_IN = 160


class AnswerText:
    """A listener that shows an answer as it arrives, for an agent whose reply may end in tools.

    What is said before a tool call is short, and untrue when the call hands the request over or
    fails: so the beginning of a reply is held until it is too long for that. Text of one reply
    that the next one, or the answer, does not go on from is void, and `TextRestarted` says so.
    """

    def __init__(self, emit: Emit) -> None:
        self._visible = VisibleText(emit)
        self._held, self._open = "", False

    def piece(self, text: str) -> None:
        self._held += text
        shown = self._held.strip()
        self._open = self._open or len(shown) > LONGEST_LEAD_IN or "\n\n" in shown
        if self._open and shown:
            ended = len(self._held.rstrip())  # blanks at the end of an answer are not part of it
            self._visible.piece(self._held[:ended])
            self._held = self._held[ended:]

    def restart(self) -> None:
        self._held, self._open = "", False
        self._visible.restart()

    def finish(self, text: str) -> None:
        """Show what is still missing of `text`, which is the answer."""
        self._visible.finish(text)

    def withdraw(self) -> None:
        """The request is handed over: nothing of the attempt is part of the answer."""
        self._visible.withdraw()

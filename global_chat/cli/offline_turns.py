"""Turns without a model, in the frame that every turn has: one stream, one response, one error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from global_chat.agents.context import Services
from global_chat.contract.errors import BadRequest
from global_chat.contract.events import Emit
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.turn.frame import TraceIdentity, Turn


async def take_offline_turn(payload: Any, services: Services, emit: Emit) -> Response:
    """The response to `payload`, by rule. Raises a `TurnError`.

    It is a `BadRequest` for an agent's own payload: without a model there is no agent.
    """
    if not isinstance(payload, Payload):
        raise BadRequest(
            "This command addresses one agent, and without a model there is none. Use "
            "`global-chat run` with --backend offline."
        )
    user = payload.meta.user
    identity = TraceIdentity(payload.meta.session_id, user.id, user.persona)
    async with Turn(services, emit, identity, payload.warnings) as turn:
        with _interruptible():
            # The grammar takes time to load, which live and scripted turns need not pay.
            from global_chat.offline.turn import take_turn  # noqa: PLC0415

            response = await take_turn(payload, services.knowledge, turn.emit)
        return turn.end(response)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends what is in the block at once. The event loop would wait until the turn does, and
    reading a request waits for nothing."""
    before = signal.getsignal(signal.SIGINT)
    # A background job ignores Ctrl-C, and only the main thread may set handlers.
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

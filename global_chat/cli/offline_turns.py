"""Turns without a model, in the frame that every turn has: one stream, one response, one error."""

from __future__ import annotations

from typing import Any

from global_chat.agents.asking import AgentContext
from global_chat.contract.errors import BadRequest
from global_chat.contract.events import Emit
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.turn.lifecycle import Caller, Services, run_turn
from global_chat.turn.tally import Tally


async def take_offline_turn(payload: Any, services: Services, emit: Emit) -> Response:
    """Answer `payload` by rule. Raises a `TurnError`; `BadRequest` for an agent's own payload."""
    # The grammar takes time to load, which live and scripted turns need not pay.
    from global_chat.offline.turn import take_turn  # noqa: PLC0415

    if not isinstance(payload, Payload):
        raise BadRequest(
            "This command addresses one agent, and without a model there is none. Use "
            "`global-chat run` with --backend offline."
        )
    meta = payload.meta
    caller = Caller(meta.session_id, meta.user.id, meta.user.persona)

    async def body(context: AgentContext, _: Tally) -> Response:
        return await take_turn(payload, context.knowledge, context.emit)

    return await run_turn(services, emit, caller, body, payload.warnings)

"""The frame of every turn: one stream that starts once and ends once, whatever fails."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from global_chat.agents.asking import AgentContext
from global_chat.agents.knowledge import Knowledge, NoKnowledge
from global_chat.contract.errors import InternalError, TurnError
from global_chat.contract.events import (
    Emit,
    Event,
    Noted,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import BackendName
from global_chat.contract.response import HistoryEntry, Response
from global_chat.contract.settings import Settings
from global_chat.model.seam import Model

from .tally import Tally


@dataclass(frozen=True, slots=True)
class Services:
    """What a turn runs on; the wiring chooses each of them."""

    model: Model
    settings: Settings = field(default_factory=Settings)
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    backend: BackendName = "anthropic"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose turn it is, for the trace."""

    session_id: str | None = None
    user_id: str | None = None
    persona: str | None = None


Body = Callable[[AgentContext, Tally], Awaitable[Response]]


async def run_turn(
    services: Services, emit: Emit, caller: Caller, body: Body, warnings: Sequence[str] = ()
) -> Response:
    """Run `body` between the first and the last event of a turn; `warnings` are told before it.

    What changed and every warning go into the response at the very end, whoever told of them.
    Raises a `TurnError`, after `TurnFailed` was emitted; whatever else is raised inside becomes an
    `InternalError`. A cancelled turn ends without a last event: nobody listens any more.
    """
    tally = Tally()

    def tell(event: Event) -> None:
        tally(event)
        emit(event)

    tell(
        TurnStarted(
            turn_id=f"turn_{uuid.uuid4().hex[:24]}",
            session_id=caller.session_id,
            user_id=caller.user_id,
            persona=caller.persona,
            backend=services.backend,
        )
    )
    for warning in warnings:
        tell(Warned(warning))
    context = AgentContext(services.model, services.settings, tell, services.knowledge)
    try:
        response = await _noting(body(context, tally), services, tell)
    except Exception as raised:
        error = raised if isinstance(raised, TurnError) else internal_error(raised)
        error.partial_workflow = tally.workflow_yaml
        tell(TurnFailed(error, tally.usage))
        raise error from raised
    response.meta.changes, response.meta.warnings = tally.changes, tally.warnings
    if services.backend != "anthropic":
        response.meta.backend = services.backend
    tell(TurnEnded(response))
    return response


async def _noting(turn: Awaitable[Response], services: Services, tell: Emit) -> Response:
    """The turn's response; whatever becomes of it, the look-ups' notes go into the trace."""
    try:
        return await turn
    finally:
        for note in services.knowledge.notes():
            tell(Noted(note))


def internal_error(error: Exception) -> InternalError:
    """What a user is told of a fault of the program."""
    return InternalError(
        f"Something went wrong inside global-chat ({type(error).__name__}). Nothing was lost: your "
        "workflow file is as it was. Run again with -v and report what it prints."
    )


def exchange(history: tuple[HistoryEntry, ...], content: str, answer: str) -> list[HistoryEntry]:
    """The given history plus this exchange, the user's turn exactly as typed."""
    return [
        *history,
        HistoryEntry(role="user", content=content),
        HistoryEntry(role="assistant", content=answer),
    ]

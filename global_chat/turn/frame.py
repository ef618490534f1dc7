"""The frame of every turn: one stream that starts once and ends once, whatever fails."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from global_chat.agents.context import Services, TurnContext
from global_chat.contract.errors import InternalError, TurnError
from global_chat.contract.events import (
    AgentInvoked,
    Changes,
    Emit,
    Event,
    ModelCallEnded,
    Noted,
    RouteDecided,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
    WorkflowChanged,
)
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.response import Response


@dataclass(frozen=True, slots=True)
class TraceIdentity:
    """The session and the user that a turn belongs to, for the trace."""

    session_id: str | None = None
    user_id: str | None = None
    persona: str | None = None


class Turn:
    """One turn, as `async with Turn(…) as turn`: its context, and what its events come to.

    Entering emits `TurnStarted` and then `warnings`. The body leaves its answer by `end`. Leaving
    emits the last event: `TurnEnded`, or `TurnFailed` for an exception, which leaves as a
    `TurnError` with the workflow as far as it is done in `partial_workflow`. A turn that is
    cancelled has no last event: nobody listens any more.
    """

    def __init__(
        self,
        services: Services,
        listener: Emit,
        identity: TraceIdentity | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        self._listener = listener
        self._identity, self._given_warnings = identity or TraceIdentity(), warnings
        self._workflow_yaml: str | None = None
        self._response: Response | None = None
        self.services = services
        self.context = TurnContext(services, self.emit)
        self.usage = Usage()
        self.agents: list[AgentName] = []
        self.confidence: int | None = None
        self.changes: list[str] = []
        self.warnings: list[str] = []

    def emit(self, event: Event) -> None:
        """Add `event` to the turn's totals, then pass it to the listener."""
        match event:
            case AgentInvoked(agent=agent):
                self.agents.append(agent)
            case ModelCallEnded(usage=usage):
                self.usage += usage
            case RouteDecided(confidence=confidence):
                self.confidence = confidence
            case WorkflowChanged(workflow_yaml=workflow_yaml):
                self._workflow_yaml = workflow_yaml
            case Changes(summary=summary):
                self.changes += summary
            case Warned(message=message):
                self.warnings.append(message)
        self._listener(event)

    def end(self, response: Response) -> Response:
        """The turn's answer, with what the events say of it. Nothing may be emitted after it."""
        response.usage = self.usage
        meta = response.meta
        meta.agents, meta.router_confidence = self.agents, self.confidence
        meta.changes, meta.warnings = self.changes, self.warnings
        if self.services.backend != "anthropic":
            meta.backend = self.services.backend
        self._response = response
        return response

    async def __aenter__(self) -> Turn:
        self.emit(
            TurnStarted(
                turn_id=f"turn_{uuid.uuid4().hex[:24]}",
                session_id=self._identity.session_id,
                user_id=self._identity.user_id,
                persona=self._identity.persona,
                backend=self.services.backend,
            )
        )
        for warning in self._given_warnings:
            self.emit(Warned(warning))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for note in self.services.knowledge.notes():
            self.emit(Noted(note))
        if isinstance(raised, Exception):
            error = raised if isinstance(raised, TurnError) else InternalError.from_bug(raised)
            error.partial_workflow = self._workflow_yaml
            self.emit(TurnFailed(error, self.usage))
            if error is not raised:
                raise error from raised
        elif raised is None:
            assert self._response is not None, "the body of a turn ends it"
            self.emit(TurnEnded(self._response))

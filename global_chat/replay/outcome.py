"""What happened in one turn, as it was heard: its events, what was asked and answered, its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeVar

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    RouteDecided,
    Warned,
)
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.response import Response
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Reply
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

E = TypeVar("E")


@dataclass(slots=True)
class Exchange:
    """One call of a model: what it was asked, and its reply or its failure."""

    request: ModelRequest
    reply: Reply | None = None
    error: TurnError | None = None


class Listening:
    """A model that remembers every call of the model behind it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.exchanges: list[Exchange] = []

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        exchange = Exchange(request)
        self.exchanges.append(exchange)
        try:
            async with aclosing(self._model.complete(request)) as events:
                async for event in events:
                    if isinstance(event, Reply):
                        exchange.reply = event
                    yield event
        except TurnError as error:
            exchange.error = error
            raise


@dataclass(frozen=True, slots=True)
class Outcome:
    """One turn that is over. `workflow` is the document before it, as the payload gave it."""

    workflow: str
    page: str | None
    events: tuple[Event, ...]
    exchanges: tuple[Exchange, ...]
    seconds: float
    response: Response | None = None
    error: TurnError | None = None
    unused: tuple[str, ...] = field(default=())
    """Turns of the script that no call used."""

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def agents(self) -> tuple[AgentName, ...]:
        return tuple(event.agent for event in self.of(AgentInvoked))

    @property
    def route(self) -> RouteDecided | None:
        return next(iter(self.of(RouteDecided)), None)

    @property
    def handover(self) -> HandedOver | None:
        """The handover from a direct route to the planner, if there was one."""
        return next((event for event in self.of(HandedOver) if event.to_planner), None)

    @property
    def handed_back(self) -> tuple[HandedOver, ...]:
        """Handovers inside the planner."""
        return tuple(event for event in self.of(HandedOver) if not event.to_planner)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(event.message for event in self.of(Warned))

    @property
    def after(self) -> str:
        """The document as the turn leaves it; after a failure what was finished before it."""
        changed = self.response.workflow_yaml if self.response else None
        if self.error is not None:
            changed = self.error.partial_workflow
        return self.workflow if changed is None else changed

    @property
    def step(self) -> str | None:
        """The key of the step that a decision for the job code agent led to."""
        if self.route is None or self.route.sent_to != "job_code_agent":
            return None
        workflow = Workflow.read(self.workflow, self.page)
        step = workflow.find_step(self.route.job_key) or workflow.find_step(
            Page.parse(self.page).step
        )
        return step.key if step else None

    @property
    def usage(self) -> dict[tuple[AgentName, str], Usage]:
        """Tokens by agent and model, failed attempts included."""
        found: dict[tuple[AgentName, str], Usage] = {}
        for event in self.of(ModelCallEnded):
            key = (event.agent, event.model)
            found[key] = found.get(key, Usage()) + event.usage
        return found

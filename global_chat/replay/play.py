"""Playing one case: the same turn that the command line takes, and all that happened in it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from global_chat.agents.context import Services
from global_chat.contract.errors import ScriptMismatch, TurnError
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    RouteDecided,
)
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.payload import Payload
from global_chat.contract.payload import read as read_payload
from global_chat.contract.response import Response
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Reply
from global_chat.turn.take import take_turn
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

from .cases import Case, Label

E = TypeVar("E")


class RouteIsKnown(TurnError):
    """Ends a turn after the router's decision, when only that was asked for."""


@dataclass(slots=True)
class Exchange:
    """One call of a model: what it was asked, and its reply or its failure."""

    request: ModelRequest
    reply: Reply | None = None
    error: TurnError | None = None


class Listening:
    """A model that remembers every call of the model behind it.

    With `routes_only` the first call that is not the router's raises `RouteIsKnown`.
    """

    def __init__(self, model: Model, *, routes_only: bool = False) -> None:
        self._model, self._routes_only = model, routes_only
        self.exchanges: list[Exchange] = []

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self._routes_only and request.agent != "router":
            raise RouteIsKnown("Only the route was asked for.")
        exchange = Exchange(request)
        self.exchanges.append(exchange)
        try:
            async with aclosing(self._model.complete(request)) as stream:
                async for event in stream:
                    if isinstance(event, Reply):
                        exchange.reply = event
                    yield event
        except TurnError as error:
            exchange.error = error
            raise


class Outcome:
    """One finished turn: its case, events, model calls, response and error."""

    def __init__(
        self,
        case: Case,
        events: list[Event],
        exchanges: list[Exchange],
        seconds: float,
        response: Response | None,
        error: TurnError | None,
    ) -> None:
        self.case, self.events, self.exchanges, self.seconds = case, events, exchanges, seconds
        self.response, self.error = response, error
        self.unused: tuple[str, ...] = ()  # turns of the script that no call used
        self.text = response.response if response else ""
        self.agents = tuple(event.agent for event in self.of(AgentInvoked))
        self.route = next(iter(self.of(RouteDecided)), None)
        #: The handover from a direct route to the planner, if there was one.
        self.handover = next((event for event in self.of(HandedOver) if event.to_planner), None)
        #: The document before the turn, and after it; after a failure with what was done before.
        self.workflow = str(case.given.get("workflow_yaml") or "")
        partial = error.partial_workflow if error else None
        changed = response.workflow_yaml if response else partial
        self.after = self.workflow if changed is None else changed
        #: Tokens by agent and model, failed attempts included.
        self.usage: dict[tuple[AgentName, str], Usage] = {}
        for call in self.of(ModelCallEnded):
            if call.model is not None:
                key = (call.agent, call.model)
                self.usage[key] = self.usage.get(key, Usage()) + call.usage

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @cached_property
    def step(self) -> str | None:
        """The key of the step that a decision for the job code agent led to."""
        if self.route is None or self.route.sent_to != "job_code_agent":
            return None
        page = self.case.given.get("page")
        workflow = Workflow.read(self.workflow, page)
        names = (self.route.job_key, Page.parse(page).step)
        return next((step.key for name in names if (step := workflow.find_step(name))), None)

    def is_right(self, label: Label) -> bool:
        """Whether the turn was sent where it belongs, and to the step that is meant."""
        taken = self.route and self.route.sent_to
        if taken == label.destination:
            return label.job_key in (None, self.step)
        return taken in label.also_ok


async def play_script(case: Case) -> Outcome:
    """Take the turn with the case's script answering; a failure of the turn is in the outcome."""
    assert case.script is not None
    script = ScriptedModel(case.script)
    listening = Listening(script)
    model = Retrying(listening, case.settings.retry, sleep=_no_wait)
    outcome = await _take(case, Services(model, case.settings, backend="scripted"), listening)
    # A turn that failed on a missing turn leaves others over for that reason.
    if not isinstance(outcome.error, ScriptMismatch):
        outcome.unused = script.unused()
    return outcome


async def _no_wait(_seconds: float) -> None:
    """A script has no service to wait for between attempts."""


async def play_live(case: Case, services: Services, *, routes_only: bool = False) -> Outcome:
    """Take the turn with the model of `services`, or only as far as the router's decision."""
    listening = Listening(services.model, routes_only=routes_only)
    return await _take(case, replace(services, model=listening), listening)


async def _take(case: Case, services: Services, listening: Listening) -> Outcome:
    events: list[Event] = []
    response, failure = None, None
    began = time.perf_counter()
    try:
        response = await take_turn(read_payload(Payload, case.given), services, events.append)
    except RouteIsKnown:
        # The agent that was to come next was not asked.
        decided = [isinstance(event, RouteDecided) for event in events]
        del events[decided.index(True) + 1 :]
    except TurnError as error:
        failure = error
    seconds = time.perf_counter() - began
    return Outcome(case, events, listening.exchanges, seconds, response, failure)

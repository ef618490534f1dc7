"""Playing one case: the same turn that the command line takes, with whatever model it is given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from global_chat.contract.errors import ScriptMismatch, TimedOut, TurnError
from global_chat.contract.events import Event, RouteDecided
from global_chat.contract.payload import Payload
from global_chat.contract.payload import read as read_payload
from global_chat.contract.response import Response
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import Model, ModelEvent, ModelRequest
from global_chat.turn.lifecycle import Services
from global_chat.turn.take import take_turn

from .case import Case
from .outcome import Listening, Outcome

#: A scripted turn waits for nothing: one that lasts longer, in seconds, hangs.
LONGEST_SCRIPTED = 60.0


class RouteIsKnown(TurnError):
    """The turn was to end here: the router has decided, and only that was asked for."""


class OnlyRouter:
    """A model that answers the router and ends the turn at the next call."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.agent != "router":
            raise RouteIsKnown("Only the route was asked for.")
        async with aclosing(self._model.complete(request)) as events:
            async for event in events:
                yield event


async def play_script(case: Case) -> Outcome:
    """Take the turn with the case's script answering. Never raises for what a turn can end in."""
    assert case.script is not None
    script = ScriptedModel(case.script)
    listening = Listening(script)
    model = Retrying(listening, case.settings.retry, sleep=_no_wait)
    services = Services(model=model, settings=case.settings, backend="scripted")
    try:
        async with asyncio.timeout(LONGEST_SCRIPTED):
            outcome = await _take(case, services, listening)
    except TimeoutError:
        hangs = TimedOut(f"The turn did not end within {LONGEST_SCRIPTED:g} s.")
        return _outcome(case, listening, LONGEST_SCRIPTED, (), None, hangs)
    # A turn that failed on a missing turn leaves others over for that reason.
    if isinstance(outcome.error, ScriptMismatch):
        return outcome
    return replace(outcome, unused=script.unused())


async def play_live(case: Case, services: Services, *, routes_only: bool = False) -> Outcome:
    """Take the turn with the model of `services`, or only as far as the router's decision."""
    listening = Listening(services.model)
    model: Model = OnlyRouter(listening) if routes_only else listening
    return await _take(case, replace(services, model=model), listening)


async def _take(case: Case, services: Services, listening: Listening) -> Outcome:
    events: list[Event] = []
    response: Response | None = None
    failure: TurnError | None = None
    began = time.perf_counter()
    try:
        payload = read_payload(Payload, case.given)
        response = await take_turn(payload, services, events.append)
    except RouteIsKnown:
        # Whoever was to come next was not asked, so nothing of it is told.
        known = next(i for i, event in enumerate(events) if isinstance(event, RouteDecided))
        del events[known + 1 :]
    except TurnError as error:
        failure = error
    seconds = time.perf_counter() - began
    return _outcome(case, listening, seconds, tuple(events), response, failure)


def _outcome(
    case: Case,
    listening: Listening,
    seconds: float,
    events: tuple[Event, ...],
    response: Response | None,
    failure: TurnError | None,
) -> Outcome:
    workflow, page = case.given.get("workflow_yaml"), case.given.get("page")
    return Outcome(
        workflow=workflow if isinstance(workflow, str) else "",
        page=page if isinstance(page, str) else None,
        events=events,
        exchanges=tuple(listening.exchanges),
        seconds=seconds,
        response=response,
        error=failure,
    )


async def _no_wait(_seconds: float) -> None:
    """Pauses between attempts are the provider's: a script has none to wait for."""

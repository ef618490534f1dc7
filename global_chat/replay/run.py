"""Running many cases: several at a time on one event loop, each for itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from global_chat.agents.context import Services
from global_chat.contract.errors import RateLimited, TurnError
from global_chat.model.prices import BudgetSpent, Prices
from global_chat.model.recording import Recording
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Restarted

from .cases import Case
from .compare import differences, live_differences
from .play import Outcome, play_live, play_script
from .result import EVIDENCE, Result, judge
from .update import keep

#: Runs a case for the n-th time.
Play = Callable[[Case, int], Awaitable[Result]]

#: The pause after a rate limit, in seconds, when the provider names none.
USUAL_PAUSE = 5.0


class StopRun(Exception):
    """Raised by whoever receives results, to start no more cases: `--fail-fast`, a full disk."""


async def run_all(
    work: Iterable[tuple[Case, int]], play: Play, jobs: int, receive: Callable[[Result], None]
) -> None:
    """Run `jobs` cases at a time; `receive` gets each result as soon as it is there.

    An exception in a case fails that case only. Ends early, without raising, on `StopRun`.
    """
    waiting = iter(work)

    async def worker() -> None:
        for case, number in waiting:
            try:
                result = await play(case, number)
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                result = Result.of(case, number, status="crashed", differences=(why,))
            receive(result)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(worker())
    except* StopRun:
        pass


def judge_script(outcome: Outcome, number: int, prices: Prices) -> Result:
    """The result of a scripted turn: everything must have come out as the case expects."""
    return judge(outcome, number, differences(outcome), prices)


def scripted(prices: Prices) -> Play:
    """Plays a case with its own script and judges what came."""

    async def play(case: Case, number: int) -> Result:
        return judge_script(await play_script(case), number, prices)

    return play


def live(
    services: Services,
    prices: Prices,
    *,
    routes_only: bool = False,
    batch: bool = False,
    record: Path | None = None,
    secrets: Sequence[str] = (),
) -> Play:
    """Plays a case with the services' model and judges what came.

    With `record` the turn is kept as a case in that folder, without the `secrets`.
    """

    async def play(case: Case, number: int) -> Result:
        recording = Recording(services.model, secrets)
        used = replace(services, model=recording) if record else services
        outcome = await play_live(case, used, routes_only=routes_only)
        found = live_differences(outcome, routes_only=routes_only)
        result = judge(outcome, number, found, prices, scripted=False, batch=batch)
        for error in (exchange.error for exchange in outcome.exchanges):
            if isinstance(error, BudgetSpent):
                stopped = {"status": "stopped", "differences": (error.message,)}
                return result.model_copy(update={**stopped, **dict.fromkeys(EVIDENCE, ())})
        try:
            if record is not None:
                keep(record, outcome, number, recording)
        except (OSError, TurnError) as error:
            # The answer is paid for; that it could not be kept is one more thing to tell.
            told = (*result.differences, f"record: {error}")
            result = result.model_copy(update={"status": "failed", "differences": told})
        return result

    return play


class Paced:
    """Any model; a rate limit that one call meets keeps every other call waiting as well.

    It sends nothing again: that is for the model's own retries, and for a resumed run.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._open_at = 0.0

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply, after the pause that an earlier call has brought."""
        # While one waits another call may bring a longer pause; no event says when one is over.
        while (pause := self._open_at - time.monotonic()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(pause)
        try:
            async with aclosing(self._model.complete(request)) as events:
                async for event in events:
                    if isinstance(event, Restarted) and event.error_type == RateLimited.type:
                        self._open_at = time.monotonic() + event.wait_seconds
                    yield event
        except RateLimited as error:
            self._open_at = time.monotonic() + (error.retry_after or USUAL_PAUSE)
            raise

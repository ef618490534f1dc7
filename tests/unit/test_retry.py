"""Retrying: what is tried again, how long it waits, and what its reader is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from global_chat.contract import errors
from global_chat.contract.errors import TurnError
from global_chat.contract.names import Usage
from global_chat.contract.settings import RetrySettings
from global_chat.model.retry import Retrying
from global_chat.model.seam import (
    Message,
    ModelEvent,
    ModelRequest,
    Reply,
    Restarted,
    TextPiece,
)

pytestmark = pytest.mark.unit

REQUEST = ModelRequest("router", "m", (), (Message("user", "hi"),), 10)
REPLY = Reply(({"type": "text", "text": "whole"},), "end_turn", Usage(output_tokens=5), "m")


class Flaky:
    """Fails with each of the given errors in turn, after one piece, and then answers."""

    def __init__(self, *failures: TurnError) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.closed = 0

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.calls += 1
        try:
            yield TextPiece("who")
            if self.failures:
                error = self.failures.pop(0)
                error.usage = Usage(input_tokens=self.calls)
                raise error
            yield REPLY
        finally:
            self.closed += 1


class Clock:
    """Takes the place of sleeping and writes down for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def run(
    model: Flaky, settings: RetrySettings | None = None, chance: float = 0.0
) -> tuple[list[ModelEvent], list[float]]:
    clock = Clock()
    retrying = Retrying(model, settings or RetrySettings(), clock.sleep, lambda: chance)
    return [event async for event in retrying.complete(REQUEST)], clock.slept


async def test_a_call_that_works_is_passed_through() -> None:
    assert await run(Flaky()) == ([TextPiece("who"), REPLY], [])


async def test_each_broken_attempt_is_announced_with_its_cost() -> None:
    model = Flaky(errors.Overloaded("busy"), errors.ConnectionFailed("cut"))
    events, slept = await run(model)
    assert events == [
        TextPiece("who"),
        Restarted(Usage(input_tokens=1), "OVERLOADED", 0.5),
        TextPiece("who"),
        Restarted(Usage(input_tokens=2), "CONNECTION_ERROR", 1.0),
        TextPiece("who"),
        REPLY,
    ]
    assert slept == [0.5, 1.0]
    assert model.closed == 3


async def test_the_last_error_comes_through_with_its_own_cost_only() -> None:
    model = Flaky(*(errors.ProviderError(f"no {n}") for n in range(5)))
    with pytest.raises(errors.ProviderError, match="no 2") as caught:
        await run(model, RetrySettings(attempts=3))
    assert caught.value.usage == Usage(input_tokens=3)
    assert model.calls == 3


async def test_one_attempt_means_no_second() -> None:
    model = Flaky(errors.Overloaded("busy"))
    with pytest.raises(errors.Overloaded):
        await run(model, RetrySettings(attempts=1))
    assert model.calls == 1


@pytest.mark.parametrize(
    "error",
    [
        errors.AuthError("no"),
        errors.BadRequest("no", retryable=True),
        errors.InvalidOutput("no"),
        errors.TimedOut("slow"),
        errors.ProviderError("never", retryable=False),
        errors.ScriptMismatch("no turn"),
    ],
)
async def test_what_will_not_get_better_is_not_tried_again(error: TurnError) -> None:
    model = Flaky(error)
    with pytest.raises(TurnError) as caught:
        await run(model)
    assert caught.value is error
    assert model.calls == 1


async def test_the_wait_doubles_up_to_the_longest() -> None:
    model = Flaky(*(errors.Overloaded("busy") for _ in range(6)))
    _, slept = await run(model, RetrySettings(attempts=7, first_wait=1, longest_wait=8))
    assert slept == [1, 2, 4, 8, 8, 8]


async def test_chance_shortens_a_wait_by_a_quarter_at_most() -> None:
    _, slept = await run(Flaky(errors.Overloaded("busy")), RetrySettings(first_wait=4), chance=1.0)
    assert slept == [3.0]


async def test_a_pause_that_the_service_asks_for_is_kept() -> None:
    model = Flaky(errors.RateLimited("slow", retry_after=6), errors.RateLimited("x", retry_after=0))
    _, slept = await run(model)
    assert slept == [6, 1.0]


async def test_a_pause_longer_than_the_longest_is_not_waited_for() -> None:
    error = errors.RateLimited("wait 60 s", retry_after=60)
    model = Flaky(error)
    with pytest.raises(errors.RateLimited) as caught:
        await run(model, RetrySettings(longest_wait=8))
    assert caught.value is error
    assert model.calls == 1


async def test_a_reader_who_stops_early_closes_the_call_below() -> None:
    model = Flaky()
    events = Retrying(model, RetrySettings()).complete(REQUEST)
    await anext(events)
    await events.aclose()
    assert model.closed == 1

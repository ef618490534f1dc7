"""Money and rate limits: no call is made that might cost too much, and one limit slows all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from global_chat.contract.errors import BadRequest, Overloaded, RateLimited
from global_chat.contract.names import Usage
from global_chat.contract.settings import Settings
from global_chat.model.prices import Budgeted, BudgetSpent, Price, Prices
from global_chat.model.seam import Message, ModelEvent, ModelRequest, Reply, Restarted
from global_chat.replay import run
from global_chat.replay.run import Paced

pytestmark = pytest.mark.unit

PRICE = Price(input=0, output=1_000_000)  # a dollar for each token of a reply
PRICES = Prices(models={"m": PRICE})


def request(most: int = 2) -> ModelRequest:
    return ModelRequest("router", "m", (), (Message("user", "x"),), most)


class Scripted:
    """Ends each call in what comes next: a reply of so many tokens, or an error."""

    def __init__(self, *ends: int | Exception) -> None:
        self.ends = list(ends)
        self.asked = self.running = self.most = 0

    async def complete(self, _: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked += 1
        self.running += 1
        self.most = max(self.most, self.running)
        end = self.ends.pop(0)
        await asyncio.sleep(0)
        self.running -= 1
        if isinstance(end, Exception):
            raise end
        yield Reply((), "end_turn", Usage(output_tokens=end), "m")


async def ask(model: Budgeted | Paced, given: ModelRequest | None = None) -> list[ModelEvent]:
    return [event async for event in model.complete(given or request())]


async def test_a_call_that_may_cost_more_than_is_left_is_not_made() -> None:
    model = Scripted(1, 1, 1)
    budgeted = Budgeted(model, 3.5, PRICES)
    await ask(budgeted)
    await ask(budgeted)
    with pytest.raises(BudgetSpent, match=r"\$3\.5"):
        await ask(budgeted)
    assert (model.asked, budgeted.spent) == (2, 2.0)


async def test_parallel_calls_wait_for_money_that_others_may_leave_over() -> None:
    model = Scripted(*[1] * 8)
    budgeted = Budgeted(model, 9, PRICES)
    await asyncio.gather(*(ask(budgeted) for _ in range(8)))
    assert (model.asked, budgeted.spent) == (8, 8.0)
    assert model.most <= 4  # two dollars were set aside for each


async def test_parallel_calls_never_overspend() -> None:
    budgeted = Budgeted(Scripted(*[2] * 20), 9, PRICES)
    ended = await asyncio.gather(*(ask(budgeted) for _ in range(20)), return_exceptions=True)
    assert budgeted.spent == 8.0
    assert sum(isinstance(end, BudgetSpent) for end in ended) == 16


async def test_a_failed_call_costs_what_it_had_used() -> None:
    failed = Overloaded("busy")
    failed.usage = Usage(output_tokens=2)
    budgeted = Budgeted(Scripted(failed), 10, PRICES)
    with pytest.raises(Overloaded):
        await ask(budgeted)
    assert budgeted.spent == 2.0


async def test_a_discount_counts_on_both_sides() -> None:
    budgeted = Budgeted(Scripted(2), 1, PRICES, factor=0.5)
    await ask(budgeted)
    assert budgeted.spent == 1.0


def test_the_most_that_a_call_can_cost_grows_with_its_text_and_its_limit() -> None:
    price = Price(input=1, output=1, cache_write=3)
    short = price.most(request(10))
    longer = ModelRequest("router", "m", (), (Message("user", "x" * 2_000_000),), 10)
    assert price.most(request(10 + 1_000_000)) == pytest.approx(short + 1, rel=1e-3)
    assert price.most(longer) == pytest.approx(short + 3, rel=1e-3)


def test_a_model_without_a_price_is_named() -> None:
    with pytest.raises(BadRequest, match="no price"):
        PRICES.of(Settings().router.model)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited for, in seconds; time passes only while somebody sleeps."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds:  # the model that is asked here gives way with zero
            waits.append(seconds)

    monkeypatch.setattr(run.time, "monotonic", lambda: 100 + sum(waits))
    monkeypatch.setattr(run.asyncio, "sleep", sleep)
    return waits


async def test_a_rate_limit_keeps_later_calls_waiting_and_sends_nothing_again(
    slept: list[float],
) -> None:
    model = Scripted(RateLimited("slow down", retry_after=7), 1, 1)
    paced = Paced(model)
    with pytest.raises(RateLimited):
        await ask(paced)
    assert (model.asked, slept) == (1, [])
    await ask(paced)
    await ask(paced)
    assert (model.asked, slept) == (3, [7])


async def test_a_pause_of_the_models_own_retry_is_everybodys(slept: list[float]) -> None:
    class Retried(Scripted):
        async def complete(self, given: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            if self.asked == 0:
                yield Restarted(Usage(), "RATE_LIMIT", 3)
            async for event in super().complete(given):
                yield event

    paced = Paced(Retried(1, 1))
    restarted, reply = await ask(paced)
    assert isinstance(restarted, Restarted) and isinstance(reply, Reply)
    await ask(paced)
    assert slept == [3]

"""Money and rate limits: no call is made that might cost too much, and one limit slows all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from global_chat.contract.errors import BadRequest, Overloaded, RateLimited
from global_chat.contract.names import Usage
from global_chat.contract.settings import Settings
from global_chat.model.seam import Message, ModelEvent, ModelRequest, Reply, Restarted
from global_chat.replay.budget import Budgeted, BudgetSpent, Ledger, check_prices, most_expensive
from global_chat.replay.pace import MOST_TRIES, Paced
from global_chat.replay.prices import Price, Prices

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
    model, ledger = Scripted(1, 1, 1), Ledger(3.5)
    budgeted = Budgeted(model, ledger, PRICES)
    await ask(budgeted)
    await ask(budgeted)
    with pytest.raises(BudgetSpent, match=r"\$3\.5"):
        await ask(budgeted)
    assert (model.asked, ledger.spent) == (2, 2.0)


async def test_parallel_calls_wait_for_money_that_others_may_leave_over() -> None:
    model, ledger = Scripted(*[1] * 8), Ledger(9)
    await asyncio.gather(*(ask(Budgeted(model, ledger, PRICES)) for _ in range(8)))
    assert (model.asked, ledger.spent) == (8, 8.0)
    assert model.most <= 4  # two dollars were set aside for each


async def test_parallel_calls_never_overspend() -> None:
    model, ledger = Scripted(*[2] * 20), Ledger(9)
    calls = (ask(Budgeted(model, ledger, PRICES)) for _ in range(20))
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert ledger.spent == 8.0
    assert sum(isinstance(end, BudgetSpent) for end in ended) == 16


async def test_a_failed_call_costs_what_it_had_used() -> None:
    failed = Overloaded("busy")
    failed.usage = Usage(output_tokens=2)
    ledger = Ledger(10)
    with pytest.raises(Overloaded):
        await ask(Budgeted(Scripted(failed), ledger, PRICES))
    assert ledger.spent == 2.0


async def test_a_discount_counts_on_both_sides() -> None:
    ledger = Ledger(1)
    await ask(Budgeted(Scripted(2), ledger, PRICES, factor=0.5))
    assert ledger.spent == 1.0


def test_the_most_that_a_call_can_cost_grows_with_its_text_and_its_limit() -> None:
    price = Price(input=1, output=1, cache_write=3)
    short = most_expensive(request(10), price)
    longer = ModelRequest("router", "m", (), (Message("user", "x" * 2_000_000),), 10)
    assert most_expensive(request(10 + 1_000_000), price) == pytest.approx(short + 1, rel=1e-3)
    assert most_expensive(longer, price) == pytest.approx(short + 3, rel=1e-3)


def test_a_budget_without_a_price_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(BadRequest, match="no price"):
        check_prices(PRICES, Settings())


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def paced(model: Scripted, width: int, clock: Clock) -> Paced:
    return Paced(model, width, sleep=clock.sleep, clock=clock)


async def test_no_more_calls_run_than_the_width_allows() -> None:
    model = Scripted(*[1] * 9)
    slow = paced(model, 3, Clock())
    await asyncio.gather(*(ask(slow) for _ in range(9)))
    assert (model.asked, model.most) == (9, 3)


async def test_a_call_that_is_turned_away_waits_as_asked_and_is_sent_again() -> None:
    model, clock = Scripted(RateLimited("slow down", retry_after=7), 1), Clock()
    restarted, reply = await ask(paced(model, 4, clock))
    assert restarted == Restarted(Usage(), "RATE_LIMIT", 7)
    assert isinstance(reply, Reply)
    assert clock.now == 107


async def test_one_limit_pauses_and_narrows_every_call() -> None:
    limited: list[int | Exception] = [RateLimited("slow down", retry_after=7)]
    model, clock = Scripted(*limited, *[1] * 9), Clock()
    slow = paced(model, 4, clock)
    await ask(slow)
    model.most = 0
    await asyncio.gather(*(ask(slow) for _ in range(8)))
    assert model.most == 3  # four before; two at first, and wider again with each answer
    assert clock.now == 107  # nobody waited a second time


async def test_a_limit_that_stays_is_told_in_the_end() -> None:
    model = Scripted(*[RateLimited("slow down", retry_after=1)] * MOST_TRIES)
    with pytest.raises(RateLimited):
        await ask(paced(model, 1, Clock()))
    assert model.asked == MOST_TRIES

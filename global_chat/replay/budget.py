"""Stopping before the money is spent: a call is only made when the most it can cost is left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from global_chat.contract.errors import BadRequest, TurnError
from global_chat.contract.names import Usage
from global_chat.contract.settings import Settings
from global_chat.model.anthropic_messages import wire_body
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Reply, Restarted

from .prices import Price, Prices

#: No text that we know of takes more than one token for two of its bytes.
BYTES_PER_TOKEN = 2


class BudgetSpent(TurnError):
    """The call was not made: it might have cost more than what is left."""


class Ledger:
    """What was spent and what is promised to calls under way, in US dollars."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.spent = 0.0
        self._promised = 0.0
        self._settled = asyncio.Condition()

    @asynccontextmanager
    async def promise(self, most: float) -> AsyncIterator[Bill]:
        """Set `most` aside for a call. Waits for calls under way when it does not fit beside them.

        Raises `BudgetSpent` when it does not fit without them either.
        """
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(most) or not self._promised)
            if not self._fits(most):
                raise BudgetSpent(
                    f"The budget of ${self.budget:g} is spent but for "
                    f"${self.budget - self.spent:.4f}, and the next call may cost ${most:.4f}."
                )
            self._promised += most
        bill = Bill()
        try:
            yield bill
        finally:
            async with self._settled:
                # Rounding must not leave a promise behind that nobody made.
                self._promised = max(0.0, round(self._promised - most, 12))
                self.spent += bill.cost
                self._settled.notify_all()

    def _fits(self, most: float) -> bool:
        return self.spent + self._promised + most <= self.budget


@dataclass(slots=True)
class Bill:
    """What one call cost, in US dollars."""

    cost: float = 0.0


class Budgeted:
    """Any model, within a budget. `factor` is a discount on every price, such as a batch's."""

    def __init__(self, model: Model, ledger: Ledger, prices: Prices, *, factor: float = 1) -> None:
        self._model, self._ledger, self._prices = model, ledger, prices
        self._factor = factor

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply. Raises `BudgetSpent` before anything is sent."""
        price = known_price(self._prices, request.model)
        async with self._ledger.promise(most_expensive(request, price) * self._factor) as bill:
            try:
                async with aclosing(self._model.complete(request)) as events:
                    async for event in events:
                        if isinstance(event, Reply | Restarted):
                            bill.cost += self._cost(price, event.usage)
                        yield event
            except TurnError as error:
                bill.cost += self._cost(price, error.usage)
                raise

    def _cost(self, price: Price, usage: Usage) -> float:
        return price.of(usage) * self._factor


def most_expensive(request: ModelRequest, price: Price) -> float:
    """The most that a call can cost, in US dollars: all of it written to a cache, a full reply."""
    sent = len(json.dumps(wire_body(request), ensure_ascii=False).encode())
    dearest = max(price.input, price.cache_write)
    return (sent / BYTES_PER_TOKEN * dearest + request.max_tokens * price.output) / 1_000_000


def known_price(prices: Prices, model: str) -> Price:
    """The price of a model. Raises `BadRequest` when there is none: a budget needs one."""
    price = prices.of(model)
    if price is None:
        raise BadRequest(
            f"There is no price for the model {model!r}, so --budget cannot be kept. Add it to a "
            "price file and name that with --prices."
        )
    return price


def check_prices(prices: Prices, settings: Settings) -> None:
    """Make sure before a run that every agent's model has a price. Raises `BadRequest`."""
    for agent in (settings.router, settings.workflow_agent, settings.job_code_agent):
        known_price(prices, agent.model)
    known_price(prices, settings.planner.model)

"""What live runs may cost and how fast they may ask: prices, the budget, the common pace."""

from __future__ import annotations

import asyncio
import json
import time
import tomllib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path

from pydantic import Field, ValidationError

from global_chat.contract.errors import BadRequest, RateLimited, TurnError
from global_chat.contract.faults import dotted, in_words
from global_chat.contract.settings import Settings
from global_chat.contract.usage import Usage
from global_chat.disk.reading import read_text
from global_chat.model.anthropic_request import wire_body
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Reply, Restarted

from .case import StrictModel

#: No known text takes more than one token for two of its bytes.
BYTES_PER_TOKEN = 2

#: The pause after a rate limit, in seconds, when the provider names none.
USUAL_PAUSE = 5.0


class Price(StrictModel):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float = Field(default=0, ge=0)
    cache_read: float = Field(default=0, ge=0)

    def of(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        new = usage.input_tokens * self.input + usage.output_tokens * self.output
        written = usage.cache_creation_input_tokens * self.cache_write
        return (new + written + usage.cache_read_input_tokens * self.cache_read) / 1_000_000

    def most(self, request: ModelRequest) -> float:
        """The most that a call can cost: all of it written to a cache, and a full reply."""
        sent = len(json.dumps(wire_body(request), ensure_ascii=False).encode()) / BYTES_PER_TOKEN
        dearest = max(self.input, self.cache_write)
        return (sent * dearest + request.max_tokens * self.output) / 1_000_000


class Prices(StrictModel):
    """Prices by the beginning of a model's id: the user's data, `prices.toml` by default."""

    models: dict[str, Price]
    batch_factor: float = Field(default=0.5, ge=0, le=1)

    def of(self, model: str) -> Price | None:
        """The price of a model, by the longest name that fits; None when none does."""
        names = [name for name in self.models if model.startswith(name)]
        return self.models[max(names, key=len)] if names else None

    def cost(self, model: str, usage: Usage, *, batch: bool = False) -> float | None:
        """US dollars for these tokens of this model; None when its price is not known."""
        price = self.of(model)
        return None if price is None else price.of(usage) * (self.batch_factor if batch else 1)

    def check(self, settings: Settings) -> None:
        """Raise `BadRequest` unless every agent's model has a price, as a budget needs."""
        agents = (settings.router, settings.workflow_agent, settings.job_code_agent)
        for model in (agent.model for agent in (*agents, settings.planner)):
            if self.of(model) is None:
                raise BadRequest(
                    f"There is no price for the model {model!r}, so --budget cannot be kept. Add "
                    "it to a price file and name that with --prices."
                )


def read_prices(path: Path | None = None) -> Prices:
    """The prices in `path`, else the ones that come with the program.

    Raises `BadRequest` that names the file and what is wrong with it.
    """
    text = read_text(path) if path else (files(__package__) / "prices.toml").read_text("utf-8")
    try:
        return Prices.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fault = f"{dotted(first['loc'], 'it')} {in_words(first['type'], first['msg'])}"
        raise BadRequest(f"The price file {path} cannot be used: {fault}.") from None


class BudgetSpent(TurnError):
    """The call was not made: it might have cost more than what is left."""


class Budgeted:
    """Any model, within a budget in US dollars that all its calls share.

    A call is only made when the most that it can cost is left. `factor` is a discount on every
    price, such as a batch's. Every model asked must have a price (`Prices.check`).
    """

    def __init__(self, model: Model, budget: float, prices: Prices, *, factor: float = 1) -> None:
        self._model, self._prices, self._factor = model, prices, factor
        self.budget, self.spent = budget, 0.0
        self._promised: list[float] = []  # the most that each call under way may cost
        self._settled = asyncio.Condition()

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply. Raises `BudgetSpent` before anything is sent."""
        price = self._prices.of(request.model)
        assert price is not None
        most = price.most(request) * self._factor
        async with self._settled:
            # Calls under way may leave something over.
            await self._settled.wait_for(lambda: self._fits(most) or not self._promised)
            if not self._fits(most):
                raise BudgetSpent(
                    f"The budget of ${self.budget:g} is spent but for "
                    f"${self.budget - self.spent:.4f}, and the next call may cost ${most:.4f}."
                )
            self._promised.append(most)
        try:
            async with aclosing(self._model.complete(request)) as events:
                async for event in events:
                    if isinstance(event, Reply | Restarted):
                        self.spent += price.of(event.usage) * self._factor
                    yield event
        except TurnError as error:
            self.spent += price.of(error.usage) * self._factor
            raise
        finally:
            async with self._settled:
                self._promised.remove(most)
                self._settled.notify_all()

    def _fits(self, most: float) -> bool:
        return self.spent + sum(self._promised) + most <= self.budget


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

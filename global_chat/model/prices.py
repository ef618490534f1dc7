"""What calls cost at the user's prices, and a model that stops before a budget is spent."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from global_chat.contract.errors import BadRequest, TurnError, dotted, in_words
from global_chat.contract.names import Usage

from .anthropic_messages import wire_body
from .seam import Model, ModelEvent, ModelRequest, Reply, Restarted

#: No known text takes more than one token for two of its bytes.
BYTES_PER_TOKEN = 2


class Price(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class Prices(BaseModel):
    """Prices by the beginning of a model's id: the user's data, `prices.toml` by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: dict[str, Price]
    date: str = "an unknown date"
    """When they were entered."""
    batch_factor: float = Field(default=0.5, ge=0, le=1)

    def of(self, model: str) -> Price:
        """The price of a model, by the longest name that fits.

        Raises `BadRequest` when none does: only a budget needs a price.
        """
        names = [name for name in self.models if model.startswith(name)]
        if not names:
            raise BadRequest(
                f"There is no price for the model {model!r}, so --budget cannot be kept. Add it to "
                "a price file and name that with --prices."
            )
        return self.models[max(names, key=len)]

    def cost(self, model: str, usage: Usage, *, batch: bool = False) -> float | None:
        """US dollars for these tokens of this model; None when its price is not known."""
        try:
            return self.of(model).of(usage) * (self.batch_factor if batch else 1)
        except BadRequest:
            return None


def parse_prices(text: str | None = None, source: str = "") -> Prices:
    """The prices in a TOML text, else the ones that come with the program.

    Raises `BadRequest` that names the `source` and what is wrong with it.
    """
    if text is None:
        text = (files(__package__) / "prices.toml").read_text("utf-8")
    try:
        return Prices.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"{source} is not TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fault = f"{dotted(first['loc'], 'it')} {in_words(first, Prices)}"
        raise BadRequest(f"The price file {source} cannot be used: {fault}.") from None


class BudgetSpent(TurnError):
    """The call was not made: it might have cost more than what is left."""


class Budgeted:
    """Any model, within a budget in US dollars that all its calls share.

    A call is only made when the most that it can cost is left. `factor` is a discount on every
    price, such as a batch's.
    """

    def __init__(self, model: Model, budget: float, prices: Prices, *, factor: float = 1) -> None:
        self._model, self._prices, self._factor = model, prices, factor
        self.budget, self.spent = budget, 0.0
        self._promised: list[float] = []  # the most that each call under way may cost
        self._settled = asyncio.Condition()

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply. Raises `BudgetSpent` before anything is sent."""
        price = self._prices.of(request.model)
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

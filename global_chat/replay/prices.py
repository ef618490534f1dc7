"""What tokens cost. The numbers are data of the user's (`prices.toml`), never facts of ours."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from global_chat.contract.errors import BadRequest
from global_chat.contract.names import Usage
from global_chat.disk.reading import read_text


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Price(_Entry):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float = Field(default=0, ge=0)
    cache_read: float = Field(default=0, ge=0)

    def of(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_creation_input_tokens * self.cache_write
            + usage.cache_read_input_tokens * self.cache_read
        ) / 1_000_000


class Prices(_Entry):
    """Prices by the beginning of a model's id."""

    models: dict[str, Price]
    batch_factor: float = Field(default=0.5, ge=0, le=1)

    def of(self, model: str) -> Price | None:
        """The price of a model; None when no entry fits."""
        names = [name for name in self.models if model.startswith(name)]
        return self.models[max(names, key=len)] if names else None

    def cost(self, model: str, usage: Usage, *, batch: bool = False) -> float | None:
        """US dollars for these tokens of this model; None when its price is not known."""
        price = self.of(model)
        return None if price is None else price.of(usage) * (self.batch_factor if batch else 1)


def read_prices(path: Path | None = None) -> Prices:
    """The prices in `path`, else the ones that come with the program.

    Raises `BadRequest` that names the file and what is wrong with it.
    """
    given = files(__package__) / "prices.toml" if path is None else None
    text = read_text(path) if path is not None else given.read_text("utf-8") if given else ""
    try:
        return Prices.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{path}: the price {where!r} is wrong: {first['msg']}.") from None

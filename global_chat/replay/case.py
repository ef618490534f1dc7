"""A case: what a turn is given, what models say, what must come out (fixtures/cases/README.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from global_chat.contract.names import AgentName, Destination, SubagentName, Usage
from global_chat.contract.settings import Settings
from global_chat.model.scripted import Script


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_text(value: object) -> object:
    """A YAML scalar as it is spelled: expectations are about texts, not types."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | Decimal) else value


def _as_list(value: object) -> object:
    return [_as_text(v) for v in value] if isinstance(value, list) else [_as_text(value)]


Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)]


class Holds(_Entry):
    """What a text must hold (all of `contains`), may not hold (`lacks`), or be (`equals`)."""

    contains: Texts = ()
    lacks: Texts = ()
    equals: str | None = None


class RequestHolds(_Entry):
    """What an agent's requests must hold, as the model reads them.

    Each text of `contains` must be in at least one of them, none of `lacks` in any. `count` is
    how many there are, attempts that failed included.
    """

    contains: Texts = ()
    lacks: Texts = ()
    count: int | None = Field(default=None, ge=0)


def _as_holds(value: object) -> object:
    if value is None or isinstance(value, dict):
        return value or {}
    return {"equals": _as_text(value)}


#: What a part of the document must hold afterwards; a plain value is the whole of it.
PartHolds = Annotated[Holds, BeforeValidator(_as_holds)]


class Label(_Entry):
    """Where a request belongs: the right answer of a router, whatever the script's router says."""

    destination: Destination
    also_ok: tuple[Destination, ...] = ()
    job_key: str | None = None

    def accepts(self, destination: str | None, job_key: str | None) -> bool:
        """Whether a decision is right. The step counts when `destination` is the one named."""
        if destination == self.destination:
            return self.job_key is None or job_key == self.job_key
        return destination in self.also_ok


class Planning(_Entry):
    """How the planner's loop must have gone."""

    iterations: int | None = None
    tool_calls: int | None = None
    limit_reached: bool | None = None


class Expect(_Entry):
    """What must come out.

    What is left out is expected not to happen: no handover, no warning, no error, no change. Of
    the workflow, everything outside `changed`, `added` and `removed` must stay byte for byte.
    Parts are named by their path (`jobs.fetch.body`); a path stands for everything below it.
    """

    agents: tuple[AgentName, ...] | None = None
    confidence: int | None = None
    handover: SubagentName | None = None
    """The subagent that handed over to the planner."""
    goal: Texts = ()
    """Words of the goal that came with a handover."""
    handed_back: Annotated[tuple[SubagentName, ...], BeforeValidator(_as_list)] = ()
    """Subagents that could not finish inside the planner, in order."""
    changed: dict[str, PartHolds] = {}
    added: dict[str, PartHolds] = {}
    removed: Texts = ()
    moved: Texts = ()
    """Paths whose text is written in another form, with the same value."""
    says: Texts = ()
    never_says: Texts = ()
    requests: dict[AgentName, RequestHolds | tuple[RequestHolds, ...]] = {}
    """One entry for all requests of an agent, or a list with one for each, in order."""
    planning: Planning | None = None
    usage: Usage | None = None
    warnings: Texts = ()
    """One a warning, in order; words of it are enough."""
    error: str | None = None
    error_says: Texts = ()


class Attach(_Entry):
    """An attachment from a file beside the case, or a text so often repeated."""

    type: str = Field(min_length=1)
    file: str | None = None
    text: str = ""
    times: int = Field(default=1, ge=1, le=1_000_000)


class CaseFile(_Entry):
    """`case.yaml`. File names are relative to the case's folder."""

    title: str = Field(min_length=1)
    why: str | None = None
    payload: dict[str, Any] | str
    workflow: str | None = None
    attach: tuple[Attach, ...] = ()
    script: str = "script.yaml"
    settings: Settings = Settings()
    route: Label | None = None
    expect: Expect = Expect()


@dataclass(frozen=True, slots=True)
class Case:
    """One case, ready to run. `script` is None for a labelled request that only a model answers."""

    id: str
    title: str
    given: dict[str, Any]
    """The payload as data: one that is refused is a case too."""
    expect: Expect
    fingerprint: str
    """Of everything that the case is made of: results of another fingerprint are out of date."""
    script: Script | None = None
    settings: Settings = field(default_factory=Settings)
    label: Label | None = None
    kind: str | None = None
    path: Path | None = None
    files: tuple[Path, ...] = ()
    """Every file that was read for it."""

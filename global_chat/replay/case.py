"""A case: what a turn is given, what models say, what must come out (fixtures/cases/README.md)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from global_chat.contract.names import AgentName, Destination, SubagentName
from global_chat.contract.settings import Settings
from global_chat.contract.usage import Usage
from global_chat.model.script import Script


class StrictModel(BaseModel):
    """Data that is not changed after it is read and holds no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_text(value: object) -> object:
    """A YAML scalar as it is spelled: expectations are about texts, not types."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | Decimal) else value


def _as_list(value: object) -> object:
    return [_as_text(v) for v in value] if isinstance(value, list) else [_as_text(value)]


def _as_part(value: object) -> object:
    return value or {} if isinstance(value, dict | None) else {"equals": _as_text(value)}


Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)]


class PartExpectation(StrictModel):
    """A text must hold all of `contains` and none of `lacks`, or be `equals`."""

    contains: Texts = ()
    lacks: Texts = ()
    equals: Annotated[str | None, BeforeValidator(_as_text)] = None


#: What a part of the document must hold afterwards; a plain value is the whole of it.
Part = Annotated[PartExpectation, BeforeValidator(_as_part)]


class RequestExpectation(StrictModel):
    """Each text of `contains` must be in at least one request, none of `lacks` in any."""

    contains: Texts = ()
    lacks: Texts = ()
    count: int | None = Field(default=None, ge=0)  # failed attempts included


class Label(StrictModel):
    """Where a request belongs: the right answer of a router, whatever the script's router says."""

    destination: Destination
    also_ok: tuple[Destination, ...] = ()
    job_key: str | None = None

    def accepts(self, destination: str, job_key: str | None) -> bool:
        """Whether a decision is right. The step counts when `destination` is the one named."""
        if destination == self.destination:
            return self.job_key is None or job_key == self.job_key
        return destination in self.also_ok


class Expect(StrictModel):
    """What must come out.

    What is left out is expected not to happen: no handover, no warning, no error, no change. Of
    the workflow, everything outside `changed`, `added` and `removed` must stay byte for byte.
    Parts are named by their path (`jobs.fetch.body`); a path stands for everything below it.
    """

    agents: tuple[AgentName, ...] | None = None
    confidence: int | None = None
    handover: SubagentName | None = None  # who handed over to the planner
    goal: Texts = ()  # words of the goal that came with it
    handed_back: Annotated[tuple[SubagentName, ...], BeforeValidator(_as_list)] = ()
    changed: dict[str, Part] = {}
    added: dict[str, Part] = {}
    removed: Texts = ()
    moved: Texts = ()  # paths whose text is written in another form, with the same value
    says: Texts = ()
    never_says: Texts = ()
    requests: dict[AgentName, RequestExpectation | tuple[RequestExpectation, ...]] = {}
    planning: dict[Literal["iterations", "tool_calls", "limit_reached"], int | bool] = {}
    usage: Usage | None = None
    warnings: Texts = ()  # words of each warning, in order
    error: str | None = None
    error_says: Texts = ()


class Attach(StrictModel):
    """An attachment: a file beside the case, or `text` repeated `times` times."""

    type: str = Field(min_length=1)
    file: str | None = None
    text: str = ""
    times: int = Field(default=1, ge=1, le=1_000_000)


class CaseFile(StrictModel):
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
    given: dict[str, Any]  # the payload as data: a case may be about a payload that is refused
    path: Path
    files: tuple[Path, ...]  # every file that was read for it
    fingerprint: str  # a hash of all that it is made of: results of another one are out of date
    settings: Settings
    expect: Expect
    script: Script | None = None
    label: Label | None = None
    kind: str | None = None

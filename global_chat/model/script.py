"""The shape of a script: what each agent's model says, and in answer to what."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PositiveInt,
    StrictBool,
    model_validator,
)

from global_chat.contract.names import AgentName

from .request_texts import PART_NAMES, PARTS, Part


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)]


class When(_Entry):
    """What a request must hold for a turn to answer it: all of `contains`, none of `lacks`."""

    contains: Texts = ()
    lacks: Texts = ()
    in_: Part = Field(default="any", alias="in")

    def differences(self, texts: dict[Part, str]) -> tuple[str, ...]:
        """Why a request with these texts is not meant, one phrase a reason; nothing when it is."""
        text, name = texts[self.in_], PART_NAMES[self.in_]
        absent = [
            f"{wanted!r} is not in {name}" + _elsewhere(wanted, texts)
            for wanted in self.contains
            if wanted not in text
        ]
        return (*absent, *(f"{bad!r} is in {name}" for bad in self.lacks if bad in text))


def _elsewhere(wanted: str, texts: dict[Part, str]) -> str:
    """Where a text is that was looked for in the wrong place, which is the usual slip."""
    found = [PART_NAMES[p] for p in PARTS if p not in ("any", "last") and wanted in texts[p]]
    return f" (it is in {found[0]})" if found else ""


class ScriptedTool(_Entry):
    """A tool call. Without an `id` it gets one that is the same in every run."""

    name: str = Field(min_length=1)
    input: dict[str, JsonValue] = {}
    id: str | None = None


class ScriptedError(_Entry):
    """A failure, as a provider tells it (`status`, `type`), or by a type name of our own.

    `retry_after` is in seconds. `retry` false says that the same call need not be tried again.
    """

    status: int | None = Field(default=None, ge=400, le=599)
    type: str | None = None
    message: str = ""
    retry_after: float | None = Field(default=None, ge=0)
    retry: bool | None = None

    @model_validator(mode="after")
    def _says_what(self) -> ScriptedError:
        if self.status is None and self.type is None:
            raise ValueError("needs a status or a type")
        return self


class ScriptedUsage(_Entry):
    """Token counts of a turn. What is left out is estimated."""

    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    cache_creation_input_tokens: int = Field(default=0, ge=0)
    cache_read_input_tokens: int = Field(default=0, ge=0)


class Turn(_Entry):
    """One answer of a model.

    `reply` is a value for structured output, sent as JSON; `text` and `tools` make an ordinary
    answer; `content` is a list of raw blocks instead of all of these. `chunk` is the number of
    characters in a streamed piece. `repeat` true answers any number of calls, a number that many.
    With `error` the turn fails, after `break_after` characters of its text when that is given.
    """

    when: When = When()
    reply: JsonValue = None
    text: str | None = None
    tools: tuple[ScriptedTool, ...] = ()
    content: tuple[dict[str, JsonValue], ...] | None = None
    stop_reason: str | None = None
    usage: ScriptedUsage = ScriptedUsage()
    repeat: StrictBool | PositiveInt = False
    error: ScriptedError | None = None
    chunk: PositiveInt = 40
    break_after: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one_answer(self) -> Turn:
        given = self.model_fields_set
        if "content" in given and given & {"reply", "text", "tools"}:
            raise ValueError("'content' takes the place of 'reply', 'text' and 'tools'")
        if {"reply", "text"} <= given:
            raise ValueError("has both a 'reply' and a 'text'")
        if not given & {"reply", "text", "tools", "content", "error"}:
            raise ValueError("needs one of 'reply', 'text', 'tools', 'content' or 'error'")
        if self.break_after is not None and self.error is None:
            raise ValueError("'break_after' needs the 'error' to break off with")
        return self

    @property
    def uses(self) -> int | None:
        """How many calls the turn answers; None is any number."""
        if isinstance(self.repeat, bool):
            return None if self.repeat else 1
        return self.repeat

    @property
    def has_reply(self) -> bool:
        """Whether there is a `reply`; null is one."""
        return "reply" in self.model_fields_set


class Script(_Entry):
    """The turns of each agent, in the order in which they are tried."""

    router: tuple[Turn, ...] = ()
    workflow_agent: tuple[Turn, ...] = ()
    job_code_agent: tuple[Turn, ...] = ()
    planner: tuple[Turn, ...] = ()

    def of(self, agent: AgentName) -> tuple[Turn, ...]:
        """The turns of one agent."""
        turns: tuple[Turn, ...] = getattr(self, agent)
        return turns

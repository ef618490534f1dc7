"""Scripts: the shape of a script, reading one from a file, and the model that plays it.

A script holds the turns of each agent's model. A turn is chosen by agent and by what the request
holds, not by the order of calls, so a script still fits when an agent adds a round.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PositiveInt,
    StrictBool,
    ValidationError,
    model_validator,
)

from global_chat.contract.errors import (
    BadRequest,
    ScriptMismatch,
    ServiceError,
    TurnError,
    dotted,
    in_words,
)
from global_chat.contract.names import AGENT_NAMES, AgentName, Usage
from global_chat.contract.texts import one_line, shortened_to_end
from global_chat.yaml.data import read_json, read_yaml
from global_chat.yaml.refusals import Unreadable

from .failures import Refusal, failure
from .seam import Block, ModelEvent, ModelRequest, Part, Reply, TextPiece, texts_of

CHARACTERS_PER_TOKEN = 4
LONGEST_QUOTE = 120


PARTS: tuple[Part, ...] = get_args(Part)

#: How messages to people speak of each part.
PART_NAMES: dict[Part, str] = {
    "any": "the request",
    "system": "the system prompt",
    "messages": "the messages",
    "last": "the last message",
}


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
        """Why a request with these texts does not fit, one phrase a reason; empty when it does."""
        text, name = texts[self.in_], PART_NAMES[self.in_]
        absent = [
            f"{wanted!r} is not in {name}" + _elsewhere(wanted, texts)
            for wanted in self.contains
            if wanted not in text
        ]
        return (*absent, *(f"{bad!r} is in {name}" for bad in self.lacks if bad in text))


def _elsewhere(wanted: str, texts: dict[Part, str]) -> str:
    """Where else in the request `wanted` is: naming the wrong part is the usual slip."""
    found = [PART_NAMES[p] for p in PARTS if p not in ("any", "last") and wanted in texts[p]]
    return f" (it is in {found[0]})" if found else ""


class ScriptedTool(_Entry):
    """A tool call. Without an `id` it gets one that is the same in every run."""

    name: str = Field(min_length=1)
    input: dict[str, JsonValue] = {}
    id: str | None = None


class ScriptedError(_Entry):
    """A failure, as a provider tells it (`status`, `type`), or by the type name of a `TurnError`.

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


def read_script(path: Path) -> Script:
    """The script in a file. Raises `BadRequest` with the file and the place of the mistake."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest(f"The script {path} is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise BadRequest(f"The script {path} cannot be read: {error.strerror}.") from None
    return parse_script(text, str(path))


def parse_script(text: str, source: str = "the script") -> Script:
    """The script in a text, YAML 1.2 or JSON. `source` names it in the `BadRequest` it raises."""
    return script_from(_data(text, source), source)


def script_from(data: Any, source: str = "the script") -> Script:
    """The script in plain data. Raises `BadRequest` with the place of every mistake."""
    if not isinstance(data, dict):
        raise BadRequest(
            f"{source} must be a mapping from agents (router, workflow_agent, job_code_agent, "
            "planner) to lists of turns."
        )
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        faults = [
            f"{dotted(e['loc'], 'it')} {in_words(e, Script)}"
            for e in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        listed = "; ".join(dict.fromkeys(faults[:5]))
        raise BadRequest(f"{source} cannot be used: {listed}.") from None


def _data(text: str, source: str) -> Any:
    if text.lstrip().startswith("{"):
        with suppress(Unreadable):  # a YAML mapping may be written in braces too
            return read_json(text)
    try:
        return read_yaml(text)
    except Unreadable as error:
        raise BadRequest(f"{source}{error.place}: {error.problem}") from None


class ScriptedModel:
    """Plays a script. It reports both a call that no turn answers and a turn that no call used.

    A call takes the first turn of its agent that has uses left and whose `when` holds. The order
    of calls of different agents plays no part, so calls may run in parallel.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used = {agent: [0] * len(script.of(agent)) for agent in AGENT_NAMES}

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """The model of a script file. Raises `BadRequest` for one that cannot be used."""
        return cls(read_script(path))

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the answer of the turn that fits. Raises `ScriptMismatch` when none does."""
        texts = texts_of(request)
        place = self._take(request.agent, texts)
        turn = self._script.of(request.agent)[place]
        content = _content(turn, f"{request.agent}_{place}_{self._used[request.agent][place]}")
        read = len(texts["any"])
        written = 0
        for piece in _pieces(turn, content):
            await asyncio.sleep(0)  # others get their turn, as they do between network packets
            yield piece
            written += len(piece.text)
        if turn.error is not None:
            error = _error(turn.error, request.model)
            error.usage = _usage(turn, read, written)
            raise error
        written = sum(len(json.dumps(b, ensure_ascii=False)) for b in content)
        stop_reason = turn.stop_reason or _stop_reason(content)
        yield Reply(content, stop_reason, _usage(turn, read, written), request.model)

    def unused(self) -> tuple[str, ...]:
        """The turns with uses left, as `planner[1]`. A turn that repeats freely needs one use."""
        return tuple(
            f"{agent}[{place}]" + (f" (used {used} of {turn.uses} times)" if used else "")
            for agent in AGENT_NAMES
            for place, (turn, used) in enumerate(
                zip(self._script.of(agent), self._used[agent], strict=True)
            )
            if used < (1 if turn.uses is None else turn.uses)
        )

    def assert_all_used(self) -> None:
        """Raise `ScriptMismatch` when a turn was not used: what it expects did not happen."""
        unused = self.unused()
        if unused:
            raise ScriptMismatch(
                f"The script has turns that no call used: {', '.join(unused)}. Remove them, or "
                "look for why the calls did not come.",
                details={"unused": list(unused)},
            )

    def _take(self, agent: AgentName, texts: dict[Part, str]) -> int:
        left = [
            (place, turn)
            for place, turn in enumerate(self._script.of(agent))
            if turn.uses is None or self._used[agent][place] < turn.uses
        ]
        for place, turn in left:
            if not turn.when.differences(texts):
                self._used[agent][place] += 1
                return place
        raise self._mismatch(agent, texts, left)

    def _mismatch(
        self, agent: AgentName, texts: dict[Part, str], left: list[tuple[int, Turn]]
    ) -> ScriptMismatch:
        # The question stands at the end of a text.
        asked = shortened_to_end(one_line(texts["last"]), LONGEST_QUOTE)
        begin = f"No turn of the script answers the call of {agent} whose last message is {asked!r}"
        details = {"agent": agent, "asked": asked}
        if not left:
            had = len(self._script.of(agent))
            why = (
                f"all {had} turns for this agent are used" if had else "it has none for this agent"
            )
            return ScriptMismatch(f"{begin}: {why}. Add a turn for it.", details=details)
        differences = [(place, turn.when.differences(texts)) for place, turn in left]
        place, nearest = min(differences, key=lambda found: len(found[1]))
        return ScriptMismatch(
            f"{begin}. The nearest turn that is left is {agent}[{place}], but "
            f"{' and '.join(nearest)}. Add a turn for the call, or correct that turn's 'when'.",
            details={**details, "nearest": f"{agent}[{place}]", "differences": list(nearest)},
        )


def _content(turn: Turn, name: str) -> tuple[Block, ...]:
    """The blocks of the answer. `name` makes the ids of its tool calls, the same in every run."""
    if turn.content is not None:
        return copy.deepcopy(turn.content)
    blocks: list[Block] = []
    # Written as models write structured output: without a blank between its parts.
    text = (
        json.dumps(turn.reply, ensure_ascii=False, separators=(",", ":"))
        if turn.has_reply
        else turn.text
    )
    if text:
        blocks.append({"type": "text", "text": text})
    for number, tool in enumerate(turn.tools):
        id_ = tool.id or f"toolu_{name}_{number}"
        blocks.append(
            {"type": "tool_use", "id": id_, "name": tool.name, "input": copy.deepcopy(tool.input)}
        )
    return tuple(blocks)


def _pieces(turn: Turn, content: tuple[Block, ...]) -> Iterator[TextPiece]:
    """The visible text in pieces; of a turn that fails only what comes before it breaks off."""
    left = None if turn.error is None else turn.break_after or 0
    for place, block in enumerate(content):
        text = block.get("text") if block.get("type") == "text" else None
        if not isinstance(text, str):
            continue
        if left is not None:
            text, left = text[:left], max(0, left - len(text))
        for start in range(0, len(text), turn.chunk):
            yield TextPiece(text[start : start + turn.chunk], place)


def _stop_reason(content: tuple[Block, ...]) -> str:
    calls = any(block.get("type") == "tool_use" for block in content)
    return "tool_use" if calls else "end_turn"


def _usage(turn: Turn, read: int, written: int) -> Usage:
    """The counts that the turn gives, and for the others an estimate from the characters."""
    given = turn.usage.model_dump(exclude_none=True)
    estimated = {
        "input_tokens": max(1, read // CHARACTERS_PER_TOKEN),
        "output_tokens": max(1, written // CHARACTERS_PER_TOKEN) if written else 0,
    }
    return Usage(**{**estimated, **given})


def _error(error: ScriptedError, model: str) -> TurnError:
    own = _own_types().get(error.type or "")
    if own is None:
        return failure(
            Refusal(model, error.status, error.type, error.message, error.retry_after, error.retry)
        )
    message = error.message or f"The script says that this call fails with {own.type}."
    if issubclass(own, ServiceError):
        return own(message, retryable=error.retry is not False, retry_after=error.retry_after)
    return own(message)


def _own_types() -> dict[str, type[TurnError]]:
    """The subclasses of `TurnError` by the type name that they have in responses."""
    found: dict[str, type[TurnError]] = {}
    kinds = [TurnError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if "type" in vars(kind):
            found[kind.type] = kind
    return found

"""A model that says what a script says, chosen by agent and by what the request holds."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

from global_chat.contract.errors import ScriptMismatch, ServiceError, TurnError
from global_chat.contract.names import AGENT_NAMES, AgentName, Usage

from .failures import Said, failure
from .request_texts import Part, texts_of
from .script import Script, ScriptedError, Turn
from .script_file import read_script
from .seam import Block, ModelEvent, ModelRequest, Reply, TextPiece

CHARACTERS_PER_TOKEN = 4
LONGEST_QUOTE = 120


class ScriptedModel:
    """Plays a script. Complains both ways: about a call that no turn answers, and of unused turns.

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
        """Stream the answer of the turn that is meant. Raises `ScriptMismatch` when none is."""
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
        asked = _end(texts["last"])
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
            Said(model, error.status, error.type, error.message, error.retry_after, error.retry)
        )
    message = error.message or f"The script says that this call fails with {own.type}."
    if issubclass(own, ServiceError):
        return own(message, retryable=error.retry is not False, retry_after=error.retry_after)
    return own(message)


def _own_types() -> dict[str, type[TurnError]]:
    """The errors of our tree by the type name that they have in responses."""
    found: dict[str, type[TurnError]] = {}
    kinds = [TurnError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if "type" in vars(kind):
            found[kind.type] = kind
    return found


def _end(text: str) -> str:
    """The end of a text, where the question stands, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else "…" + line[-LONGEST_QUOTE:]

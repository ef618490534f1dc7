"""Records what a model answers, as a script that plays back the same."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from global_chat.contract.errors import ServiceError, TurnError
from global_chat.contract.names import AGENT_NAMES, AgentName, Usage
from global_chat.contract.texts import replace_lone_surrogates_in

from .seam import Model, ModelEvent, ModelRequest, Part, Reply, TextPiece, texts_of
from .secrets import REMOVED, scrub, scrub_value

#: The length of a text that picks out a call, in characters.
LONGEST_MARK = 80
SHORTEST_MARK = 6

#: Where to look for such a text: what changes from call to call comes first.
_SEARCHED: tuple[Part, ...] = ("last", "messages", "system", "any")


@dataclass(eq=False)
class _Call:
    """One call: what it held, and the turn that answers it (None until it is known)."""

    agent: AgentName
    texts: dict[Part, str]
    turn: dict[str, Any] | None = None


class Recording:
    """A model that records the replies of the model behind it.

    `secrets` are texts to remove wherever they stand, such as the API key; whatever else looks
    like a secret is removed too. Inside of `Retrying` it writes down each attempt as a turn, broken
    ones included, and the script plays them back one by one.
    """

    def __init__(self, model: Model, secrets: Iterable[str | None] = ()) -> None:
        self._model = model
        self._secrets = tuple(secret for secret in secrets if secret)
        self._calls: list[_Call] = []
        self._known_marks: dict[str, tuple[str, ...]] = {}

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the events of the model behind, unchanged. An abandoned call is not recorded."""
        call = _Call(request.agent, texts_of(request))
        self._calls.append(call)
        seen = ""
        try:
            async with aclosing(self._model.complete(request)) as events:
                async for event in events:
                    if isinstance(event, Reply):
                        call.turn = _turn(event)
                    elif isinstance(event, TextPiece):
                        seen += event.text
                    yield event
        except TurnError as error:
            call.turn = _broken_turn(error, seen)
            raise

    def as_data(self) -> dict[str, Any]:
        """The script so far as plain data, without secrets."""
        script: dict[str, Any] = {}
        for agent in AGENT_NAMES:
            calls = [call for call in self._calls if call.agent == agent and call.turn is not None]
            turns = [
                {**self._when(call, calls), **scrub_value(call.turn, self._secrets)}
                for call in calls
            ]
            if turns:
                script[agent] = turns
        cleaned: dict[str, Any] = replace_lone_surrogates_in(script)
        return cleaned

    def as_yaml(self) -> str:
        """The script so far as the text of a script file, without secrets."""
        return readable_yaml(self.as_data())

    def _when(self, call: _Call, calls: list[_Call]) -> dict[str, Any]:
        """The `when` that only this call of its agent fits; equal calls keep their order."""
        others = [other.texts for other in calls if other.texts != call.texts]
        for part in _SEARCHED:
            found = self._distinction(call.texts[part], [texts[part] for texts in others])
            if found:
                return {"when": {**found, "in": part}}
        return {}

    def _distinction(self, text: str, others: list[str]) -> dict[str, Any]:
        """What `text` contains, and if need be lacks, that distinguishes it from each of `others`.

        One piece that does for all of them is best. Empty when no piece distinguishes it.
        """
        for mark in self._marks(text):
            if not any(mark in other for other in others):
                return {"contains": mark}
        contains: list[str] = []
        lacks: list[str] = []
        for other in others:
            if any(mark not in other for mark in contains) or any(mark in other for mark in lacks):
                continue
            if own := next((mark for mark in self._marks(text) if mark not in other), None):
                contains.append(own)
            elif foreign := next((mark for mark in self._marks(other) if mark not in text), None):
                lacks.append(foreign)
            else:
                return {}
        named = {"contains": contains, "lacks": lacks}
        return {name: marks for name, marks in named.items() if marks}

    def _marks(self, text: str) -> tuple[str, ...]:
        """Pieces of the text without secrets and without characters that a file cannot hold."""
        if text not in self._known_marks:
            pieces = (
                piece.strip()[:LONGEST_MARK].strip()
                for line in scrub(text, self._secrets).splitlines()
                for piece in line.split(REMOVED)
            )
            self._known_marks[text] = tuple(
                piece
                for piece in dict.fromkeys(pieces)
                if len(piece) >= SHORTEST_MARK and piece.isprintable() and piece in text
            )
        return self._known_marks[text]


def _turn(reply: Reply) -> dict[str, Any]:
    """The reply in the shortest form that plays back as the same blocks."""
    turn: dict[str, Any] = _answer(list(reply.content))
    calls = any(block.get("type") == "tool_use" for block in reply.content)
    if reply.stop_reason and reply.stop_reason != ("tool_use" if calls else "end_turn"):
        turn["stop_reason"] = reply.stop_reason
    return {**turn, "usage": _usage(reply.usage)}


def _usage(usage: Usage) -> dict[str, int]:
    """The counts, without the zeros that a script need not say."""
    always = ("input_tokens", "output_tokens")
    return {name: n for name, n in usage.as_dict().items() if n or name in always}


def _broken_turn(error: TurnError, seen: str) -> dict[str, Any]:
    """A failure as a turn, after the text that had come by then."""
    turn: dict[str, Any] = {"error": _error(error), "usage": _usage(error.usage)}
    return {"text": seen, "break_after": len(seen), **turn} if seen else turn


def _answer(content: list[dict[str, Any]]) -> dict[str, Any]:
    texts = [b for b in content if b.keys() == {"type", "text"} and b["type"] == "text"]
    tools = [b for b in content if b.keys() == {"type", "id", "name", "input"}]
    ordinary = [*texts, *tools] == content and len(texts) < 2 and all(b["text"] for b in texts)
    if not content or not ordinary or any(b["type"] != "tool_use" for b in tools):
        return {"content": content}
    answer: dict[str, Any] = {}
    if texts:
        answer.update(_text(texts[0]["text"]))
    if tools:
        answer["tools"] = [{"name": t["name"], "input": t["input"], "id": t["id"]} for t in tools]
    return answer


def _text(text: str) -> dict[str, Any]:
    """`reply` when the text is exactly the compact JSON of an object, else `text`."""
    try:
        value = json.loads(text)
        same = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) == text
    except (ValueError, RecursionError):
        same = False
    return {"reply": value} if same and isinstance(value, dict) else {"text": text}


def _error(error: TurnError) -> dict[str, Any]:
    written: dict[str, Any] = {"type": error.type, "message": error.message}
    if isinstance(error, ServiceError) and error.retry_after is not None:
        written["retry_after"] = error.retry_after
    if isinstance(error, ServiceError) and not error.retryable:
        written["retry"] = False
    return written


def readable_yaml(data: dict[str, Any]) -> str:
    """Plain data as YAML that reads back the same; texts of several lines as lines."""
    yaml = YAML()
    yaml.width = 2**20  # lines are never folded: a fold would have to be undone by the reader
    yaml.indent(mapping=2, sequence=4, offset=2)
    written = StringIO()
    yaml.dump(_readable(data), written)
    return written.getvalue()


def _readable(value: Any) -> Any:
    """The data with each text in the most readable YAML style that keeps it exactly."""
    if isinstance(value, dict):
        return {_styled(key): _readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str) and _fits_block(value):
        return LiteralScalarString(value)
    return _styled(value)


def _styled(value: Any) -> Any:
    """The value, double-quoted when it holds control characters, which only that style escapes."""
    if isinstance(value, str) and not value.isprintable():
        return DoubleQuotedScalarString(value)
    return value


def _fits_block(text: str) -> bool:
    lines = text.split("\n")
    plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    return len(lines) > 1 and plain and bool(lines[0]) and not lines[0].startswith((" ", "#"))

"""The JSON of the Messages API: the body of a call, and a reply gathered from its events.

Servers that speak the API do not all know all of it. Each feature that one may lack has a name
here; a body can be written `without` it, and `refused` says which one an error message is about.
Blocks of a reply stay as they came, unknown kinds included, because they go back to the provider in
the next request of a loop. Nothing is repaired: a tool call whose input was cut is marked as cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, NoReturn

from global_chat.contract.names import Usage
from global_chat.contract.texts import PieceJoiner, replace_lone_surrogates_in

from .seam import RAW_INPUT, Block, ModelRequest, Reply, SystemPart, TextPiece, Tool

Body = dict[str, Any]

CACHED: Final = {"type": "ephemeral"}

#: The API takes four cache marks a request; the one on the conversation is among them.
MOST_CACHE_MARKS = 4

#: A larger count is not one of tokens.
MOST_TOKENS = 10**12

#: How a model is told not to think first, for those that think unless told otherwise.
WITHOUT_THINKING: Final = {
    "claude-haiku-5-5": "disabled",
    "claude-opus-5": "disabled",
    "claude-sonnet-5-5": "between_tools",
}

#: Thinking counts toward `max_tokens`. A reply bounded below this, in tokens, has no room for it.
ROOM_FOR_THINKING = 1024


#: Stop reasons that may cut the last block short.
CUTTING = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})

_IN_WORDS = (
    "Answer with one JSON value and nothing else: no words around it and no Markdown fence. "
    "It must be valid against this JSON schema:\n"
)

#: Feature name, how error messages speak of it, whether a body uses it. In order of preference.
_FEATURES: tuple[tuple[str, str, Callable[[Body], bool]], ...] = (
    (
        "output_config",
        r"output_config|output_format|structured.outputs?|json_schema",
        lambda body: "output_config" in body,
    ),
    ("thinking", r"thinking", lambda body: "thinking" in body),
    ("tool_choice", r"tool_choice", lambda body: "tool_choice" in body),
    ("strict", r"\bstrict\b", lambda body: any("strict" in tool for tool in body.get("tools", ()))),
    ("conversation_cache", r"cache_control", lambda body: "cache_control" in body),
    (
        "part_cache",
        r"cache_control",
        lambda body: any("cache_control" in part for part in body.get("system", ())),
    ),
)


def wire_body(request: ModelRequest, without: frozenset[str] = frozenset()) -> Body:
    """The JSON body of the call, leaving out the features named in `without`."""
    system = list(request.system)
    body: Body = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "stream": True,
    }
    if request.output_schema is not None and "output_config" in without:
        system.append(SystemPart(_IN_WORDS + json.dumps(request.output_schema, ensure_ascii=False)))
    elif request.output_schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.output_schema}}
    if request.tools:
        body["tools"] = [_tool(tool, "strict" not in without) for tool in request.tools]
    if request.tools and not request.tools_allowed and "tool_choice" not in without:
        body["tool_choice"] = {"type": "none"}
    quiet = WITHOUT_THINKING.get(request.model)
    if quiet and request.max_tokens < ROOM_FOR_THINKING and "thinking" not in without:
        body["thinking"] = {"type": quiet}
    marks = MOST_CACHE_MARKS
    if request.cache_conversation and "conversation_cache" not in without:
        body["cache_control"] = CACHED
        marks -= 1
    parts = _system(system, 0 if "part_cache" in without else marks)
    if parts:
        body["system"] = parts
    cleaned: Body = replace_lone_surrogates_in(body)
    return cleaned


def refused(message: str, body: Body) -> str | None:
    """The feature of `body` that an error message is about, if it is one that can be left out."""
    for name, words, used in _FEATURES:
        if used(body) and re.search(words, message, re.IGNORECASE):
            return name
    return None


def _system(parts: Iterable[SystemPart], marks: int) -> list[Block]:
    """Blank parts are left out. Of too many marks the last ones stay: they cover the longest."""
    kept = [part for part in parts if part.text.strip()]
    marked = [i for i, part in enumerate(kept) if part.cached]
    marked = marked[-marks:] if marks else []
    return [
        {"type": "text", "text": part.text, **({"cache_control": CACHED} if i in marked else {})}
        for i, part in enumerate(kept)
    ]


def _tool(tool: Tool, strict: bool) -> Block:
    return {
        "name": tool.name,
        **({"description": tool.description} if tool.description.strip() else {}),
        "input_schema": tool.input_schema,
        **({"strict": True} if tool.strict and strict else {}),
    }


class ReplyBuilder:
    """One answer as it grows. Feed it every event in order; read `reply` when it is `finished`."""

    def __init__(self, model: str) -> None:
        self.finished = False
        self._model = model
        self._blocks: list[Block] = []
        self._places: dict[int, int] = {}
        self._joiners: dict[int, PieceJoiner] = {}
        self._raw_inputs: dict[int, list[str]] = {}
        self._stop_reason: str | None = None
        self._counts: dict[str, int] = {}

    @property
    def usage(self) -> Usage:
        """The tokens so far; what the provider did not mention counts as 0."""
        return Usage(**self._counts)

    def feed(self, event: dict[str, Any]) -> TextPiece | None:
        """Take in one event, known or not; the piece of visible text that it brought, if any."""
        match event.get("type"):
            case "message_start":
                message = _object(event.get("message"))
                self._model = _text(message, "model") or self._model
                self._count(message.get("usage"))
            case "content_block_start":
                return self._start(event)
            case "content_block_delta":
                return self._grow(event)
            case "content_block_stop":
                return self._end(event)
            case "message_delta":
                reason = _object(event.get("delta")).get("stop_reason")
                if isinstance(reason, str):  # anything but a word could be an echo of the request
                    word = re.fullmatch("[a-z_]{1,40}", reason)
                    self._stop_reason = reason if word else "unknown"
                self._count(event.get("usage"))
            case "message_stop":
                self.finished = True
        return None

    def reply(self) -> Reply:
        """The complete message. A tool call that was cut has its text in `RAW_INPUT` instead."""
        for place, pieces in self._raw_inputs.items():
            last = place == len(self._blocks) - 1
            cut = last and self._stop_reason in CUTTING
            self._blocks[place].update(_tool_input("".join(pieces), cut))
            if not isinstance(self._blocks[place].get("input"), dict):
                self._blocks[place].update({"input": {}, RAW_INPUT: ""})
        reply = Reply(tuple(self._blocks), self._stop_reason, self.usage, self._model)
        content = tuple(replace_lone_surrogates_in(block) for block in reply.content)
        return replace(reply, content=content)

    def _count(self, usage: Any) -> None:
        """Counts are running totals, repeated by later events: the highest is the total."""
        for name in Usage().as_dict():
            value = _object(usage).get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value < MOST_TOKENS:
                self._counts[name] = max(value, self._counts.get(name, 0))

    def _start(self, event: dict[str, Any]) -> TextPiece | None:
        place = len(self._blocks)
        self._places[_index(event)] = place
        block = dict(_object(event.get("content_block")))
        if block.get("type") != "text":
            if block.get("type") in ("tool_use", "server_tool_use"):
                self._raw_inputs[place] = []
            self._blocks.append(block)
            return None
        self._blocks.append({**block, "text": ""})
        return self._write(place, _text(block, "text"))

    def _grow(self, event: dict[str, Any]) -> TextPiece | None:
        delta = _object(event.get("delta"))
        place = self._places.get(_index(event))
        if place is None:
            return None
        block = self._blocks[place]
        match delta.get("type"):
            case "text_delta":
                return self._write(place, _text(delta, "text"))
            case "input_json_delta":
                self._raw_inputs.setdefault(place, []).append(_text(delta, "partial_json"))
            case "thinking_delta":
                block["thinking"] = _text(block, "thinking") + _text(delta, "thinking")
            case "signature_delta":
                block["signature"] = delta.get("signature")
            case "citations_delta":
                earlier = block.get("citations")
                earlier = earlier if isinstance(earlier, list) else []
                block["citations"] = [*earlier, delta.get("citation")]
        return None

    def _end(self, event: dict[str, Any]) -> TextPiece | None:
        place = self._places.get(_index(event))
        joiner = self._joiners.pop(place, None) if place is not None else None
        return self._show(place, joiner.rest()) if place is not None and joiner else None

    def _write(self, place: int, text: str) -> TextPiece | None:
        return self._show(place, self._joiners.setdefault(place, PieceJoiner()).join(text))

    def _show(self, place: int, text: str) -> TextPiece | None:
        if not text:
            return None
        self._blocks[place]["text"] = _text(self._blocks[place], "text") + text
        return TextPiece(text, place)


def _index(event: dict[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _text(holder: dict[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tool_input(raw: str, cut: bool) -> Block:
    """What the pieces of a tool input come to; none leave the input that the block began with."""
    if cut:
        return {"input": {}, RAW_INPUT: raw}
    if not raw:
        return {}
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return {"input": {}, RAW_INPUT: raw}
    return {"input": value} if isinstance(value, dict) else {"input": {}, RAW_INPUT: raw}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

"""A request of the seam as the body of a Messages API call.

Servers that speak the API do not all know all of it. Each feature that one may lack has a name
here; a body can be written `without` it, and `refused` says which one an error message is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from global_chat.contract.texts import replace_lone_surrogates_in

from .seam import Block, Message, ModelRequest, SystemPart, Tool

Body = dict[str, Any]

CACHED: Final = {"type": "ephemeral"}

#: The API takes four cache marks a request; the one on the conversation is among them.
MOST_CACHE_MARKS = 4

#: How a model is told not to think first, for those that think unless told otherwise.
WITHOUT_THINKING: Final = {
    "claude-haiku-5-5": "disabled",
    "claude-opus-5": "disabled",
    "claude-sonnet-5-5": "between_tools",
}

#: Thinking counts toward `max_tokens`. A reply bounded below this, in tokens, has no room for it.
ROOM_FOR_THINKING = 1024

_EARLIER = "(The conversation began earlier.)"

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
        "messages": _messages(request.messages),
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


def _messages(messages: Iterable[Message]) -> list[Body]:
    """The conversation as the API wants it: no blank text, roles in turn, the user first."""
    turns: list[tuple[str, list[Block]]] = []
    for message in messages:
        blocks = _blocks(message.content)
        if not blocks:
            continue
        if turns and turns[-1][0] == message.role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message.role, blocks))
    if turns and turns[0][0] != "user":
        turns.insert(0, ("user", [{"type": "text", "text": _EARLIER}]))
    return [{"role": role, "content": _content(blocks)} for role, blocks in turns]


def _content(blocks: list[Block]) -> str | list[Block]:
    """Results of tools come before text; a lone plain text travels as a string."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        text: str = blocks[0]["text"]
        return text
    return sorted(blocks, key=lambda block: block.get("type") != "tool_result")


def _blocks(content: str | Iterable[Block]) -> list[Block]:
    if isinstance(content, str):
        content = ({"type": "text", "text": content},)
    return [_block(block) for block in content if not _blank(block)]


def _block(block: Block) -> Block:
    """The block without our own notes, whose names begin with an underscore, and without blanks."""
    sent = {key: value for key, value in block.items() if not key.startswith("_")}
    if isinstance(sent.get("content"), list):
        sent["content"] = [b for b in sent["content"] if not (isinstance(b, dict) and _blank(b))]
    return sent


def _blank(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()

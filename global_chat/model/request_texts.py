"""The texts of a request by part, for scripts that choose a turn by what a request holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

from .seam import Message, ModelRequest

Part = Literal["any", "system", "messages", "last"]

PARTS: tuple[Part, ...] = get_args(Part)

#: How messages to people speak of each part.
PART_NAMES: dict[Part, str] = {
    "any": "the request",
    "system": "the system prompt",
    "messages": "the messages",
    "last": "the last message",
}


def texts_of(request: ModelRequest) -> dict[Part, str]:
    """Every text that a model would read, one per part. `any` includes the tools' descriptions."""
    system = "\n".join(part.text for part in request.system)
    messages = [_text(message) for message in request.messages]
    tools = "\n".join(f"{tool.name}\n{tool.description}" for tool in request.tools)
    conversation = "\n".join(messages)
    return {
        "any": "\n".join((system, conversation, tools)),
        "system": system,
        "messages": conversation,
        "last": messages[-1] if messages else "",
    }


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(_strings(message.content))


def _strings(value: Any) -> Iterator[str]:
    """The texts in JSON data, in order, keys and the names of block types left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "type":
                yield from _strings(item)
    elif isinstance(value, Iterable):
        for item in value:
            yield from _strings(item)

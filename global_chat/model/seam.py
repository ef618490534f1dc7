"""The seam: one method that every language model, real or scripted, implements.

There is one path: always asynchronous, always streamed. Content blocks travel as plain dicts in the
Messages API's own shape, because a block must go back to the provider exactly as it came (thinking
blocks are signed).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from global_chat.contract.errors import InvalidOutput
from global_chat.contract.names import AgentName, Usage

Block = dict[str, Any]

#: Deeper data in a block is unusable, in levels: no tool takes more than a few.
DEEPEST = 50

#: In a tool call: its input as it arrived, when that cannot be trusted. `input` is then empty. Keys
#: of blocks that start with `_` are internal notes and never leave the program.
RAW_INPUT = "_raw_input"


@dataclass(frozen=True, slots=True)
class SystemPart:
    """One block of the system prompt. `cached` ends a prefix that is worth caching."""

    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation; blocks are in the Messages API's shape."""

    role: Literal["user", "assistant"]
    content: str | tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call. `strict` asks the provider to enforce the schema."""

    name: str
    description: str
    input_schema: dict[str, Any]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that goes to a model. `max_tokens` bounds the reply, in tokens."""

    agent: AgentName
    model: str
    system: tuple[SystemPart, ...]
    messages: tuple[Message, ...]
    max_tokens: int
    tools: tuple[Tool, ...] = ()
    tools_allowed: bool = True
    """False sends the tools but forbids their use: the round that must end on an answer."""
    output_schema: dict[str, Any] | None = None
    cache_conversation: bool = False
    """True for a loop, where the next request repeats this conversation and goes on from it."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text block as it arrives. `block` is the block's index in the reply."""

    text: str
    block: int = 0


@dataclass(frozen=True, slots=True)
class Restarted:
    """The attempt broke and a new one begins: the pieces so far are void.

    `usage` is what the broken attempt cost, `error_type` why it broke.
    """

    usage: Usage
    error_type: str
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete assistant message. `stop_reason` is the provider's word for why it ended."""

    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Usage
    model: str

    def __post_init__(self) -> None:
        """Raises `InvalidOutput` for blocks that cannot be answered or sent back."""
        for block in self.content:
            if _is_deep(block):
                raise _unusable("data nested too deep")
            if block.get("type") == "tool_use":
                named = (block.get("id"), block.get("name"))
                if not all(isinstance(name, str) and name for name in named):
                    raise _unusable("a tool call without an id or a name")

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(b.get("text", "") for b in self.content if b.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[Block, ...]:
        """The tool calls, in order."""
        return tuple(b for b in self.content if b.get("type") == "tool_use")

    def as_message(self) -> Message:
        """The assistant's turn of the conversation, ready to be sent back.

        Internal notes stay here. So do blank texts, which models write and providers refuse. A
        plain text alone travels as a string.
        """
        blocks = [{k: v for k, v in b.items() if not k.startswith("_")} for b in self.content]
        kept = [b for b in blocks if b.get("type") != "text" or b["text"].strip()]
        if len(kept) == 1 and kept[0].keys() == {"type", "text"}:
            return Message("assistant", kept[0]["text"])
        return Message("assistant", tuple(kept))


def _unusable(what: str) -> InvalidOutput:
    return InvalidOutput(f"The model's answer holds {what}. Try again.", retryable=True)


def _is_deep(value: Any, levels: int = DEEPEST) -> bool:
    """Whether JSON data is nested deeper than `levels`."""
    values = value.values() if isinstance(value, dict) else value
    inner = values if isinstance(value, dict | list | tuple) else ()
    return levels == 0 or any(_is_deep(item, levels - 1) for item in inner)


ModelEvent = TextPiece | Restarted | Reply


class Model(Protocol):
    """A language model, or something around one: retries, a recording, a budget."""

    def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply to `request`; the last event is the one `Reply`.

        Raises a `TurnError` when there is no reply. Tokens of an attempt that failed
        are in the error's `usage`.
        """
        ...


Part = Literal["any", "system", "messages", "last"]
"""The part of a request in which a text stands."""


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

"""The seam: one method that every language model, real or scripted, implements.

There is one path: always asynchronous, always streamed. Whoever wants no text listens to
nothing. Content blocks travel as plain dicts in the Messages API's own shape, because a block
must go back to the provider exactly as it came (thinking blocks are signed).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from global_chat.contract.names import AgentName, Usage

Block = dict[str, Any]


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
    """Everything a model is told. `max_tokens` bounds the reply, in tokens."""

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
    """The attempt broke and a new one begins: pieces seen so far belong to nothing.

    `usage` is what the broken attempt cost, `error_type` why it broke.
    """

    usage: Usage
    error_type: str
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete assistant message. `stop_reason` is the provider's own word for why it ended."""

    content: tuple[Block, ...]
    stop_reason: str | None
    usage: Usage
    model: str

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(b.get("text", "") for b in self.content if b.get("type") == "text")

    @property
    def tool_uses(self) -> tuple[Block, ...]:
        """The tool calls, in order."""
        return tuple(b for b in self.content if b.get("type") == "tool_use")


ModelEvent = TextPiece | Restarted | Reply


class Model(Protocol):
    """A language model, or something around one: retries, a recording, a budget."""

    def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply to `request`; the last event is the one `Reply`.

        Raises a `TurnError` when there is no reply. Tokens of an attempt that failed
        are in the error's `usage`.
        """
        ...

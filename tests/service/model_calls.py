"""Asking a model in tests: one request to vary, and the events that come back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from global_chat.model.anthropic import AnthropicModel
from global_chat.model.seam import (
    Message,
    Model,
    ModelEvent,
    ModelRequest,
    Reply,
    SystemPart,
    TextPiece,
)

#: Shaped like a real key, and found nowhere else, so that a leak shows.
KEY = "sk-ant-api03-canary0canary1canary2"

ROUTE_SCHEMA = {
    "type": "object",
    "properties": {"destination": {"type": "string"}},
    "required": ["destination"],
    "additionalProperties": False,
}


def a_request(**changes: Any) -> ModelRequest:
    """A small request; the arguments replace its parts."""
    plain: dict[str, Any] = {
        "agent": "router",
        "model": "claude-test",
        "system": (SystemPart("You route.", cached=True), SystemPart("Today is Monday.")),
        "messages": (Message("user", "Where to?"),),
        "max_tokens": 2000,
    }
    return ModelRequest(**{**plain, **changes})


@asynccontextmanager
async def asked(base_url: str, **settings: Any) -> AsyncIterator[AnthropicModel]:
    """A model behind `base_url`, closed at the end."""
    model = AnthropicModel(**{"api_key": KEY, "base_url": base_url, **settings})
    try:
        yield model
    finally:
        await model.aclose()


async def events_of(model: Model, request: ModelRequest) -> list[ModelEvent]:
    """Everything a call brings."""
    return [event async for event in model.complete(request)]


async def reply_of(model: Model, request: ModelRequest) -> Reply:
    """The reply that ends a call."""
    return reply_in(await events_of(model, request))


def reply_in(events: list[ModelEvent]) -> Reply:
    """The reply, which is the last event and the only one of its kind."""
    *before, last = events
    assert isinstance(last, Reply)
    assert not any(isinstance(event, Reply) for event in before)
    return last


def shown(events: list[ModelEvent]) -> str:
    """The text pieces, joined."""
    return "".join(event.text for event in events if isinstance(event, TextPiece))

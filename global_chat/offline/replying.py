"""Replies in the seam's shape: blocks, and their text in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from global_chat.contract.usage import Usage
from global_chat.model.seam import Block, ModelEvent, ModelRequest, Reply, TextPiece

#: What `Reply.model` and the trace say, whatever model the settings name.
MODEL_NAME = "offline"
#: Characters of a piece, more for long texts: a reader sees text arrive.
_PIECE = 48


@dataclass(frozen=True, slots=True)
class Said:
    """A text, and tool calls as (name, input)."""

    text: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()


def events(request: ModelRequest, said: Said) -> Iterator[ModelEvent]:
    """Pieces of the text, then the one reply. Nothing is charged, so no tokens are counted."""
    content: list[Block] = []
    if said.text:
        content.append({"type": "text", "text": said.text})
        size = max(_PIECE, len(said.text) // 40)
        for start in range(0, len(said.text), size):
            yield TextPiece(said.text[start : start + size])
    for number, (name, arguments) in enumerate(said.calls):
        content.append(
            {"type": "tool_use", "id": _id(request, number), "name": name, "input": arguments}
        )
    reason = "tool_use" if said.calls else "end_turn"
    yield Reply(tuple(content), reason, Usage(), MODEL_NAME)


def _id(request: ModelRequest, number: int) -> str:
    """An id that is the same for the same request, and differs within a conversation."""
    seed = f"{request.agent} {len(request.messages)} {number} {request.messages[0].content!r}"
    return f"toolu_offline_{hashlib.sha256(seed.encode()).hexdigest()[:16]}"

"""What a tool did, and how it is told to the model that asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from global_chat.model.seam import Block


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A tool's result: text for the model, and whether it failed."""

    text: str
    failed: bool = False


def tool_input(use: Block) -> dict[str, Any]:
    """The input of a tool use; empty when it is not the object that it should be."""
    given = use.get("input")
    return given if isinstance(given, dict) else {}


def results(uses: Sequence[Block], outcomes: Sequence[ToolOutcome]) -> tuple[Block, ...]:
    """One `tool_result` for each `tool_use`, in order. Providers refuse an empty text."""
    return tuple(
        {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": outcome.text if outcome.text.strip() else "(nothing)",
            **({"is_error": True} if outcome.failed else {}),
        }
        for use, outcome in zip(uses, outcomes, strict=True)
    )

"""What a span says about its event: names, counts and reasons, never what was said.

Traces may leave the machine, so of a tool's input only the names of its keys and its size are kept.
A handover's goal is kept whole, because it is the answer to "why was this rerouted".
"""

from __future__ import annotations

import json
from typing import Any

from global_chat.contract.events import (
    HandedOver,
    ModelCallEnded,
    RouteDecided,
    Stitched,
    ToolCalled,
    TurnStarted,
)
from global_chat.contract.names import Usage

#: Reasons may go on to quote what a model wrote; their beginning tells the kind of failure.
MAX_REASON = 300


def of_turn(event: TurnStarted) -> dict[str, Any]:
    return {
        "session_id": event.session_id,
        "user_id": event.user_id,
        "persona": event.persona,
        "backend": event.backend,
    }


def of_route(event: RouteDecided) -> dict[str, Any]:
    return {
        "destination": event.destination,
        "confidence": event.confidence,
        "job_key": event.job_key,
        "sent_to": event.sent_to,
        "reason": event.reason,
        "detail": shortened(event.detail),
    }


def of_model_call(event: ModelCallEnded) -> dict[str, Any]:
    return {
        "agent": event.agent,
        "model": event.model,
        "call": event.call,
        "attempt": event.attempt,
        "first_token_ms": _rounded(event.first_token_ms),
        **of_usage(event.usage),
        "stop_reason": event.stop_reason,
        "error_type": event.error_type,
    }


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 3)


def of_usage(usage: Usage) -> dict[str, int]:
    return usage.as_dict()


def of_tool_call(event: ToolCalled) -> dict[str, Any]:
    return {
        "agent": event.agent,
        "tool": event.tool,
        "tool_use_id": event.id,
        "step": event.step,
        "input_keys": sorted(event.input),
        "input_characters": len(json.dumps(event.input, ensure_ascii=False, default=str)),
    }


def of_handover(event: HandedOver) -> dict[str, Any]:
    return {"agent": event.agent, "goal": event.goal, "to_planner": event.to_planner}


def of_stitch(event: Stitched) -> dict[str, Any]:
    return {"step": event.step, "added": event.added, "removed": event.removed}


def shortened(text: str | None) -> str | None:
    """The first line of `text`, cut to `MAX_REASON` characters with a mark."""
    if text is None:
        return None
    line = text.strip().partition("\n")[0]
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"

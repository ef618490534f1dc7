"""What one line of a trace's tree says about its span."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def line_of(row: Row) -> tuple[str, str]:
    """The words for a span, and the style that they are shown in."""
    words = _WORDS.get(row["kind"], _other)(row)
    if row.get("unfinished"):
        words += " · not finished"
    bad = row.get("error_type") or row.get("failed") or row.get("unfinished")
    marked = row["kind"] in ("handover", "warning") or _rerouted(row)
    return words, "red" if bad else "yellow" if marked else "bold" if row["kind"] == "turn" else ""


def _turn(row: Row) -> str:
    parts = [f"turn {row['turn_id']}", _took(row), _tokens(row), row.get("error_type")]
    if row.get("backend") == "scripted":
        parts.insert(1, "scripted, no model was asked")
    if row.get("handover_from"):
        parts.append(f"handed over to the planner by {row['handover_from']}")
    if "low_confidence_reroute" in str(row.get("tags")):
        parts.append("sent to the planner for low confidence")
    return _joined(parts)


def _routing(row: Row) -> str:
    decided = f"router decided: {row.get('destination')}"
    if row.get("job_key"):
        decided += f", step {row['job_key']}"
    parts = [decided, f"confidence {row.get('confidence')}", _took(row)]
    if _rerouted(row):
        why = _REASONS.get(str(row.get("reason")), row.get("reason"))
        parts.append(f"sent to {row.get('sent_to')}: {why}")
    return _joined([*parts, row.get("detail"), row.get("error_type")])


_REASONS = {
    "low_confidence": "the confidence is too low for a direct route",
    "unresolved_step": "no step is called so",
    "unusable_reply": "the router's reply could not be used",
}


def _rerouted(row: Row) -> bool:
    return row["kind"] == "routing" and row.get("reason") not in (None, "decided")


def _model_call(row: Row) -> str:
    first = row.get("first_token_ms")
    return _joined(
        [
            f"{row.get('agent')} asked {row.get('model')}",
            f"attempt {row['attempt']}" if row.get("attempt", 1) != 1 else None,
            _took(row),
            f"first words after {_duration(first)}" if first is not None else None,
            _tokens(row),
            row.get("stop_reason"),
            row.get("error_type"),
        ]
    )


def _tool_call(row: Row) -> str:
    tool = f"{row.get('agent')} used {row.get('tool')}"
    step = f"step {row['step']}" if row.get("step") else None
    failed = f"failed: {row.get('reason')}" if row.get("failed") else None
    return _joined([tool, step, _took(row), failed])


def _handover(row: Row) -> str:
    to = "to the planner" if row.get("to_planner") else "back to the planner, which asked it"
    return f"{row.get('agent')} handed over {to}: {row.get('goal')}"


def _stitch(row: Row) -> str:
    return f"code of {row.get('step')} changed: +{row.get('added')} −{row.get('removed')} lines"


def _warning(row: Row) -> str:
    return f"warning: {row.get('message')}"


def _other(row: Row) -> str:
    return _joined([row["kind"], _took(row)])


_WORDS: dict[str, Callable[[Row], str]] = {
    "turn": _turn,
    "routing": _routing,
    "model_call": _model_call,
    "tool_call": _tool_call,
    "handover": _handover,
    "stitch": _stitch,
    "warning": _warning,
}


def _tokens(row: Row) -> str | None:
    """`1,204 tokens in, 61 out, cache: 800 read, 40 written`."""
    if "input_tokens" not in row:
        return None
    text = f"{_number(row, 'input_tokens')} tokens in, {_number(row, 'output_tokens')} out"
    read, written = (f"cache_{name}_input_tokens" for name in ("read", "creation"))
    if row.get(read) or row.get(written):
        text += f", cache: {_number(row, read)} read, {_number(row, written)} written"
    return text


def _number(row: Row, name: str) -> str:
    value = row.get(name) or 0
    return f"{value:,}" if isinstance(value, int) else str(value)


def _took(row: Row) -> str | None:
    return _duration(row.get("ms"))


def _duration(milliseconds: object) -> str | None:
    if not isinstance(milliseconds, int | float):
        return None
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def _joined(parts: list[str | None]) -> str:
    return " · ".join(str(part) for part in parts if part)

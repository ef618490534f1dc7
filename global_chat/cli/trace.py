"""What `trace` does: draw a trace file as trees, one a turn and one line a span."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from global_chat.contract.errors import BadRequest
from global_chat.contract.names import Usage
from global_chat.disk.reading import read_text
from global_chat.render.live import console
from global_chat.render.text import Stream, one_line
from global_chat.render.wording import (
    BACKEND_NOTES,
    NO_MODEL,
    decision,
    duration,
    error_text,
    handover,
    rerouting,
    retry,
    stitched,
    tokens,
)

Row = dict[str, Any]
"""A line of the file. It may hold anything but for the keys that `_row` checks."""


def draw(file: Path, *, last: bool) -> int:
    """Draw every turn of a trace file, or only its last, and return the exit code."""
    err = Stream(sys.stderr)
    try:
        turns, unreadable = read_turns(file)
    except BadRequest as error:
        err.line(error_text(error))
        return error.exit_code
    for fault in unreadable:
        err.line(f"{one_line(fault)} It is left out.")
    screen = console(sys.stdout, colours=not os.environ.get("NO_COLOR"))
    for rows in turns[-1:] if last else turns:
        screen.print(_tree(rows))
    return 0


def read_turns(file: Path) -> tuple[list[list[Row]], list[str]]:
    """The spans of each turn of a trace file, and which of its lines are unreadable.

    A program that was killed leaves half a line behind. Raises `BadRequest` when no line is a span.
    """
    by_turn: dict[str, list[Row]] = {}
    unreadable: list[str] = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            unreadable.append(f"{file}, line {number}, is not a span of a trace.")
        else:
            by_turn.setdefault(row["turn_id"], []).append(row)
    if not by_turn:
        empty = f"{file} does not hold a trace. --trace writes one while a turn runs."
        raise BadRequest(unreadable[0] if unreadable else empty)
    return list(by_turn.values()), unreadable


def _row(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    needed = {"kind": str, "turn_id": str, "span": int, "parent": int | None}
    if not isinstance(row, dict) or any(not isinstance(row.get(k), t) for k, t in needed.items()):
        return None
    return row


def _tree(rows: Iterable[Row]) -> Tree:
    """The turn's own span with all others inside, a line each, in the order in which they began.

    An interrupted turn has no such span in the file; the tree then begins with an unfinished one.
    """
    spans = {row["span"]: row for row in sorted(rows, key=lambda row: row["span"])}
    first = next(iter(spans.values()))
    cut_off = {**first, "kind": "turn", "unfinished": True, "ms": None}
    turn = next((row for row in spans.values() if row["kind"] == "turn"), cut_off)
    root = Tree(_line(turn), guide_style="dim")
    trees = {number: Tree(_line(row), guide_style="dim") for number, row in spans.items()}
    for number, row in spans.items():
        if row is not turn:
            # Only an earlier span can enclose one: nothing can be inside itself.
            parent = row.get("parent") or 0
            inside = parent < number and spans.get(parent, turn) is not turn
            (trees[parent] if inside else root).children.append(trees[number])
    return root


def _line(row: Row) -> Text:
    """What is said about a span, in the colour of how it ended."""
    parts = _PARTS.get(row["kind"], _other)(row)
    parts.append("not finished" if row.get("unfinished") else None)
    bad = row.get("error_type") or row.get("failed") or row.get("unfinished")
    marked = row["kind"] in ("handover", "warning") or _is_rerouted(row)
    usual = "bold" if row["kind"] == "turn" else ""
    words = " · ".join(str(part) for part in parts if part)
    return Text(one_line(words), "red" if bad else "yellow" if marked else usual)


def _turn(row: Row) -> list[Any]:
    rerouted = "low_confidence_reroute" in str(row.get("tags"))
    return [
        f"turn {row['turn_id']}",
        BACKEND_NOTES.get(str(row.get("backend"))),
        _took(row),
        _tokens(row),
        row.get("error_type"),
        f"{row['handover_from']} handed over to the planner" if row.get("handover_from") else None,
        rerouting("planner", "low_confidence") if rerouted else None,
    ]


def _routing(row: Row) -> list[Any]:
    facts = (row.get(name) for name in ("destination", "confidence", "job_key"))
    why = (row.get(name) for name in ("sent_to", "reason", "detail"))
    return [
        f"router {decision(*facts)}" if row.get("destination") else "router made no decision",
        _took(row),
        rerouting(*why) if _is_rerouted(row) else None,
        row.get("error_type"),
    ]


def _is_rerouted(row: Row) -> bool:
    return row["kind"] == "routing" and row.get("reason") not in (None, "decided")


def _model_call(row: Row) -> list[Any]:
    first = _duration(row.get("first_token_ms"))
    model = row.get("model")
    return [
        f"{row.get('agent')} asked {model}" if model else f"{row.get('agent')}: {NO_MODEL}",
        f"attempt {row['attempt']}" if row.get("attempt", 1) != 1 else None,
        _took(row),
        f"first token after {first}" if first else None,
        _tokens(row),
        row.get("stop_reason"),
        row.get("error_type"),
    ]


def _tool_call(row: Row) -> list[Any]:
    return [
        f"{row.get('agent')} called {row.get('tool')}",
        f"step {row['step']}" if row.get("step") else None,
        _took(row),
        f"failed: {row.get('reason')}" if row.get("failed") else None,
    ]


def _handover(row: Row) -> list[Any]:
    return [f"{row.get('agent')} {handover(row.get('goal'), row.get('to_planner'))}"]


def _stitch(row: Row) -> list[Any]:
    return [stitched(row.get("step"), row.get("added"), row.get("removed"))]


def _retry(row: Row) -> list[Any]:
    return [f"{row.get('agent')}: {retry(row.get('error_type'), row.get('wait_seconds'))}"]


def _message(row: Row) -> list[Any]:
    return [f"{row['kind']}: {row.get('message')}"]


def _other(row: Row) -> list[Any]:
    return [row["kind"], _took(row)]


_PARTS: dict[str, Callable[[Row], list[Any]]] = {
    "turn": _turn,
    "routing": _routing,
    "model_call": _model_call,
    "tool_call": _tool_call,
    "handover": _handover,
    "stitch": _stitch,
    "retry": _retry,
    "warning": _message,
    "note": _message,
}


def _tokens(row: Row) -> str:
    counts = {name: row.get(name) for name in Usage().as_dict()}
    return tokens(Usage(**{k: v for k, v in counts.items() if isinstance(v, int)}))


def _took(row: Row) -> str | None:
    return _duration(row.get("ms"))


def _duration(milliseconds: object) -> str | None:
    return duration(milliseconds) if isinstance(milliseconds, int | float) else None

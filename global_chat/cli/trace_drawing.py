"""A trace file as trees of text, one a turn."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.text import Text
from rich.tree import Tree

from global_chat.contract.errors import BadRequest
from global_chat.disk.reading import read_text
from global_chat.render.safe_text import one_line
from global_chat.render.wording import error_text
from global_chat.replay.terminal import console

from .trace_wording import line_of

Row = dict[str, Any]


@dataclass(slots=True)
class Node:
    """One span with the spans inside it, in the order in which they began."""

    row: Row
    inside: list[Node] = field(default_factory=list)


def draw(file: Path, *, last: bool) -> int:
    """Draw every turn of a trace file, or only its last, and return the exit code."""
    try:
        turns = read_turns(file)
    except BadRequest as error:
        console(sys.stderr, colours=False).print(error_text(error), markup=False)
        return error.exit_code
    screen = console(sys.stdout, colours=not os.environ.get("NO_COLOR"))
    for turn in turns[-1:] if last else turns:
        screen.print(tree_of(turn))
    return 0


def read_turns(file: Path) -> list[Node]:
    """The turns of a trace file, in the order in which they ended.

    Raises `BadRequest` that names the line when the file is no trace.
    """
    by_turn: dict[str, list[Row]] = {}
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            row = _row(file, number, line)
            by_turn.setdefault(row["turn_id"], []).append(row)
    if not by_turn:
        raise BadRequest(f"{file} holds no trace. --trace writes one while a turn runs.")
    return [_nested(rows) for rows in by_turn.values()]


def _row(file: Path, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    needed = {"kind": str, "turn_id": str, "span": int, "parent": int | None}
    if not isinstance(row, dict) or any(not isinstance(row.get(k), t) for k, t in needed.items()):
        raise BadRequest(f"{file}, line {number}, is no span of a trace.")
    return row


def _nested(rows: Iterable[Row]) -> Node:
    """The turn's own span with all others inside; of one that was cut off a turn is made up."""
    nodes = {row["span"]: Node(row) for row in sorted(rows, key=lambda row: row["span"])}
    root = next((node for node in nodes.values() if node.row["kind"] == "turn"), None)
    if root is None:
        first = next(iter(nodes.values())).row
        root = Node({**first, "kind": "turn", "unfinished": True, "ms": None})
    for node in nodes.values():
        parent = nodes.get(node.row.get("parent", 0), root)
        if node is not root:
            # Only an earlier span can enclose one: nothing can be inside itself.
            earlier = parent is root or parent.row["span"] < node.row["span"]
            (parent if earlier else root).inside.append(node)
    return root


def tree_of(node: Node) -> Tree:
    """The span and everything in it, a line each."""
    words, style = line_of(node.row)
    tree = Tree(Text(one_line(words), style), guide_style="dim")
    waiting = [(tree, child) for child in reversed(node.inside)]
    while waiting:
        above, child = waiting.pop()
        words, style = line_of(child.row)
        branch = above.add(Text(one_line(words), style))
        waiting += [(branch, below) for below in reversed(child.inside)]
    return tree

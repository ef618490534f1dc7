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
from global_chat.render.screen import console
from global_chat.render.wording import error_text

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
        turns, unread = read_turns(file)
    except BadRequest as error:
        console(sys.stderr, colours=False).print(error_text(error), markup=False)
        return error.exit_code
    for why in unread:
        console(sys.stderr, colours=False).print(f"{why} It is left out.", markup=False)
    screen = console(sys.stdout, colours=not os.environ.get("NO_COLOR"))
    for turn in turns[-1:] if last else turns:
        screen.print(tree_of(turn))
    return 0


def read_turns(file: Path) -> tuple[list[Node], list[str]]:
    """The turns of a trace file, in the order in which they ended, and which lines are unreadable.

    A program that was killed leaves half a line behind. Raises `BadRequest` when no line is a span.
    """
    by_turn: dict[str, list[Row]] = {}
    unread: list[str] = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            unread.append(f"{file}, line {number}, is no span of a trace.")
        else:
            by_turn.setdefault(row["turn_id"], []).append(row)
    if not by_turn:
        nothing = f"{file} holds no trace. --trace writes one while a turn runs."
        raise BadRequest(unread[0] if unread else nothing)
    return [_nested(rows) for rows in by_turn.values()], unread


def _row(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    needed = {"kind": str, "turn_id": str, "span": int, "parent": int | None}
    if not isinstance(row, dict) or any(not isinstance(row.get(k), t) for k, t in needed.items()):
        return None
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

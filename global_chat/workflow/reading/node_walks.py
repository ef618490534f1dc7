"""Ways through the node tree."""

from __future__ import annotations

from collections.abc import Iterator

from global_chat.workflow.reading.nodes import Mapping, Node, Scalar, Sequence


def last_scalar(node: Node) -> Scalar | None:
    """The scalar on which a node in block style ends."""
    while isinstance(node, Mapping | Sequence) and not node.flow:
        inner = [e.value for e in node.entries] if isinstance(node, Mapping) else node.items
        if not inner:
            return None
        node = inner[-1]
    return node if isinstance(node, Scalar) else None


def inside(root: Node) -> Iterator[Node]:
    """The node and all in it, in order; aliases are not followed."""
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Mapping):
            waiting += [n for e in reversed(node.entries) for n in (e.value, e.key)]
        elif isinstance(node, Sequence):
            waiting += reversed(node.items)

"""A YAML document as named parts with their places, to say which of them changed.

Parts are named by where they stand: `jobs.fetch.body`. An item of a list goes by its `id` or
`name`, else by its number. Nothing here knows what a workflow is, so whatever changed is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from global_chat.contract.errors import InvalidWorkflow
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import (
    Alias,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    resolve,
)
from global_chat.yaml.source import Source


@dataclass(frozen=True, slots=True)
class Part:
    """One value. `text` is a scalar's own text, None for a mapping or a list.

    `start` and `end` are where the value stands; `whole` is where it stands with its key.
    """

    path: str
    text: str | None
    start: int
    end: int
    whole: tuple[int, int]


def parts(text: str) -> dict[str, Part]:
    """Every part of a document by its path; nothing for one that is empty or cannot be read."""
    try:
        root = compose(Source(text))
    except InvalidWorkflow:
        return {}
    return {} if root is None else {part.path: part for part in _below(root, "")}


def _below(node: Node, path: str) -> Iterator[Part]:
    for name, child, whole in _children(node):
        below = f"{path}.{name}" if path else name
        content = resolve(child)
        text = content.text if isinstance(content, Scalar) else None
        yield Part(below, text, child.start, child.end, whole)
        if not isinstance(child, Alias):
            yield from _below(child, below)


def _children(node: Node) -> Iterator[tuple[str, Node, tuple[int, int]]]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield _key(entry), entry.value, (entry.start, entry.end)
    elif isinstance(node, Sequence):
        for number, item in enumerate(node.items):
            yield _name(item) or str(number), item, (item.start, item.end)


def _key(entry: Entry) -> str:
    key = resolve(entry.key)
    return key.text if isinstance(key, Scalar) else f"@{entry.start}"


def _name(item: Node) -> str | None:
    content = resolve(item)
    if not isinstance(content, Mapping):
        return None
    for key in ("id", "name"):
        value = resolve(content.own[key].value) if key in content.own else None
        if isinstance(value, Scalar):
            return value.text
    return None

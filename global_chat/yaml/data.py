"""Values without their places: YAML that has JSON's shape and JSON, read within one budget; and
whether two trees say the same."""

from __future__ import annotations

import json
from collections import abc
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from global_chat.contract.texts import replace_lone_surrogates_in
from global_chat.yaml.compose import MAX_DEPTH, MAX_VALUES, compose
from global_chat.yaml.nodes import (
    Alias,
    Mapping,
    Node,
    Scalar,
    data_of,
    entries_of,
    inside,
    resolve,
)
from global_chat.yaml.refusals import Unreadable, refusal
from global_chat.yaml.source import Source

#: The tags that say what is read anyway.
_SHAPES = frozenset({None, "!", *(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))})


def read_yaml(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """The value of a YAML 1.2 document; None when it holds only comments. `number` as in `data_of`.

    Raises `Unreadable` for what `compose` refuses, and for tags and for keys that are not text.
    """
    root = compose(source := Source(text))
    return data_of(with_json_shape(source, root), number) if root else None


def with_json_shape(source: Source, root: Node) -> Node:
    """`root`. Raises `Unreadable` when something in it has a tag or a key that JSON has not."""
    for node in inside(root):
        if not isinstance(node, Alias) and node.tag not in _SHAPES:
            raise refusal(source, node.start, f"The tag {node.tag} is not supported here.")
        for entry in node.entries if isinstance(node, Mapping) else ():
            if not isinstance(entry.key, Scalar):
                raise refusal(source, entry.start, "A key must be text.")
    return root


#: The keys and indexes that lead from a node to a value in it.
Path: TypeAlias = "tuple[str | int, ...]"


#: Places in a tree: by key or index what is meant inside of it, None for the whole of it.
Places: TypeAlias = "abc.Mapping[str | int, Places | None]"


def at(path: Path) -> Places:
    """The place to which the path leads, which is not empty."""
    places: Places | None = None
    for key in reversed(path):
        places = {key: places}
    return places or {}


def only_changed(before: Node, after: Node, where: Places) -> bool:
    """Whether two trees say the same, aliases and merge keys followed, but for what stands at
    `where`. Null, and what holds nothing, is the same as what is not there."""
    return bool(_said(before, where) == _said(after, where))


def _said(node: Node, beside: Places) -> Any:
    content = resolve(node)
    if isinstance(content, Scalar):
        # A number as a tuple of its text is neither a text nor another way to write the same.
        return data_of(content, lambda number: (number,))
    own: Iterable[tuple[str | int, Node]] = (
        ((key, entry.value) for key, entry in entries_of(content).items())
        if isinstance(content, Mapping)
        else enumerate(content.items)
    )
    found = {
        key: said
        for key, value in own
        if beside.get(key, value) is not None
        and (said := _said(value, beside.get(key) or {})) is not None
    }
    return found or None


def read_json(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text; `number` makes a value of a number's text.

    Raises `Unreadable` when it is malformed, has a key twice, nests too deep or holds too much.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise Unreadable(f"It has the key {key[:80]!r} twice in one object; keep one.")
            found[key] = value
        return found

    kinds = ("parse_int", "parse_float", "parse_constant")
    hooks: dict[str, Any] = dict.fromkeys(kinds, number) if number else {}
    try:
        value = json.loads(text, object_pairs_hook=unique, **hooks)
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at").rstrip(": ")
        raise Unreadable(f"{problem}.", (error.lineno, error.colno)) from None
    except RecursionError:
        raise Unreadable(f"It is nested more than {MAX_DEPTH} levels deep.") from None
    _check_size(value)
    return replace_lone_surrogates_in(value)  # as the YAML reader does


def _check_size(value: Any) -> None:
    level, depth, count = [value], 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > MAX_DEPTH + 1:
            raise Unreadable(f"It is nested more than {MAX_DEPTH} levels deep.")
        if count > MAX_VALUES:
            raise Unreadable(f"It holds over {MAX_VALUES:,} values, which is the limit.")
        level = [child for item in level if isinstance(item, dict | list) for child in _in(item)]


def _in(collection: dict[str, Any] | list[Any]) -> Any:
    return collection.values() if isinstance(collection, dict) else collection

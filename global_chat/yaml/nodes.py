"""The YAML node tree with its places in the text. Nothing is ever retyped: a scalar is its text.

`start` and `end` are offsets into the source (see `source`). A node starts at its anchor or tag
when it has one. The end is tight: block mappings and sequences end where their last child ends,
a block scalar ends before the line break of its last content line (with keep chomping, of its
last blank line). An empty value has start == end, right after its colon or dash.

An alias is a node of its own that points at its target, never at one of its own ancestors;
`resolve` follows it. Merge keys (`<<`) are not expanded: `find` looks through them. `size` and
`height` of a collection count what is in it, and its levels, with aliases followed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: A value of a YAML document, without its style.
Value: TypeAlias = "str | bool | int | float | list[Value] | dict[str, Value] | None"

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
#: The numbers of YAML 1.2's core schema. Python reads integers of some 4,000 digits at most, and
#: nothing that a workflow sets has more than a few.
_WHOLE = re.compile(r"[-+]?[0-9]{1,300}")
_OTHER_BASE = re.compile(r"0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")


@dataclass(slots=True, eq=False)
class Scalar:
    """A text. `style` is `""` for plain, else one of `'`, `"`, `|`, `>`."""

    start: int
    end: int
    text: str
    style: str = ""
    anchor: str | None = None
    tag: str | None = None

    @property
    def is_null(self) -> bool:
        return not self.style and self.tag is None and self.text in _NULLS


@dataclass(slots=True, eq=False)
class Alias:
    """`*name`, standing for `target`."""

    start: int
    end: int
    name: str
    target: Scalar | Sequence | Mapping


@dataclass(slots=True, eq=False)
class Sequence:
    """A list. `flow` is True for `[a, b]`."""

    start: int
    end: int
    flow: bool
    anchor: str | None = None
    tag: str | None = None
    items: list[Node] = field(default_factory=list)
    size: int = 0
    height: int = 1


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value."""

    key: Node
    value: Node

    @property
    def start(self) -> int:
        return self.key.start

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(slots=True, eq=False)
class Mapping:
    """Keys with values, in order. `flow` is True for `{a: b}`. `own` has them by the key's text."""

    start: int
    end: int
    flow: bool
    anchor: str | None = None
    tag: str | None = None
    entries: list[Entry] = field(default_factory=list)
    own: dict[str, Entry] = field(default_factory=dict)
    size: int = 0
    height: int = 1


Content = Scalar | Sequence | Mapping
Node = Content | Alias


def resolve(node: Node) -> Content:
    """What the node stands for: an alias's target, else the node itself."""
    return node.target if isinstance(node, Alias) else node


def merge_entry(mapping: Mapping) -> Entry | None:
    """The mapping's `<<` entry, if it has one that is not quoted."""
    entry = mapping.own.get("<<")
    return entry if entry and isinstance(entry.key, Scalar) and not entry.key.style else None


def lineage(mapping: Mapping) -> Iterator[Mapping]:
    """The mapping, then all that it merges in, nearest first."""
    waiting: list[Node] = [mapping]
    while waiting:
        node = resolve(waiting.pop())
        if isinstance(node, Sequence):
            waiting += reversed(node.items)
        elif isinstance(node, Mapping):
            yield node
            if merged := merge_entry(node):
                waiting.append(merged.value)


def entries_of(mapping: Mapping) -> dict[str, Entry]:
    """Every key with the entry that decides it, merged ones included, in order."""
    if not merge_entry(mapping):
        return mapping.own
    found: dict[str, Entry] = {}
    for each in lineage(mapping):
        for key, entry in each.own.items():
            if entry is not merge_entry(each):
                found.setdefault(key, entry)
    return found


def find(mapping: Mapping, key: str) -> Entry | None:
    """The entry that decides `key`, the mapping's own before merged ones."""
    own = mapping.own.get(key)
    if own or not merge_entry(mapping):
        return own
    return next((m.own[key] for m in lineage(mapping) if key in m.own), None)


def value_of(mapping: Mapping, key: str) -> Content | None:
    """The value of `key` with aliases and merge keys followed; None when absent or null."""
    entry = find(mapping, key)
    value = resolve(entry.value) if entry else None
    return None if isinstance(value, Scalar) and value.is_null else value


def text_of(mapping: Mapping, key: str) -> str | None:
    """The literal text of a scalar value; None when it is absent, null or no scalar."""
    value = value_of(mapping, key)
    return value.text if isinstance(value, Scalar) else None


def bool_of(mapping: Mapping, key: str) -> bool | None:
    """A YAML 1.2 boolean; None for everything else, quoted ones and `yes` included."""
    value = value_of(mapping, key)
    if not isinstance(value, Scalar) or value.style:
        return None
    return True if value.text in _TRUE else False if value.text in _FALSE else None


def text_of_key(entry: Entry) -> str:
    """A key's literal text; empty for a key that is a list or a mapping."""
    key = resolve(entry.key)
    return key.text if isinstance(key, Scalar) else ""


def data_of(node: Node, number: Callable[[str], Any] | None = None) -> Any:
    """The value as YAML 1.2's core schema has it: plain `true`, `201`, `1.5` and null are what they
    look like, everything quoted or tagged is text. Aliases and merge keys are followed. `number`
    makes a value of a number's text, for who needs its digits.
    """
    content = resolve(node)
    if isinstance(content, Mapping):
        return {key: data_of(entry.value, number) for key, entry in entries_of(content).items()}
    if isinstance(content, Sequence):
        return [data_of(item, number) for item in content.items]
    if content.style or content.tag:
        return content.text
    value = _plain(content.text)
    return number(content.text) if number and type(value) in (int, float) else value


def _plain(text: str) -> Value:
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _WHOLE.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _DECIMAL.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    if _INFINITE.fullmatch(text):
        return -math.inf if text[0] == "-" else math.inf
    return text


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


def has_aliases(root: Node) -> bool:
    """Whether some text stands for several values."""
    return any(isinstance(node, Alias) for node in inside(root))

"""A step's code as the parser sees it, never run: literals, settings and log lines by place.

Places count characters of the text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from global_chat.contract.texts import tree_in_time

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query

Place = tuple[int, int]

_LITERALS = ("number", "string", "true", "false")
_NAMES = (
    "identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)


#: Seconds that one text may take to parse. A step of usual size takes some milliseconds, but what
#: is ambiguous all along (`/[` over and over) takes time by the square of its length.
PARSING_SECONDS = 1.0

#: Texts of up to so many bytes are parsed without looking at the clock: none takes long.
_SHORT_BYTES = 2_000


@lru_cache(maxsize=1)
def _language() -> Language:
    # It is a shared library of half a megabyte: only code needs it.
    import tree_sitter_javascript  # noqa: PLC0415
    from tree_sitter import Language  # noqa: PLC0415

    return Language(tree_sitter_javascript.language())


@lru_cache(maxsize=1)
def _parser() -> Parser:
    from tree_sitter import Parser  # noqa: PLC0415

    return Parser(_language())


def syntax_tree(source: bytes) -> Node | None:
    """The root of a text's syntax tree; None when it takes more than `PARSING_SECONDS` to parse."""
    if len(source) <= _SHORT_BYTES:
        return _parser().parse(source).root_node
    tree = tree_in_time(_parser(), source, time.monotonic() + PARSING_SECONDS)
    return tree.root_node if tree is not None else None


def captures(root: Node, query: str) -> dict[str, list[Node]]:
    """The nodes that a tree-sitter query finds, by their names in it, each before those inside of
    it. That is ten times as fast as walking the tree."""
    from tree_sitter import QueryCursor  # noqa: PLC0415

    found = QueryCursor(_query(query)).captures(root)
    return {
        name: sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))
        for name, nodes in found.items()
    }


@lru_cache(maxsize=20)
def _query(text: str) -> Query:
    from tree_sitter import Query  # noqa: PLC0415

    return Query(_language(), text)


def parses(text: str) -> bool:
    """Whether a text is JavaScript as far as its grammar goes, and is parsed in time."""
    root = syntax_tree(text.encode("utf-8", "replace"))
    return root is not None and not root.has_error


@dataclass(frozen=True, slots=True)
class Setting:
    """A property or constant with a literal value: `kind` is number, string, true or false, `start`
    and `end` are the value's place."""

    name: str
    kind: str
    start: int
    end: int


class Code:
    """Parsed code. `broken` says that it does not parse, or not in time: it is not to be edited."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bytes = text.encode("utf-8", "replace")
        self._root = syntax_tree(self._bytes)
        self.broken = self._root is None or self._root.has_error

    @cached_property
    def _characters(self) -> list[int] | None:
        """The character that each byte belongs to; None when all characters are one byte."""
        if len(self._bytes) == len(self.text):
            return None
        places: list[int] = []
        for index, character in enumerate(self.text):
            places += [index] * len(character.encode("utf-8", "replace"))
        return [*places, len(self.text)]

    def place(self, node: Node) -> Place:
        """Where a node stands."""
        if self._characters is None:
            return node.start_byte, node.end_byte
        return self._characters[node.start_byte], self._characters[node.end_byte]

    def of(self, node: Node | None) -> str:
        """A node's text."""
        return self.text[slice(*self.place(node))] if node is not None else ""

    def _walk(self, *types: str) -> list[Node]:
        """Nodes of these types, in order of place."""
        query = f"[{' '.join(f'({kind})' for kind in types)}] @node"
        return captures(self._root, query).get("node", []) if self._root is not None else []

    def places(self, type_: str) -> list[Place]:
        """The places of all nodes of a type: `number`, `comment`, `string_fragment` ..."""
        return [self.place(node) for node in self._walk(type_)]

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting, in order."""
        found = []
        for node in self._walk("pair", "variable_declarator"):
            key = node.child_by_field_name("key" if node.type == "pair" else "name")
            value = node.child_by_field_name("value")
            if value is not None and value.type in _LITERALS:
                found.append(Setting(self.of(key).strip("'\""), value.type, *self.place(value)))
        return tuple(found)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name in the code that is longer than two letters."""
        return frozenset(name for node in self._walk(*_NAMES) if len(name := self.of(node)) > 2)

    def names(self, name: str) -> list[Node]:
        """Every place where an identifier or a property of this name is used."""
        return [node for node in self._walk(*_NAMES) if self.of(node) == name]

    def is_key_of(self, node: Node, owner: str) -> bool:
        """Whether a name is used as a key of the object that `owner` names: `owner.name`, in
        `{ ...owner, name: … }`, or in the object that becomes `owner`."""
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "member_expression" and node.type == "property_identifier":
            held = self.of(parent.child_by_field_name("object"))
            is_state = owner == "state" and held == "$"
            return is_state or held == owner or held.endswith(f".{owner}")
        around = parent if node.type.startswith("shorthand") else parent.parent
        holder = around.parent if around is not None else None
        if around is None or holder is None:
            return False
        if around.type == "object_pattern":
            return self.of(holder.child_by_field_name("value")) in (owner, f"state.{owner}")
        becomes = holder.child_by_field_name("key") or holder.child_by_field_name("left")
        spread = any(self.of(child) == f"...{owner}" for child in around.children)
        return spread or self.of(becomes).rpartition(".")[2] == owner.rpartition(".")[2]

    def logs(self) -> Iterator[Place]:
        """The places of the statements that only log."""
        for node in self._walk("expression_statement"):
            call = node.named_children[0] if node.named_children else None
            function = call.child_by_field_name("function") if call is not None else None
            if re.fullmatch(r"console\.\w+", self.of(function)):
                yield self.place(node)

    def lines_of(self, start: int, end: int) -> Place | None:
        """The whole lines that a place takes up, None when it shares them with something else."""
        begin = self.text.rfind("\n", 0, start) + 1
        close = self.text.find("\n", end)
        close = len(self.text) if close < 0 else close + 1
        around = self.text[begin:start] + self.text[end:close]
        return (begin, close) if not around.strip() else None

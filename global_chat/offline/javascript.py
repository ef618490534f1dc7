"""A step's code, parsed and never run: its literals, settings and log lines by place.

Places count characters of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_LITERALS = ("number", "string", "true", "false")
_NAMES = ("identifier", "property_identifier", "shorthand_property_identifier",
          "shorthand_property_identifier_pattern")  # fmt: skip
TokenKind = Literal["string", "number", "name"]


@lru_cache(maxsize=1)
def _parser() -> Parser:
    # The grammar is a shared library of half a megabyte: only code needs it.
    import tree_sitter_javascript  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_javascript.language()))


@dataclass(frozen=True, slots=True)
class Setting:
    """A property or constant with a literal value; `start` and `end` are the value's place."""

    name: str
    kind: str
    start: int
    end: int


class Code:
    """Parsed code. `broken` says that it does not parse: such code is not edited."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bytes = text.encode("utf-8", "replace")
        self._root = _parser().parse(self._bytes).root_node
        self.broken = self._root.has_error

    @cached_property
    def _characters(self) -> list[int] | None:
        """The character that each byte belongs to; None when all characters are one byte."""
        if len(self._bytes) == len(self.text):
            return None
        places: list[int] = []
        for index, character in enumerate(self.text):
            places += [index] * len(character.encode("utf-8", "replace"))
        return [*places, len(self.text)]

    def span(self, node: Node) -> tuple[int, int]:
        """Where a node stands."""
        if self._characters is None:
            return node.start_byte, node.end_byte
        return self._characters[node.start_byte], self._characters[node.end_byte]

    def of(self, node: Node) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def walk(self, *types: str) -> Iterator[Node]:
        """Nodes of these types, in order of place."""
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node.type in types:
                yield node
            waiting.extend(reversed(node.children))

    def valid_with(self, text: str) -> bool:
        """Whether a changed text still parses."""
        return not _parser().parse(text.encode("utf-8", "replace")).root_node.has_error

    @cached_property
    def found_settings(self) -> tuple[Setting, ...]:
        """Every setting, in order."""
        found = []
        for node in self.walk("pair", "variable_declarator"):
            key = node.child_by_field_name("key" if node.type == "pair" else "name")
            value = node.child_by_field_name("value")
            if key is not None and value is not None and value.type in _LITERALS:
                found.append(Setting(self.of(key).strip("'\""), value.type, *self.span(value)))
        return tuple(found)

    @property
    def settings(self) -> set[str]:
        """The names of the settings."""
        return {setting.name for setting in self.found_settings}

    @cached_property
    def texts(self) -> tuple[tuple[int, int], ...]:
        """The places of everything that is written in quotes, without them, and in templates."""
        return tuple(self.span(node) for node in self.walk("string_fragment"))

    @cached_property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """The places of the numbers."""
        return tuple(self.span(node) for node in self.walk("number"))

    @cached_property
    def comments(self) -> tuple[tuple[int, int], ...]:
        """The places of the comments."""
        return tuple(self.span(node) for node in self.walk("comment"))

    @property
    def identifiers(self) -> set[str]:
        """Every name in the code that is longer than two letters."""
        return {name for node in self.walk(*_NAMES) if len(name := self.of(node)) > 2}

    def names(self, name: str) -> list[Node]:
        """Every place where an identifier or a property of this name is used."""
        return [node for node in self.walk(*_NAMES) if self.of(node) == name]

    def is_key_of(self, node: Node, owner: str) -> bool:
        """Whether a name is used as a key of the object that `owner` names: `owner.name`, in
        `{ ...owner, name: … }`, or in the object that becomes `owner`."""
        parent = node.parent
        last = owner.rpartition(".")[2]
        if parent is None:
            return False
        if parent.type == "member_expression" and node.type == "property_identifier":
            held = parent.child_by_field_name("object")
            said = self.of(held) if held is not None else ""
            return said == owner or said.endswith(f".{owner}") or (owner == "state" and said == "$")
        around = parent if node.type.startswith("shorthand") else parent.parent
        if around is None:
            return False
        if around.type == "object_pattern":
            of = around.parent.child_by_field_name("value") if around.parent else None
            return of is not None and self.of(of) in (owner, f"state.{owner}")
        spread = any(c.type == "spread_element" and self.of(c) == f"...{owner}" for c in around.children)
        holder = around.parent
        name = holder.child_by_field_name("key") or holder.child_by_field_name("left") if holder else None
        return spread or (name is not None and self.of(name).rpartition(".")[2] == last)

    def logs(self) -> Iterator[tuple[int, int]]:
        """The places of the statements that only log."""
        for node in self.walk("expression_statement"):
            call = node.named_children[0] if node.named_children else None
            if call is not None and call.type == "call_expression":
                function = call.child_by_field_name("function")
                if function is not None and re.fullmatch(r"console\.\w+", self.of(function)):
                    yield self.span(node)

    def lines_of(self, start: int, end: int) -> tuple[int, int] | None:
        """The whole lines that a place takes up, None when it shares them with something else."""
        begin = self.text.rfind("\n", 0, start) + 1
        close = self.text.find("\n", end)
        close = len(self.text) if close < 0 else close + 1
        around = self.text[begin:start] + self.text[end:close]
        return (begin, close) if not around.strip() else None

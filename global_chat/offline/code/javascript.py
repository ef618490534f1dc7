"""A step's code, parsed: its operations, literals, comments and statements by place.

Places count characters of the text. The code is parsed, never run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Span = tuple[int, int]
Replacement = tuple[int, int, str]


@lru_cache(maxsize=1)
def _parser() -> Parser:
    # The grammar is a shared library of half a megabyte: only code needs it.
    import tree_sitter_javascript  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_javascript.language()))


class Code:
    """Parsed code. `broken` says that it does not parse; it is then only to be read with care."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._bytes = text.encode("utf-8", "replace")
        self.root = _parser().parse(self._bytes).root_node
        self.broken = self.root.has_error

    @cached_property
    def _characters(self) -> list[int] | None:
        """The character that each byte belongs to; None when all characters are one byte."""
        if len(self._bytes) == len(self.text):
            return None
        places: list[int] = []
        for index, character in enumerate(self.text):
            places += [index] * len(character.encode("utf-8", "replace"))
        return [*places, len(self.text)]

    def span(self, node: Node) -> Span:
        """Where a node stands, in characters."""
        if self._characters is None:
            return node.start_byte, node.end_byte
        return self._characters[node.start_byte], self._characters[node.end_byte]

    def of(self, node: Node) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def walk(self, *types: str) -> Iterator[Node]:
        """Nodes of these types, in order of place; every node when no type is given."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if not types or node.type in types:
                yield node
            waiting.extend(reversed(node.children))

    @property
    def statements(self) -> list[Node]:
        """The statements at the top."""
        return [n for n in self.root.named_children if n.type != "comment"]

    def operations(self) -> list[Node]:
        """Top-level calls such as `get(...)`, with what is chained to them."""
        found = []
        for statement in self.statements:
            inner = statement.named_children[0] if statement.named_children else None
            if (
                statement.type == "expression_statement"
                and inner
                and inner.type == "call_expression"
            ):
                found.append(inner)
        return found

    def first_call(self, operation: Node) -> Node:
        """The operation itself, without `.then(...)` and `.catch(...)`."""
        node = operation
        while True:
            function = node.child_by_field_name("function")
            if function is None or function.type != "member_expression":
                return node
            inner = function.child_by_field_name("object")
            if inner is None or inner.type != "call_expression":
                return node
            node = inner

    def called(self, call: Node) -> str:
        """What a call calls: `get`, `collections.get`, `console.log`."""
        function = call.child_by_field_name("function")
        return self.of(function) if function is not None else ""

    def strings(self) -> Iterator[tuple[Node, Span, str]]:
        """Strings and pieces of templates: the node, the place of the text inside, that text."""
        for node in self.walk("string", "template_string"):
            if node.type == "string":
                start, end = self.span(node)
                yield node, (start + 1, end - 1), self.text[start + 1 : end - 1]
            else:
                yield from self._template_pieces(node)

    def _template_pieces(self, node: Node) -> Iterator[tuple[Node, Span, str]]:
        start, end = self.span(node)
        position = start + 1
        for child in node.named_children:
            if child.type != "template_substitution":
                continue
            inner = self.span(child)
            if position < inner[0]:
                yield node, (position, inner[0]), self.text[position : inner[0]]
            position = inner[1]
        if position < end - 1:
            yield node, (position, end - 1), self.text[position : end - 1]

    def line_of(self, position: int) -> str:
        """The line that a place is on."""
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        return self.text[start : end if end >= 0 else len(self.text)]

    def with_replacements(self, replacements: Iterable[Replacement]) -> str:
        """The text with some places replaced. Places that overlap are an error of the caller."""
        text = self.text
        for start, end, new in sorted(set(replacements), reverse=True):
            text = text[:start] + new + text[end:]
        return text


def parses(text: str) -> bool:
    """Whether code is valid JavaScript as far as its grammar goes."""
    return not Code(text).broken

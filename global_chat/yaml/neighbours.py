"""How a document is written around a place: which lines belong to what stands there, and what new
text there takes after and must respect."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from global_chat.yaml import writing as yaml_text
from global_chat.yaml.block_scalars import header_span
from global_chat.yaml.nodes import Alias, Mapping, Node, Scalar, inside
from global_chat.yaml.source import Source
from global_chat.yaml.writing import Data


class Spanned(Protocol):
    """A node or an entry: whatever has a place in the text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def apart(source: Source, parts: Sequence[Spanned]) -> bool:
    """Whether parts that follow each other are kept apart by blank lines, for the most part."""
    gaps = [source.text[a.end : b.start].splitlines()[1:-1] for a, b in pairwise(parts)]
    return 2 * sum(any(not line.strip() for line in gap) for gap in gaps) > len(gaps)


def lines_of(
    source: Source, span: tuple[int, int], *, before: int | None, followed: bool
) -> tuple[int, int]:
    """The whole lines that go when the part at `span` goes.

    With it go the comment lines right above at its indentation, those below that are indented
    deeper, and the blank lines above; below, when it is the first of several. `before` is the
    end of the part before it, None for the first one; `followed` says that another one follows.
    """
    column = source.indent(span[0])
    start, end = source.line_start(span[0]), source.next_line(span[1])
    floor = source.next_line(before) if before is not None else 0
    while start > floor and _comment_at(source, above := source.line_start(start - 1)) == column:
        start = above
    while before is not None and start > floor and is_blank(source, start - 1):
        start = source.line_start(start - 1)
    while end < len(source.text) and (_comment_at(source, end) or 0) > column:
        end = source.next_line(end)
    while before is None and followed and end < len(source.text) and is_blank(source, end):
        end = source.next_line(end)
    return start, end


def below_comments(source: Source, offset: int, column: int) -> int:
    """The end of the line of `offset`, or of the comment lines below it that are indented deeper
    than `column`: they belong to what stands above."""
    end = source.line_end(offset)
    while (below := source.next_line(end)) > end and (_comment_at(source, below) or 0) > column:
        end = source.line_end(below)
    return end


def _comment_at(source: Source, line_start: int) -> int | None:
    """The indentation of the comment that fills the line; None when it is no such line."""
    line = source.text[line_start : source.line_end(line_start)]
    bare = line.lstrip(" ")
    return len(line) - len(bare) if bare.startswith("#") else None


def is_blank(source: Source, offset: int) -> bool:
    """Whether nothing but blanks stands on the line of `offset`."""
    return not source.text[source.line_start(offset) : source.line_end(offset)].strip()


class NeighbourStyle:
    """Answers about one document."""

    def __init__(self, source: Source, root: Node) -> None:
        self._source = source
        self._root = root

    def with_blank_lines(self, start: int, end: int) -> tuple[int, int]:
        """Lines that are taken out, with the blank ones below where a text above would get them:
        blank lines below a block scalar with keep chomping are part of it."""
        if any(self.keeps(node) for node in self._blocks_above(start)):
            while end < len(self._source.text) and is_blank(self._source, end):
                end = self._source.next_line(end)
        return start, end

    def needs_line_break(self, offset: int) -> bool:
        """Whether a block scalar ends above `offset`: its last line break is part of it."""
        return bool(self._blocks_above(offset))

    def keeps(self, node: Scalar) -> bool:
        """Whether a node is a block scalar whose blank lines at the end count."""
        text = self._source.text
        block = node.style in ("|", ">")
        return block and "+" in text[slice(*header_span(text, node.start, node.end))]

    def _blocks_above(self, offset: int) -> list[Scalar]:
        return [node for node in self._blocks if self._source.next_line(node.end) == offset]

    @cached_property
    def _blocks(self) -> list[Scalar]:
        nodes = inside(self._root)
        return [n for n in nodes if isinstance(n, Scalar) and n.style in ("|", ">")]

    def block(self, node: Node, data: dict[str, Data]) -> list[str]:
        """The lines of new keys of `node`, not indented."""
        return yaml_text.block(data, self.quote(node), self.step(node))

    def quote(self, node: Node) -> str:
        """The quotes that the values around prefer."""
        styles = [n.style for n in inside(node) if isinstance(n, Scalar) and n.style in ("'", '"')]
        return '"' if styles.count('"') > styles.count("'") else "'"

    def step(self, node: Node) -> int:
        """By how many columns the mappings in `node`, or else in the document, are indented."""
        for root in (node, self._root):
            for mapping in inside(root):
                if not isinstance(mapping, Mapping) or mapping.flow:
                    continue
                for entry in mapping.entries:
                    inner = entry.value
                    if isinstance(inner, Mapping) and inner.entries and not inner.flow:
                        start = self._source.indent(inner.entries[0].start)
                        return max(start - self._source.indent(entry.start), 1)
        return 2

    def referrers(self, node: Node) -> list[Alias]:
        """The aliases that stand for a node."""
        return [a for a in inside(self._root) if isinstance(a, Alias) and a.target is node]

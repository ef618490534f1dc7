"""How a document is written around a place: what new text there takes after and must respect."""

from __future__ import annotations

from functools import cached_property

from global_chat.workflow.patching.line_spans import is_blank
from global_chat.yaml import writing as yaml_text
from global_chat.yaml.block_scalars import header_span
from global_chat.yaml.nodes import Alias, Mapping, Node, Scalar, inside
from global_chat.yaml.source import Source
from global_chat.yaml.writing import Data


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

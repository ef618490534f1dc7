"""Edits of a document at the places of its nodes: set a value, rename, add, remove.

Every edit is a splice of the source text, so what no edit touches stays as it is, byte for byte.
New text takes the line end, the indentation, the quotes and the blank lines of its neighbours.
An edit that cannot be made exactly is refused with `CannotEdit`; nothing is ever retyped instead.
"""

from __future__ import annotations

import json
import re
from collections import abc
from collections.abc import Iterator

from global_chat.yaml import writing as yaml_text
from global_chat.yaml.block_scalars import header_span
from global_chat.yaml.neighbours import (
    NeighbourStyle,
    apart,
    below_comments,
    lines_of,
)
from global_chat.yaml.nodes import (
    Alias,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    find,
    inside,
    last_scalar,
    text_of_key,
)
from global_chat.yaml.source import Source, Splice
from global_chat.yaml.writing import BlockList, Data

_ANCHOR = re.compile(r"(?:&\S+[ \t]+)?")
_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]+)*")


class CannotEdit(Exception):
    """This document is written in a way that the edit cannot be made exactly. Holds a sentence."""


class NodeEdits:
    """Collects edits of one document; `text` gives the document with all of them made.

    At one place, edits keep the order in which they were asked for: inner ones come first.
    """

    def __init__(self, source: Source, root: Node) -> None:
        self.source = source
        self._changed: list[Splice] = []
        self._removed: list[tuple[int, int]] = []
        self._root = root
        self._style = NeighbourStyle(source, root)

    def text(self) -> str:
        """The document after the edits.

        Raises `CannotEdit` when two edits meet in one place, or when one takes away an anchor
        that stands for more than a word elsewhere.
        """
        removed = [self._style.with_blank_lines(*span) for span in _joined(self._removed)]
        splices = [*self._beside(removed), *((start, end, "") for start, end in removed)]
        splices += self._moved_anchors(splices)
        try:
            text = self.source.splice(splices)
        except ValueError:
            raise CannotEdit("Two of the changes meet in one place of the document.") from None
        ends_open = not self.source.text.endswith(("\n", "\r"))
        if ends_open and removed and not self._style.needs_line_break(removed[-1][0]):
            return text.removesuffix(self.source.newline)
        return text

    def _beside(self, removed: list[tuple[int, int]]) -> Iterator[Splice]:
        """The changes outside of what is removed. New lines that would stand below the last line
        of a part, where that line goes, stand below the one before it."""
        for start, end, new in self._changed:
            gone = next((s for s, e in removed if s <= start and end <= e and s < end), None)
            if gone is None:
                yield start, end, new
            elif start == end:
                above = self.source.line_end(self.source.line_start(gone - 1))
                yield above, above, new

    def put(
        self,
        holder: Node,
        entry: Entry | None,
        node: Node,
        values: abc.Mapping[str, Data],
        order: abc.Sequence[str] = (),
    ) -> None:
        """Give the mapping `node` new values by key: None takes a key away, a mapping says what
        changes inside of one. A key that it has not goes where `order` has it.

        A part that is null (`entry` in `holder`) becomes a mapping. One that is an alias is
        refused: the edit would change every part that shares it.
        """
        if isinstance(node, Mapping) and node.entries:
            known = [key for key in order if values.get(key, "") is not None]
            for key, value in values.items():
                self._put_one(node, key, value, known)
        elif values and entry and isinstance(holder, Mapping) and not isinstance(node, Alias):
            self.set_value(holder, entry, without_nulls(values))
        elif values:
            raise self.refuse(node, "what stands there is shared with another part by an alias")

    def _put_one(self, mapping: Mapping, key: str, value: Data, order: abc.Sequence[str]) -> None:
        own = mapping.own.get(key)
        new = without_nulls(value) if isinstance(value, dict) else value
        inner = own.value if own else None
        if own and isinstance(value, dict) and isinstance(inner, Mapping | Alias):
            stays = inner.own if isinstance(inner, Mapping) else {"": None}
            if any(value.get(k, "") is not None for k in stays):
                self.put(mapping, own, inner, value)
            elif new:
                self.set_value(mapping, own, new)
            else:
                self.remove(mapping, own)
        elif own and value is not None:
            self.set_value(mapping, own, new)
        elif own:
            self.remove(mapping, own)
        elif value is None:
            if find(mapping, key):
                raise self.refuse(mapping, f"`{key}` comes from a mapping that others share")
        else:
            staying = [e for e in mapping.entries if text_of_key(e) in order]
            before = order[: order.index(key)] if key in order else order
            earlier = [e for e in staying if text_of_key(e) in before]
            self.add(mapping, key, new, (earlier or staying or mapping.entries)[-1])

    def set_value(self, mapping: Mapping, entry: Entry, value: Data) -> None:
        """Give an existing key of `mapping` another value, written in the style of the old one."""
        old = entry.value
        was_block = isinstance(old, Scalar) and old.style in ("|", ">")
        if was_block and isinstance(value, str) and not value.endswith("\n"):
            value += "\n"
        if isinstance(old, Sequence) and not old.flow and isinstance(value, list):
            value = value if any(isinstance(v, dict) for v in value) else BlockList(value)
        lines = isinstance(value, str) and "\n" in value
        if lines or isinstance(value, dict | list) or isinstance(old, Mapping | Sequence):
            self._rewrite(mapping, entry, value)
            return
        style = old.style if isinstance(old, Scalar) else ""
        gap = "" if self.source.text[old.start - 1 : old.start].isspace() else " "
        new = _restyled(value, style, in_flow=mapping.flow)
        self._change(self._after_properties(old), old.end, gap + new)

    def set_item(self, sequence: Sequence, item: Node, value: str) -> None:
        """Give an item of a list that is one word another text."""
        if isinstance(item, Mapping | Sequence):
            raise self.refuse(item, "the list there holds something else than words")
        style = item.style if isinstance(item, Scalar) else ""
        new = _restyled(value, style, in_flow=sequence.flow)
        self._change(self._after_properties(item), item.end, new)

    def rename(self, node: Node, text: str) -> None:
        """Give a key, or a value that is one word, another text."""
        plain = isinstance(node, Scalar) and node.style not in ("|", ">")
        if not plain or isinstance(node, Alias):
            raise self.refuse(node, "the name there is written in an unusual way")
        style = node.style if isinstance(node, Scalar) else ""
        new = _restyled(text, style) if style else yaml_text.key(text, flow=True)
        self._change(self._after_properties(node), node.end, new)

    def add(self, mapping: Mapping, key: str, value: Data, after: Entry | None = None) -> None:
        """Add a key. It stands after `after`, else after the last key."""
        before = after or mapping.entries[-1]
        if mapping.flow:
            name, new = yaml_text.key(key, flow=True), yaml_text.flow(value)
            if isinstance(before.key, Scalar) and before.key.style == '"':
                name, new = (json.dumps(v, ensure_ascii=False) for v in (key, value))
            self._change(before.end, before.end, f", {name}: {new}")
            return
        lines = self._style.block(mapping, {key: value})
        column = self.source.indent(before.start)
        self._insert_lines(before.value, lines, column, apart(self.source, mapping.entries))

    def add_item(self, sequence: Sequence, value: Data, after: Node | None = None) -> None:
        """Add an item to a list, after the item `after`, else at its end."""
        before = after or sequence.items[-1]
        if sequence.flow or not isinstance(value, dict):
            if not sequence.flow:
                raise self.refuse(sequence, "the list there holds something else than mappings")
            self._change(before.end, before.end, f", {yaml_text.flow(value)}")
            return
        dash = self._dash(before)
        first, *rest = yaml_text.block(
            value, self._style.quote(sequence), self._style.step(sequence)
        )
        pad = " " * (before.start - dash)
        lines = ["-" + pad[1:] + first, *(pad + line if line else "" for line in rest)]
        column = self.source.indent(dash)
        self._insert_lines(before, lines, column, apart(self.source, sequence.items))

    def remove(self, owner: Mapping | Sequence, part: Entry | Node) -> None:
        """Take a key or an item out, with the comment that stands right above it."""
        parts: list[Entry] | list[Node]
        parts = owner.entries if isinstance(owner, Mapping) else owner.items
        index = next(i for i, other in enumerate(parts) if other is part)
        if owner.flow:
            start = parts[index - 1].end if index else part.start
            end = part.end if index or len(parts) == 1 else parts[1].start
            self._removed.append((start, end))
            return
        start = part.start if isinstance(part, Entry) else self._dash(part)
        if self.source.text[self.source.line_start(start) : start].strip(" \ufeff"):
            raise self.refuse(part, "the part begins in the middle of a line")
        self._removed.append(
            lines_of(
                self.source,
                (start, part.end),
                before=parts[index - 1].end if index else None,
                followed=index + 1 < len(parts),
            )
        )

    def refuse(self, part: Entry | Node, why: str) -> CannotEdit:
        """The refusal of an edit at `part`, naming its line."""
        line = self.source.line(part.start)
        return CannotEdit(f"The document cannot be edited exactly at line {line}: {why}.")

    def _change(self, start: int, end: int, new: str) -> None:
        self._changed.append((start, end, new))

    def _colon(self, entry: Entry) -> int:
        """Right behind the colon of an entry."""
        return self.source.text.index(":", entry.key.end) + 1

    def _after_properties(self, node: Node) -> int:
        """Where the node's own text begins, behind its anchor and tag.

        An anchor that others refer to goes with the old value: the first of them inherits it.
        """
        if isinstance(node, Alias) or (node.anchor and self._style.referrers(node)):
            return node.start
        # A plain value may begin with `!` and have no tag: an expression that nobody quoted.
        properties = _PROPERTIES if node.tag else _ANCHOR
        found = properties.match(self.source.text, node.start, node.end)
        return found.end() if found else node.start

    def _rewrite(self, mapping: Mapping, entry: Entry, value: Data) -> None:
        """Write a value anew where the old one stood. A comment on the key's line stays there."""
        old, colon = entry.value, self._colon(entry)
        if mapping.flow:
            self._change(colon, old.end, " " + yaml_text.flow(value))
            return
        first, *below = yaml_text.block(
            {"k": value}, self._style.quote(mapping), self._style.step(mapping)
        )
        head, newline = first.removeprefix("k:"), self.source.newline
        pad = " " * self.source.indent(entry.start)
        rest = "".join(newline + (pad + line if line else "") for line in below)
        line_end = self.source.line_end(colon)
        if isinstance(old, Scalar) and old.style in ("|", ">"):
            header_end = header_span(self.source.text, old.start, old.end)[1]
            self._change(colon, header_end, head)
            self._change(self.source.line_end(header_end), old.end, rest)
        elif old.start > line_end:
            self._change(colon, colon, head)
            self._change(line_end, old.end, rest)
        elif old.end <= line_end:
            self._change(colon, old.end, head)
            self._change(line_end, line_end, rest)
        else:
            self._change(colon, old.end, head + rest)

    def _insert_lines(self, before: Node, lines: list[str], column: int, blank: bool) -> None:
        """New lines below the line on which `before` ends."""
        newline = self.source.newline
        last = last_scalar(before)
        self._close_block_at_end(last)
        text = newline * (blank and not (last and self._style.keeps(last)))
        text += "".join(newline + (" " * column + line if line else "") for line in lines)
        at = below_comments(self.source, before.end, column)
        self._change(at, at, text)

    def _close_block_at_end(self, node: Scalar | None) -> None:
        """A block scalar that ends the file without a line break gets none by what follows it."""
        text = self.source.text
        if node and node.style in ("|", ">") and node.end == len(text):
            start, end = header_span(text, node.start, node.end)
            header = text[start:end].rstrip("+-") + "-"
            if not node.text.endswith("\n") and (start, end, header) not in self._changed:
                self._change(start, end, header)

    def _dash(self, item: Node) -> int:
        text = self.source.text
        dash = text.rfind("-", self.source.line_start(item.start), item.start)
        if dash < 0 or text[dash + 1 : item.start].strip(" "):
            raise self.refuse(item, "the item does not stand behind its dash")
        return dash

    def _moved_anchors(self, splices: list[Splice]) -> Iterator[Splice]:
        """Where an anchor goes away, the first alias that stays becomes the anchor."""
        spans = [(start, end) for start, end, _ in splices if start < end]
        if "*" not in self.source.text:
            return
        seen: set[int] = set()
        aliases = (node for node in inside(self._root) if isinstance(node, Alias))
        for alias in sorted(aliases, key=lambda a: a.start):
            target = alias.target
            lost = any(start <= target.start < end for start, end in spans)
            stays = not any(start <= alias.start < end for start, end in spans)
            if lost and stays and id(target) not in seen:
                seen.add(id(target))
                words = self.source.text[target.start : target.end]
                if not isinstance(target, Scalar) or "\n" in words or "\r" in words:
                    raise self.refuse(target, f"`*{alias.name}` elsewhere stands for what is here")
                yield alias.start, alias.end, words


def without_nulls(values: abc.Mapping[str, Data]) -> dict[str, Data]:
    """The values that are there, of mappings inside as well."""
    return {
        key: without_nulls(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that meet made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _restyled(value: Data, style: str, *, in_flow: bool = False) -> str:
    """A one-line value in the quotes of the value that it replaces; booleans have none."""
    if isinstance(value, str):
        quoted = style in ("'", '"')
        return (
            yaml_text.scalar(value, style) if quoted else yaml_text.inline(value, in_flow=in_flow)
        )
    return yaml_text.flow(value)

"""The splices that give a text under a key another value, wherever and in whatever style it stands.

Only the scalar's own characters are replaced: its anchor or tag, a comment on its line and the
blank lines below it stay. A mapping without the key gets it in the style of its other keys. Whoever
applies the splices reads the result again and compares it.
"""

from __future__ import annotations

import re
from collections import abc
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from global_chat.yaml.block_scalars import content_indent, header_span
from global_chat.yaml.nodes import (
    Alias,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    resolve,
)
from global_chat.yaml.small_edits import small_edits
from global_chat.yaml.source import Source, Splice
from global_chat.yaml.writing import literal, quoted

_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+(?:#[^\r\n]*\s+)*|\Z))*")
_TAG = re.compile(r"!\S*[ \t]*")
_BREAK = re.compile(r"\r\n|\n|\r")
_BREAKS_AFTER = re.compile(r"(?:(?:\r\n|\n|\r)(?: *(?=[\r\n])|))*")
_LAST_BREAKS = re.compile(r"[\r\n]+\Z")
_USUAL_INDENT = 2
_STANDARD_TAG = "tag:yaml.org,2002:"


class Owner(Protocol):
    """What has the text: a mapping, an alias of one, or null, in `holder`, under its key if any."""

    @property
    def node(self) -> Node: ...
    @property
    def entry(self) -> Entry | None: ...
    @property
    def holder(self) -> Mapping | Sequence: ...


class _New(NamedTuple):
    """The new text, and whether it may be a literal block."""

    text: str | None
    in_blocks: bool = True


@dataclass(frozen=True, slots=True)
class TextEdits:
    """Writes texts that stand under `key` in each of `owners`, which are alike. `ending` is a key
    that stays the last one where the text is added."""

    source: Source
    root: Node | None
    key: str
    owners: abc.Sequence[Owner]
    ending: str | None = None

    def set_text(
        self, owner: Owner, new: str | None, in_place: bool = True, in_blocks: bool = True
    ) -> list[Splice]:
        """The splices after which the owner has a text of its own; None is null.

        Words are changed in place where that is allowed, else the text is a literal block where
        that is, else it is in double quotes.
        """
        text = _New(new, in_blocks)
        if not isinstance(owner.node, Mapping):
            return self._with_own_mapping(owner, text)
        own = owner.node.own.get(self.key)
        if own is None:
            return self._added(owner, owner.node, text)
        if not isinstance(own.value, Scalar):
            return self._replaced(owner.node, own.value, text)
        small = None
        if in_place and new is not None:
            small = small_edits(self.source, own.value, self._content_start(own.value), new)
        changed = small or self._replaced(owner.node, own.value, text)
        return [*self._anchor_moved(own.value), *self._tag_dropped(own.value), *changed]

    def _replaced(self, holder: Mapping, value: Node, new: _New) -> list[Splice]:
        """Another text in the place of a text, a null or an alias."""
        text, end = self.source.text, value.end
        start, column = self._content_start(value), self._column(holder)
        if not (isinstance(value, Scalar) and value.style in ("|", ">")):
            line_end = self.source.line_end(end)
            head, below = self._written(column, new, line_end)
            return [(start, end, self._gap(start, end) + head), (line_end, line_end, below)]
        span = header_span(text, start, end)
        first_line = min(self.source.line_end(span[1]), end)
        if "+" in text[slice(*span)] and not (new.text or "").endswith("\n\n"):
            blank = _LAST_BREAKS.search(text, first_line, end)
            end = blank.start() if blank else end
        head, below = self._written(column, new, end, value)
        return [(*span, head), (first_line, end, below)]

    def _added(self, owner: Owner, holder: Mapping, new: _New) -> list[Splice]:
        """A text for a mapping that has none: last, but before the `ending`."""
        last = next((e for e in reversed(holder.entries) if _text(e.key) != self.ending), None)
        after = last or (holder.entries[-1] if holder.entries else None)
        key, column = self._key_like(after or owner.entry), self._column(holder)
        if column is None or after is None:
            at = after.end if after else holder.end - 1
            head, _ = self._written(None, new, at)
            return [(at, at, f"{', ' if after else ''}{key}: {head}")]
        end = self.source.line_end(after.end)
        head, below = self._written(column, new, end)
        return [(end, end, f"{self._new_line(column)}{key}: {head}{below}")]

    def _with_own_mapping(self, owner: Owner, new: _New) -> list[Splice]:
        """A mapping for an owner that is null, or the alias of another one, which is merged in."""
        node, text, key = owner.node, self.source.text, self._key_like(owner.entry)
        merged = f"<<: {text[node.start : node.end]}" if isinstance(node, Alias) else ""
        if owner.holder.flow:
            inside = f"{merged}, " if merged else ""
            whole = f"{{{inside}{key}: {self._written(None, new, node.end)[0]}}}"
            return [(node.start, node.end, self._gap(node.start, node.end) + whole)]
        end = self.source.line_end(node.end)
        column = self.source.indent(node.start)
        if owner.entry:
            column = self.source.indent(owner.entry.start) + self._owner_indent()
        head, below = self._written(column, new, end)
        body = f"{self._new_line(column)}{key}: {head}{below}"
        if not owner.entry:
            return [(node.start, node.end, merged), (end, end, body)]
        above = self._new_line(column) + merged if merged else ""
        start = len(text[: node.start].rstrip(" ")) if node.end > node.start else node.start
        return [(start, node.end, ""), (end, end, above + body)]

    def _anchor_moved(self, value: Scalar) -> list[Splice]:
        """When aliases stand for this value elsewhere, the first of them takes over its anchor and
        its text, so that all of them keep what they had."""
        users = _users(self.root, value)
        if not users:
            return []
        alias, holder = min(users, key=lambda user: user[0].start)
        text, token = self.source.text, f"&{value.anchor}"
        start, content = text.index(token, value.start), self._content_start(value)
        after = start + len(token)
        while after < content and text[after] in " \t":
            after += 1
        raw = text[content : value.end]
        if value.is_null or (value.style in ("'", '"') and not _BREAK.search(raw)):
            return [(start, after, ""), (alias.start, alias.end, f"{token} {raw}".rstrip())]
        line_end = self.source.line_end(alias.end)
        head, below = self._written(self._column(holder), _New(value.text), line_end)
        return [
            (start, after, ""),
            (alias.start, alias.end, f"{token} {head}"),
            (line_end, line_end, below),
        ]

    def _tag_dropped(self, value: Scalar) -> list[Splice]:
        """A tag by which the value is not text (`!!null`, `!!binary`) goes."""
        tag = value.tag or ""
        if not tag.startswith(_STANDARD_TAG) or tag == f"{_STANDARD_TAG}str":
            return []
        found = _TAG.search(self.source.text, value.start, self._content_start(value))
        return [(*found.span(), "")] if found else []

    def _written(
        self, column: int | None, new: _New, end: int, old: Node | None = None
    ) -> tuple[str, str]:
        """The text as the value of a key at `column`: its place's text, and the lines below it,
        which begin with a line break and go to `end`. Inside flow style (None) there are none."""
        if new.text is None:
            return "null", ""
        if new.in_blocks and column is not None:
            block = literal(new.text, column, self._text_indent(column, old))
            ending = self._ending(block.breaks, end) if block else None
            if block and ending is not None:
                lines = "".join(self.source.newline + line for line in block.lines)
                return block.head, lines + ending
        return quoted(new.text), ""

    def _ending(self, wanted: int, end: int) -> str | None:
        """What to add at `end` so that as many line breaks follow as the text ends with; None when
        more follow already. A file without a last line break gets none, but a blank behind it."""
        found = _BREAKS_AFTER.match(self.source.text, end)
        there = len(_BREAK.findall(found[0])) if found else 0
        if wanted < 2:
            missing = wanted if not there else 0
        elif there > wanted:
            return None
        else:
            missing = wanted - there
        return self.source.newline * missing + (" " if missing and not there else "")

    def _text_indent(self, column: int, old: Node | None) -> int:
        """How much deeper than its key a text stands: as before, or as in the other owners."""
        if isinstance(old, Scalar) and (indent := self._block_indent(column, old)):
            return indent
        for owner in self.owners:
            mapping = owner.node
            own = mapping.own.get(self.key) if isinstance(mapping, Mapping) else None
            base = self._column(mapping)
            if own and base is not None and isinstance(own.value, Scalar):
                indent = self._block_indent(base, own.value)
                if indent:
                    return indent
        return self._owner_indent()

    def _block_indent(self, column: int, value: Scalar) -> int | None:
        """The indentation of a block scalar below a key at `column`, if it is one and shows it."""
        if value.style not in ("|", ">"):
            return None
        span = header_span(self.source.text, self._content_start(value), value.end)
        digits = re.sub(r"\D", "", self.source.text[slice(*span)])
        if digits:
            return int(digits)
        found = content_indent(self.source.text, span[0], value.end)
        return found - column if found is not None and found > column else None

    def _owner_indent(self) -> int:
        """How much deeper the keys of an owner stand than its own key."""
        for owner in self.owners:
            column = self._column(owner.node)
            if owner.entry and column is not None:
                return max(column - self.source.indent(owner.entry.start), 1)
        return _USUAL_INDENT

    def _column(self, node: Node) -> int | None:
        """The column of a block mapping's keys; None for everything else."""
        if isinstance(node, Mapping) and not node.flow and node.entries:
            return self.source.indent(node.entries[0].start)
        return None

    def _content_start(self, value: Node) -> int:
        """Where a value begins behind its anchor and tag."""
        found = _PROPERTIES.match(self.source.text, value.start, value.end)
        return found.end() if found and not isinstance(value, Alias) else value.start

    def _key_like(self, other: Entry | None) -> str:
        """The text's key, quoted as another key is."""
        key = resolve(other.key) if other else None
        quote = key.style if isinstance(key, Scalar) and key.style in ("'", '"') else ""
        return f"{quote}{self.key}{quote}"

    def _gap(self, start: int, end: int) -> str:
        """The blank that must stand before a value where there was none to follow."""
        return "" if end > start or self.source.text[start - 1].isspace() else " "

    def _new_line(self, column: int) -> str:
        return self.source.newline + " " * column


def _text(node: Node) -> str | None:
    content = resolve(node)
    return content.text if isinstance(content, Scalar) else None


def _users(root: Node | None, target: Scalar) -> list[tuple[Alias, Node]]:
    """The aliases that stand for `target`, each with the collection that it is a value in."""
    found: list[tuple[Alias, Node]] = []
    waiting = [root] if root and target.anchor else []
    while waiting:
        holder = waiting.pop()
        children: list[Node] = []
        if isinstance(holder, Sequence):
            children = holder.items
        elif isinstance(holder, Mapping):
            children = [node for e in holder.entries for node in (e.value, e.key)]
        found += [(c, holder) for c in children if isinstance(c, Alias) and c.target is target]
        waiting += children
    return found

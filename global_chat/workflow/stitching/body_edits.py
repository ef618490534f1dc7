"""The splices that give a step another body, at whatever place and in whatever style it stands.

Only the scalar's own characters are replaced: its anchor or tag, a comment on its line and the
blank lines below it stay. A step without a body of its own gets one in the style of its other
keys. Splices from here are checked by whoever applies them (`stitching`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from global_chat.workflow.forms.layout import Layout, Placed
from global_chat.workflow.parts import Step
from global_chat.workflow.stitching.code_scalars import literal, quoted
from global_chat.workflow.stitching.small_edits import small_edits
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
from global_chat.yaml.source import Source, Splice

_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+(?:#[^\r\n]*\s+)*|\Z))*")
_TAG = re.compile(r"!\S*[ \t]*")
_BREAK = re.compile(r"\r\n|\n|\r")
_BREAKS_AFTER = re.compile(r"(?:(?:\r\n|\n|\r)(?: *(?=[\r\n])|))*")
_LAST_BREAKS = re.compile(r"[\r\n]+\Z")
_USUAL_INDENT = 2
_STANDARD_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class BodyEdits:
    """Writes bodies into one workflow: changing words in place where `in_place` allows it, else as
    literal blocks where `in_blocks` allows it, else in double quotes."""

    source: Source
    root: Node | None
    layout: Layout
    in_place: bool = True
    in_blocks: bool = True

    def set_body(self, step: Placed[Step], code: str | None) -> list[Splice]:
        """The splices after which the step has a body of its own with this code; None is null."""
        if not isinstance(step.node, Mapping):
            return self._with_own_mapping(step, code)
        own = step.node.own.get(self.layout.body_key)
        if own is None:
            return self._added(step, step.node, code)
        if not isinstance(own.value, Scalar):
            return self._replaced(step.node, own.value, code)
        small = None
        if self.in_place and code is not None and step.part.has_code:
            small = small_edits(self.source, own.value, self._content_start(own.value), code)
        changed = small or self._replaced(step.node, own.value, code)
        return [*self._anchor_moved(own.value), *self._tag_dropped(own.value), *changed]

    def _replaced(self, holder: Mapping, value: Node, code: str | None) -> list[Splice]:
        """Another code in the place of a text, a null or an alias."""
        text, end = self.source.text, value.end
        start, column = self._content_start(value), self._column(holder)
        if not (isinstance(value, Scalar) and value.style in ("|", ">")):
            line_end = self.source.line_end(end)
            head, below = self._written(column, code, line_end)
            return [(start, end, self._gap(start, end) + head), (line_end, line_end, below)]
        span = header_span(text, start, end)
        first_line = min(self.source.line_end(span[1]), end)
        if "+" in text[slice(*span)] and not (code or "").endswith("\n\n"):
            blank = _LAST_BREAKS.search(text, first_line, end)
            end = blank.start() if blank else end
        head, below = self._written(column, code, end, value)
        return [(*span, head), (first_line, end, below)]

    def _added(self, step: Placed[Step], holder: Mapping, code: str | None) -> list[Splice]:
        """A body for a mapping that has none: last, but before `next`, which ends a step."""
        last = next((e for e in reversed(holder.entries) if _text(e.key) != "next"), None)
        after = last or (holder.entries[-1] if holder.entries else None)
        key, column = self._key_like(after or step.entry), self._column(holder)
        if column is None or after is None:
            at = after.end if after else holder.end - 1
            head, _ = self._written(None, code, at)
            return [(at, at, f"{', ' if after else ''}{key}: {head}")]
        end = self.source.line_end(after.end)
        head, below = self._written(column, code, end)
        return [(end, end, f"{self._new_line(column)}{key}: {head}{below}")]

    def _with_own_mapping(self, step: Placed[Step], code: str | None) -> list[Splice]:
        """A mapping for a step that is null, or the alias of another one, which is merged in."""
        node, text, key = step.node, self.source.text, self._key_like(step.entry)
        merged = f"<<: {text[node.start : node.end]}" if isinstance(node, Alias) else ""
        if step.holder.flow:
            inside = f"{merged}, " if merged else ""
            new = f"{{{inside}{key}: {self._written(None, code, node.end)[0]}}}"
            return [(node.start, node.end, self._gap(node.start, node.end) + new)]
        end = self.source.line_end(node.end)
        column = self.source.indent(node.start)
        if step.entry:
            column = self.source.indent(step.entry.start) + self._step_indent()
        head, below = self._written(column, code, end)
        body = f"{self._new_line(column)}{key}: {head}{below}"
        if not step.entry:
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
        head, below = self._written(self._column(holder), value.text, line_end)
        return [
            (start, after, ""),
            (alias.start, alias.end, f"{token} {head}"),
            (line_end, line_end, below),
        ]

    def _tag_dropped(self, value: Scalar) -> list[Splice]:
        """A tag by which the value is no text (`!!null`, `!!binary`) goes, for code is one."""
        tag = value.tag or ""
        if not tag.startswith(_STANDARD_TAG) or tag == f"{_STANDARD_TAG}str":
            return []
        found = _TAG.search(self.source.text, value.start, self._content_start(value))
        return [(*found.span(), "")] if found else []

    def _written(
        self, column: int | None, code: str | None, end: int, old: Node | None = None
    ) -> tuple[str, str]:
        """The code as the value of a key at `column`: its place's text, and the lines below it,
        which begin with a line break and go to `end`. Inside flow style (None) there are none."""
        if code is None:
            return "null", ""
        if self.in_blocks and column is not None:
            block = literal(code, column, self._code_indent(column, old))
            ending = self._ending(block.breaks, end) if block else None
            if block and ending is not None:
                lines = "".join(self.source.newline + line for line in block.lines)
                return block.head, lines + ending
        return quoted(code), ""

    def _ending(self, wanted: int, end: int) -> str | None:
        """What to add at `end` so that as many line breaks follow as the code ends with; None when
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

    def _code_indent(self, column: int, old: Node | None) -> int:
        """How much deeper than its key code stands: as before, or as in the other steps."""
        if isinstance(old, Scalar) and (indent := self._block_indent(column, old)):
            return indent
        for step in self.layout.steps:
            mapping = step.node
            own = mapping.own.get(self.layout.body_key) if isinstance(mapping, Mapping) else None
            base = self._column(mapping)
            if own and base is not None and isinstance(own.value, Scalar):
                indent = self._block_indent(base, own.value)
                if indent:
                    return indent
        return self._step_indent()

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

    def _step_indent(self) -> int:
        """How much deeper the keys of a job stand than its own key."""
        for step in self.layout.steps:
            column = self._column(step.node)
            if step.entry and column is not None:
                return max(column - self.source.indent(step.entry.start), 1)
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
        """The body's key, quoted as another key is."""
        key = resolve(other.key) if other else None
        quote = key.style if isinstance(key, Scalar) and key.style in ("'", '"') else ""
        return f"{quote}{self.layout.body_key}{quote}"

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

"""Which parts of a document changed, and whether everything else is the same, byte for byte.

Parts are named by where they stand: `jobs.fetch.body`. An item of a list goes by its `id` or
`name`, else by its number. Nothing here knows what a workflow is, so every change is seen.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.reading.compose import compose
from global_chat.workflow.reading.nodes import Alias, Mapping, Node, Scalar, Sequence, resolve
from global_chat.workflow.reading.source import Source

_CUT = "\0"
_AROUND_CUTS = re.compile(rf"\s*{_CUT}[\s{_CUT}]*")
_REST_OF_LINE = re.compile(r"[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|\Z)")


class PlacedPart(NamedTuple):
    """One value, and where it stands alone and with its key.

    `text` is a scalar's own text, None for a mapping or a list.
    """

    text: str | None
    span: tuple[int, int]
    whole: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """Paths of scalars that changed, and the topmost paths that were added and removed."""

    before: dict[str, PlacedPart]
    after: dict[str, PlacedPart]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def document_diff(before: str, after: str) -> DocumentDiff:
    """What changed between two texts. A text that cannot be read has no parts."""
    old, new = _parts(before), _parts(after)
    changed = tuple(p for p in old if p in new and old[p].text != new[p].text)
    # A mapping that became a text is one change: what stood in it is not removed as well.
    added, removed = (_topmost(here, there, changed) for here, there in ((new, old), (old, new)))
    return DocumentDiff(old, new, changed, added, removed)


def covers(path: str, below: str) -> bool:
    """Whether `below` is `path` or stands in it."""
    return below == path or below.startswith(f"{path}.")


def _topmost(
    here: Collection[str], there: Collection[str], changed: tuple[str, ...]
) -> tuple[str, ...]:
    found: list[str] = []
    for path in here:
        if path not in there and not any(covers(top, path) for top in (*found, *changed)):
            found.append(path)
    return tuple(found)


def _parts(text: str) -> dict[str, PlacedPart]:
    try:
        root = compose(Source(text))
    except InvalidWorkflow:
        return {}
    return {} if root is None else dict(_below(root, ""))


def _below(node: Node, path: str) -> Iterator[tuple[str, PlacedPart]]:
    for name, child, whole in _children(node):
        content = resolve(child)
        text = content.text if isinstance(content, Scalar) else None
        yield path + name, PlacedPart(text, (child.start, child.end), whole)
        if not isinstance(child, Alias):
            yield from _below(child, f"{path}{name}.")


def _children(node: Node) -> Iterator[tuple[str, Node, tuple[int, int]]]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            key = resolve(entry.key)
            name = key.text if isinstance(key, Scalar) else f"@{entry.start}"
            yield name, entry.value, (entry.start, entry.end)
    elif isinstance(node, Sequence):
        for number, item in enumerate(node.items):
            content = resolve(item)
            own = content.own if isinstance(content, Mapping) else {}
            named = (resolve(own[key].value) for key in ("id", "name") if key in own)
            names = (value.text for value in named if isinstance(value, Scalar))
            yield next(names, str(number)), item, (item.start, item.end)


def other_bytes(
    before: str, after: str, diff: DocumentDiff, moved: Collection[str] = ()
) -> tuple[str, ...]:
    """Lines outside the changed parts that differ, as a diff; empty when all are the same.

    Of a part that changed, its value does not count, nor the blanks around it. A part that was
    added or removed takes its whole lines with it, blank lines between parts do not count, and a
    comment right above a part that was removed may go too.
    """
    valued = {p for p in (*diff.changed, *moved) if p in diff.before and p in diff.after}
    old = _kept(before, [diff.before[p] for p in valued], [diff.before[p] for p in diff.removed])
    new = _kept(after, [diff.after[p] for p in valued], [diff.after[p] for p in diff.added])
    if diff.removed:
        old = [line for line in old if line in new or not line.lstrip().startswith("#")]
    if diff.added or diff.removed:  # whether the last line of the text has an end is no change
        old, new = (
            [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines]
            for lines in (old, new)
        )
    # `repr` shows blanks and line ends, which a diff for people would hide.
    found = difflib.unified_diff([*map(repr, old)], [*map(repr, new)], n=0, lineterm="")
    return tuple(found)[2:]


def _kept(text: str, values: Iterable[PlacedPart], wholes: Iterable[PlacedPart]) -> list[str]:
    """The lines of the text without the given values and the lines of the given parts."""
    cuts = [(*part.span, _CUT) for part in values]
    cuts += [(*_lines_of(text, *part.whole), "") for part in wholes]
    for start, end, mark in sorted(cuts, reverse=True):
        text = text[:start] + mark + text[end:]
    return [line for line in _AROUND_CUTS.sub(_CUT, text).splitlines(keepends=True) if line.strip()]


def _lines_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines of a part that has them to itself; else only the part."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    rest = _REST_OF_LINE.match(text, end)
    if text[line:start].strip(" \t-\ufeff") or rest is None:
        return start, end
    return line, rest.end()

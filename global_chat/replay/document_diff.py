"""Which parts of a document changed, and whether everything else is the same, byte for byte."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .document_parts import Part, parts

_CUT = "\0"
_AROUND_CUTS = re.compile(rf"\s*{_CUT}[\s{_CUT}]*")


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """Paths of scalars that changed, and the topmost paths that were added and removed."""

    before: dict[str, Part]
    after: dict[str, Part]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def document_diff(before: str, after: str) -> DocumentDiff:
    """What changed between two texts."""
    old, new = parts(before), parts(after)
    changed = tuple(p for p in old if p in new and old[p].text != new[p].text)
    # What stood below a mapping that became a text is gone with it.
    added, removed = (
        tuple(p for p in _topmost(here, there) if not any(covers(c, p) for c in changed))
        for here, there in ((new, old), (old, new))
    )
    return DocumentDiff(old, new, changed, added, removed)


def covers(path: str, below: str) -> bool:
    """Whether `below` is `path` or stands in it."""
    return below == path or below.startswith(f"{path}.")


def _topmost(here: Collection[str], there: Collection[str]) -> tuple[str, ...]:
    found: list[str] = []
    for path in here:
        if path not in there and not any(covers(top, path) for top in found):
            found.append(path)
    return tuple(found)


def other_bytes(
    before: str, after: str, diff: DocumentDiff, moved: Collection[str] = ()
) -> tuple[str, ...]:
    """Lines outside the changed parts that differ, as a diff; nothing when all are the same.

    Of a part that changed, its value does not count, nor the blanks around it. A part that was
    added or removed takes its whole lines with it, blank lines between parts do not count, and
    of a part that was removed a comment right above it may go too.
    """
    valued = {p for p in (*diff.changed, *moved) if p in diff.before and p in diff.after}
    old = _kept(before, [diff.before[p] for p in valued], [diff.before[p] for p in diff.removed])
    new = _kept(after, [diff.after[p] for p in valued], [diff.after[p] for p in diff.added])
    if diff.removed:
        old = [line for line in old if line in new or not line.lstrip().startswith("#")]
    if diff.added or diff.removed:
        old, new = _ended(old), _ended(new)
    found = difflib.unified_diff([*map(repr, old)], [*map(repr, new)], n=0, lineterm="")
    return tuple(found)[2:]


def _kept(text: str, values: Iterable[Part], wholes: Iterable[Part]) -> list[str]:
    """The lines of the text without the given values and the lines of the given parts."""
    cuts = [(part.start, part.end, _CUT) for part in values]
    cuts += [(*_lines_of(text, part), "") for part in wholes]
    for start, end, mark in sorted(cuts, reverse=True):
        text = text[:start] + mark + text[end:]
    return [line for line in _AROUND_CUTS.sub(_CUT, text).splitlines(keepends=True) if line.strip()]


def _lines_of(text: str, part: Part) -> tuple[int, int]:
    """The whole lines of a part that has them to itself; else only the part."""
    start, end = part.whole
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    rest = re.compile(r"[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|\Z)").match(text, end)
    if text[line:start].strip(" \t-\ufeff") or rest is None:
        return start, end
    return line, rest.end()


def _ended(lines: list[str]) -> list[str]:
    """The last line of a text may lack its end: whether it does is no change."""
    return [line if line.endswith(("\n", "\r")) else line + "\n" for line in lines]

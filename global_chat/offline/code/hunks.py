"""From old code and new code to the edits that the job code agent's tool takes."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from global_chat.workflow.code_edits import CodeEdit, EditMismatch, apply_code_edits


def edits_between(old: str, new: str) -> list[dict[str, Any]]:
    """Edits that turn `old` into `new`: replacements of whole lines that occur once, or a rewrite.

    Each replacement takes as many lines around as it needs to be found exactly once.
    """
    if not old.strip() or old == new:
        return [_rewrite(new)]
    lines, target = old.splitlines(keepends=True), new.splitlines(keepends=True)
    edits: list[dict[str, Any]] = []
    matcher = SequenceMatcher(None, lines, target, autojunk=False)
    for tag, a, b, c, d in reversed(matcher.get_opcodes()):
        if tag != "equal":
            edit = _unique(old, lines, (a, b), "".join(target[c:d]))
            if edit is None:
                return [_rewrite(new)]
            edits.append(edit)
    try:
        result = apply_code_edits(
            old, [CodeEdit(e["action"], e["old_code"], e["new_code"]) for e in edits]
        )
    except EditMismatch:
        return [_rewrite(new)]
    return edits if result == new else [_rewrite(new)]


def _unique(old: str, lines: list[str], place: tuple[int, int], new: str) -> dict[str, Any] | None:
    start, end = place
    before, after = "", ""
    while True:
        found = before + "".join(lines[place[0] : place[1]]) + after
        if found and old.count(found) == 1:
            return {"action": "replace", "old_code": found, "new_code": before + new + after}
        if start == 0 and end == len(lines):
            return None
        if start > 0:
            start -= 1
            before = lines[start] + before
        if end < len(lines):
            after += lines[end]
            end += 1


def _rewrite(new: str) -> dict[str, Any]:
    return {"action": "rewrite", "old_code": None, "new_code": new}

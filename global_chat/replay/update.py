"""Writing what came into a case's expectations, and nothing else into its file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .case import Case, Expect, Holds
from .case_text import with_expectations
from .compare import differences
from .document_diff import DocumentDiff, covers, document_diff
from .outcome import Outcome
from .placed_yaml import read

#: Expectations that follow from what came. All others are promises that only a person can make.
_FOLLOWING = {
    *("agents", "confidence", "handover", "handed_back", "changed", "added", "removed"),
    *("planning", "usage", "warnings", "error"),
}


@dataclass(frozen=True, slots=True)
class Update:
    """The new text of one case file. `left` are differences that no new text can settle."""

    path: Path
    before: str
    after: str
    left: tuple[str, ...]

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(),
            self.after.splitlines(),
            str(self.path),
            "updated",
            lineterm="",
        )
        return "\n".join(lines)


def update_of(case: Case, outcome: Outcome) -> Update | None:
    """What would make the case expect what came; None when it does already."""
    found = differences(case, outcome)
    if not found or case.path is None:
        return None
    keys = dict.fromkeys(d.key for d in found if d.key in _FOLLOWING)
    if "changed" in keys:  # one document, three expectations about it
        keys |= dict.fromkeys(("added", "removed"))
    observed = observed_expectations(case.expect, outcome)
    before = read(case.path)
    after = with_expectations(before, {key: observed[key] for key in keys})
    left = tuple(str(d) for d in found if d.key not in _FOLLOWING)
    return Update(case.path, before.text, after, left)


def observed_expectations(expect: Expect, outcome: Outcome) -> dict[str, Any]:
    """What came, in the words of a case file. What did not happen is None or empty."""
    diff = document_diff(outcome.workflow, outcome.after)
    meta = outcome.response.meta if outcome.response else None
    return {
        "agents": list(outcome.agents),
        "confidence": outcome.route.confidence if outcome.route else None,
        "handover": outcome.handover.agent if outcome.handover else None,
        "handed_back": [h.agent for h in outcome.handed_back],
        "changed": _holding(expect.changed, diff.changed, diff),
        "added": _holding(expect.added, diff.added, diff),
        "removed": list(diff.removed),
        "planning": {
            "iterations": meta.planner_iterations,
            "tool_calls": meta.total_tool_calls,
            "limit_reached": meta.limit_reached is not None,
        }
        if meta and meta.planner_iterations is not None
        else None,
        "usage": outcome.response.usage.as_dict() if outcome.response else None,
        "warnings": list(outcome.warnings),
        "error": outcome.error.type if outcome.error else None,
    }


def _holding(
    expected: dict[str, Holds], paths: Iterable[str], diff: DocumentDiff
) -> dict[str, Any]:
    """The paths with what was expected of them, where that still holds; else with their text."""
    found: dict[str, Any] = {}
    for path in paths:
        wanted = next((p for p in expected if covers(p, path)), path)
        holds = expected.get(wanted, Holds())
        part = diff.after.get(wanted)
        text = part.text if part else None
        if text is not None and not _still(holds, text):
            found[wanted] = {"equals": text}
        else:
            found[wanted] = holds.model_dump(exclude_defaults=True, mode="json") or None
    return found


def _still(holds: Holds, text: str) -> bool:
    return (
        holds.equals in (None, text)
        and all(words in text for words in holds.contains)
        and not any(words in text for words in holds.lacks)
    )

"""Two runs side by side: what fails now and did not, what goes elsewhere, what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .result import Result
from .summary import Summary, summarize

Kind = Literal["broken", "fixed", "other way", "only in A", "only in B"]


@dataclass(frozen=True, slots=True)
class Change:
    """One case that came out otherwise in the second run."""

    case: str
    kind: Kind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both runs' sums, and every case that differs."""

    before: Summary
    after: Summary
    changes: tuple[Change, ...]


def compare_runs(before: Iterable[Result], after: Iterable[Result]) -> Comparison:
    """What differs between two runs; cases that both have in the same way are not told."""
    old, new = list(before), list(after)
    first, second = _by_case(old), _by_case(new)
    changes = [
        change
        for case in sorted({*first, *second})
        if (change := _change(case, first.get(case, []), second.get(case, [])))
    ]
    return Comparison(summarize(old), summarize(new), tuple(changes))


def _by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        if result.status != "stopped":
            found.setdefault(result.case, []).append(result)
    return found


def _change(case: str, before: list[Result], after: list[Result]) -> Change | None:
    if not before or not after:
        kind: Kind = "only in B" if after else "only in A"
        return Change(case, kind, _told(before), _told(after))
    old, new = _rate(before), _rate(after)
    if new != old:
        return Change(case, "fixed" if new > old else "broken", _told(before), _told(after))
    if {r.way for r in before} != {r.way for r in after}:
        return Change(case, "other way", _ways(before), _ways(after))
    return None


def _rate(results: list[Result]) -> float:
    return sum(r.status == "passed" for r in results) / len(results)


def _told(results: list[Result]) -> str:
    if not results:
        return ""
    if len(results) > 1:
        return f"{sum(r.status == 'passed' for r in results)}/{len(results)} passed"
    first = next(iter(results[0].differences), "").partition("\n")[0]
    return f"{results[0].status}: {first}" if first else results[0].status


def _ways(results: list[Result]) -> str:
    return " | ".join(sorted({r.way for r in results}))

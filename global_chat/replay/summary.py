"""Counts over the results of a run, the trend over runs, and what differs between two of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from global_chat.contract.names import AGENT_NAMES, AgentName, Usage
from global_chat.render.text import counted
from global_chat.render.wording import NO_MODEL, dollars

from .result import Result

#: The 97.5th percentile of the normal distribution: a 95 % interval has it on both sides.
Z_95 = 1.959963984540054


class Rate(NamedTuple):
    """How many of how many passed."""

    passed: int
    total: int

    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson score interval, as two numbers from 0 to 1.

        Unlike the textbook interval it is right for few runs and for rates near 0 and 1. Without
        any run nothing is known: 0 to 1.
        """
        passed, total = self
        if total == 0:
            return 0.0, 1.0
        rate, z2 = passed / total, Z_95**2
        middle = (rate + z2 / (2 * total)) / (1 + z2 / total)
        root = math.sqrt(rate * (1 - rate) / total + z2 / (4 * total**2))
        spread = Z_95 / (1 + z2 / total) * root
        # At the ends the formula is exact and floating point is not.
        low = 0.0 if passed == 0 else middle - spread
        return low, 1.0 if passed == total else middle + spread

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.passed}/{self.total} ({low:.0%}–{high:.0%})"


class AgentTotal(NamedTuple):
    """What one agent took: in how many results it was asked, tokens, and US dollars."""

    asked_in: int
    usage: Usage
    cost: float | None


class Summary:
    """Everything that is counted in the results of a run."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.results = found = list(results)
        self.total = len(found)
        self.counts = Counter(r.status for r in found)
        self.failed = sum(r.failed for r in found)
        self.handovers = sum(r.handover is not None for r in found)
        routed = [r for r in found if r.taken is not None]
        self.routed = len(routed)
        #: Routed turns by whether the route was right; None counts those without a label.
        self.routes = Counter(r.right for r in routed)
        self.labelled = self.routed - self.routes[None]
        self.scripted = sum(r.scripted for r in found)
        self.seconds = sum(r.seconds for r in found)
        #: Routed turns by where they belong (None without a label), where they were sent, and
        #: whether that was right.
        self.matrix = Counter((r.expected, r.taken, r.right) for r in routed)
        #: Router confidence × whether the decision was right (None without a label).
        self.confidence = Counter((r.confidence, r.right) for r in found if r.confidence)
        #: Passed of all repetitions, by case; of all results, by kind of request.
        self.rates = _rates((r.case, r) for r in found)
        self.kinds = _rates((r.kind, r) for r in found if r.kind)
        self.agents = _agents(found)
        usages = [total.usage for total in self.agents.values()]
        self.tokens = sum(sum(usage.as_dict().values()) for usage in usages)
        #: Whether a model behind a service was asked: only then is there a cost.
        self.asked = self.scripted < self.total and self.tokens > 0
        costs = (total.cost for total in self.agents.values())
        self.cost = total_cost(costs) if self.asked else None

    def answered_by(self, backend: str) -> tuple[str, str]:
        """A word and a sentence on who answered: nobody may take a script for a model."""
        if self.scripted == self.total:
            return "scripted", "Every model's answer comes from a script; no model was asked."
        if backend == "offline":
            return "offline", "The built-in router was asked; no model was."
        return "live", f"A model was asked ({backend})."

    @property
    def routes_told(self) -> str:
        """`of 134 routed turns, 30 went right, 14 wrong, 90 have no label; …`: numbers add up."""
        right, wrong, unlabelled = (self.routes[key] for key in (True, False, None))
        return (
            f"of {counted(self.routed, 'routed turn')}, {right} went right, {wrong} wrong and "
            f"{unlabelled} without a label; {self.handovers} handed over"
        )

    @property
    def cost_told(self) -> str:
        """What the run cost, where a model was asked."""
        return dollars(self.cost) if self.asked else NO_MODEL


class Figure(NamedTuple):
    """One figure of several runs, the oldest first; None for a run in which it has no meaning."""

    name: str
    form: str  # how a value is written, for `str.format`
    values: list[float | None]


def trend(runs: Sequence[Summary]) -> list[Figure]:
    """The figures that a report draws over several runs."""

    def share(part: float, whole: int) -> float | None:
        return part / whole if whole else None

    return [
        Figure("routes right", "{:.0%}", [share(s.routes[True], s.labelled) for s in runs]),
        Figure("handed over", "{:.0%}", [share(s.handovers, s.routed) for s in runs]),
        Figure("tokens a turn", "{:,.0f}", [share(s.tokens, s.total) for s in runs]),
        Figure("ms a turn", "{:,.0f}", [share(s.seconds * 1000, s.total) for s in runs]),
    ]


def _rates(named: Iterable[tuple[str, Result]]) -> dict[str, Rate]:
    counted = [(name, r.status == "passed") for name, r in named if r.status != "stopped"]
    total, passed = Counter(name for name, _ in counted), Counter(n for n, ok in counted if ok)
    return {name: Rate(passed[name], total[name]) for name in total}


def _agents(results: list[Result]) -> dict[AgentName, AgentTotal]:
    """The totals of the agents that were asked, in their usual order."""
    found = {}
    for name in AGENT_NAMES:
        spent = [s for result in results for s in result.spent if s.agent == name]
        if spent:
            usage = sum((s.usage for s in spent), Usage())
            found[name] = AgentTotal(len(spent), usage, total_cost(s.cost for s in spent))
    return found


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of costs; None as soon as one of them is not known."""
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)


class Change(NamedTuple):
    """One case whose outcome or route differs between two runs."""

    case: str
    kind: Literal["broken", "fixed", "other way", "only in A", "only in B"]
    before: str
    after: str


def compare_runs(before: Iterable[Result], after: Iterable[Result]) -> list[Change]:
    """What differs between two runs; cases that came out the same in both are left out."""
    first, second = _by_case(before), _by_case(after)
    changes = []
    for case in sorted({*first, *second}):
        (old, was, went), (new, now, goes) = (_came(runs.get(case, [])) for runs in (first, second))
        if case not in first or case not in second:
            changes.append(Change(case, "only in A" if case in first else "only in B", was, now))
        elif new != old:
            changes.append(Change(case, "fixed" if new > old else "broken", was, now))
        elif went != goes:
            changes.append(Change(case, "other way", went, goes))
    return changes


def _by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        if result.status != "stopped":
            found.setdefault(result.case, []).append(result)
    return found


def _came(results: list[Result]) -> tuple[float, str, str]:
    """The share of a case's runs that passed, their outcome in words, and their routes."""
    passed = sum(r.status == "passed" for r in results)
    told = f"{passed}/{len(results)} passed" if results else ""
    if len(results) == 1:
        told = ": ".join((results[0].status, *results[0].differences[:1])).partition("\n")[0]
    return passed / max(len(results), 1), told, " | ".join(sorted({r.path for r in results}))

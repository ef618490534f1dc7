"""What many results say together: counts, the route matrix, rates, tokens and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from global_chat.contract.names import AGENT_NAMES, AgentName, Usage

from .result import Result, Status
from .statistics import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many, with the 95 % interval that the number of runs allows."""

    passed: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, self.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.passed}/{self.total} ({low:.0%}–{high:.0%})"


@dataclass(slots=True)
class AgentTotal:
    """What one agent took. `cost` is None as soon as one price is not known."""

    asked_in: int = 0
    """Results in which it was asked."""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0


@dataclass(slots=True)
class Summary:
    """Everything that is counted. Filled by `add`, one result at a time."""

    counts: Counter[Status] = field(default_factory=Counter)
    matrix: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Expected × taken destination; `none` where the turn failed before a decision."""
    confidence: Counter[tuple[int, bool | None]] = field(default_factory=Counter)
    """Router confidence × whether the decision was right (None without a label)."""
    handovers: int = 0
    routed: int = 0
    right: int = 0
    labelled: int = 0
    agents: dict[AgentName, AgentTotal] = field(default_factory=dict)
    rates: dict[str, Rate] = field(default_factory=dict)
    """Passed of all repetitions, by case."""
    kinds: dict[str, Rate] = field(default_factory=dict)
    """Passed of all results, by kind of request."""
    seconds: float = 0.0
    scripted: int = 0

    def add(self, result: Result) -> None:
        """Count one more result."""
        self.counts[result.status] += 1
        self.scripted += result.scripted
        self.seconds += result.seconds
        self.handovers += result.handover is not None
        self.routed += result.taken is not None
        if result.expected is not None:
            self.matrix[result.expected, result.taken or "none"] += 1
        if result.confidence is not None:
            self.confidence[result.confidence, result.right] += 1
        if result.right is not None:
            self.labelled += 1
            self.right += result.right
        if result.status != "stopped":
            _count(self.rates, result.case, result)
            if result.kind is not None:
                _count(self.kinds, result.kind, result)
        self._add_spent(result)

    def _add_spent(self, result: Result) -> None:
        for spent in result.spent:
            total = self.agents.setdefault(spent.agent, AgentTotal())
            total.asked_in += 1
            total.usage += spent.usage
            known = total.cost is not None and spent.cost is not None
            total.cost = (total.cost or 0) + (spent.cost or 0) if known else None

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        return self.counts["failed"] + self.counts["crashed"]

    @property
    def cost(self) -> float | None:
        """US dollars at the given prices; None when a price is missing."""
        costs = [total.cost for total in self.agents.values()]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def by_agent(self) -> list[tuple[AgentName, AgentTotal]]:
        """The agents in their usual order."""
        return [(name, self.agents[name]) for name in AGENT_NAMES if name in self.agents]


def who_answered(summary: Summary, backend: str) -> tuple[str, str]:
    """A word and a sentence on whose answers these are: nobody may take a script for a model."""
    if summary.scripted == summary.total:
        return "scripted", "Every model's answer comes from a script; no model was asked."
    if summary.scripted:
        return "partly scripted", f"{summary.scripted} of {summary.total} answers are scripts'."
    if backend == "offline":
        return "offline", "The built-in model was asked; no service was."
    return "live", f"A model was asked ({backend})."


def _count(rates: dict[str, Rate], name: str, result: Result) -> None:
    rate = rates.get(name, Rate(0, 0))
    rates[name] = Rate(rate.passed + (result.status == "passed"), rate.total + 1)


def summarize(results: Iterable[Result]) -> Summary:
    """The summary of some results, which are looked at once and not kept."""
    summary = Summary()
    for result in results:
        summary.add(result)
    return summary

"""What was expected against what happened. Each difference is a sentence with both sides in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .case import Case, Expect
from .compare_document import document_differences
from .compare_requests import request_differences
from .outcome import Outcome


@dataclass(frozen=True, slots=True)
class Difference:
    """One expectation that was not met. `key` is its name in the case file."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def differences(case: Case, outcome: Outcome) -> tuple[Difference, ...]:
    """Everything that came out otherwise than the case expects; nothing when it passed."""
    found = [
        *_end(case.expect, outcome),
        *_way(case.expect, outcome),
        *_answer(case.expect, outcome),
        *(Difference(*d) for d in document_differences(case.expect, outcome)),
        *(Difference("requests", m) for m in request_differences(case.expect, outcome)),
    ]
    if outcome.unused:
        found.append(Difference("script", f"no call used {', '.join(outcome.unused)}"))
    return tuple(found)


def _end(expect: Expect, outcome: Outcome) -> Iterator[Difference]:
    error = outcome.error
    if (error.type if error else None) != expect.error:
        got = f"{error.type} ({error.message})" if error else "an answer"
        yield Difference("error", f"expected {expect.error or 'an answer'}, got {got}")
    message = error.message if error else ""
    for words in expect.error_says:
        if error and words.lower() not in message.lower():
            yield Difference("error_says", f"{words!r} is not in {message!r}")
    yield from _warnings(expect.warnings, outcome.warnings)


def _warnings(expected: Sequence[str], got: Sequence[str]) -> Iterator[Difference]:
    if len(expected) != len(got) or any(
        words.lower() not in warning.lower() for words, warning in zip(expected, got, strict=True)
    ):
        yield Difference("warnings", f"expected {_list(expected)}, got {_list(got)}")


def _way(expect: Expect, outcome: Outcome) -> Iterator[Difference]:
    if expect.agents is not None and expect.agents != outcome.agents:
        yield Difference(
            "agents", f"expected {_arrows(expect.agents)}, got {_arrows(outcome.agents)}"
        )
    confidence = outcome.route.confidence if outcome.route else None
    if expect.confidence is not None and expect.confidence != confidence:
        yield Difference("confidence", f"expected {expect.confidence}, got {confidence}")
    handover = outcome.handover
    if (handover.agent if handover else None) != expect.handover:
        got = f"{handover.agent} ({handover.goal!r})" if handover else "none"
        yield Difference("handover", f"expected {expect.handover or 'none'}, got {got}")
    goal = handover.goal if handover else ""
    for words in expect.goal:
        if words.lower() not in goal.lower():
            yield Difference("goal", f"{words!r} is not in {goal!r}")
    back = tuple(h.agent for h in outcome.handed_back)
    if back != expect.handed_back:
        yield Difference("handed_back", f"expected {_list(expect.handed_back)}, got {_list(back)}")


def _answer(expect: Expect, outcome: Outcome) -> Iterator[Difference]:
    text = outcome.response.response if outcome.response else ""
    for words in expect.says:
        if words.lower() not in text.lower():
            yield Difference("says", f"{words!r} is not in {text!r}")
    for words in expect.never_says:
        if words.lower() in text.lower():
            yield Difference("never_says", f"{words!r} is in {text!r}")
    if expect.usage is not None and outcome.response is not None:
        usage = outcome.response.usage
        if usage != expect.usage:
            yield Difference("usage", f"expected {expect.usage!r}, got {usage!r}")
    yield from _planning(expect, outcome)


def _planning(expect: Expect, outcome: Outcome) -> Iterator[Difference]:
    if expect.planning is None or outcome.response is None:
        return
    meta = outcome.response.meta
    got = {
        "iterations": meta.planner_iterations,
        "tool_calls": meta.total_tool_calls,
        "limit_reached": meta.limit_reached is not None,
    }
    for name, value in expect.planning.model_dump(exclude_none=True).items():
        if got[name] != value:
            yield Difference("planning", f"expected {name} {value}, got {got[name]}")


def _arrows(agents: Sequence[str]) -> str:
    return " → ".join(agents) or "nobody"


def _list(texts: Sequence[str]) -> str:
    return ", ".join(map(repr, texts)) or "none"

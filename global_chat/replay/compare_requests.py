"""What reached each agent against what was to reach it: texts in its requests, and their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from global_chat.contract.names import AgentName
from global_chat.model.seam import texts_of

from .case import Expect, RequestHolds
from .outcome import Outcome


def request_differences(expect: Expect, outcome: Outcome) -> Iterator[str]:
    """One sentence for each expectation of `requests` that was not met."""
    texts: dict[AgentName, list[str]] = {}
    for exchange in outcome.exchanges:
        request = exchange.request
        texts.setdefault(request.agent, []).append(texts_of(request)["any"])
    for agent, wanted in expect.requests.items():
        sent = texts.get(agent, [])
        if isinstance(wanted, RequestHolds):
            yield from _all(agent, wanted, sent)
        else:
            yield from _each(agent, wanted, sent)


def _all(agent: AgentName, wanted: RequestHolds, sent: Sequence[str]) -> Iterator[str]:
    where = f"any of the {len(sent)} requests of {agent}"
    if wanted.count is not None and wanted.count != len(sent):
        yield f"{agent} was to be asked {wanted.count} times and was asked {len(sent)} times"
    for words in wanted.contains:
        if not any(words in text for text in sent):
            yield f"{words!r} is not in {where}"
    for words in wanted.lacks:
        if any(words in text for text in sent):
            yield f"{words!r} is in a request of {agent}"


def _each(agent: AgentName, wanted: Sequence[RequestHolds], sent: Sequence[str]) -> Iterator[str]:
    if len(wanted) != len(sent):
        yield f"{agent} was to be asked {len(wanted)} times and was asked {len(sent)} times"
    for number, (one, text) in enumerate(zip(wanted, sent, strict=False), start=1):
        for words in one.contains:
            if words not in text:
                yield f"{words!r} is not in request {number} of {agent}"
        for words in one.lacks:
            if words in text:
                yield f"{words!r} is in request {number} of {agent}"

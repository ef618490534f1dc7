"""The result of one case: passed or not, where it went, what it cost, and the evidence for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, Self

from pydantic import model_validator

from global_chat.contract.errors import AccessError, ServiceError
from global_chat.contract.names import AgentName, Destination, SubagentName, Usage
from global_chat.contract.texts import replace_lone_surrogates_in, shortened
from global_chat.model.prices import Prices
from global_chat.model.seam import texts_of
from global_chat.model.secrets import scrub, scrub_value
from global_chat.render.text import diff_lines
from global_chat.render.wording import agents_in_order

from .cases import Case, StrictModel
from .compare import Difference
from .play import Outcome

#: Of each text of the evidence this many characters are kept, and of a diff this many lines.
LONGEST_TEXT, LONGEST_DIFF = 4_000, 1_000

#: The fields of a result that show what happened, for people. They hold no secrets.
EVIDENCE = ("conversation", "workflow_diff")

#: What keeps every case of a live run from being answered, and what keeps one from it.
ACCESS_ERRORS = frozenset(kind.type for kind in AccessError.__subclasses__())
_UNANSWERED = ACCESS_ERRORS | {kind.type for kind in ServiceError.__subclasses__()}

#: `stopped` is a case that was not run to its end, because the budget was spent.
Status = Literal["passed", "failed", "crashed", "stopped"]


class Spent(StrictModel):
    """Tokens of one agent with one model.

    `cost` is in US dollars; None when the price is not known or no model was asked.
    """

    agent: AgentName
    model: str
    usage: Usage
    cost: float | None = None


class Result(StrictModel):
    """One case that was run. `number` counts the repetitions of a case from 1."""

    case: str
    title: str
    status: Status
    number: int = 1
    fingerprint: str = ""
    scripted: bool = True
    differences: tuple[str, ...] = ()
    expected: Destination | None = None  # the label's; None without one
    taken: Destination | None = None
    right: bool | None = None  # the decision, the step included; None without a label or decision
    step: str | None = None
    confidence: int | None = None
    agents: tuple[AgentName, ...] = ()
    handover: SubagentName | None = None
    error: str | None = None
    kind: str | None = None
    spent: tuple[Spent, ...] = ()
    seconds: float = 0.0
    conversation: tuple[tuple[str, str], ...] = ()  # what was given, asked and said: name, text
    workflow_diff: tuple[str, ...] = ()

    @classmethod
    def of(cls, case: Case, number: int, **fields: Any) -> Self:
        """The `number`th result of a case; `fields` are its other fields."""
        known = {"title": case.title, "fingerprint": case.fingerprint, "kind": case.kind}
        given = {"scripted": case.script is not None, **fields}
        return cls(case=case.id, number=number, **known, **given)

    @model_validator(mode="before")
    @classmethod
    def _replace_lone_surrogates(cls, data: Any) -> Any:
        """Half of a surrogate pair may come from a payload, and no report could hold it."""
        return replace_lone_surrogates_in(data)

    @property
    def failed(self) -> bool:
        return self.status in ("failed", "crashed")

    @property
    def is_final(self) -> bool:
        """Whether a resumed run skips the case.

        A live turn that ended because of the key, the network or the service is done again.
        """
        unanswered = not self.scripted and self.error in _UNANSWERED
        return self.status != "stopped" and not unanswered

    @property
    def path(self) -> str:
        """Who was asked, in order."""
        handed_over = self.handover is not None
        return agents_in_order(self.agents, handed_over) or self.error or "nobody was asked"


def judge(
    outcome: Outcome,
    number: int,
    found: tuple[Difference, ...],
    prices: Prices,
    *,
    scripted: bool = True,
    batch: bool = False,
) -> Result:
    """The result of a turn, which failed when differences were `found`."""
    label, route, handover = outcome.case.label, outcome.route, outcome.handover
    diff = islice(diff_lines(outcome.workflow, outcome.after), LONGEST_DIFF)
    return Result.of(
        outcome.case,
        number,
        status="failed" if found else "passed",
        scripted=scripted,
        differences=tuple(map(str, found)),
        expected=label.destination if label else None,
        taken=route.sent_to if route else None,
        right=outcome.is_right(label) if label and route else None,
        step=outcome.step,
        confidence=route.confidence if route else None,
        agents=outcome.agents,
        handover=handover.agent if handover else None,
        error=outcome.error.type if outcome.error else None,
        spent=tuple(
            Spent(
                agent=agent,
                model=model,
                usage=usage,
                cost=None if scripted else prices.cost(model, usage, batch=batch),
            )
            for (agent, model), usage in outcome.usage.items()
        ),
        seconds=outcome.seconds,
        conversation=tuple((name, _kept(scrub(text))) for name, text in _conversation(outcome)),
        workflow_diff=tuple(scrub(line) for line in diff),
    )


def _kept(text: str) -> str:
    return shortened(text, LONGEST_TEXT, f" […{len(text) - LONGEST_TEXT:,} characters more]")


def _conversation(outcome: Outcome) -> Iterator[tuple[str, str]]:
    given = {k: v for k, v in outcome.case.given.items() if k not in ("api_key", "workflow_yaml")}
    yield "payload", json.dumps(scrub_value(given), ensure_ascii=False, indent=2, default=str)
    if outcome.workflow:
        yield "workflow", outcome.workflow
    for exchange in outcome.exchanges:
        agent = exchange.request.agent
        yield f"to {agent}", texts_of(exchange.request)["last"]
        for block in exchange.reply.content if exchange.reply else ():
            used = f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
            yield agent, used if block["type"] == "tool_use" else str(block.get("text", block))
        if exchange.error is not None:
            yield f"{agent} failed", exchange.error.message
    if outcome.response is not None:
        yield "answer", outcome.response.response
    if outcome.error is not None:
        yield f"error {outcome.error.type}", outcome.error.message

"""From a turn that is over to a result: passed or not, where it went, what it cost, and why."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator

from global_chat.contract.names import Destination
from global_chat.model.seam import Block, Message

from .case import Case, Label
from .compare import differences
from .outcome import Exchange, Outcome
from .prices import Prices
from .result import Evidence, Result, Said, Spent

#: Of a text in a conversation this many characters are kept; a failure is found in far fewer.
LONGEST_TEXT = 4_000


def judge(
    case: Case,
    outcome: Outcome,
    prices: Prices,
    *,
    number: int = 1,
    scripted: bool = True,
    found: tuple[str, ...] | None = None,
    batch: bool = False,
) -> tuple[Result, Evidence | None]:
    """The result, and its evidence when the case failed.

    `found` are the differences when they were looked for elsewhere; None looks for all of them.
    """
    if found is None:
        found = tuple(str(d) for d in differences(case, outcome))
    route = outcome.route
    label = case.label
    result = Result(
        case=case.id,
        title=case.title,
        number=number,
        fingerprint=case.fingerprint,
        status="failed" if found else "passed",
        scripted=scripted,
        differences=found,
        expected=label.destination if label else _belongs_to(outcome),
        taken=route.sent_to if route else None,
        right=route_is_right(label, outcome) if label else None,
        step=outcome.step,
        confidence=route.confidence if route else None,
        agents=outcome.agents,
        handover=outcome.handover.agent if outcome.handover else None,
        error=outcome.error.type if outcome.error else None,
        kind=case.kind,
        spent=_spent(outcome, prices, batch),
        seconds=outcome.seconds,
    )
    return result, evidence(case, outcome) if found else None


def route_is_right(label: Label, outcome: Outcome) -> bool:
    """Whether the turn was sent where it belongs, and to the step that is meant."""
    route = outcome.route
    return route is not None and label.accepts(route.sent_to, outcome.step)


def _belongs_to(outcome: Outcome) -> Destination | None:
    """Without a label a turn belongs where it ended: a handover says that the router was wrong."""
    if outcome.handover is not None:
        return "planner"
    return outcome.route.sent_to if outcome.route and not outcome.error else None


def _spent(outcome: Outcome, prices: Prices, batch: bool) -> tuple[Spent, ...]:
    return tuple(
        Spent(agent=agent, model=model, usage=usage, cost=prices.cost(model, usage, batch=batch))
        for (agent, model), usage in outcome.usage.items()
    )


def evidence(case: Case, outcome: Outcome) -> Evidence:
    """The conversation as people read it, and what became of the workflow."""
    lines = [Said(who="user", text=_cut(str(case.given.get("content"))))]
    for exchange in outcome.exchanges:
        lines += _conversation(exchange)
    if outcome.response is not None:
        lines.append(Said(who="answer", text=_cut(outcome.response.response)))
    if outcome.error is not None:
        lines.append(Said(who=f"error {outcome.error.type}", text=_cut(outcome.error.message)))
    diff = difflib.unified_diff(
        outcome.workflow.splitlines(), outcome.after.splitlines(), "before", "after", lineterm=""
    )
    return Evidence(conversation=tuple(lines), workflow_diff=tuple(diff))


def _conversation(exchange: Exchange) -> Iterator[Said]:
    request = exchange.request
    if request.messages:
        yield Said(who=f"to {request.agent}", text=_cut(_shown(request.messages[-1])))
    if exchange.reply is not None:
        text = "\n".join(_block(block) for block in exchange.reply.content)
        yield Said(who=request.agent, text=_cut(text))
    if exchange.error is not None:
        yield Said(who=f"{request.agent} failed", text=_cut(exchange.error.message))


def _shown(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(_block(block) for block in message.content)


def _block(block: Block) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text"))
        case "tool_use":
            return f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        case "tool_result":
            failed = " (failed)" if block.get("is_error") else ""
            return f"result of {block.get('tool_use_id')}{failed}: {block.get('content')}"
        case kind:
            return f"[{kind}]"


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} […{len(text) - LONGEST_TEXT:,} characters more]"

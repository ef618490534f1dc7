"""The planner: a loop of tool calls over both subagents, which always ends on an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import Attachment, render
from global_chat.contract.errors import EmptyOutput
from global_chat.contract.events import AgentInvoked, Status
from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Message, ModelRequest, SystemPart
from global_chat.prompts.compose import planner_context, planner_system

from .asking import AgentContext, as_message, ask
from .conversation import messages
from .planner_tools import TOOLS
from .planner_work import PlannerWork
from .tool_results import results
from .visible import VisibleText, say


@dataclass(frozen=True, slots=True)
class PlannerAnswer:
    """The planner's answer and what it took; the workflow is in the `PlannerWork`."""

    text: str
    iterations: int
    tool_calls: int
    limit_reached: bool = False


async def answer(
    context: AgentContext,
    work: PlannerWork,
    *,
    content: str,
    page: str | None,
    history: Sequence[HistoryEntry],
    evidence: Sequence[Attachment],
) -> PlannerAnswer:
    """Run the loop until the model is done or its tool calls are spent.

    Text before tool calls is shown as it comes; the answer is the last round's text. Raises a
    `TurnError` when a call of the planner's own fails; finished changes are still in `work`.
    """
    context.emit(AgentInvoked("planner"))
    context.emit(Status("Planning"))
    budget = context.settings.planning.max_tool_calls
    request = _request(context, work, content, page, history, evidence)
    spent = iterations = 0
    while True:
        iterations += 1
        visible = VisibleText(context.emit)
        reply = await ask(context, request, visible)
        visible.end()
        uses = reply.tool_uses if request.tools_allowed else ()
        if not uses:
            limit_reached = not request.tools_allowed
            text = reply.text.strip() or _from_changes(context, work)
            return PlannerAnswer(text, iterations, spent, limit_reached)
        outcomes = await work.carry_out(uses, budget - spent)
        spent += min(len(uses), budget - spent)
        answers = Message("user", results(uses, outcomes))
        request = replace(
            request,
            messages=(*request.messages, as_message(reply), answers),
            tools_allowed=spent < budget,
        )


def _from_changes(context: AgentContext, work: PlannerWork) -> str:
    """What was done, for a model that did it and said nothing."""
    changes = work.original.changes_to(work.workflow)
    if not changes:
        raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
    text = "\n".join(f"- {change}" for change in changes)
    say(context.emit, text)
    return text


def _request(
    context: AgentContext,
    work: PlannerWork,
    content: str,
    page: str | None,
    history: Sequence[HistoryEntry],
    evidence: Sequence[Attachment],
) -> ModelRequest:
    settings = context.settings.planner
    particular = planner_context(
        page, work.workflow.outline(), render(evidence), [a.type for a in evidence]
    )
    return ModelRequest(
        agent="planner",
        model=settings.model,
        system=(SystemPart(planner_system(), cached=True), SystemPart(particular)),
        messages=messages(history, content),
        max_tokens=settings.max_tokens,
        tools=TOOLS,
        cache_conversation=True,
    )

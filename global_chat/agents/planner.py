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
from global_chat.workflow.document import Workflow

from .asking import AgentContext, as_message, ask
from .conversation import messages
from .planner_tools import TOOLS
from .planner_work import PlannerWork
from .tool_results import results
from .visible import VisibleText, say
from .work_done import changes_between


@dataclass(frozen=True, slots=True)
class PlannerTask:
    """What the planner is asked. `finding` is what an agent found who was asked first and could not
    finish; empty when nobody was."""

    workflow: Workflow
    content: str
    page: str | None = None
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()
    finding: str = ""


@dataclass(frozen=True, slots=True)
class PlannerAnswer:
    """The planner's answer, the workflow as it now stands, and what it took."""

    text: str
    workflow: Workflow
    iterations: int
    tool_calls: int
    limit_reached: bool = False


async def answer(context: AgentContext, task: PlannerTask) -> PlannerAnswer:
    """Run the loop until the model is done or its tool calls are spent.

    Text before tool calls is shown as it comes; the answer is the last round's text. Raises a
    `TurnError` when a call of the planner's own fails; what was finished until then was told by
    `WorkflowChanged`.
    """
    context.emit(AgentInvoked("planner"))
    context.emit(Status("Planning"))
    budget = context.settings.planning.max_tool_calls
    work = PlannerWork(context, task.workflow, evidence=task.evidence)
    request = _request(context, task)
    spent = iterations = 0
    while True:
        iterations += 1
        visible = VisibleText(context.emit)
        reply = await ask(context, request, visible)
        visible.end()
        uses = reply.tool_uses if request.tools_allowed else ()
        if not uses:
            limit_reached = not request.tools_allowed
            text = reply.text.strip() or _from_changes(
                context, task.workflow, work.workflow, limit_reached=limit_reached
            )
            return PlannerAnswer(text, work.workflow, iterations, spent, limit_reached)
        outcomes = await work.carry_out(uses, budget - spent)
        spent += min(len(uses), budget - spent)
        answers = Message("user", results(uses, outcomes))
        request = replace(
            request,
            messages=(*request.messages, as_message(reply), answers),
            tools_allowed=spent < budget,
        )


def _from_changes(
    context: AgentContext, before: Workflow, after: Workflow, *, limit_reached: bool
) -> str:
    """What was done, for a model that did it and said nothing."""
    changes = changes_between(before, after)
    if not changes and limit_reached:
        raise EmptyOutput(
            "The turn's tool calls are used up: nothing could be finished, nothing was changed, "
            "and the model gave no answer. Ask for less at once, or raise "
            "planning.max_tool_calls in the configuration."
        )
    if not changes:
        raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
    text = "\n".join(f"- {change}" for change in changes)
    say(context.emit, text)
    return text


def _request(context: AgentContext, task: PlannerTask) -> ModelRequest:
    settings = context.settings.planner
    particular = planner_context(
        task.page,
        task.workflow.outline(),
        render(task.evidence),
        [attachment.type for attachment in task.evidence],
        task.finding,
    )
    return ModelRequest(
        agent="planner",
        model=settings.model,
        system=(SystemPart(planner_system(), cached=True), SystemPart(particular)),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        tools=TOOLS,
        cache_conversation=True,
    )

"""The planner: a loop of tool calls over both subagents, which always ends on an answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import FIELD_OF_TYPE, inline, listed, render, select
from global_chat.contract.errors import EmptyOutput, ScriptMismatch, TurnError
from global_chat.contract.events import (
    AgentInvoked,
    HandedOver,
    Status,
    Stitched,
    ToolCalled,
    ToolEnded,
    WorkflowChanged,
)
from global_chat.contract.names import SubagentName
from global_chat.model.seam import Block, ModelRequest, SystemPart
from global_chat.prompts.compose import planner_context, planner_system
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step

from . import job_chat, workflow_chat
from .context import Handover, Task, TurnContext, show
from .model_calls import VisibleText, ask, continued, messages
from .tools import (
    CALL_JOB_CODE_AGENT,
    CALL_WORKFLOW_AGENT,
    INSPECT_JOB_CODE,
    PLANNER_TOOLS,
    SEARCH_DOCUMENTATION,
    CodeCall,
    InspectCall,
    SearchCall,
    ToolInputError,
    ToolOutcome,
    WorkflowCall,
    inspect,
    read_input,
    results,
    tool_input,
    unknown_step,
)
from .work_done import NOTHING, changes_between, code_done, structure_done

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlannerAnswer:
    """The planner's answer, the workflow as it now stands, and what it took."""

    text: str
    workflow: Workflow
    iterations: int
    tool_calls: int
    limit_reached: bool = False


async def answer(context: TurnContext, task: Task, finding: str = "") -> PlannerAnswer:
    """The planner's answer, when the model is done or its tool calls are spent.

    `finding` is what the agent found that was asked first and could not finish. Text before tool
    calls is shown as it comes; the answer is the last round's text. Raises a `TurnError` when a
    call of the planner's own fails; `WorkflowChanged` has told of work that was finished by then.
    """
    context.emit(AgentInvoked("planner"))
    context.emit(Status("Planning"))
    budget = context.settings.planning.max_tool_calls
    work = _PlannerWork(context, task)
    request = _request(context, task, finding)
    spent = iterations = 0
    while True:
        iterations += 1
        visible = VisibleText(context.emit)
        reply = await ask(context, request, visible)
        visible.end()
        uses = reply.tool_uses if request.tools_allowed else ()
        if not uses:
            break
        outcomes = await work.carry_out(uses, budget - spent)
        spent += min(len(uses), budget - spent)
        request = continued(request, reply, results(uses, outcomes))
        request = replace(request, tools_allowed=spent < budget)
    limit_reached = not request.tools_allowed
    text = reply.text.strip()
    if not text.strip(". …"):  # dots alone say nothing either
        text = _changes_as_text(task.workflow, work.workflow, limit_reached=limit_reached)
        show(context.emit, text)
    return PlannerAnswer(text, work.workflow, iterations, spent, limit_reached)


def _changes_as_text(before: Workflow, after: Workflow, *, limit_reached: bool) -> str:
    """The changes as a list, for a model that made them and gave no answer."""
    changes = changes_between(before, after)
    if not changes and limit_reached:
        raise EmptyOutput(
            "The turn's tool calls are used up: nothing could be finished, nothing was changed, "
            "and the model gave no answer. Ask for less at once, or raise "
            "planning.max_tool_calls in the configuration."
        )
    if not changes:
        raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
    return "\n".join(f"- {change}" for change in changes)


def _request(context: TurnContext, task: Task, finding: str) -> ModelRequest:
    settings = context.settings.planner
    particular = planner_context(
        task.page,
        task.workflow.outline(),
        render(task.evidence),
        [attachment.type for attachment in task.evidence],
        finding,
    )
    return ModelRequest(
        agent="planner",
        model=settings.model,
        system=(SystemPart(planner_system(), cached=True), SystemPart(particular)),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        tools=PLANNER_TOOLS,
        cache_conversation=True,
    )


class _PlannerWork:
    """The workflow as the planner's tools leave it; each change is kept the moment it is made."""

    def __init__(self, context: TurnContext, task: Task) -> None:
        self._context = context
        self._evidence = task.evidence
        self._attached = {attachment.type for attachment in task.evidence}
        self._locks: dict[str, asyncio.Lock] = {}
        self.workflow = task.workflow

    async def carry_out(self, uses: Sequence[Block], allowed: int) -> list[ToolOutcome]:
        """The outcome of each tool use, in order; uses beyond `allowed` are refused.

        Structure comes first, one change after the other; then everything else side by side, but
        calls for one step one after the other, each on the code that the one before left.

        Raises `ScriptMismatch`: a planner can do nothing about a mistake in the script.
        """
        outcomes: dict[int, ToolOutcome] = {
            i: _failed("No tool calls are left in this turn. Answer now.")
            for i in range(allowed, len(uses))
        }
        numbered = list(enumerate(uses[:allowed]))
        for i, use in numbered:
            if use["name"] == CALL_WORKFLOW_AGENT.name:
                outcomes[i] = await self._timed(use)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    i: group.create_task(self._timed(use))
                    for i, use in numbered
                    if i not in outcomes
                }
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        outcomes |= {i: task.result() for i, task in tasks.items()}
        return [outcomes[i] for i in range(len(uses))]

    async def _timed(self, use: Block) -> ToolOutcome:
        """The outcome of one tool use. A failure becomes a result too: the planner must know."""
        id_, name, emit = use["id"], use["name"], self._context.emit
        emit(ToolCalled(id_, "planner", name, tool_input(use), _step(use)))
        began = time.perf_counter()
        try:
            outcome = await self._run(use, self._context.under(id_))
        except ToolInputError as error:
            outcome = _failed(str(error))
        except ScriptMismatch:
            raise
        except TurnError as error:
            # Notes say what was wrong in the model's terms: a planner can act on that.
            reason = "\n".join((inline(error.message), *getattr(error, "__notes__", ())))
            outcome = _failed(f"{error.type}: {reason}")
        except Exception as error:
            # A bug in this program. Providers want a result for every tool use all the same.
            _log.info("%s failed", name, exc_info=True)
            outcome = _failed(f"{type(error).__name__} in {name}")
        took = (time.perf_counter() - began) * 1000
        why = outcome.text if outcome.failed else None
        emit(ToolEnded(id_, "planner", name, took, outcome.failed, why))
        return outcome

    async def _run(self, use: Block, context: TurnContext) -> ToolOutcome:
        match use["name"]:
            case CALL_WORKFLOW_AGENT.name:
                call = read_input(WorkflowCall, use)
                return _with_unread(await self._structure(call, context), call, self._attached)
            case CALL_JOB_CODE_AGENT.name:
                code = read_input(CodeCall, use)
                readable = self._attached & FIELD_OF_TYPE.keys()
                return _with_unread(await self._code(code, context), code, readable)
            case INSPECT_JOB_CODE.name:
                context.emit(Status("Reading the code of steps"))
                return inspect(self.workflow, read_input(InspectCall, use).job_keys)
            case SEARCH_DOCUMENTATION.name:
                context.emit(Status("Searching the documentation"))
                query = read_input(SearchCall, use).query
                return ToolOutcome(await context.knowledge.search(query))
            case name:
                return _failed(f"There is no tool {name!r}.")

    def _task(self, call: WorkflowCall) -> Task:
        """What a subagent is asked: the planner's message, and the attachments that it names."""
        evidence = select(self._evidence, call.attachments)
        return Task(call.message, self.workflow, evidence=evidence)

    async def _structure(self, call: WorkflowCall, context: TurnContext) -> ToolOutcome:
        answer = await workflow_chat.answer(context, self._task(call), visible=False)
        if isinstance(answer, Handover):
            return _handed_back(context, "workflow_agent", answer)
        before = self.workflow
        if answer.workflow.text != before.text:
            self._keep(answer.workflow, context)
        notes = f"\n\nTell the user:\n{listed(answer.warnings)}" if answer.warnings else ""
        return _ended(structure_done(before, self.workflow), answer.text + notes)

    async def _code(self, call: CodeCall, context: TurnContext) -> ToolOutcome:
        step = self.workflow.find_step(call.job_key)
        if step is None:
            return _failed(unknown_step(call.job_key, self.workflow))
        async with self._locks.setdefault(step.key, asyncio.Lock()):
            step = self.workflow.find_step(step.key) or step
            return await self._code_of(step, call, context)

    async def _code_of(self, step: Step, call: CodeCall, context: TurnContext) -> ToolOutcome:
        answer = await job_chat.answer(context, self._task(call), step)
        if isinstance(answer, Handover):
            return _handed_back(context, "job_code_agent", answer)
        if answer.failure:
            return replace(_ended(f"{NOTHING} {answer.failure}", answer.text), failed=True)
        if answer.code is None:
            return _ended(NOTHING, answer.text)
        before = step.code or ""
        self._keep(self.workflow.with_code(step.key, answer.code), context)
        context.emit(Stitched(step.name, *changed_lines(before, answer.code)))
        wrong = f"\nThis will not run:\n{listed(answer.warnings)}" if answer.warnings else ""
        return _ended(code_done(step.key, before, answer.code) + wrong, answer.text)

    def _keep(self, workflow: Workflow, context: TurnContext) -> None:
        self.workflow = workflow
        context.emit(WorkflowChanged(workflow.text))


def _with_unread(
    outcome: ToolOutcome, call: WorkflowCall, readable: Collection[str]
) -> ToolOutcome:
    """The outcome, with the attachments that the call names and the subagent could not read."""
    missing = [name for name in dict.fromkeys(call.attachments) if name not in readable]
    if not missing:
        return outcome
    names = inline(", ".join(missing))
    note = f"Not read there, for nothing of this type could be passed on: {names}."
    return replace(outcome, text=f"{outcome.text}\n\n{note}")


def _handed_back(context: TurnContext, agent: SubagentName, handover: Handover) -> ToolOutcome:
    context.emit(HandedOver(agent, handover.goal, to_planner=False))
    return _failed(
        f"This cannot be finished here, because what it takes is: {handover.goal}\n"
        "Use another tool for that."
    )


def _ended(done: str, text: str) -> ToolOutcome:
    """What was done, as a fact; then the subagent's own text."""
    return ToolOutcome(f"{done}\n\nIts answer: {text}")


def _failed(reason: str) -> ToolOutcome:
    return ToolOutcome(f"{NOTHING} {reason}", failed=True)


def _step(use: Block) -> str | None:
    key = tool_input(use).get("job_key")
    return key if isinstance(key, str) else None

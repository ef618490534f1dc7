"""Carrying out the planner's tool calls on the workflow that it works on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from global_chat.contract.attachments import FIELD_OF_TYPE, Attachment, select
from global_chat.contract.errors import ScriptMismatch, TurnError
from global_chat.contract.events import (
    HandedOver,
    Status,
    Stitched,
    ToolCalled,
    ToolEnded,
    WorkflowChanged,
)
from global_chat.contract.names import SubagentName
from global_chat.model.seam import Block
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step

from . import job_chat, workflow_chat
from .asking import AgentContext
from .inspection import inspect, known_steps
from .job_tools import INSPECT_JOB_CODE, InspectInput, ToolInputError, read_input
from .outcome import Handover
from .planner_tools import (
    CALL_JOB_CODE_AGENT,
    CALL_WORKFLOW_AGENT,
    SEARCH_DOCUMENTATION,
    CodeCall,
    SearchCall,
    WorkflowCall,
)
from .tool_results import ToolOutcome, tool_input
from .work_done import NOTHING, code_done, structure_done


class PlannerWork:
    """The workflow as the planner's tools leave it; each change is kept the moment it is made."""

    def __init__(
        self,
        context: AgentContext,
        workflow: Workflow,
        *,
        evidence: Sequence[Attachment],
    ) -> None:
        self._context = context
        self._evidence = evidence
        self._attached = {attachment.type for attachment in evidence}
        self._locks: dict[str, asyncio.Lock] = {}
        self.workflow = workflow

    async def carry_out(self, uses: Sequence[Block], allowed: int) -> list[ToolOutcome]:
        """The outcome of each tool use, in order; uses beyond `allowed` are refused.

        Structure comes first, one change after the other; then everything else side by side, but
        calls for one step one after the other, each on the code that the one before left.

        Raises `ScriptMismatch`: a fault of the script is nothing that a planner could act on.
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
        """One tool use. Whatever fails in it becomes a result: the planner must hear of it."""
        emit = self._context.emit
        emit(ToolCalled(use["id"], "planner", use["name"], tool_input(use), _step(use)))
        began = time.perf_counter()
        try:
            outcome = await self._run(use)
        except ToolInputError as error:
            outcome = _failed(str(error))
        except ScriptMismatch:
            raise
        except TurnError as error:
            outcome = _failed(f"{error.type}: {error.message}")
        except Exception as error:  # every tool_use must be answered, whatever failed
            outcome = _failed(f"{type(error).__name__} in {use['name']}")
        took = (time.perf_counter() - began) * 1000
        reason = outcome.text if outcome.failed else None
        emit(ToolEnded(use["id"], "planner", use["name"], took, outcome.failed, reason))
        return outcome

    async def _run(self, use: Block) -> ToolOutcome:
        match use["name"]:
            case CALL_WORKFLOW_AGENT.name:
                structure = read_input(WorkflowCall, use)
                return self._noting(await self._structure(structure), structure, self._attached)
            case CALL_JOB_CODE_AGENT.name:
                code = read_input(CodeCall, use)
                readable = self._attached & FIELD_OF_TYPE.keys()
                return self._noting(await self._code(code), code, readable)
            case INSPECT_JOB_CODE.name:
                self._context.emit(Status("Reading the code of steps"))
                return ToolOutcome(*inspect(self.workflow, read_input(InspectInput, use).job_keys))
            case SEARCH_DOCUMENTATION.name:
                self._context.emit(Status("Searching the documentation"))
                query = read_input(SearchCall, use).query
                return ToolOutcome(await self._context.knowledge.search(query))
            case name:
                return _failed(f"There is no tool {name!r}.")

    async def _structure(self, call: WorkflowCall) -> ToolOutcome:
        answer = await workflow_chat.answer(
            self._context,
            workflow_chat.StructureTask(
                workflow=self.workflow,
                content=call.message,
                mode="subagent",
                evidence=select(self._evidence, call.attachments),
            ),
        )
        if isinstance(answer, Handover):
            return self._handed_back("workflow_agent", answer.goal)
        before = self.workflow
        if answer.workflow.text != before.text:
            self._keep(answer.workflow)
        done = structure_done(before, self.workflow)
        notes = "".join(f"\nNote: {warning}" for warning in answer.warnings)
        return _ended(done + notes, answer.text)

    async def _code(self, call: CodeCall) -> ToolOutcome:
        step = self.workflow.find_step(call.job_key)
        if step is None:
            return _failed(f"No step is called {call.job_key!r}. {known_steps(self.workflow)}")
        async with self._locks.setdefault(step.key, asyncio.Lock()):
            return await self._code_of(self.workflow.find_step(step.key) or step, call)

    async def _code_of(self, step: Step, call: CodeCall) -> ToolOutcome:
        answer = await job_chat.answer(
            self._context,
            job_chat.CodeTask(
                step=step,
                content=call.message,
                mode="subagent",
                workflow=self.workflow,
                evidence=select(self._evidence, call.attachments),
            ),
        )
        if isinstance(answer, Handover):
            return self._handed_back("job_code_agent", answer.goal)
        if answer.failure:
            return replace(_ended(f"{NOTHING} {answer.failure}", answer.text), failed=True)
        if answer.code is None:
            return _ended(NOTHING, answer.text)
        before = step.code or ""
        self._keep(self.workflow.with_code(step.key, answer.code))
        self._context.emit(Stitched(step.name, *changed_lines(before, answer.code)))
        return _ended(code_done(step.key, before, answer.code), answer.text)

    def _noting(
        self, outcome: ToolOutcome, call: WorkflowCall, readable: Collection[str]
    ) -> ToolOutcome:
        """The outcome, and which of the named attachments there were none to read."""
        missing = [name for name in dict.fromkeys(call.attachments) if name not in readable]
        if not missing:
            return outcome
        note = f"Not read there, for nothing of this type could be passed on: {', '.join(missing)}."
        return replace(outcome, text=f"{outcome.text}\n\n{note}")

    def _keep(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self._context.emit(WorkflowChanged(workflow.text))

    def _handed_back(self, agent: SubagentName, goal: str) -> ToolOutcome:
        self._context.emit(HandedOver(agent, goal, to_planner=False))
        return _failed(
            f"This cannot be finished here, because what it takes is: {goal}\n"
            "Use another tool for that."
        )


def _ended(done: str, answer: str) -> ToolOutcome:
    """What was done, as a fact; then what the subagent said of it."""
    return ToolOutcome(f"{done}\n\nIts answer: {answer}")


def _failed(reason: str) -> ToolOutcome:
    return ToolOutcome(f"{NOTHING} {reason}", failed=True)


def _step(use: Block) -> str | None:
    key = tool_input(use).get("job_key")
    return key if isinstance(key, str) else None

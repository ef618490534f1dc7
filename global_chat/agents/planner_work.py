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


class PlannerWork:
    """The workflow as the planner's tools leave it; each change is kept the moment it is made."""

    def __init__(
        self,
        context: AgentContext,
        workflow: Workflow,
        *,
        request: str,
        focus: str | None,
        evidence: Sequence[Attachment],
    ) -> None:
        self._context = context
        self._request = request
        self._focus = focus
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
            i: ToolOutcome("Not done: no tool calls are left in this turn. Answer now.", True)
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
            outcome = ToolOutcome(str(error), failed=True)
        except ScriptMismatch:
            raise
        except TurnError as error:
            outcome = ToolOutcome(
                f"Failed, nothing was changed. {error.type}: {error.message}", True
            )
        except Exception as error:  # every tool_use must be answered, whatever failed
            fault = f"{type(error).__name__} in {use['name']}"
            outcome = ToolOutcome(f"Failed, nothing was changed. {fault}", failed=True)
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
                return ToolOutcome(f"There is no tool {name!r}.", failed=True)

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
        if answer.workflow.text == self.workflow.text:
            return ToolOutcome(f"{answer.text}\n\nThe workflow is as it was.")
        self._keep(answer.workflow)
        changes = "\n".join(f"- {change}" for change in answer.changes)
        return ToolOutcome(
            f"{answer.text}\n\nDone:\n{changes}\n\nThe workflow now:\n{self.workflow.outline()}"
        )

    async def _code(self, call: CodeCall) -> ToolOutcome:
        step = self.workflow.find_step(call.job_key)
        if step is None:
            return ToolOutcome(
                f"Nothing was done: no step is called {call.job_key!r}. "
                f"{known_steps(self.workflow)}",
                failed=True,
            )
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
            return ToolOutcome(answer.text, failed=True)
        if answer.code is None:
            return ToolOutcome(f"{answer.text}\n\nThe code of {step.key} is as it was.")
        self._keep(self.workflow.with_code(step.key, answer.code))
        added, removed = changed_lines(step.code or "", answer.code)
        self._context.emit(Stitched(step.name, added, removed))
        return ToolOutcome(
            f"{answer.text}\n\nDone: the code of {step.key} changed (+{added} −{removed} lines)."
        )

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
        return ToolOutcome(
            "Nothing was done: this cannot be finished here, because what it takes is: "
            f"{goal} Use another tool for that.",
            failed=True,
        )


def _step(use: Block) -> str | None:
    key = tool_input(use).get("job_key")
    return key if isinstance(key, str) else None

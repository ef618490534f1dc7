"""The job code agent: the code of one step, changed or explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import FIELD_OF_TYPE, Attachment, render, select
from global_chat.contract.errors import EmptyOutput
from global_chat.contract.events import AgentInvoked, Status, ToolCalled, ToolEnded
from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Block, Message, ModelRequest, Reply, SystemPart
from global_chat.prompts.compose import Mode, job_context, job_correction, job_system
from global_chat.workflow.code_edits import EditMismatch, apply_code_edits
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step

from .asking import AgentContext, as_message, ask
from .conversation import messages
from .inspection import inspect
from .job_tools import (
    EDIT_JOB,
    HANDOVER_TOOLS,
    TOOLS,
    InspectInput,
    ToolInputError,
    code_edits,
    goal_of,
    read_input,
)
from .outcome import CodeAnswer, Handover
from .tool_results import ToolOutcome, results

#: Model rounds of one call: reading other steps and one correction fit; then tools are off.
MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class CodeTask:
    """What the job code agent is asked. `workflow` is None in production mode."""

    step: Step
    content: str
    mode: Mode
    workflow: Workflow | None = None
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()


async def answer(context: AgentContext, task: CodeTask) -> CodeAnswer | Handover:
    """Ask the job code agent. The code changes whole or not at all; the caller stitches it.

    Nothing is shown while the reply arrives: a handover, or an edit that does not apply, would
    withdraw what its text says. Raises a `TurnError`.
    """
    context.emit(AgentInvoked("job_code_agent", task.step.name))
    context.emit(Status(f"Working on the code of {task.step.name}"))
    return await _Rounds(context, task).run(await _request(context, task))


class _Rounds:
    """The rounds of one call: what was edited so far, and whether a correction is still due."""

    def __init__(self, context: AgentContext, task: CodeTask) -> None:
        self._context, self._task = context, task
        self._code = task.step.code
        self._edited = False
        self._problem: str | None = None
        self._corrected = False
        self._text = ""

    async def run(self, request: ModelRequest) -> CodeAnswer | Handover:
        said = ""
        for number in range(1, MAX_ROUNDS + 1):
            if number == MAX_ROUNDS:
                request = replace(request, tools_allowed=False)
            reply = await ask(self._context, request)
            uses = reply.tool_uses if request.tools_allowed else ()
            said = reply.text.strip()
            self._hear(said, uses)
            handover = next((u for u in uses if u["name"] in HANDOVER_TOOLS), None)
            if handover and self._task.mode == "subagent":
                more = f"This takes more than the code of {self._task.step.name}."
                return Handover(goal_of(handover) or more)
            outcomes, problem = self._carry_out(uses)
            if problem and self._corrected:
                return self._unchanged(problem)
            if not problem and all(u["name"] == EDIT_JOB.name for u in uses):
                break
            self._corrected = self._corrected or problem is not None
            request = _next_request(request, reply, outcomes)
        return self._given_up(self._problem, said) if self._problem else self._finished()

    def _hear(self, text: str, uses: Sequence[Block]) -> None:
        """Keep the latest text that may be the answer; what is said before reading is none."""
        if text and (not uses or any(u["name"] == EDIT_JOB.name for u in uses)):
            self._text = text

    def _carry_out(self, uses: Sequence[Block]) -> tuple[list[ToolOutcome], str | None]:
        """Each tool use with its outcome, and why the edits cannot be applied, if they cannot.

        All edits of a reply stand or fall together, so that code is never half-applied.
        """
        problem = self._apply([u for u in uses if u["name"] == EDIT_JOB.name])
        return [self._told(use, self._outcome(use, problem)) for use in uses], problem

    def _told(self, use: Block, outcome: ToolOutcome) -> ToolOutcome:
        """The outcome, after the events of its tool use. No time passes: nothing here waits.

        The input is not told, because it is code.
        """
        id_, name = use["id"], use["name"]
        reason = outcome.text if outcome.failed else None
        step = self._task.step.name
        self._context.emit(ToolCalled(id_, "job_code_agent", name, {}, step))
        self._context.emit(ToolEnded(id_, "job_code_agent", name, 0.0, outcome.failed, reason))
        return outcome

    def _outcome(self, use: Block, problem: str | None) -> ToolOutcome:
        if use["name"] == EDIT_JOB.name:
            return ToolOutcome(job_correction(problem), True) if problem else ToolOutcome("Done.")
        if use["name"] != "inspect_job_code" or self._task.workflow is None:
            return ToolOutcome(f"There is no tool {use['name']!r}.", failed=True)
        try:
            return ToolOutcome(
                *inspect(self._task.workflow, read_input(InspectInput, use).job_keys)
            )
        except ToolInputError as error:
            return ToolOutcome(str(error), failed=True)

    def _apply(self, uses: Sequence[Block]) -> str | None:
        if not uses:
            return None
        self._problem = None
        try:
            edits = [edit for use in uses for edit in code_edits(use)]
            self._code = apply_code_edits(self._code, edits)
            self._edited = True
        except (EditMismatch, ToolInputError) as error:
            self._problem = str(error)
        return self._problem

    def _unchanged(self, problem: str) -> CodeAnswer:
        # The problem is worded for the model; the user gets a sentence of their own.
        return CodeAnswer(
            f"I could not apply the change to {self._task.step.name}, so its code is as it was. "
            "Tell me more exactly which part of the code you mean.",
            failure=problem,
        )

    def _given_up(self, problem: str, said: str) -> CodeAnswer:
        """The model made no further try: what it said instead may claim what did not happen."""
        if not said:
            return self._unchanged(problem)
        note = f"Nothing was changed: the code of {self._task.step.name} is as it was."
        return CodeAnswer(f"{said}\n\n{note}", failure=problem)

    def _finished(self) -> CodeAnswer:
        before = self._task.step.code
        code = self._code if self._edited and self._code != before else None
        if self._text:
            return CodeAnswer(self._text, code)
        if code is not None:
            return CodeAnswer(f"I changed the code of {self._task.step.name}.", code)
        raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")


def _next_request(
    request: ModelRequest, reply: Reply, outcomes: Sequence[ToolOutcome]
) -> ModelRequest:
    answers = Message("user", results(reply.tool_uses, outcomes))
    return replace(request, messages=(*request.messages, as_message(reply), answers))


async def _request(context: AgentContext, task: CodeTask) -> ModelRequest:
    settings = context.settings.job_code_agent
    step = task.step
    particular = job_context(
        outline=task.workflow.outline() if task.workflow and task.mode == "subagent" else "",
        step=f"{step.key} ({step.name})" if step.name != step.key else step.key,
        adaptor=await context.knowledge.adaptor_docs(step.adaptor, task.content)
        if step.adaptor
        else "",
        code=step.code or (f"// kept in the file {step.code_path}" if step.code_path else ""),
        evidence=render(select(task.evidence, tuple(FIELD_OF_TYPE))),
    )
    return ModelRequest(
        agent="job_code_agent",
        model=settings.model,
        system=(SystemPart(job_system(task.mode), cached=True), SystemPart(particular)),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        tools=TOOLS[task.mode],
    )

"""The job code agent: the code of one step, changed or explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import FIELD_OF_TYPE, render, select
from global_chat.contract.errors import EmptyOutput
from global_chat.contract.events import AgentInvoked, Status, ToolCalled, ToolEnded, Warned
from global_chat.model.seam import Block, ModelRequest, SystemPart
from global_chat.prompts.compose import Mode, job_context, job_correction, job_findings, job_system
from global_chat.workflow.checking.code import CodeProblem, new_code_problems
from global_chat.workflow.code_edits import EditMismatch, apply_code_edits
from global_chat.workflow.parts import Step

from .context import Handover, Task, TurnContext
from .model_calls import CORRECTION_ROUNDS, ask, continued, messages
from .tools import (
    EDIT_JOB,
    HANDOVER_TOOLS,
    INSPECT_JOB_CODE,
    JOB_TOOLS,
    SEARCH_DOCUMENTATION,
    InspectCall,
    SearchCall,
    ToolInputError,
    ToolOutcome,
    code_edits,
    goal_of,
    inspect,
    read_input,
    results,
)

#: Model rounds of one call: reading other steps and a correction fit; then tools are off.
MAX_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """The job code agent's answer. `code` is the step's new code, None when it stays."""

    text: str
    code: str | None = None
    failure: str | None = None
    """Why a change that the model wanted was not made, in terms that are for models only."""


async def answer(
    context: TurnContext, task: Task, step: Step, mode: Mode = "subagent"
) -> CodeAnswer | Handover:
    """The agent's answer. The code changes whole or not at all; the caller stitches it.

    Nothing is shown while the reply arrives: a handover, or an edit that does not apply, would
    withdraw what its text says. Raises a `TurnError`.
    """
    context.emit(AgentInvoked("job_code_agent", step.name))
    context.emit(Status(f"Working on the code of {step.name}"))
    request = await _request(context, task, step, mode)
    work = _CodeWork(context, task, step, mode)
    text = latest = ""
    failures = 0
    for number in range(1, MAX_ROUNDS + 1):
        if number == MAX_ROUNDS:
            request = replace(request, tools_allowed=False)
        reply = await ask(context, request)
        uses = reply.tool_uses if request.tools_allowed else ()
        latest = reply.text.strip()
        # A text beside a look at other steps announces work; it is not the answer.
        if latest and (not uses or any(use["name"] == EDIT_JOB.name for use in uses)):
            text = latest
        handover = next((use for use in uses if use["name"] in HANDOVER_TOOLS), None)
        if handover and mode == "subagent":
            return Handover(goal_of(handover) or f"This takes more than the code of {step.name}.")
        outcomes, failed = await work.carry_out(uses)
        if failed and work.problem and failures == CORRECTION_ROUNDS:
            return work.unchanged()
        done = not failed or failures == CORRECTION_ROUNDS
        if done and all(use["name"] == EDIT_JOB.name for use in uses):
            break
        failures += failed
        request = continued(request, reply, results(reply.tool_uses, outcomes))
    return work.given_up(latest) if work.problem else work.finished(text)


class _CodeWork:
    """The code as the edits so far leave it, why the last of them could not be applied, and what
    the edits brought that will not run."""

    def __init__(self, context: TurnContext, task: Task, step: Step, mode: Mode) -> None:
        self._context, self._task, self._step, self._mode = context, task, step, mode
        self._code = step.code
        self._edited = False
        self._findings: tuple[CodeProblem, ...] = ()
        self.problem: str | None = None

    async def carry_out(self, uses: Sequence[Block]) -> tuple[list[ToolOutcome], bool]:
        """The outcome of each tool use, and whether the edits among them need correcting: they
        could not be applied, or brought what will not run.

        All edits of a reply stand or fall together, so that code is never half-applied.
        """
        edits = [use for use in uses if use["name"] == EDIT_JOB.name]
        if edits:
            self._apply(edits)
        outcomes = [await self._outcome(use) for use in uses]
        for use, outcome in zip(uses, outcomes, strict=True):
            self._emit(use, outcome)
        return outcomes, bool(edits) and bool(self.problem or self._findings)

    def _apply(self, uses: Sequence[Block]) -> None:
        self.problem = None
        try:
            edits = [edit for use in uses for edit in code_edits(use)]
            self._code = apply_code_edits(self._code, edits)
            self._edited = True
            self._findings = self._new_problems(self._code)
        except (EditMismatch, ToolInputError) as error:
            self.problem = str(error)

    def _new_problems(self, code: str) -> tuple[CodeProblem, ...]:
        adaptor = self._step.adaptor
        facts = self._context.knowledge.operations_of(adaptor) if adaptor else None
        return new_code_problems(self._step.code, code, facts, adaptor)

    async def _outcome(self, use: Block) -> ToolOutcome:
        if use["name"] == EDIT_JOB.name:
            if self.problem is not None:
                return ToolOutcome(job_correction(self.problem), failed=True)
            findings = "\n".join(f"- {finding}" for finding in self._findings)
            return ToolOutcome(job_findings(findings) if findings else "Done.")
        if use["name"] == SEARCH_DOCUMENTATION.name:
            try:
                query = read_input(SearchCall, use).query
            except ToolInputError as error:
                return ToolOutcome(str(error), failed=True)
            self._context.emit(Status("Searching the documentation"))
            return ToolOutcome(await self._context.knowledge.search(query))
        if use["name"] != INSPECT_JOB_CODE.name or self._mode == "direct":
            return ToolOutcome(f"There is no tool {use['name']!r}.", failed=True)
        try:
            return inspect(self._task.workflow, read_input(InspectCall, use).job_keys)
        except ToolInputError as error:
            return ToolOutcome(str(error), failed=True)

    def _emit(self, use: Block, outcome: ToolOutcome) -> None:
        """Emit the events of a tool use. No time passes, and the input is left out: it is code."""
        id_, name = use["id"], use["name"]
        reason = outcome.text if outcome.failed else None
        self._context.emit(ToolCalled(id_, "job_code_agent", name, {}, self._step.name))
        self._context.emit(ToolEnded(id_, "job_code_agent", name, 0.0, outcome.failed, reason))

    def unchanged(self) -> CodeAnswer:
        """The answer when the corrections are used up."""
        # The problem is worded for the model; the user gets a sentence of their own.
        return CodeAnswer(
            f"I could not apply the change to {self._step.name}, so its code is as it was. "
            "Tell me more exactly which part of the code you mean.",
            failure=self.problem,
        )

    def given_up(self, text: str) -> CodeAnswer:
        """The answer when the model stopped correcting: `text` may claim what did not happen."""
        if not text:
            return self.unchanged()
        note = f"Nothing was changed: the code of {self._step.name} is as it was."
        return CodeAnswer(f"{text}\n\n{note}", failure=self.problem)

    def finished(self, text: str) -> CodeAnswer:
        """The answer when no edit is left that could not be applied."""
        code = self._code if self._edited and self._code != self._step.code else None
        if code is not None and self._mode == "direct":  # else the whole workflow is checked
            for finding in self._findings:
                self._context.emit(Warned(f"{self._step.name}, {finding}"))
        if text:
            return CodeAnswer(text, code)
        if code is not None:
            return CodeAnswer(f"I changed the code of {self._step.name}.", code)
        raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")


async def _request(context: TurnContext, task: Task, step: Step, mode: Mode) -> ModelRequest:
    settings = context.settings.job_code_agent
    particular = job_context(
        outline=task.workflow.outline() if mode == "subagent" else "",
        step=f"{step.key} ({step.name})" if step.name != step.key else step.key,
        adaptor=await context.knowledge.adaptor_docs(step.adaptor, task.content)
        if step.adaptor
        else "",
        documentation=await context.knowledge.passages(task.content, step.adaptor or ""),
        code=step.code or (f"// kept in the file {step.code_path}" if step.code_path else ""),
        evidence=render(select(task.evidence, tuple(FIELD_OF_TYPE))),
    )
    return ModelRequest(
        agent="job_code_agent",
        model=settings.model,
        system=(SystemPart(job_system(mode), cached=True), SystemPart(particular)),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        tools=JOB_TOOLS[mode],
    )

"""The job code agent: the code of one step, changed or explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import FIELD_OF_TYPE, inline, render, select
from global_chat.contract.errors import EmptyOutput
from global_chat.contract.events import AgentInvoked, Status, ToolCalled, ToolEnded
from global_chat.model.seam import Block, ModelRequest, SystemPart
from global_chat.prompts.compose import Mode, job_context, job_correction, job_findings, job_system
from global_chat.workflow.checking.code import CodeProblem, new_code_problems
from global_chat.workflow.code_edits import EditMismatch, apply_code_edits
from global_chat.workflow.parts import Step

from .context import Handover, Task, TurnContext
from .model_calls import CORRECTION_ROUNDS, AnswerText, ask, continued, messages
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
    warnings: tuple[str, ...] = ()
    """What in the new code will not run, although it went back for correction; one line each."""


async def answer(
    context: TurnContext,
    task: Task,
    step: Step,
    mode: Mode = "subagent",
    shown: AnswerText | None = None,
) -> CodeAnswer | Handover:
    """The agent's answer. The code changes whole or not at all; the caller stitches it.

    `shown` shows an answer while it arrives; the caller finishes it with the text of the answer.
    Raises a `TurnError`.
    """
    context.emit(AgentInvoked("job_code_agent", step.name))
    context.emit(Status(f"Working on the code of {step.name}"))
    request = await _request(context, task, step, mode)
    work = _CodeWork(context, task, step, mode)
    for number in range(1, MAX_ROUNDS + 1):
        if number == MAX_ROUNDS:
            request = replace(request, tools_allowed=False)
        if shown:
            shown.restart()
        reply = await ask(context, request, shown)
        uses = reply.tool_uses if request.tools_allowed else ()
        handover = next((use for use in uses if use["name"] in HANDOVER_TOOLS), None)
        if handover and mode == "subagent":
            return Handover(goal_of(handover) or f"This takes more than the code of {step.name}.")
        outcomes = await work.carry_out(uses, reply.text.strip())
        if work.is_done:
            break
        request = continued(request, reply, results(reply.tool_uses, outcomes))
    return work.answer()


class _CodeWork:
    """The code as the edits so far leave it, why the last of them could not be applied, and what
    the edits brought that will not run."""

    def __init__(self, context: TurnContext, task: Task, step: Step, mode: Mode) -> None:
        self._context, self._task, self._step, self._mode = context, task, step, mode
        self._code = step.code
        self._text = self._latest = ""
        self._problem: str | None = None
        self._findings: tuple[CodeProblem, ...] = ()
        # How often the model may still correct an edit that did not apply, and what one brought.
        self._retries = self._repairs = CORRECTION_ROUNDS
        self.is_done = False

    async def carry_out(self, uses: Sequence[Block], text: str) -> list[ToolOutcome]:
        """The outcome of each tool use of a reply that says `text`.

        All edits of a reply stand or fall together, so that code is never half-applied.
        """
        edits = [use for use in uses if use["name"] == EDIT_JOB.name]
        more = self._needs_correction(edits) if edits else False
        outcomes = [await self._outcome(use) for use in uses]
        for use, outcome in zip(uses, outcomes, strict=True):
            self._emit(use, outcome)
        self._latest = text
        # A text beside a look at other steps announces work, and while findings are open, only a
        # text beside an edit that was applied tells what is so: neither other is the answer.
        applied = bool(edits) and self._problem is None
        if text and (applied or not self._findings) and (edits or not uses):
            self._text = text
        self.is_done = not more and (len(edits) == len(uses) or self._is_given_up)
        return outcomes

    @property
    def _is_given_up(self) -> bool:
        """Whether an edit could not be applied, and there is no correction left."""
        return self._problem is not None and (self._retries < 0 or bool(self._findings))

    def _needs_correction(self, uses: Sequence[Block]) -> bool:
        """Apply the edits; True when they go back to the model, to be corrected."""
        self._problem = None
        try:
            edits = [edit for use in uses for edit in code_edits(use)]
            self._code = apply_code_edits(self._code, edits)
        except (EditMismatch, ToolInputError) as error:
            self._problem = str(error)
            self._retries -= 1
            return not self._is_given_up
        self._findings = self._new_problems(self._code)
        self._repairs -= bool(self._findings)
        return bool(self._findings) and self._repairs >= 0

    def _new_problems(self, code: str) -> tuple[CodeProblem, ...]:
        adaptor = self._step.adaptor
        facts = self._context.knowledge.operations_of(adaptor) if adaptor else None
        return new_code_problems(self._step.code, code, facts, adaptor)

    async def _outcome(self, use: Block) -> ToolOutcome:
        if use["name"] == EDIT_JOB.name:
            if self._problem is not None:
                return ToolOutcome(job_correction(self._problem), failed=True)
            findings = [str(finding) for finding in self._findings]
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

    def answer(self) -> CodeAnswer:
        """The answer, once the model is done. What it says of an edit, it says of an applied one.

        An edit that brought findings stays when its correction cannot be applied; without
        findings, what was applied before an edit that failed for good would be half a change.
        """
        if self._problem is not None and not self._findings:
            return self._unchanged()
        changed = self._code != self._step.code
        text = self._text or (f"I changed the code of {self._step.name}." if changed else "")
        if not text:
            raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
        if not changed:
            return CodeAnswer(text)
        warnings = tuple(f"{self._step.name}, {finding}" for finding in self._findings)
        return CodeAnswer(text, self._code, warnings=warnings)

    def _unchanged(self) -> CodeAnswer:
        """The answer when an edit was not applied. Its problem is worded for the model; the user
        gets a sentence of their own, after what the model said when it stopped correcting."""
        name = self._step.name
        if self._latest and not self._is_given_up:
            text = f"{self._latest}\n\nNothing was changed: the code of {name} is as it was."
        else:
            text = (
                f"I could not apply the change to {name}, so its code is as it was. "
                "Tell me more exactly which part of the code you mean."
            )
        return CodeAnswer(text, failure=self._problem)


async def _request(context: TurnContext, task: Task, step: Step, mode: Mode) -> ModelRequest:
    settings = context.settings.job_code_agent
    evidence, adaptor, particular = job_context(
        outline=task.workflow.outline() if mode == "subagent" else "",
        step=f"{step.key} ({step.name})" if step.name != step.key else step.key,
        adaptor=await context.knowledge.adaptor_docs(step.adaptor, task.content)
        if step.adaptor
        else "",
        documentation=await context.knowledge.passages(task.content, step.adaptor or ""),
        code=step.code
        or (f"// kept in the file {inline(step.code_path)}" if step.code_path else ""),
        evidence=render(select(task.evidence, tuple(FIELD_OF_TYPE))),
    )
    return ModelRequest(
        agent="job_code_agent",
        model=settings.model,
        system=(
            SystemPart(job_system(mode), cached=True),
            SystemPart(evidence, cached=True),
            SystemPart(adaptor, cached=True),
            SystemPart(particular),
        ),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        tools=JOB_TOOLS[mode],
        cache_conversation=True,
    )

"""What a turn changed, told once: a diff of each step, a line a change, and new problems."""

from __future__ import annotations

from collections.abc import Sequence

from global_chat.agents.asking import AgentContext
from global_chat.agents.work_done import changes_between, code_change
from global_chat.contract.events import Changes, StepDiff, Warned
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step


def report_changes(
    context: AgentContext, before: Workflow, after: Workflow, warnings: Sequence[str]
) -> None:
    """Emit `Changes`, and a warning for each problem that is new and not in `warnings` already.

    Nothing when nothing changed.
    """
    if before.text == after.text:
        return
    adaptors = context.knowledge.adaptor_versions()
    known = {(p.rule, p.message) for p in before.check(adaptors)}
    for problem in after.check(adaptors):
        told = any(problem.message in warning for warning in warnings)
        if not told and (problem.rule, problem.message) not in known:
            context.emit(Warned(str(problem)))
    context.emit(Changes(after.text, step_diffs(before, after), changes_between(before, after)))


def report_code(context: AgentContext, step: Step, code: str) -> None:
    """Emit `Changes` for the new code of a step that came without a workflow."""
    diff = StepDiff(step.key, step.name, step.code or "", code)
    context.emit(Changes(None, (diff,), (code_change(step.name, diff.before, code),)))


def step_diffs(before: Workflow, after: Workflow) -> tuple[StepDiff, ...]:
    """The steps whose code differs; a step is the same one by its id, else by its key."""
    by_id = {step.id: step for step in before.steps if step.id}
    by_key = {step.key: step for step in before.steps}
    diffs = []
    for step in after.steps:
        old = by_id.get(step.id) if step.id else by_key.get(step.key)
        code = (old.code or "") if old else ""
        if (step.code or "") != code and (old or step.has_code):
            diffs.append(StepDiff(step.key, step.name, code, step.code or ""))
    return tuple(diffs)

"""Merges a model's reply into a document: the difference, and not one byte more.

A model that changes the structure gives a whole workflow back. The document is never replaced by
it. The reply is read (`merge_reply`), its parts are matched with the document's (`merge_match`),
the difference is planned (`merge_steps`, `merge_triggers`, `merge_edges`), written at its places
in the source text (`jobs_writing`, `steps_writing`, `scratch_writing`), and the result is read
again, compared with the plan (`merge_verify`) and checked (`check`). Rules: section 6 of the
contract.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from global_chat.contract.errors import InternalError, InvalidWorkflow, TurnError
from global_chat.workflow.changes import changes
from global_chat.workflow.checking.check import check
from global_chat.workflow.finding import fold
from global_chat.workflow.merging import intent, jobs_writing, scratch_writing, steps_writing
from global_chat.workflow.merging.edges import plan_edges
from global_chat.workflow.merging.ends import Keys
from global_chat.workflow.merging.leftovers import left_over
from global_chat.workflow.merging.node_edits import CannotEdit, NodeEdits
from global_chat.workflow.merging.plan import Findings, Plan, Request
from global_chat.workflow.merging.reply import ReplyRejected, read_reply
from global_chat.workflow.merging.steps import plan_steps
from global_chat.workflow.merging.triggers import plan_triggers
from global_chat.workflow.merging.verify import differences
from global_chat.workflow.parts import Problem
from global_chat.workflow.reading.forms import Layout
from global_chat.workflow.reading.node_walks import inside
from global_chat.workflow.reading.nodes import Alias, Mapping

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

__all__ = ["Merge", "ReplyRejected", "merge"]

_NOTHING = Layout("jobs", Mapping(0, 0, False), None, None, (), (), ())


@dataclass(frozen=True, slots=True)
class Merge:
    """The document after a merge; what changed, one line a change; what the user should know."""

    workflow: Workflow
    changes: tuple[str, ...]
    warnings: tuple[str, ...]


def merge(
    workflow: Workflow,
    reply: str,
    *,
    request: str,
    focus: str | None = None,
    confirmed: bool = False,
) -> Merge:
    """Apply the difference between `reply`, a whole workflow as YAML, and `workflow`.

    `request` is what the user asked, in words: steps are removed and triggers switched only when
    it says so. `focus` is the key of the page's step. `confirmed` says that this is the reply to
    an earlier rejection. Without a difference the result is the same document.

    Raises `ReplyRejected` with sentences for the model to correct by; InvalidWorkflow when the
    document is written in a way that the change cannot be made exactly; InternalError rather than
    hand out a document that is not what was planned.
    """
    asked = intent.read(request, workflow.steps, workflow.triggers)
    plan = _plan(workflow, reply, Request(asked, focus, confirmed))
    if not _does_something(workflow, plan):
        return Merge(workflow, (), (*plan.warnings, *_about_order(workflow, plan)))
    after = _written(workflow, plan)
    if wrong := differences(workflow, after, plan):
        raise _disturbance(workflow, wrong)
    warnings = (*plan.warnings, *_new_problems(workflow, after))
    renamed = {step.old.key: step.new.key for step in plan.steps if step.old}
    return Merge(after, changes(workflow, after, renamed), warnings)


def _plan(workflow: Workflow, reply: str, request: Request) -> Plan:
    source, given = read_reply(reply, workflow)
    old = workflow.layout or _NOTHING
    found = Findings()
    if not all(p.part.key.strip() for part in (given.steps, given.triggers) for p in part):
        found.problems.append("Every step and trigger needs a key that is not blank.")
    steps = plan_steps(old, source, given, request, found)
    triggers = plan_triggers(old, source, given, request, found)
    keys = Keys.of(old, given, steps, triggers)
    edges = plan_edges(old, source, given, keys, request, found)
    if found.problems:
        raise ReplyRejected(*found.problems)
    found.warnings += left_over("step", given.steps, steps, old.steps)
    found.warnings += left_over("trigger", given.triggers, triggers, old.triggers)
    name = given.name.strip() if given.name else None
    same = not name or fold(name) == fold(old.name or "")
    named = workflow.is_empty or old.name is not None
    return Plan(
        name=name if named and not same else None,
        steps=tuple(steps),
        triggers=tuple(triggers),
        edges=tuple(edges),
        warnings=tuple(found.warnings),
    )


def _about_order(workflow: Workflow, plan: Plan) -> tuple[str, ...]:
    """What to know of a reply that only lists the steps in another order."""
    places = {step.key: place for place, step in enumerate(workflow.steps)}
    order = [places[step.old.key] for step in plan.steps if step.old]
    if order == sorted(order):
        return ()
    return (
        "The steps stay in their order in the file, which means nothing: what runs after what is "
        "decided by the paths.",
    )


def _does_something(workflow: Workflow, plan: Plan) -> bool:
    counts = (
        (workflow.steps, plan.steps),
        (workflow.triggers, plan.triggers),
        (workflow.edges, plan.edges),
    )
    return plan.changes or any(len(before) != len(after) for before, after in counts)


def _written(workflow: Workflow, plan: Plan) -> Workflow:
    if workflow.layout is None or workflow.root is None:
        return workflow.with_text(scratch_writing.write(plan, workflow.text))
    layout = workflow.layout
    edits = NodeEdits(workflow.source, workflow.root)
    try:
        form = jobs_writing if layout.form == "jobs" else steps_writing
        form.write(edits, layout, plan)
        if plan.name is not None:
            edits.set_value(layout.root, layout.root.own["name"], plan.name)
        text = edits.text()
    except CannotEdit as error:
        raise InvalidWorkflow(f"{error} Nothing was changed.") from None
    try:
        return workflow.with_text(text)
    except InvalidWorkflow as error:
        raise InternalError(
            "The change would have made the document unreadable, so nothing was changed. "
            f"{error.message}"
        ) from None


def _disturbance(workflow: Workflow, wrong: list[str]) -> TurnError:
    """The refusal of a change that would reach further than planned: the document's own doing
    where its parts share text, else a fault of ours."""
    touched = "; ".join(wrong[:5])
    if workflow.root and any(isinstance(node, Alias) for node in inside(workflow.root)):
        return InvalidWorkflow(
            "The workflow document shares text between its parts (`&` and `*`), so this change "
            f"would reach further: {touched}. Write them out first. Nothing was changed."
        )
    return InternalError(
        "The change could not be made without touching something else, so nothing was changed. "
        f"It would have touched {touched}."
    )


def _new_problems(before: Workflow, after: Workflow) -> list[str]:
    """Warnings about what the change brought. Raises `ReplyRejected` when it brought errors.

    A message names steps, which may have been renamed: where a rule was broken as often before,
    nothing new is wrong.
    """
    old, new = check(before), check(after)
    known = {problem.message for problem in old}
    often, now = (Counter(problem.rule for problem in problems) for problems in (old, new))
    fresh = [p for p in new if p.message not in known and now[p.rule] > often[p.rule]]
    errors = [problem for problem in fresh if problem.severity == "error"]
    if errors:
        raise ReplyRejected(*(_sentence(problem) for problem in errors))
    return [_sentence(problem) for problem in fresh]


def _sentence(problem: Problem) -> str:
    return f"{problem.message} {problem.suggestion}" if problem.suggestion else problem.message

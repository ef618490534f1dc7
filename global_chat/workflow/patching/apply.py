"""Applies a patch to a document: the difference, and not one byte more.

The patch is planned (`plan`, `paths`), the document's form writes the plan at its places in the
source text, and the result is read again, compared with the plan and checked: what was planned must
be there, and everything else must say what it said. A difference is a bug in this program: nothing
is handed out then. Rules: sections 4 and 6 of the contract.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from global_chat.contract.errors import InternalError, InvalidWorkflow, TurnError
from global_chat.workflow.changes import changes
from global_chat.workflow.checking.check import check_structure
from global_chat.workflow.forms.jobs import JOBS, new_document
from global_chat.workflow.forms.layout import Layout, Placed, Plan, Planned
from global_chat.workflow.forms.settings import SETTING_KEYS
from global_chat.workflow.parts import Edge, Problem
from global_chat.workflow.patch import Patch, PatchRejected
from global_chat.workflow.patching.plan import make_plan
from global_chat.yaml import nodes
from global_chat.yaml.data import Places, at, only_changed
from global_chat.yaml.node_edits import CannotEdit, NodeEdits
from global_chat.yaml.nodes import has_aliases

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow


_NO_KEYS = nodes.Mapping(0, 0, False)
_NOTHING = Layout(JOBS, _NO_KEYS, None, None, (), (), ())


@dataclass(frozen=True, slots=True)
class Patched:
    """The document after a patch; what changed, one line a change; what the user should know."""

    workflow: Workflow
    changes: tuple[str, ...]
    warnings: tuple[str, ...]


def apply(
    workflow: Workflow,
    patch: Patch,
    adaptors: Mapping[str, Collection[str]] | None = None,
    *,
    unknown_adaptors: bool = False,
) -> Patched:
    """The workflow with `patch` carried out. A patch that changes nothing gives the same document.

    `adaptors` are the known versions by package name; an adaptor that is not among them rejects
    the patch, or with `unknown_adaptors` is only warned about.

    Raises `PatchRejected` with sentences that say what to correct; InvalidWorkflow when the
    document is written in a way that the change cannot be made exactly; InternalError rather than
    hand out a document that is not what was planned.
    """
    layout = workflow.layout or _NOTHING
    plan = make_plan(layout, patch, adaptors, unknown_adaptors=unknown_adaptors)
    if not _does_something(layout, plan):
        return Patched(workflow, (), plan.warnings)
    if workflow.is_empty and not plan.steps:
        raise PatchRejected("There is no workflow yet: give it steps under `jobs`.")
    after = _written(workflow, plan)
    if wrong := _differences(workflow, after, plan):
        raise _disturbance(workflow, wrong)
    warnings = (*plan.warnings, *_new_problems(workflow, after), *_reached_twice(workflow, after))
    renamed = {step.old.key: step.new.key for step in plan.steps if step.old}
    return Patched(after, changes(workflow, after, renamed), warnings)


def _does_something(layout: Layout, plan: Plan) -> bool:
    groups = (
        (layout.steps, plan.steps),
        (layout.triggers, plan.triggers),
        (layout.edges, plan.edges),
    )
    return plan.name is not None or any(
        len(before) != len(after) or any(part.changes for part in after) for before, after in groups
    )


def _written(workflow: Workflow, plan: Plan) -> Workflow:
    if workflow.layout is None or workflow.root is None:
        return workflow.with_text(new_document(plan, workflow.text))
    layout = workflow.layout
    edits = NodeEdits(workflow.source, workflow.root)
    try:
        layout.form.write(edits, layout, plan)
        if plan.name is not None and (entry := layout.root.own.get("name")):
            edits.set_value(layout.root, entry, plan.name)
        elif plan.name is not None:
            edits.add(layout.root, "name", plan.name)
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
    """The refusal of a change that would reach further than planned: because of the document where
    its parts share text, else because of a bug in this program."""
    touched = "; ".join(wrong[:5])
    if workflow.root and has_aliases(workflow.root):
        return InvalidWorkflow(
            "The workflow document shares text between its parts (`&` and `*`), so this change "
            f"would reach further: {touched}. Write them out first. Nothing was changed."
        )
    return InternalError(
        "The change could not be made without touching something else, so nothing was changed. "
        f"It would have touched {touched}."
    )


def _new_problems(before: Workflow, after: Workflow) -> list[str]:
    """Warnings about what the change brought. Raises `PatchRejected` when it brought errors.

    A message names steps, which may have been renamed: where a rule was broken as often before,
    nothing new is wrong.
    """
    old, new = check_structure(before), check_structure(after)
    known = {problem.message for problem in old}
    often, now = (Counter(problem.rule for problem in problems) for problems in (old, new))
    fresh = [p for p in new if p.message not in known and now[p.rule] > often[p.rule]]
    errors = [problem for problem in fresh if problem.severity == "error"]
    if errors:
        raise PatchRejected(*(_sentence(problem) for problem in errors))
    return [_sentence(problem) for problem in fresh]


def _sentence(problem: Problem) -> str:
    return f"{problem.message} {problem.suggestion}" if problem.suggestion else problem.message


def _reached_twice(before: Workflow, after: Workflow) -> Iterator[str]:
    """A warning for each step that now runs once more for every run of one that comes before it.

    Only paths of the usual flow count, those that run always or on success: a condition may well
    keep two paths apart.
    """
    usual = [_by_target(workflow.edges) for workflow in (before, after)]
    names = {step.key: step.name for step in after.steps}
    for target, sources in usual[1].items():
        if len(sources) < 2 or len(sources) <= len(usual[0].get(target, ())):
            continue
        behind = [_before(source, usual[1]) for source in sources]
        shared = next((key for key in behind[-1] if any(key in b for b in behind[:-1])), None)
        if shared:
            yield (
                f"{names.get(target, target)} is now reached twice from "
                f"{names.get(shared, shared)}, and runs once for each way: nothing waits for both."
            )


def _by_target(edges: Iterable[Edge]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for edge in edges:
        source = edge.source_step or edge.source_trigger
        usual = edge.condition_type in (None, "always", "on_job_success")
        if usual and edge.enabled is not False and edge.target and source:
            found.setdefault(edge.target, []).append(source)
    return found


def _before(key: str, sources: Mapping[str, list[str]]) -> dict[str, None]:
    """`key` and all that leads to it, nearest first."""
    found: dict[str, None] = {}
    waiting = deque([key])
    while waiting:
        key = waiting.popleft()
        if key not in found:
            found[key] = None
            waiting += sources.get(key, ())
    return found


#: What a plan may change in a part, on it or under `openfn`. All else must stay as it is.
_KEYS = (
    *("id", "uuid", "name", "adaptor", "adaptors", "type", "cron", "cron_expression", "enabled"),
    *("source_trigger", "source_job", "target_job", "condition_type", "condition_expression"),
    *("condition_label", "next", "condition", "expression", "label", "disabled", *SETTING_KEYS),
)
_PLANNED: Places = {**dict.fromkeys(_KEYS), "openfn": dict.fromkeys(_KEYS)}


def _differences(before: Workflow, after: Workflow, plan: Plan) -> list[str]:
    """Differences between `after` and the planned result; empty when there are none."""
    old, new = before.layout, after.layout
    if new is None:
        return ["there is no workflow"]
    found = [
        *_unlike("step", plan.steps, new.steps),
        *_unlike("trigger", plan.triggers, new.triggers),
        *_unlike("path", plan.edges, new.edges),
    ]
    # A new workflow that the patch does not name is given a name.
    name = plan.name if plan.name is not None else old and old.name
    if (old or name) and new.name != name:
        found.append("the name of the workflow")
    if old and new.start != plan.start:
        found.append("`start`")
    if old:
        found += _disturbed(before, after, old, new, plan)
    return found


def _unlike(kind: str, planned: Iterable[Planned[Any]], placed: Iterable[Placed[Any]]) -> list[str]:
    plans = list(planned)
    fresh = {plan.new.key for plan in plans if not plan.old}
    wanted = {_comparable(plan.new, fresh) for plan in plans}
    there = {_comparable(p.part, fresh) for p in placed}
    return [f"the {kind} {part.key}" for part in sorted(wanted ^ there, key=lambda p: str(p.key))]


def _comparable(part: Any, fresh: set[str]) -> Any:
    """The part without its line. Texts that the styles of YAML end differently compare without
    blanks at the end; code does so in new parts only."""
    loose: dict[str, Any] = {
        name: value.strip() or None
        for name in ("condition_expression", "cron_expression")
        if isinstance(value := getattr(part, name, None), str)
    }
    if hasattr(part, "condition_type"):
        loose["condition_type"] = part.condition_type or "always"
        loose["enabled"] = part.enabled is not False
    if getattr(part, "code", None) and part.key in fresh:
        loose["code"] = part.code.rstrip()
    return replace(part, line=0, **loose)


def _disturbed(
    before: Workflow, after: Workflow, old: Layout, new: Layout, plan: Plan
) -> list[str]:
    """What changed without being planned: other keys of parts, of the workflow, of the document."""
    found: list[str] = []
    there = {(kind, placed.part.key): placed.mapping for kind, placed in _parts_of(new)}
    for kind, planned in (("s", plan.steps), ("t", plan.triggers), ("e", plan.edges)):
        for one in planned:
            was = one.placed.mapping if one.placed else None
            now = there.get((kind, one.new.key)) or _NO_KEYS
            moved = kind == "e" and old.form.is_list and _source(one.old) != _source(one.new)
            if was and not moved and not only_changed(was, now, _PLANNED):
                found.append(f"other keys of {one.new.key}")
    if not only_changed(old.root, new.root, dict.fromkeys((*old.form.structure, "name"))):
        found.append("other keys of the workflow")
    whole, result = before.root, after.root
    if before.path and whole and result and not only_changed(whole, result, at(before.path)):
        found.append("other parts of the document")
    return found


def _source(part: Any) -> tuple[str | None, ...]:
    return (part.source_trigger, part.source_step) if isinstance(part, Edge) else ()


def _parts_of(layout: Layout) -> Iterator[tuple[str, Placed[Any]]]:
    for kind, parts in (("s", layout.steps), ("t", layout.triggers), ("e", layout.edges)):
        yield from ((kind, placed) for placed in parts)

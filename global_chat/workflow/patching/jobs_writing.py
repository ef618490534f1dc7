"""Writes a plan into a document with `jobs:`, `triggers:` and `edges:` mappings."""

from __future__ import annotations

from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.part_writing import put, write_section
from global_chat.workflow.patching.plan import Plan, Planned
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.nodes import text_of
from global_chat.workflow.reading.yaml_text import Data

_SECTIONS = ("name", "jobs", "triggers", "edges")
_STEP = ("id", "name", "adaptor", "credential", "body")
_TRIGGER = ("id", "type", "cron_expression", "enabled")
_EDGE = (
    "id",
    "source_trigger",
    "source_job",
    "target_job",
    "condition_type",
    "condition_label",
    "condition_expression",
    "enabled",
)
#: Keys of a trigger whose value is the key of a step.
_REFERENCES = ("cron_cursor_job", "cron_cursor")


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    steps = {id(p.part): p for p in layout.steps}
    triggers = {id(p.part): p for p in layout.triggers}
    edges = {id(p.part): p for p in layout.edges}
    for step in plan.steps:
        if step.old:
            _write_step(edits, steps[id(step.old)], step.new)
    for trigger in plan.triggers:
        if trigger.old:
            _write_trigger(edits, triggers[id(trigger.old)], trigger.new, plan.steps)
    for edge in plan.edges:
        if edge.old:
            _write_edge(edits, edges[id(edge.old)], edge.new)
    root = layout.root
    write_section(edits, root, "jobs", layout.steps, plan.steps, step_data, _SECTIONS)
    write_section(edits, root, "triggers", layout.triggers, plan.triggers, trigger_data, _SECTIONS)
    write_section(edits, root, "edges", layout.edges, plan.edges, edge_data, _SECTIONS)


def _write_step(edits: NodeEdits, placed: Placed[Step], new: Step) -> None:
    old = placed.part
    _write_key(edits, placed, new.key)
    named = placed.mapping is not None and text_of(placed.mapping, "name") is not None
    values: dict[str, str | bool | None] = {}
    if new.name != (old.name if named else new.key):
        values["name"] = new.name
    if new.adaptor != old.adaptor:
        values["adaptor"] = new.adaptor
    put(edits, placed.holder, placed.entry, placed.node, values, _STEP)


def _write_trigger(
    edits: NodeEdits, placed: Placed[Trigger], new: Trigger, steps: tuple[Planned[Step], ...]
) -> None:
    old = placed.part
    _write_key(edits, placed, new.key)
    values = _differences(
        type=(old.type, new.type),
        cron_expression=(old.cron_expression, new.cron_expression),
        enabled=(old.enabled, new.enabled),
    )
    moved = {plan.old.key: plan.new.key for plan in steps if plan.old and plan.changes}
    for name in _REFERENCES:
        reference = moved.get(text_of(placed.mapping, name) or "") if placed.mapping else None
        if reference:
            values[name] = reference
    put(edits, placed.holder, placed.entry, placed.node, values, (*_TRIGGER, *_REFERENCES))


def _write_edge(edits: NodeEdits, placed: Placed[Edge], new: Edge) -> None:
    old = placed.part
    _write_key(edits, placed, new.key)
    values = _differences(
        source_trigger=(old.source_trigger, new.source_trigger),
        source_job=(old.source_step, new.source_step),
        target_job=(old.target, new.target),
        condition_type=(old.condition_type, new.condition_type),
        condition_label=(old.condition_label, new.condition_label),
        condition_expression=(old.condition_expression, new.condition_expression),
        enabled=(old.enabled, new.enabled),
    )
    put(edits, placed.holder, placed.entry, placed.node, values, _EDGE)


def _write_key(
    edits: NodeEdits, placed: Placed[Step] | Placed[Trigger] | Placed[Edge], key: str
) -> None:
    if placed.part.key != key and placed.entry:
        edits.rename(placed.entry.key, key)


def _differences(
    **values: tuple[str | bool | None, str | bool | None],
) -> dict[str, str | bool | None]:
    return {name: new for name, (old, new) in values.items() if old != new}


def step_data(step: Step) -> dict[str, Data]:
    """A whole new step, as the app writes it."""
    return present(id=step.id, name=step.name, adaptor=step.adaptor, body=step.code)


def trigger_data(trigger: Trigger) -> dict[str, Data]:
    """A whole new trigger."""
    return present(
        id=trigger.id,
        type=trigger.type,
        cron_expression=trigger.cron_expression,
        enabled=trigger.enabled,
    )


def edge_data(edge: Edge) -> dict[str, Data]:
    """A whole new path."""
    return present(
        id=edge.id,
        source_trigger=edge.source_trigger,
        source_job=edge.source_step,
        target_job=edge.target,
        condition_type=edge.condition_type,
        condition_label=edge.condition_label,
        condition_expression=edge.condition_expression,
        enabled=edge.enabled,
    )


def present(**values: str | bool | None) -> dict[str, Data]:
    """The values that are there, in the order in which they are given."""
    return {name: value for name, value in values.items() if value is not None}

"""Writes a plan into a document with `jobs:`, `triggers:` and `edges:` mappings."""

from __future__ import annotations

from collections.abc import Mapping

from global_chat.workflow.drafting import edge_fields, step_fields, trigger_fields
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.part_writing import put, write_section
from global_chat.workflow.patching.planned import Plan
from global_chat.workflow.patching.setting_places import SETTINGS, changed_settings
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.yaml.nodes import text_of
from global_chat.yaml.writing import Data

_SECTIONS = ("name", "jobs", "triggers", "edges")
_STEP = ("id", "name", "adaptor", "credential", "body")
_TRIGGER = ("id", "type", "custom_path", "cron_expression", *SETTINGS, "enabled")
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


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    steps = {id(p.part): p for p in layout.steps}
    ids = {step.new.key: step.new.id for step in plan.steps}
    triggers = {id(p.part): p for p in layout.triggers}
    edges = {id(p.part): p for p in layout.edges}
    for step in plan.steps:
        if step.old:
            _write_step(edits, steps[id(step.old)], step.new)
    for trigger in plan.triggers:
        if trigger.old:
            _write_trigger(edits, triggers[id(trigger.old)], trigger.new, ids)
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
    values: dict[str, Data] = {}
    if new.name != (old.name if named else new.key):
        values["name"] = new.name
    if new.adaptor != old.adaptor:
        values["adaptor"] = new.adaptor
    put(edits, placed.holder, placed.entry, placed.node, values, _STEP)


def _write_trigger(
    edits: NodeEdits, placed: Placed[Trigger], new: Trigger, ids: Mapping[str, str | None]
) -> None:
    old = placed.part
    _write_key(edits, placed, new.key)
    values = _differences(
        type=(old.type, new.type),
        cron_expression=(old.cron_expression, new.cron_expression),
        enabled=(old.enabled, new.enabled),
    )
    if placed.mapping and text_of(placed.mapping, "name") == old.key != new.key:
        values["name"] = new.key
    values |= changed_settings(placed.mapping, old, new, ids, spelled=dict).own
    put(edits, placed.holder, placed.entry, placed.node, values, _TRIGGER)


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
) -> dict[str, Data]:
    return {name: new for name, (old, new) in values.items() if old != new}


def step_data(step: Step) -> dict[str, Data]:
    """A whole new step, as the app writes it."""
    return with_id(step.id, {**step_fields(step), "body": step.code or ""})


def trigger_data(trigger: Trigger) -> dict[str, Data]:
    """A whole new trigger."""
    return with_id(trigger.id, trigger_fields(trigger))


def edge_data(edge: Edge) -> dict[str, Data]:
    """A whole new path."""
    return with_id(edge.id, edge_fields(edge))


def with_id(id_: str | None, data: dict[str, Data]) -> dict[str, Data]:
    """The data with an id in front, where there is one."""
    return {"id": id_, **data} if id_ else data

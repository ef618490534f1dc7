"""Writes a plan into a document with `jobs:`, `triggers:` and `edges:` mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from global_chat.workflow.drafting import fields_of
from global_chat.workflow.parts import Step, Trigger
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.planned import Plan, Planned, placements
from global_chat.workflow.patching.setting_places import SETTINGS, changed_settings
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.yaml import nodes
from global_chat.yaml.nodes import resolve, text_of
from global_chat.yaml.writing import Data

#: The order in which the app writes sections, and the keys of a part of each.
_ORDER: dict[str, tuple[str, ...]] = {
    "name": (),
    "jobs": ("id", "name", "adaptor", "credential", "body"),
    "triggers": ("id", "type", "custom_path", "cron_expression", *SETTINGS, "enabled"),
    "edges": (
        *("id", "source_trigger", "source_job", "target_job", "condition_type"),
        *("condition_label", "condition_expression", "enabled"),
    ),
}


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    groups: tuple[tuple[str, tuple[Placed[Any], ...], tuple[Planned[Any], ...]], ...] = (
        ("jobs", layout.steps, plan.steps),
        ("triggers", layout.triggers, plan.triggers),
        ("edges", layout.edges, plan.edges),
    )
    ids = {step.new.key: step.new.id for step in plan.steps}
    for section, placed, planned in groups:
        by_part = {id(p.part): p for p in placed}
        for part in [part for part in planned if part.changes and part.old]:
            _write_part(edits, by_part[id(part.old)], part.new, _ORDER[section], ids)
    for section, placed, planned in groups:
        _write_section(edits, layout.root, section, placed, planned)


def _write_part(
    edits: NodeEdits,
    placed: Placed[Any],
    new: Any,
    order: tuple[str, ...],
    ids: Mapping[str, str | None],
) -> None:
    old = placed.part
    if old.key != new.key and placed.entry:
        edits.rename(placed.entry.key, new.key)
    was, now = fields_of(old), fields_of(new)
    values = {key: now.get(key) for key in {**was, **now} if now.get(key) != was.get(key)}
    if isinstance(old, Trigger):
        settings = {*old.settings, *new.settings}
        values = {key: value for key, value in values.items() if key not in settings}
        if placed.mapping and text_of(placed.mapping, "name") == old.key != new.key:
            values["name"] = new.key
        values |= changed_settings(placed.mapping, old, new, ids)
    edits.put(placed.holder, placed.entry, placed.node, values, order)


def whole_part(part: Any) -> dict[str, Data]:
    """All that a new part holds, as the app writes it."""
    body: dict[str, Data] = {"body": part.code or ""} if isinstance(part, Step) else {}
    return ({"id": part.id} if part.id else {}) | fields_of(part) | body


def _write_section(
    edits: NodeEdits,
    root: nodes.Mapping,
    name: str,
    parts: tuple[Placed[Any], ...],
    planned: tuple[Planned[Any], ...],
) -> None:
    """Take the parts that no planned one comes from out of the mapping `name`, and put new ones in,
    each behind the one that it follows in the plan."""
    stays = {id(plan.old) for plan in planned if plan.old}
    gone = [placed for placed in parts if id(placed.part) not in stays]
    fresh = {plan.new.key: whole_part(plan.new) for plan in planned if not plan.old}
    section = root.own.get(name)
    if not gone and not fresh:
        return
    if section and section.value is not resolve(section.value):
        raise edits.refuse(section, f"`{name}` is shared by an alias")
    if len(gone) == len(parts) and section:
        edits.set_value(root, section, dict(fresh))
    elif len(gone) == len(parts):
        edits.put(root, None, root, {name: dict(fresh)}, tuple(_ORDER))
    else:
        for placed in gone:
            if placed.entry:
                edits.remove(placed.holder, placed.entry)
        for after, new in placements(parts, planned):
            if isinstance(after.holder, nodes.Mapping):
                edits.add(after.holder, new.key, fresh[new.key], after.entry)

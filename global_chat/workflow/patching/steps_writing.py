"""Writes a plan into a document of the portability form: one `steps:` list."""

from __future__ import annotations

from typing import Any

from global_chat.workflow.patching.next_writing import NextWriter
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.part_writing import placements, put
from global_chat.workflow.patching.plan import Plan, Planned
from global_chat.workflow.parts import Step, Trigger
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.nodes import Mapping, find, resolve, text_of, value_of
from global_chat.workflow.reading.nodes import Sequence as ListNode
from global_chat.workflow.reading.yaml_text import Data

_STEP = ("id", "name", "adaptor", "adaptors", "expression", "configuration", "openfn", "next")
_TRIGGER = ("id", "name", "type", "cron_expression", "enabled", "openfn", "next")
_CRON = ("cron", "cron_expression")


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    steps = {id(p.part): p for p in layout.steps}
    triggers = {id(p.part): p for p in layout.triggers}
    for step in plan.steps:
        if step.old:
            _write_step(edits, steps[id(step.old)], step.new, layout)
    for trigger in plan.triggers:
        if trigger.old:
            _write_trigger(edits, triggers[id(trigger.old)], trigger.new)
    _write_references(edits, layout, plan)
    following = NextWriter(edits, layout, plan.edges)
    following.write(plan)
    _write_items(edits, layout, plan, following)


def _write_step(edits: NodeEdits, placed: Placed[Step], new: Step, layout: Layout) -> None:
    old, mapping = placed.part, placed.mapping
    if mapping is None:
        return
    values: dict[str, str | bool | None] = {}
    if new.key != (old.key if text_of(mapping, "id") else new.name):
        values["id"] = new.key
    if new.name != (old.name if text_of(mapping, "name") else new.key):
        values["name"] = new.name
    if new.adaptor != old.adaptor and new.adaptor:
        listed = find(mapping, "adaptors")
        items = value_of(mapping, "adaptors")
        if text_of(mapping, "adaptor") is None and isinstance(items, ListNode) and items.items:
            if not listed or listed.value is not items or placed.node is not mapping:
                raise edits.refuse(placed.node, "its adaptors are shared by an alias")
            edits.set_item(items, items.items[0], new.adaptor)
        elif text_of(mapping, "adaptor") is None and _lists_adaptors(layout):
            edits.add(mapping, "adaptors", [new.adaptor])
        else:
            values["adaptor"] = new.adaptor
    put(edits, placed.holder, None, placed.node, values, _STEP)


def _write_trigger(edits: NodeEdits, placed: Placed[Trigger], new: Trigger) -> None:
    old, mapping = placed.part, placed.mapping
    if mapping is None or old == new:
        return
    if placed.node is not mapping:
        raise edits.refuse(placed.node, "what stands there is shared with another part by an alias")
    extra = value_of(mapping, "openfn")
    extra = extra if isinstance(extra, Mapping) else None
    values: dict[str, str | bool | None] = {}
    inner: dict[str, str | bool | None] = {}
    if new.key != old.key:
        values["id"] = new.key
    if new.type != old.type:
        values["type"] = new.type
    if new.enabled != old.enabled:
        inside = extra and "enabled" in extra.own and "enabled" not in mapping.own
        (inner if inside else values)["enabled"] = new.enabled
    if new.cron_expression != old.cron_expression:
        place = next((k for k in _CRON if extra and k in extra.own), None)
        if place is None and "cron_expression" in mapping.own:
            values["cron_expression"] = new.cron_expression
        else:
            inner[place or "cron"] = new.cron_expression
    _write_extra(edits, mapping, extra, inner)
    put(edits, placed.holder, None, placed.node, values, _TRIGGER)


def _write_extra(
    edits: NodeEdits,
    mapping: Mapping,
    extra: Mapping | None,
    values: dict[str, str | bool | None],
) -> None:
    """Values under `openfn`, which comes and goes with what it holds."""
    own = mapping.own.get("openfn")
    if not values:
        return
    if extra is None:
        given: dict[str, Data] = {k: v for k, v in values.items() if v is not None}
        last = [e for e in mapping.entries if e is not mapping.own.get("next")][-1]
        edits.add(mapping, "openfn", given, last)
    elif own and own.value is extra and all(values.get(k, "") is None for k in extra.own):
        edits.remove(mapping, own)
    elif own and own.value is extra:
        put(edits, mapping, own, extra, values, tuple(extra.own))
    else:
        raise edits.refuse(mapping, "its settings are shared by an alias")


def _write_references(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """`start` and a trigger's `cron_cursor` name a step or trigger; they follow a renamed one."""
    planned: list[Planned[Any]] = [*plan.triggers, *plan.steps]
    moved = {p.old.key: p.new.key for p in planned if p.old}
    holders: list[tuple[Mapping, str]] = [(layout.root, "start")]
    kept = {id(p.old) for p in plan.triggers if p.old}
    for placed in layout.triggers:
        extra = value_of(placed.mapping, "openfn") if placed.mapping else None
        if isinstance(extra, Mapping) and id(placed.part) in kept:
            holders.append((extra, "cron_cursor"))
    for mapping, name in holders:
        own, key = mapping.own.get(name), moved.get(text_of(mapping, name) or "")
        if own and key and key != text_of(mapping, name):
            edits.set_value(mapping, own, key)


def _write_items(edits: NodeEdits, layout: Layout, plan: Plan, following: NextWriter) -> None:
    """Take removed steps and triggers out of the list and put new ones in."""
    parts: list[Placed[Any]] = sorted(
        (*layout.triggers, *layout.steps), key=lambda placed: placed.node.start
    )
    planned: list[Planned[Any]] = [*plan.triggers, *plan.steps]
    stays = {id(p.old) for p in planned if p.old}
    fresh = {id(p.new): _data(p.new, layout, following) for p in planned if not p.old}
    section = layout.root.own.get("steps")
    if section is None or not (fresh or len(stays) < len(parts)):
        return
    if section.value is not resolve(section.value):
        raise edits.refuse(section, "`steps` is shared by an alias")
    if not stays:
        edits.set_value(layout.root, section, [*fresh.values()])
        return
    for placed in parts:
        if id(placed.part) not in stays:
            edits.remove(placed.holder, placed.node)
    for after, new in placements(parts, planned):
        if isinstance(after.holder, ListNode):
            edits.add_item(after.holder, fresh[id(new)], after.node)


def _data(part: Step | Trigger, layout: Layout, following: NextWriter) -> dict[str, Data]:
    """A whole new step or trigger with what follows it."""
    data: dict[str, Data] = {"id": part.key}
    extra: dict[str, Data] = {"uuid": part.id} if part.id else {}
    if isinstance(part, Step):
        data["name"] = part.name
        if part.adaptor and _lists_adaptors(layout):
            data["adaptors"] = [part.adaptor]
        elif part.adaptor:
            data["adaptor"] = part.adaptor
        data["expression"] = part.code or ""
    else:
        data["type"] = part.type or ""
        data["enabled"] = bool(part.enabled)
        extra |= {"cron": part.cron_expression} if part.cron_expression else {}
    data |= {"openfn": extra} if extra else {}
    following_data = following.data_after(part)
    return data | ({"next": following_data} if following_data else {})


def _lists_adaptors(layout: Layout) -> bool:
    """Whether the steps of the document write `adaptors:` rather than `adaptor:`."""
    mappings = [placed.mapping for placed in layout.steps if placed.mapping]
    listed = sum(find(mapping, "adaptors") is not None for mapping in mappings)
    return 2 * listed > sum(find(m, "adaptor") is not None for m in mappings) + listed

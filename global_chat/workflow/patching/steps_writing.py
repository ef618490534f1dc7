"""Writes a plan into a document of the portability form: one `steps:` list."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Step, Trigger
from global_chat.workflow.patching.next_writing import NextWriter
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.plan import EMPTY_BODY
from global_chat.workflow.patching.planned import Plan, Planned, placements
from global_chat.workflow.patching.setting_places import SETTINGS, changed_settings, within
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.trigger_settings import CURSOR, KAFKA, placed_settings
from global_chat.yaml.nodes import Mapping, entries_of, find, resolve, text_of, value_of
from global_chat.yaml.nodes import Sequence as ListNode
from global_chat.yaml.writing import Data

_STEP = ("id", "name", "adaptor", "adaptors", "expression", "configuration", "openfn", "next")
_CRON = ("cron", "cron_expression")
_TRIGGER = ("id", "name", "type", "cron_expression", "cron_cursor", *SETTINGS, "enabled", "openfn")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a document of this form writes what other documents write otherwise.

    `lists_adaptors`: `adaptors:` with a list. `in_openfn`: a trigger's settings stand under
    `openfn:`, and there the schedule under `cron_key`. `names_triggers`: triggers have a `name`.
    `without_ids`: steps have a name only.
    """

    lists_adaptors: bool
    in_openfn: bool
    cron_key: str
    names_triggers: bool
    without_ids: bool

    @classmethod
    def of(cls, layout: Layout) -> Dialect:
        steps = [placed.mapping for placed in layout.steps if placed.mapping]
        triggers = [placed.mapping for placed in layout.triggers if placed.mapping]
        listed = sum(find(mapping, "adaptors") is not None for mapping in steps)
        single = sum(find(mapping, "adaptor") is not None for mapping in steps)
        extras = [extra for m in triggers if isinstance(extra := value_of(m, "openfn"), Mapping)]
        keys = {key for extra in extras for key in entries_of(extra)}
        return cls(
            lists_adaptors=listed > single,
            in_openfn=_settings_in_openfn(layout, triggers, steps),
            cron_key="cron_expression" if "cron_expression" in keys - {"cron"} else "cron",
            names_triggers=all(text_of(m, "name") for m in triggers)
            and (bool(triggers) or "schema_version" in layout.root.own),
            without_ids=bool(steps) and not any(find(m, "id") for m in steps),
        )

    def spelled(self, settings: MappingOf[str, Data]) -> dict[str, Data]:
        """Settings under the names that this form has for them."""
        found: dict[str, Data] = {}
        for name, value in settings.items():
            if name == KAFKA and isinstance(value, dict) and not self.in_openfn:
                found |= value
            else:
                usual = {CURSOR: "cron_cursor", KAFKA: "kafka" if self.in_openfn else KAFKA}
                found[usual.get(name, name)] = value
        return found


def _settings_in_openfn(layout: Layout, triggers: list[Mapping], steps: list[Mapping]) -> bool:
    """By what stands there; else by the marks of the app's newer form, which has no `openfn`."""
    for mapping in triggers:
        extra = value_of(mapping, "openfn")
        holders = [place.holder for place in placed_settings(mapping)]
        if "cron_expression" in mapping.own or mapping in holders:
            return False
        if isinstance(extra, Mapping) and any(key != "uuid" for key in entries_of(extra)):
            return True
    if any(find(mapping, "openfn") for mapping in (*triggers, *steps)):
        return True
    return not {"schema_version", "start"} & layout.root.own.keys()


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    dialect = Dialect.of(layout)
    steps = {id(p.part): p for p in layout.steps}
    triggers = {id(p.part): p for p in layout.triggers}
    ids = {step.new.key: step.new.id for step in plan.steps}
    for step in plan.steps:
        if step.old:
            _write_step(edits, steps[id(step.old)], step.new, dialect)
    for trigger in plan.triggers:
        if trigger.old:
            _write_trigger(edits, triggers[id(trigger.old)], trigger.new, ids, dialect)
    start = layout.root.own.get("start")
    if start and plan.start is None:
        edits.remove(layout.root, start)
    elif start and plan.start and plan.start != layout.start:
        edits.set_value(layout.root, start, plan.start)
    following = NextWriter(edits, layout, plan.edges)
    following.write(plan)
    _write_items(edits, layout, plan, following, dialect)


def _write_step(edits: NodeEdits, placed: Placed[Step], new: Step, dialect: Dialect) -> None:
    old, mapping = placed.part, placed.mapping
    if mapping is None:
        return
    values: dict[str, Data] = {}
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
        elif text_of(mapping, "adaptor") is None and dialect.lists_adaptors:
            edits.add(mapping, "adaptors", [new.adaptor])
        else:
            values["adaptor"] = new.adaptor
    edits.put(placed.holder, None, placed.node, values, _STEP)


def _write_trigger(
    edits: NodeEdits,
    placed: Placed[Trigger],
    new: Trigger,
    ids: MappingOf[str, str | None],
    dialect: Dialect,
) -> None:
    old, mapping = placed.part, placed.mapping
    if mapping is None or old == new:
        return
    if placed.node is not mapping:
        raise edits.refuse(placed.node, "what stands there is shared with another part by an alias")
    extra = value_of(mapping, "openfn")
    inner = extra.own if isinstance(extra, Mapping) else {}
    values = changed_settings(mapping, old, new, ids, dialect.spelled, in_openfn=dialect.in_openfn)
    if new.key != old.key:
        values["name" if text_of(mapping, "id") is None else "id"] = new.key
        if text_of(mapping, "name") == old.key:
            values["name"] = new.key
    if new.type != old.type:
        values["type"] = new.type
    if new.enabled != old.enabled:
        inside = "enabled" in inner and "enabled" not in mapping.own
        within(values, ("openfn",) if inside else ())["enabled"] = new.enabled
    if new.cron_expression != old.cron_expression:
        place = next((key for key in _CRON if key in inner), None)
        if place is None and ("cron_expression" in mapping.own or not dialect.in_openfn):
            values["cron_expression"] = new.cron_expression
        else:
            within(values, ("openfn",))[place or dialect.cron_key] = new.cron_expression
    edits.put(placed.holder, None, placed.node, values, _TRIGGER)


def _write_items(
    edits: NodeEdits, layout: Layout, plan: Plan, following: NextWriter, dialect: Dialect
) -> None:
    """Take removed steps and triggers out of the list and put new ones in."""
    parts: list[Placed[Any]] = sorted(
        (*layout.triggers, *layout.steps), key=lambda placed: placed.node.start
    )
    planned: list[Planned[Any]] = [*plan.triggers, *plan.steps]
    stays = {id(p.old) for p in planned if p.old}
    fresh = {id(p.new): _data(p.new, dialect, following) for p in planned if not p.old}
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


def _data(part: Step | Trigger, dialect: Dialect, following: NextWriter) -> dict[str, Data]:
    """A whole new step or trigger with what follows it."""
    data: dict[str, Data] = {"id": part.key}
    extra: dict[str, Data] = {"uuid": part.id} if part.id else {}
    if isinstance(part, Step):
        data = {} if dialect.without_ids else data
        data["name"] = part.name
        if part.adaptor:
            adaptors: Data = [part.adaptor]
            listed = dialect.lists_adaptors
            data["adaptors" if listed else "adaptor"] = adaptors if listed else part.adaptor
        data["expression"] = part.code or EMPTY_BODY
    else:
        data |= {"name": part.key} if dialect.names_triggers else {}
        data |= {"type": part.type or "", "enabled": bool(part.enabled)}
        settings = dialect.spelled(part.settings)
        if part.cron_expression:
            key = dialect.cron_key if dialect.in_openfn else "cron_expression"
            settings = {key: part.cron_expression, **settings}
        if dialect.in_openfn:
            extra |= settings
        else:
            data |= settings
    data |= {"openfn": extra} if extra else {}
    following_data = following.data_after(part)
    return data | ({"next": following_data} if following_data else {})

"""Writes a plan into a document of the portability form: one `steps:` list, joined by `next`, which
holds a word, a list of words, or a map.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.forms.layout import Layout, Placed, Plan, Planned, write_section
from global_chat.workflow.forms.settings import (
    CURSOR,
    KAFKA,
    SETTINGS,
    changed_settings,
    placed_settings,
    within,
)
from global_chat.workflow.parts import EMPTY_BODY, Edge, Step, Trigger
from global_chat.yaml.node_edits import NodeEdits
from global_chat.yaml.nodes import (
    Entry,
    Mapping,
    Node,
    Scalar,
    entries_of,
    find,
    resolve,
    text_of,
    value_of,
)
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
        own = any(not setting.path for setting in placed_settings(mapping))
        if "cron_expression" in mapping.own or own:
            return False
        if isinstance(extra, Mapping) and any(key != "uuid" for key in entries_of(extra)):
            return True
    if any(find(mapping, "openfn") for mapping in (*triggers, *steps)):
        return True
    return not {"schema_version", "start"} & layout.root.own.keys()


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    dialect = Dialect.of(layout)
    ids = {step.new.key: step.new.id for step in plan.steps}
    for step in plan.steps:
        if step.placed:
            _write_step(edits, step.placed, step.new, dialect)
    for trigger in plan.triggers:
        if trigger.placed:
            _write_trigger(edits, trigger.placed, trigger.new, ids, dialect)
    start = layout.root.own.get("start")
    if start and plan.start is None:
        edits.remove(layout.root, start)
    elif start and plan.start and plan.start != layout.start:
        edits.set_value(layout.root, start, plan.start)
    following = NextWriter(edits, layout, plan.edges)
    planned: list[Planned[Any]] = [*plan.triggers, *plan.steps]
    for part in planned:
        if part.placed:
            following.write_after(part.placed, part.new)
    parts: list[Placed[Any]] = [*layout.triggers, *layout.steps]
    parts.sort(key=lambda placed: placed.node.start)

    def whole(part: Step | Trigger) -> dict[str, Data]:
        return _data(part, dialect, following)

    write_section(edits, layout, "steps", parts, planned, whole)


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


_EDGE = ("condition", "expression", "label", "condition_label", "disabled", "enabled", "openfn")


@dataclass(frozen=True, slots=True)
class _Style:
    """How a document writes what follows a step. `maps`: as a mapping even where a word would do.
    `bare_conditions`: a target's value is its condition. `switch`: the key that every path has,
    `enabled` or `disabled`; None when only paths that are off say so. `switch_first`: before the
    condition."""

    maps: bool
    bare_conditions: bool
    switch: str | None
    switch_first: bool

    @classmethod
    def of(cls, layout: Layout) -> _Style:
        bare = sum(p.entry is None for p in layout.edges)
        maps = len({id(p.holder) for p in layout.edges if p.entry})
        newer = bool({"schema_version", "start"} & layout.root.own.keys())
        values = [resolve(p.node) for p in layout.edges if p.entry]
        inner = [value for value in values if isinstance(value, Mapping)]
        switched = next(
            (k for k in ("disabled", "enabled") if all(k in v.own for v in inner)), None
        )
        return cls(
            maps=maps > bare or (newer and not bare),
            bare_conditions=len(inner) < len(values) - len(inner),
            switch=switched if inner else None,
            switch_first=bool(inner) and next(iter(inner[0].own), None) == switched,
        )


class NextWriter:
    """The `next` of every step and trigger of one workflow, as the plan wants it."""

    def __init__(self, edits: NodeEdits, layout: Layout, planned: Iterable[Planned[Edge]]) -> None:
        self._edits = edits
        self._spelling = _spelling(layout)
        self._style = _Style.of(layout)
        self._old: dict[tuple[bool, str], list[Placed[Edge]]] = {}
        self._planned: dict[tuple[bool, str], list[Planned[Edge]]] = {}
        for placed in layout.edges:
            self._old.setdefault(_source(placed.part), []).append(placed)
        for plan in planned:
            self._planned.setdefault(_source(plan.new), []).append(plan)

    def data_after(self, part: Step | Trigger) -> Data | None:
        """What `next` holds for a new part; None when nothing follows it."""
        planned = self._planned.get(_end(part), [])
        return self._data([plan.new for plan in planned]) if planned else None

    def write_after(self, owner: Placed[Any], part: Step | Trigger) -> None:
        """Edit what follows a step or trigger that stays and becomes `part`."""
        node, mapping = owner.node, owner.mapping
        old, planned = self._old.get(_end(owner.part), []), self._planned.get(_end(part), [])
        here = {id(placed) for placed in old}
        stay = [(p.placed, p.new) for p in planned if p.placed and id(p.placed) in here]
        come = [p.new for p in planned if not p.placed or id(p.placed) not in here]
        left = {id(placed) for placed, _ in stay}
        gone = [placed for placed in old if id(placed) not in left]
        if not come and not gone and all(placed.part == new for placed, new in stay):
            return
        if mapping is None or node is not mapping:
            raise self._edits.refuse(node, "what stands there is shared by an alias")
        own = mapping.own.get("next")
        if own is None and not old:
            self._edits.add(mapping, "next", self._data(come))
        elif own is None or own.value is not resolve(own.value):
            raise self._edits.refuse(node, "its `next` is shared by an alias")
        elif not stay and not come:
            self._edits.remove(mapping, own)
        elif stay and isinstance(own.value, Mapping):
            self._write_map(own.value, stay, come, gone)
        elif self._only_renamed(stay) and not come and not gone:
            for placed, new in stay:
                self._edits.rename(placed.node, new.target or "")
        else:
            wanted = [p.new for p in planned]
            self._edits.set_value(mapping, own, self._data(wanted))

    def _only_renamed(self, stay: list[tuple[Placed[Edge], Edge]]) -> bool:
        return all(_value(placed.part) == _value(new) for placed, new in stay)

    def _write_map(
        self,
        holder: Mapping,
        stay: list[tuple[Placed[Edge], Edge]],
        come: list[Edge],
        gone: list[Placed[Edge]],
    ) -> None:
        for placed in gone:
            if placed.entry:
                self._edits.remove(holder, placed.entry)
        last: Entry | None = None
        for placed, new in stay:
            last = placed.entry
            if last is None:
                continue
            if placed.part.target != new.target:
                self._edits.rename(last.key, new.target or "")
            self._write_value(holder, last, placed.part, new)
        for edge in come:
            self._edits.add(holder, edge.target or "", self._edge_data(edge), last)

    def _write_value(self, holder: Mapping, entry: Entry, old: Edge, new: Edge) -> None:
        """Change what stands behind a target. A bare condition becomes a map when it needs to."""
        if _value(old) == _value(new):
            return
        node = entry.value
        same_condition = _condition(old) == _condition(new)
        rest = (old.condition_label, old.enabled) == (new.condition_label, new.enabled)
        if isinstance(node, Scalar) and rest:
            self._edits.set_value(holder, entry, self._condition_text(new))
            return
        if isinstance(node, Scalar):
            self._edits.set_value(holder, entry, self._edge_data(new))
            return
        values: dict[str, Data] = {}
        own = node.own if isinstance(node, Mapping) else {}
        if not same_condition:
            values |= self._condition_values(node, old, new)
        if old.condition_label != new.condition_label:
            name = "condition_label" if "condition_label" in own else "label"
            values[name] = new.condition_label
        if old.enabled != new.enabled:
            if "enabled" in own and "disabled" not in own:
                values["enabled"] = new.enabled
            else:
                values["disabled"] = new.enabled is False
        self._edits.put(holder, entry, node, values, _EDGE)

    def _condition_values(self, node: Node, old: Edge, new: Edge) -> dict[str, Data]:
        """A condition is one value, or the word `js_expression` with an `expression` beside it."""
        beside = text_of(node, "expression") if isinstance(node, Mapping) else None
        if beside is None or beside != old.condition_expression:
            return {"condition": self._condition_text(new)}
        if new.condition_type == "js_expression":
            return {"expression": new.condition_expression}
        return {"condition": self._condition_text(new), "expression": None}

    def _data(self, edges: list[Edge]) -> Data:
        """All paths of one source: a bare target when there is one and it always runs, unless the
        document writes mappings."""
        bare = len(edges) == 1 and _value(edges[0]) == ("always", "", None, True)
        if bare and not edges[0].id and not self._style.maps:
            return edges[0].target or ""
        return {edge.target or "": self._edge_data(edge) for edge in edges}

    def _edge_data(self, edge: Edge) -> Data:
        plain = not edge.condition_label and edge.enabled is not False and not edge.id
        if plain and self._style.bare_conditions:
            return self._condition_text(edge)
        switch = self._style.switch
        off = edge.enabled is False
        on: dict[str, Data] = {}
        if off or switch:
            on[switch or "disabled"] = not off if switch == "enabled" else off
        data: dict[str, Data] = {**on} if self._style.switch_first else {}
        data["condition"] = self._condition_text(edge)
        if edge.condition_label:
            data["label"] = edge.condition_label
        data |= on
        return data | ({"openfn": {"uuid": edge.id}} if edge.id else {})

    def _condition_text(self, edge: Edge) -> str:
        kind = edge.condition_type or "always"
        if kind == "js_expression":
            return edge.condition_expression or ""
        return self._spelling.get(kind, kind)


def _end(part: Step | Trigger) -> tuple[bool, str]:
    return isinstance(part, Trigger), part.key


def _source(edge: Edge) -> tuple[bool, str]:
    trigger = edge.source_trigger is not None
    return trigger, (edge.source_trigger if trigger else edge.source_step) or ""


def _condition(edge: Edge) -> tuple[str, str]:
    return edge.condition_type or "always", (edge.condition_expression or "").strip()


def _value(edge: Edge) -> tuple[str, str, str | None, bool]:
    return (*_condition(edge), edge.condition_label, edge.enabled is not False)


def _spelling(layout: Layout) -> dict[str, str]:
    """How the document writes success and failure: by name, or as `!state.errors`."""
    found: dict[str, str] = {}
    for placed in layout.edges:
        kind, node = placed.part.condition_type, resolve(placed.node)
        text = text_of(node, "condition") if isinstance(node, Mapping) else None
        if isinstance(node, Scalar) and placed.entry:
            text = node.text
        if kind in ("on_job_success", "on_job_failure") and text:
            found.setdefault(kind, text)
    return found

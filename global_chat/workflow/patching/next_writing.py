"""Writes the paths of the portability form: `next` as a word, a list of words, or a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.planned import Plan, Planned
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.yaml.nodes import Entry, Mapping, Node, Scalar, resolve, text_of
from global_chat.yaml.writing import Data

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
        self._layout = layout
        for placed in layout.edges:
            self._old.setdefault(_source(placed.part), []).append(placed)
        for plan in planned:
            self._planned.setdefault(_source(plan.new), []).append(plan)

    def write(self, plan: Plan) -> None:
        """Edit what follows every step and trigger that stays."""
        parts: list[Placed[Any]] = [*self._layout.steps, *self._layout.triggers]
        planned_parts: list[Planned[Any]] = [*plan.triggers, *plan.steps]
        placed = {id(p.part): p for p in parts}
        for part in planned_parts:
            if part.old:
                owner = placed[id(part.old)]
                trigger = isinstance(part.old, Trigger)
                old = self._old.get((trigger, part.old.key), [])
                planned = self._planned.get((trigger, part.new.key), [])
                self._write_one(owner.node, owner.mapping, old, planned)

    def data_after(self, part: Step | Trigger) -> Data | None:
        """What `next` holds for a new part; None when nothing follows it."""
        planned = self._planned.get((isinstance(part, Trigger), part.key), [])
        return self._data([plan.new for plan in planned]) if planned else None

    def _write_one(
        self,
        node: Node,
        mapping: Mapping | None,
        old: list[Placed[Edge]],
        planned: list[Planned[Edge]],
    ) -> None:
        here = {id(placed.part): placed for placed in old}
        stay = [(here[id(p.old)], p.new) for p in planned if p.old and id(p.old) in here]
        come = [p.new for p in planned if not p.old or id(p.old) not in here]
        left = {id(placed.part) for placed, _ in stay}
        gone = [placed for placed in old if id(placed.part) not in left]
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

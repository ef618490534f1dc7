"""Plans the paths of a patch: which ones stay, move, change, come and go.

A path of the document is known by its key. Renamed steps take their paths along, removed steps
lose theirs, and a path that takes the place of another keeps its switch and its condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from global_chat.workflow.checking.code import condition_problem
from global_chat.workflow.checking.edges import CONDITION_TYPES, allowed_conditions
from global_chat.workflow.drafting import edge_fields
from global_chat.workflow.finding import find_step
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch
from global_chat.workflow.patching.planned import Findings, Planned, fresh_id, not_there
from global_chat.workflow.reading import steps_form
from global_chat.workflow.reading.forms import Layout

#: A step or a trigger as one end of a path: whether it is a trigger, and its key in the result.
#: A part that is removed keeps its old key here.
End: TypeAlias = tuple[bool, str]

_ENDS = ("source_trigger", "source_job", "target_job")


@dataclass(frozen=True, slots=True)
class _Ends:
    """Finds the parts of the result by the keys that they had, have, or are called by."""

    steps: dict[str, str | None]
    triggers: dict[str, str | None]
    result: tuple[Step, ...]

    @classmethod
    def of(
        cls,
        layout: Layout,
        patch: Patch,
        steps: Iterable[Planned[Step]],
        triggers: Iterable[Planned[Trigger]],
    ) -> _Ends:
        """Keys of the document and of the patch, each with its key in the result; None: removed."""
        step_keys: dict[str, str | None] = {p.part.key: None for p in layout.steps}
        trigger_keys: dict[str, str | None] = {p.part.key: None for p in layout.triggers}
        result = tuple(plan.new for plan in steps)
        step_keys |= {step.key: step.key for step in result}
        step_keys |= {plan.old.key: plan.new.key for plan in steps if plan.old}
        planned = tuple(triggers)
        trigger_keys |= {plan.new.key: plan.new.key for plan in planned}
        trigger_keys |= {plan.old.key: plan.new.key for plan in planned if plan.old}
        if len(planned) == 1:
            trigger_keys |= dict.fromkeys(patch.triggers, planned[0].new.key)
        return cls(step_keys, trigger_keys, result)

    def step(self, name: str) -> str | None:
        """The key in the result of the step that a patch calls `name`; None when there is none."""
        if name in self.steps:
            return self.steps[name]
        found = find_step(self.result, name)
        return found.key if found else None

    def trigger(self, name: str) -> str | None:
        """The same for a trigger. The only one is meant whatever it is called."""
        alone = {key for key in self.triggers.values() if key}
        if name in self.triggers:
            return self.triggers[name]
        return alone.pop() if len(alone) == 1 else None

    def of_document(self, edge: Edge) -> tuple[End | None, str | None, bool]:
        """Source and target of an edge of the document in the result, and whether both were ever
        there: an edge that points at nothing did so before."""
        is_trigger = edge.source_trigger is not None
        keys = self.triggers if is_trigger else self.steps
        source, target = edge.source_trigger or edge.source_step or "", edge.target or ""
        whole = source in keys and target in self.steps
        whole = whole and not (is_trigger and edge.source_step is not None)
        now = keys.get(source)
        return (is_trigger, now) if now else None, self.steps.get(target), whole

    def now(self, edge: Edge) -> tuple[End, End]:
        """Where an edge of the document runs; a part that is removed has its old key here."""
        (is_trigger, source), (_, target) = _ends(edge)
        keys = self.triggers if is_trigger else self.steps
        return (is_trigger, keys.get(source) or source), (False, self.steps.get(target) or target)


def plan_paths(
    layout: Layout,
    patch: Patch,
    steps: Iterable[Planned[Step]],
    triggers: Iterable[Planned[Trigger]],
    found: Findings,
) -> list[Planned[Edge]]:
    """The paths of the result, new ones behind the last one that leaves the same part."""
    ends = _Ends.of(layout, patch, list(steps), triggers)
    planned: list[Planned[Edge]] = []
    gone: list[Edge] = []
    for edge in (placed.part for placed in layout.edges):
        fields = patch.edges.get(edge.key, {})
        removed = f"edges.{edge.key}" in patch.remove
        new = None if removed else _kept(edge, fields, ends, layout, found)
        if new:
            planned.append(Planned(edge, new))
        else:
            gone.append(edge)
    there = [placed.part.key for placed in layout.edges]
    known, fresh = set(there), list[_Fresh]()
    for key in [key for key in patch.edges if key not in known]:
        new = _new(key, patch.edges[key], ends, layout, found, there)
        if new and not _drawn_already(new, patch.edges[key], planned, layout, found):
            planned.append(Planned(None, new))
            fresh.append(_Fresh(new, patch.edges[key]))
    _take_over(fresh, gone, ends, found)
    written = {id(one.given): one.edge for one in fresh}
    planned = [replace(plan, new=written.get(id(plan.new), plan.new)) for plan in planned]
    for plan in planned:
        if plan.changes:
            _check_condition(plan.new, layout, found)
    return _in_order(_with_own_keys(planned, layout))


def _kept(edge: Edge, fields: Fields, ends: _Ends, layout: Layout, found: Findings) -> Edge | None:
    """What the patch makes of a path of the document; None when it goes with one of its ends."""
    shown = edge_fields(edge)
    fields = {name: value for name, value in fields.items() if shown.get(name) != value}
    source, target, whole = ends.of_document(edge)
    moves = [name for name in _ENDS if fields.get(name) is not None]
    if not whole and not moves:
        return _dangling(_conditioned(edge, fields, layout), source, target)
    given_source, given_target = _given_ends(edge.key, fields, ends, found)
    source, target = given_source or source, given_target or target
    if source is None or target is None:
        if fields.keys() - {*_ENDS, "id"}:
            found.problems.append(
                f"The path `{edge.key}` goes with a part that is removed, so it cannot be changed. "
                "Leave it out, or give it ends that stay."
            )
        return None
    return _between(_conditioned(edge, fields, layout), source, target)


def _dangling(edge: Edge, source: End | None, target: str | None) -> Edge:
    """A path that points at nothing did so before: the end that is there may have another key."""
    if source is None or (edge.source_trigger is not None and edge.source_step is not None):
        return edge
    return _between(edge, source, target or edge.target or "") if edge.target else edge


def _between(edge: Edge, source: End, target: str) -> Edge:
    key = edge.key
    if key == f"{edge.source_trigger or edge.source_step}->{edge.target}":
        key = f"{source[1]}->{target}"
    return replace(
        edge,
        key=key,
        target=target,
        source_trigger=source[1] if source[0] else None,
        source_step=None if source[0] else source[1],
    )


def _given_ends(
    key: str, fields: Fields, ends: _Ends, found: Findings
) -> tuple[End | None, str | None]:
    """Where the patch says that a path runs. What it points at must be there."""
    texts = {name: str(fields[name]) for name in _ENDS if fields.get(name) is not None}
    source: End | None = None
    if "source_trigger" in texts and "source_job" in texts:
        found.problems.append(f"The path `{key}` needs one source: a trigger or a step, not both.")
        return None, None
    looked: list[tuple[str, str | None]] = []
    if "target_job" in texts:
        looked.append((texts["target_job"], ends.step(texts["target_job"])))
    target = looked[0][1] if looked else None
    for name, is_trigger in (("source_trigger", True), ("source_job", False)):
        if (text := texts.get(name)) is not None:
            at = ends.trigger(text) if is_trigger else ends.step(text)
            if at is None and not is_trigger and text in ends.triggers:
                at, is_trigger = ends.triggers[text], True
            source = (is_trigger, at) if at else None
            looked.append((text, at))
    for text, at in looked:
        if at is None:
            there = [step.key for step in ends.result]
            found.problems.append(f"Path `{key}`: {not_there('step', text, there, 'Name one')}")
    return source, target


def _conditioned(edge: Edge, fields: Fields, layout: Layout) -> Edge:
    """The path with condition, label and switch after a patch. An expression that comes alone makes
    the path conditional; it goes, and so does its label, with that kind of condition."""

    def text(name: str, old: str | None) -> str | None:
        value = fields.get(name, old)
        return None if value is None else str(value)

    expression = text("condition_expression", edge.condition_expression)
    if (expression or "").strip() == (edge.condition_expression or "").strip():
        expression = edge.condition_expression
    kind = text("condition_type", edge.condition_type)
    label = text("condition_label", edge.condition_label)
    if fields.get("condition_expression") and "condition_type" not in fields:
        kind = "js_expression"
    named = steps_form.CONDITIONS.get((expression or "").strip())
    if layout.form == "steps" and kind == "js_expression" and named:
        kind = named  # there is no other way to write this there
    if kind != "js_expression" and kind != edge.condition_type:
        expression = None
        label = text("condition_label", None)
    enabled = fields.get("enabled", edge.enabled)
    return replace(
        edge,
        condition_type=kind,
        condition_expression=expression,
        condition_label=label,
        enabled=enabled if isinstance(enabled, bool) else None,
    )


def _new(
    key: str, fields: Fields, ends: _Ends, layout: Layout, found: Findings, there: list[str]
) -> Edge | None:
    """A path that the document has not: on, unless it is given as off."""
    sources = [fields.get("source_trigger"), fields.get("source_job")]
    if fields.get("target_job") is None or sources == [None, None]:
        needs = "A new one needs a source (`source_trigger` or `source_job`) and a `target_job`"
        found.problems.append(not_there("path", key, there, needs))
        return None
    source, target = _given_ends(key, fields, ends, found)
    if not source or not target:
        return None
    usual = "always" if source[0] else "on_job_success"
    edge = Edge(key, target, condition_type=usual, enabled=True)
    edge = _conditioned(edge, fields, layout)
    custom = layout.form == "jobs" and "->" not in key and key.strip()
    return replace(
        _between(edge, source, target),
        key=key if custom else f"{source[1]}->{target}",
        enabled=edge.enabled is not False,
        id=fresh_id((p.part.id for p in layout.edges), layout),
    )


def _drawn_already(
    edge: Edge, fields: Fields, planned: Iterable[Planned[Edge]], layout: Layout, found: Findings
) -> bool:
    """Whether another path joins the same two parts: the app draws one. Then it must say the same.

    A path of the document is changed under its own key.
    """
    other = next((plan.new for plan in planned if _joined(plan.new) == _joined(edge)), None)
    if other and _conditioned(other, fields, layout) != other:
        found.problems.append(
            f"The path `{other.key}` joins the same two parts as `{edge.key}`. Change it under "
            "that key; there is one path between two parts."
        )
    return other is not None


def _joined(edge: Edge) -> tuple[str | None, ...]:
    return edge.source_trigger, edge.source_step, edge.target


@dataclass(slots=True)
class _Fresh:
    """A new path: as it was `given` by the fields of the patch, and what it becomes."""

    given: Edge
    fields: Fields
    edge: Edge = field(init=False)

    def __post_init__(self) -> None:
        self.edge = self.given

    @property
    def ends(self) -> tuple[End, End]:
        return _ends(self.given)

    def inherit(self, lost: Edge, *, condition: bool) -> None:
        """Take over what the patch does not say of this path from the one that it replaces."""
        if lost.enabled is False and "enabled" not in self.fields:
            self.edge = replace(self.edge, enabled=False)
        if condition and not {"condition_type", "condition_expression"} & self.fields.keys():
            self.edge = replace(
                self.edge,
                condition_type=lost.condition_type,
                condition_expression=lost.condition_expression,
                condition_label=self.edge.condition_label or lost.condition_label,
            )


def _take_over(fresh: list[_Fresh], gone: list[Edge], ends: _Ends, found: Findings) -> None:
    """New paths that take the place of one that goes keep its condition and its switch.

    A way through new paths takes the place of one through paths that go when both leave the same
    part and meet again.
    """
    new_ways = _ways(one.ends for one in fresh)
    old_ways = _ways(ends.now(edge) for edge in gone)
    leaving: dict[End, list[_Fresh]] = {}
    for one in fresh:
        leaving.setdefault(one.ends[0], []).append(one)
    for lost in gone:
        source, target = ends.now(lost)
        for first in leaving.get(source, ()):
            reached = _reached(first.ends[1], new_ways)
            meeting = reached & _reached(target, old_ways)
            if meeting:
                way = [one for one in fresh if one.ends[0] in reached]
                way = [first, *(w for w in way if _reached(w.ends[1], new_ways) & meeting)]
                for one in way:
                    one.inherit(lost, condition=one is first)
                if lost.enabled is False and all(one.edge.enabled is not False for one in way):
                    found.warnings.append(
                        f"The path from {source[1]} to {target[1]} was switched off; what takes "
                        "its place is switched on."
                    )
                break


def _ends(edge: Edge) -> tuple[End, End]:
    is_trigger = edge.source_trigger is not None
    source = edge.source_trigger if is_trigger else edge.source_step
    return (is_trigger, source or ""), (False, edge.target or "")


def _ways(paths: Iterable[tuple[End, End]]) -> dict[End, list[End]]:
    ways: dict[End, list[End]] = {}
    for source, target in paths:
        ways.setdefault(source, []).append(target)
    return ways


def _reached(start: End, ways: dict[End, list[End]]) -> set[End]:
    reached: set[End] = set()
    waiting = [start]
    while waiting:
        end = waiting.pop()
        if end not in reached:
            reached.add(end)
            waiting += ways.get(end, ())
    return reached


def _check_condition(edge: Edge, layout: Layout, found: Findings) -> None:
    """Not every form can hold what is wrong here, so it is told before anything is written."""
    kind = edge.condition_type
    if kind not in (None, *allowed_conditions(layout.form)):
        found.problems.append(
            f"The path `{edge.key}` has the unknown condition type `{str(kind)[:40]}`. "
            f"It is one of {', '.join(CONDITION_TYPES)}."
        )
    expression = (edge.condition_expression or "").strip()
    if kind == "js_expression" and not expression:
        found.problems.append(
            f"The path `{edge.key}` is a `js_expression` without a `condition_expression`."
        )
    elif kind == "js_expression" and (wrong := condition_problem(expression)):
        found.problems.append(f"Path `{edge.key}`: {wrong}")


def _with_own_keys(planned: list[Planned[Edge]], layout: Layout) -> list[Planned[Edge]]:
    """Every path under a key of its own: one that keeps its key goes before one that changes it.

    In the list form keys are not written: there a path's key is what it joins.
    """
    if layout.form == "steps":
        return planned
    taken = {plan.new.key for plan in planned if plan.old and plan.old.key == plan.new.key}
    result: list[Planned[Edge]] = []
    for plan in planned:
        key, number = plan.new.key, 1
        if not (plan.old and plan.old.key == key):
            while key in taken:
                number += 1
                key = f"{plan.new.key}-{number}"
            taken.add(key)
        result.append(replace(plan, new=replace(plan.new, key=key)))
    return result


def _in_order(planned: list[Planned[Edge]]) -> list[Planned[Edge]]:
    ordered = [plan for plan in planned if plan.old]
    for plan in planned:
        if plan.old is None:
            source = _ends(plan.new)[0]
            same = [n for n, p in enumerate(ordered) if _ends(p.new)[0] == source]
            ordered.insert(same[-1] + 1 if same else len(ordered), plan)
    return ordered

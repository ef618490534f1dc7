"""Plans the paths of a patch: which ones stay, move, change, come and go.

A path of the document is known by its key. Renamed steps take their paths along, removed steps
lose theirs, and a path that takes the place of another keeps its switch and its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from global_chat.workflow.checking.code import condition_problem
from global_chat.workflow.finding import find_step
from global_chat.workflow.forms.jobs import JOBS
from global_chat.workflow.forms.layout import Layout, Planned
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch
from global_chat.workflow.patching.given import Findings, fresh_id, not_there

#: A step or a trigger as one end of a path: whether it is a trigger, and its key in the result.
#: A part that is removed keeps its old key here.
End: TypeAlias = tuple[bool, str]

#: More paths than this that come or go replace nothing one by one.
MOST_REPLACED = 100

_ENDS = ("source_trigger", "source_job", "target_job")
_CONDITION = frozenset({"condition_type", "condition_expression"})


def plan_paths(
    layout: Layout,
    patch: Patch,
    steps: Sequence[Planned[Step]],
    triggers: Sequence[Planned[Trigger]],
    found: Findings,
) -> list[Planned[Edge]]:
    """The paths of the result, new ones behind the last one that leaves the same part."""
    planner = _PathPlanner(layout, found, steps, triggers, patch)
    planned: list[Planned[Edge]] = []
    fresh, gone = list[_Path](), list[_Path]()
    for placed in layout.edges:
        edge = placed.part
        new = planner.kept(edge, patch.edges.get(edge.key, {}))
        if new and f"edges.{edge.key}" not in planner.removed:
            planned.append(Planned(placed, new))
        else:
            gone.append(_Path(edge, planner.ends_now(edge)))
    drawn = {_ends(plan.new): plan.new for plan in planned}
    for key, fields in patch.edges.items():
        if key not in planner.there and (new := planner.new(key, fields)):
            if _ends(new) not in drawn:
                fresh.append(_Path(new, _ends(new), fields))
            elif planner.says_otherwise(drawn[_ends(new)], fields):
                found.problems.append(
                    f"`{key}` would join the same two parts as the path `{drawn[_ends(new)].key}`: "
                    "change that one under its key. There is one path between two parts."
                )
            drawn.setdefault(_ends(new), new)
    _take_over(fresh, gone, found)
    planned += [Planned(None, path.edge) for path in fresh]
    for plan in planned:
        if plan.old is None or _condition(plan.old) != _condition(plan.new):
            _check_condition(plan.new, layout, found)
    return _in_order(_with_own_keys(planned, layout))


class _PathPlanner:
    """Says of every path of the document and of the patch where and how it runs afterwards.

    `steps` and `triggers` hold the key that a part has in the result by every key that it had or is
    called by; None for one that is removed.
    """

    def __init__(
        self,
        layout: Layout,
        found: Findings,
        steps: Sequence[Planned[Step]],
        triggers: Sequence[Planned[Trigger]],
        patch: Patch,
    ) -> None:
        self.layout, self.found, self.removed = layout, found, frozenset(patch.remove)
        self.there = {placed.part.key: placed.part for placed in layout.edges}
        self.result = tuple(plan.new for plan in steps)
        self.steps: dict[str, str | None] = {p.part.key: None for p in layout.steps}
        self.triggers: dict[str, str | None] = {p.part.key: None for p in layout.triggers}
        for keys, parts in ((self.steps, steps), (self.triggers, triggers)):
            keys |= {plan.new.key: plan.new.key for plan in parts}
            keys |= {plan.old.key: plan.new.key for plan in parts if plan.old}
        if len(triggers) == 1:
            self.triggers |= dict.fromkeys(patch.triggers, triggers[0].new.key)

    def ends_now(self, edge: Edge) -> tuple[End, End]:
        """Where a path of the document runs in the result."""
        (is_trigger, source), (_, target) = _ends(edge)
        keys = self.triggers if is_trigger else self.steps
        return (is_trigger, keys.get(source) or source), (False, self.steps.get(target) or target)

    def kept(self, edge: Edge, fields: Fields) -> Edge | None:
        """What the patch makes of a path of the document; None when it goes with one of its ends.

        One that points at nothing did so before, and stays.
        """
        cleared = [name for name in _ENDS if fields.get(name, "") is None]
        if cleared and ("target_job" in cleared or not any(map(fields.get, _ENDS[:2]))):
            self._problem(
                f"The path `{edge.key}` cannot be without `{cleared[0]}`. To take it out, list it "
                "in `remove`."
            )
            return edge
        new = self._conditioned(edge, fields)
        given = self._given_ends(edge.key, fields)
        if edge.source_trigger is not None and edge.source_step is not None and not any(given):
            return new
        source, target = (one or two for one, two in zip(given, self.ends_now(edge), strict=True))
        keys = self.triggers if source[0] else self.steps
        if None not in (keys.get(source[1], ""), self.steps.get(target[1], "")):
            return _between(new, source, target)
        if fields.keys() - set(_ENDS):
            self._problem(
                f"The path `{edge.key}` goes with a part that is removed, so it cannot be changed. "
                "Leave it out, or give it ends that stay."
            )
        return None

    def new(self, key: str, fields: Fields) -> Edge | None:
        """A path that the document has not: on, unless it is given as off."""
        sources = [fields.get("source_trigger"), fields.get("source_job")]
        if fields.get("target_job") is None or sources == [None, None]:
            needs = "A new one needs a source (`source_trigger` or `source_job`) and a `target_job`"
            self._problem(not_there("path", key, self.there, needs))
            return None
        source, target = self._given_ends(key, fields)
        if not source or not target:
            return None
        usual = "always" if source[0] else "on_job_success"
        edge = self._conditioned(Edge(key, None, condition_type=usual, enabled=True), fields)
        custom = not self.layout.form.is_list and "->" not in key and key.strip()
        return replace(
            _between(edge, source, target),
            key=key if custom else f"{source[1]}->{target[1]}",
            enabled=edge.enabled is not False,
            id=fresh_id((edge.id for edge in self.there.values()), self.layout),
        )

    def says_otherwise(self, edge: Edge, fields: Fields) -> bool:
        """Whether `fields` would change a path."""

        def says(edge: Edge) -> tuple[str | bool | None, ...]:
            kind, expression = edge.condition_type or "always", edge.condition_expression or ""
            return kind, expression.strip(), edge.condition_label, edge.enabled is not False

        return says(self._conditioned(edge, fields)) != says(edge)

    def _given_ends(self, key: str, fields: Fields) -> tuple[End | None, End | None]:
        """Where the patch says that a path runs. What it points at must be there."""
        texts = {name: str(fields[name]) for name in _ENDS if fields.get(name) is not None}
        if "source_trigger" in texts and "source_job" in texts:
            self._problem(f"The path `{key}` needs one source: a trigger or a step, not both.")
            return None, None
        ends: dict[bool, End] = {}
        for name, text in texts.items():
            is_trigger = name == "source_trigger"
            at = self._trigger(text) if is_trigger else self._step(text)
            if at is None and name == "source_job" and text in self.triggers:
                at, is_trigger = self.triggers[text], True
            if at is None:
                there = [step.key for step in self.result]
                self._problem(f"Path `{key}`: {not_there('step', text, there, 'Name one')}")
            else:
                ends[name == "target_job"] = (is_trigger, at)
        return ends.get(False), ends.get(True)

    def _step(self, name: str) -> str | None:
        if name in self.steps:
            return self.steps[name]
        found = find_step(self.result, name)
        return found.key if found else None

    def _trigger(self, name: str) -> str | None:
        """The only trigger is meant whatever it is called."""
        alone = {key for key in self.triggers.values() if key}
        if name in self.triggers:
            return self.triggers[name]
        return alone.pop() if len(alone) == 1 else None

    def _conditioned(self, edge: Edge, fields: Fields) -> Edge:
        """The path with condition, label and switch after a patch. An expression that comes alone
        makes the path conditional; it goes, and so does its label, with that kind of condition."""

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
        named = self.layout.form.named.get((expression or "").strip())
        if kind == "js_expression" and named:
            kind = named  # there is no other way to write this there
        if kind != "js_expression" and kind != edge.condition_type:
            expression, label = None, text("condition_label", None)
        enabled = fields.get("enabled", edge.enabled)
        return replace(
            edge,
            condition_type=kind,
            condition_expression=expression,
            condition_label=label,
            enabled=enabled if isinstance(enabled, bool) else None,
        )

    def _problem(self, sentence: str) -> None:
        self.found.problems.append(sentence)


def _between(edge: Edge, source: End, target: End) -> Edge:
    """The path between two parts. A key that says what it joins follows."""
    key = edge.key
    if key == f"{edge.source_trigger or edge.source_step}->{edge.target}":
        key = f"{source[1]}->{target[1]}"
    return replace(
        edge,
        key=key,
        target=target[1] or None,
        source_trigger=source[1] if source[0] else None,
        source_step=None if source[0] else source[1] or None,
    )


def _ends(edge: Edge) -> tuple[End, End]:
    is_trigger = edge.source_trigger is not None
    source = edge.source_trigger if is_trigger else edge.source_step
    return (is_trigger, source or ""), (False, edge.target or "")


@dataclass(slots=True)
class _Path:
    """A path that comes or goes, with its ends in the result, and what a patch says of it."""

    edge: Edge
    ends: tuple[End, End]
    fields: Fields = field(default_factory=dict)


def _take_over(fresh: Sequence[_Path], gone: Sequence[_Path], found: Findings) -> None:
    """New paths that take the place of others keep their switch, the first one the condition.

    A way through new paths takes the place of one through paths that go when both leave the same
    part and meet again. What the patch says of a path counts. A patch of more than
    `MOST_REPLACED` paths draws the flow anew, and says itself what it wants.
    """
    if max(len(fresh), len(gone)) > MOST_REPLACED:
        return
    for lost in gone:
        for first in [path for path in fresh if path.ends[0] == lost.ends[0]]:
            meeting = _reached(first.ends[1], fresh) & _reached(lost.ends[1], gone)
            if not meeting:
                continue
            new_way, old_way = _way(first, fresh, meeting), _way(lost, gone, meeting)
            off = any(path.edge.enabled is False for path in old_way)
            for path in [path for path in new_way if off and "enabled" not in path.fields]:
                path.edge = replace(path.edge, enabled=False)
            if not _CONDITION & first.fields.keys():
                first.edge = replace(
                    first.edge,
                    condition_type=lost.edge.condition_type,
                    condition_expression=lost.edge.condition_expression,
                    condition_label=first.edge.condition_label or lost.edge.condition_label,
                )
            for path in old_way[1:]:
                if path.edge.condition_type not in (None, "always", "on_job_success"):
                    condition = path.edge.condition_expression or path.edge.condition_type
                    found.warnings.append(
                        f"The path {path.edge.key} is gone, and its condition with it: {condition}"
                    )
            if off and all(path.edge.enabled is not False for path in new_way):
                source, target = first.ends[0][1], lost.ends[1][1]
                found.warnings.append(
                    f"The path from {source} to {target} was switched off; what takes its place is "
                    "switched on."
                )
            break


def _reached(start: End, paths: Iterable[_Path]) -> set[End]:
    ways: dict[End, list[End]] = {}
    for path in paths:
        ways.setdefault(path.ends[0], []).append(path.ends[1])
    reached: set[End] = set()
    waiting = [start]
    while waiting:
        end = waiting.pop()
        if end not in reached:
            reached.add(end)
            waiting += ways.get(end, ())
    return reached


def _way(first: _Path, paths: Sequence[_Path], meeting: set[End]) -> list[_Path]:
    """The paths of the ways from `first` to where they meet others."""
    behind = _reached(first.ends[1], paths)
    return [first] + [
        path for path in paths if path.ends[0] in behind and _reached(path.ends[1], paths) & meeting
    ]


def _condition(edge: Edge) -> tuple[str | None, str | None]:
    return edge.condition_type, edge.condition_expression


def _check_condition(edge: Edge, layout: Layout, found: Findings) -> None:
    """Not every form can hold what is wrong here, so it is told before anything is written."""
    kind = edge.condition_type
    if kind not in (None, *layout.form.conditions):
        found.problems.append(
            f"The path `{edge.key}` has the unknown condition type `{str(kind)[:40]}`. "
            f"It is one of {', '.join(JOBS.conditions)}."
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
    if layout.form.is_list:
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

"""Plans the paths of a merge: which ones stay, move, change, come and go.

A path is known by what it joins. Renamed steps take their paths along even where the reply
forgets them, removed steps lose theirs, and a path that merely goes missing is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from .finding import find_step
from .forms import Layout
from .intent import Intent
from .merge_match import Traces, traces
from .merge_plan import Findings, Names, Planned, Request, fresh_id
from .parts import Edge, Step
from .source import Source

#: Where a path runs in the result: from a trigger or a step, to a step.
Ends: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that every key of the reply or the document has in the result; None: removed."""

    steps: Mapping[str, str | None]
    triggers: Mapping[str, str | None]


@dataclass(slots=True)
class _Wanted:
    """A path of the reply, where it runs in the result, and what it was in the document."""

    ends: Ends
    edge: Edge
    trace: Traces
    was: Edge | None = None


def plan_edges(
    old: Layout, source: Source, reply: Layout, keys: Keys, request: Request, found: Findings
) -> list[Planned[Edge]]:
    """The paths of the result, in the order of the reply, which `source` holds; then those that
    the reply cannot know of."""
    before = [p.part for p in old.edges]
    steps = tuple(p.part for p in reply.steps)
    wanted: list[_Wanted] = []
    for placed in reply.edges:
        ends = _new_ends(placed.part, steps, keys, before, found)
        if ends:
            trace = traces(source, placed, "edge", reply.body_key)
            wanted.append(_Wanted(ends, placed.part, trace))
    left = [(ends, edge) for edge in before if (ends := _old_ends(edge, keys))]
    left = _pair(wanted, left, lambda want: want.ends)
    left = _pair(wanted, left, None)
    wanted = _without_doubles(wanted, found)
    _check_lost(left, wanted, keys, request, found)
    names = Names(edge.key for edge in before)
    planned = [
        Planned(want.was, _kept_edge(want, want.was, request.intent))
        if want.was
        else Planned(None, _new_edge(want, old, names, request.intent))
        for want in wanted
    ]
    # What points at nothing was so before; a model that does not repeat it does not remove it.
    dangling = [e for e in before if not _old_ends(e, keys) and not _loses_an_end(e, keys)]
    return planned + [Planned(edge, edge) for edge in dangling]


def _old_ends(edge: Edge, keys: Keys) -> Ends | None:
    """Where an edge of the document runs in the result; None when an end went or never was."""
    is_trigger = edge.source_trigger is not None
    sources = keys.triggers if is_trigger else keys.steps
    source = sources.get(edge.source_trigger or edge.source_step or "")
    target = keys.steps.get(edge.target or "")
    return (is_trigger, source, target) if source and target else None


def _loses_an_end(edge: Edge, keys: Keys) -> bool:
    """Whether a step or trigger that is removed takes the edge with it."""
    ends = ((edge.target, keys.steps), (edge.source_step, keys.steps))
    removed = (key in map_ and map_[key] is None for key, map_ in ends if key is not None)
    trigger = edge.source_trigger
    return any(removed) or (trigger in keys.triggers and keys.triggers[trigger or ""] is None)


def _new_ends(
    edge: Edge, steps: tuple[Step, ...], keys: Keys, before: Iterable[Edge], found: Findings
) -> Ends | None:
    """Where an edge of the reply is to run. None when it goes with a removed part, stands in the
    document just so, or points at nothing, which is a problem."""
    target, target_gone = _step_key(edge.target, steps, keys)
    trigger, step = edge.source_trigger, edge.source_step
    if step is not None and trigger is None and step not in keys.steps and step in keys.triggers:
        trigger, step = step, None
    if trigger is not None:
        source, gone = keys.triggers.get(trigger), trigger in keys.triggers
        alone = [key for key in keys.triggers.values() if key]
        if not gone and len(set(alone)) == 1:
            source = alone[0]
    else:
        source, gone = _step_key(step, steps, keys)
    if source and target:
        return trigger is not None, source, target
    if (gone and not source) or (target_gone and not target):
        return None
    if any(_written_ends(edge) == _written_ends(other) for other in before):
        return None
    end = (trigger or step) if not source else edge.target
    where = "comes from" if not source else "leads to"
    found.problems.append(
        f"The path `{edge.key}` {where} `{end}`, which is no step or trigger of the workflow."
        if end
        else f"The path `{edge.key}` needs exactly one source and one target."
    )
    return None


def _written_ends(edge: Edge) -> tuple[str | None, ...]:
    return edge.source_trigger, edge.source_step, edge.target


def _step_key(name: str | None, steps: tuple[Step, ...], keys: Keys) -> tuple[str | None, bool]:
    """The key in the result of the step that the reply calls `name`, and whether it is known."""
    if name is None or name in keys.steps:
        return keys.steps.get(name or ""), name is not None
    step = find_step(steps, name)
    return (keys.steps.get(step.key), True) if step else (None, False)


def _pair(
    wanted: Iterable[_Wanted],
    left: list[tuple[Ends, Edge]],
    by: Callable[[_Wanted], Ends] | None,
) -> list[tuple[Ends, Edge]]:
    """Give each wanted path the edge of the document that it is, and return those left over.

    With `by`, an edge that joins what it joined before; without, one that the reply leads
    elsewhere under its own id or key.
    """
    taken: set[int] = set()
    marks: dict[object, list[Edge]] = {}
    for ends, edge in left:
        for mark in (ends,) if by else (("id", edge.id), ("key", edge.key)):
            marks.setdefault(mark, []).append(edge)
    for want in wanted:
        trace, key = want.trace, want.edge.key
        looked = (by(want),) if by else (("key", trace.id_of), ("id", trace.id), ("key", key))
        found = [
            e for m in looked if m != ("id", None) for e in marks.get(m, ()) if id(e) not in taken
        ]
        if want.was is None and found:
            want.was = next((e for e in found if e.key in (trace.id_of, key)), found[0])
            taken.add(id(want.was))
    return [(ends, edge) for ends, edge in left if id(edge) not in taken]


def _without_doubles(wanted: list[_Wanted], found: Findings) -> list[_Wanted]:
    """The app joins two parts by one path. A second one that says the same is dropped."""
    first: dict[Ends, _Wanted] = {}
    kept: list[_Wanted] = []
    for want in wanted:
        other = first.setdefault(want.ends, want)
        if other is want or want.was:
            kept.append(want)
        elif _condition(other.edge) != _condition(want.edge):
            found.problems.append(
                f"The paths `{other.edge.key}` and `{want.edge.key}` join the same two parts. Give "
                "one path with one condition."
            )
    return kept


def _condition(edge: Edge) -> tuple[str | None, str]:
    return edge.condition_type, (edge.condition_expression or "").strip()


def _check_lost(
    left: Iterable[tuple[Ends, Edge]],
    wanted: Iterable[_Wanted],
    keys: Keys,
    request: Request,
    found: Findings,
) -> None:
    """A path may go when the request is about removing, when another one leads to its target in
    its place, or when the reply leaves it out a second time."""
    led_anew = {w.ends[2] for w in wanted if not w.was or _old_ends(w.was, keys) != w.ends}
    lost = [edge for ends, edge in left if ends[2] not in led_anew]
    if lost and not (request.intent.removes or request.confirmed):
        paths = ", ".join(f"`{_source(edge)}` to `{edge.target}`" for edge in lost)
        found.problems.append(
            f"The reply leaves out these paths: {paths}. If the request asks to remove them, leave "
            "them out again; otherwise include them, unchanged."
        )


def _source(edge: Edge) -> str | None:
    return edge.source_trigger if edge.source_trigger is not None else edge.source_step


def _kept_edge(want: _Wanted, old: Edge, intent: Intent) -> Edge:
    """What the reply makes of an edge that the document has. What it does not say stays."""
    from_trigger, source, target = want.ends
    given = want.edge
    kind = given.condition_type or old.condition_type
    expression, label = old.condition_expression, old.condition_label
    if given.condition_expression and _condition(given)[1] != _condition(old)[1]:
        expression = given.condition_expression
    if given.condition_label is not None:
        label = given.condition_label
    if kind != "js_expression":
        changed = kind != old.condition_type
        expression = None if changed else old.condition_expression
        label = given.condition_label if changed else label
    enabled = old.enabled
    if given.enabled not in (None, old.enabled is not False):
        enabled = (
            given.enabled if intent.may_switch(bool(given.enabled), trigger=False) else enabled
        )
    key = old.key
    if key == f"{_source(old)}->{old.target}":
        key = f"{source}->{target}"
    return replace(
        old,
        key=key,
        target=target,
        source_trigger=source if from_trigger else None,
        source_step=None if from_trigger else source,
        condition_type=kind,
        condition_expression=expression,
        condition_label=label,
        enabled=enabled,
    )


def _new_edge(want: _Wanted, old: Layout, names: Names, intent: Intent) -> Edge:
    """An edge that the document has not: on, unless the request asks for one that is off."""
    from_trigger, source, target = want.ends
    given = want.edge
    kind = given.condition_type or ("always" if from_trigger else "on_job_success")
    key = f"{source}->{target}" if "->" in given.key else given.key
    return Edge(
        key=names.unique(key, "-"),
        target=target,
        source_trigger=source if from_trigger else None,
        source_step=None if from_trigger else source,
        condition_type=kind,
        condition_expression=given.condition_expression if kind == "js_expression" else None,
        condition_label=given.condition_label,
        enabled=given.enabled is not False or not intent.may_switch(False, trigger=False),
        id=fresh_id((p.part.id for p in old.edges), old),
    )

"""Plans the paths of a merge: which ones stay, move, change, come and go.

A path is known by what it joins. Renamed steps take their paths along even where the reply
forgets them, removed steps lose theirs, and a path that merely goes missing is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from global_chat.workflow.checking.edges import CONDITION_TYPES, allowed_conditions
from global_chat.workflow.merging.ends import (
    Ends,
    Keys,
    loses_an_end,
    new_ends,
    old_ends,
    written_ends,
)
from global_chat.workflow.merging.intent import Intent
from global_chat.workflow.merging.match import Traces, traces
from global_chat.workflow.merging.plan import Findings, Names, Planned, Request, fresh_id
from global_chat.workflow.parts import Edge
from global_chat.workflow.reading import steps_form
from global_chat.workflow.reading.forms import Layout
from global_chat.workflow.reading.source import Source


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
    # What points at nothing did so before: it is neither mended nor, when unsaid, removed.
    dangling = [e for e in before if not old_ends(e, keys) and not loses_an_end(e, keys)]
    as_before = {written_ends(edge) for edge in dangling}
    wanted: list[_Wanted] = []
    for placed in reply.edges:
        known = written_ends(placed.part) in as_before
        ends = None if known else new_ends(placed.part, steps, keys, found)
        if ends:
            trace = traces(source, placed, "edge", reply.body_key)
            wanted.append(_Wanted(ends, placed.part, trace))
    left = [(ends, edge) for edge in before if (ends := old_ends(edge, keys))]
    left = _pair(wanted, left, lambda want: want.ends)
    left = _pair(wanted, left, None)
    wanted = _without_doubles(wanted, keys, found)
    _check_lost(left, wanted, keys, request, found)
    planned = [
        Planned(want.was, _kept_edge(want, want.was, request.intent))
        if want.was
        else Planned(None, _new_edge(want, old, request.intent))
        for want in wanted
    ]
    planned = [replace(plan, new=_spelled(plan.new, old)) for plan in planned]
    for plan in planned:
        if plan.changes:
            _check_condition(plan.new, old, found)
    planned += [Planned(edge, edge) for edge in dangling]
    return _with_own_keys(planned) if old.form == "jobs" else planned


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


def _without_doubles(wanted: list[_Wanted], keys: Keys, found: Findings) -> list[_Wanted]:
    """The app joins two parts by one path. A second one that says the same is dropped, unless the
    document has it already."""
    in_place = {id(w) for w in wanted if w.was and old_ends(w.was, keys) == w.ends}
    first = {want.ends: want for want in reversed(wanted) if id(want) in in_place}
    kept: list[_Wanted] = []
    for want in wanted:
        other = first.setdefault(want.ends, want)
        if other is want or id(want) in in_place:
            kept.append(want)
        elif _condition(other.edge) != _condition(want.edge):
            found.problems.append(
                f"The paths `{other.edge.key}` and `{want.edge.key}` join the same two parts. Give "
                "one path with one condition."
            )
    return kept


def _with_own_keys(planned: list[Planned[Edge]]) -> list[Planned[Edge]]:
    """Every path under a key of its own: one that keeps its key goes before one that changes it."""
    names = Names(p.new.key for p in planned if p.old and p.old.key == p.new.key)
    return [
        plan
        if plan.old and plan.old.key == plan.new.key
        else replace(plan, new=replace(plan.new, key=names.unique(plan.new.key, "-")))
        for plan in planned
    ]


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
    led_anew = {w.ends[2] for w in wanted if not w.was or old_ends(w.was, keys) != w.ends}
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


def _spelled(edge: Edge, old: Layout) -> Edge:
    """The portability form has no other way to write success and failure than their expressions,
    so there an expression that says just that is the condition of that name."""
    named = steps_form.CONDITIONS.get((edge.condition_expression or "").strip())
    if old.form == "steps" and named and edge.condition_type == "js_expression":
        return replace(edge, condition_type=named, condition_expression=None)
    return edge


def _check_condition(edge: Edge, old: Layout, found: Findings) -> None:
    """Not every form can hold what is wrong here, so it is told before anything is written."""
    kind = edge.condition_type
    if kind not in (None, *allowed_conditions(old.form)):
        found.problems.append(
            f"The path `{edge.key}` has the unknown condition type `{str(kind)[:40]}`. "
            f"It is one of {', '.join(CONDITION_TYPES)}."
        )
    if kind == "js_expression" and not (edge.condition_expression or "").strip():
        found.problems.append(
            f"The path `{edge.key}` is a `js_expression` without a `condition_expression`."
        )


def _new_edge(want: _Wanted, old: Layout, intent: Intent) -> Edge:
    """An edge that the document has not: on, unless the request asks for one that is off."""
    from_trigger, source, target = want.ends
    given = want.edge
    kind = given.condition_type or ("always" if from_trigger else "on_job_success")
    custom = old.form == "jobs" and "->" not in given.key
    return Edge(
        key=given.key if custom else f"{source}->{target}",
        target=target,
        source_trigger=source if from_trigger else None,
        source_step=None if from_trigger else source,
        condition_type=kind,
        condition_expression=given.condition_expression if kind == "js_expression" else None,
        condition_label=given.condition_label,
        enabled=given.enabled is not False or not intent.may_switch(False, trigger=False),
        id=fresh_id((p.part.id for p in old.edges), old),
    )

"""What happens to paths when steps are put in, taken out or moved.

A path's condition speaks of what its source did, so it stays with its source: when a step is put
elsewhere, paths keep where they start and how they are decided, and change where they lead.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .asking import CannotDo
from .draft import Draft, conditions, is_failure

Edge = tuple[str, dict[str, Any]]


def usual_condition(draft: Draft) -> str:
    """How this workflow's plain paths are decided: on success, unless most always run."""
    kinds = Counter(e.get("condition_type") for e in draft.edges.values() if e.get("source_job"))
    return "always" if kinds["always"] > kinds["on_job_success"] else "on_job_success"


def onward(draft: Draft, key: str) -> list[Edge]:
    """The ways on from a step, alarms aside."""
    return [(k, e) for k, e in draft.outgoing(key) if not is_failure(e)]


def retarget(draft: Draft, edge_key: str, target: str) -> None:
    """Let a path lead to another step. It becomes a path of its own name."""
    edge = draft.edges.pop(edge_key)
    edge.pop("id", None)
    edge["target_job"] = target
    source = str(edge.get("source_job") or edge.get("source_trigger"))
    draft.edges[draft.edge_key(source, target)] = edge


def insert_between(draft: Draft, source: str, new: str, target: str) -> None:
    """Put a step on the path between two others. Raises CannotDo when there is no such path."""
    found = draft.between(source, target)
    if found is None:
        raise CannotDo("no_path", first=draft.name(source), second=draft.name(target))
    retarget(draft, found[0], new)
    draft.connect(new, target, usual_condition(draft))


def insert_after(draft: Draft, key: str, new: str) -> None:
    """Put a step behind another. Raises CannotDo when the way forks there."""
    ways = onward(draft, key)
    if len(ways) > 1:
        raise CannotDo("which_branch", step=draft.name(key))
    if not ways:
        draft.connect(key, new, usual_condition(draft))
        return
    target = str(ways[0][1]["target_job"])
    retarget(draft, ways[0][0], new)
    draft.connect(new, target, usual_condition(draft))


def insert_before(draft: Draft, key: str, new: str) -> None:
    """Put a step in front of another: everything that led there leads to the new one."""
    for edge_key, edge in draft.incoming(key):
        if edge.get("source_job") != new:
            retarget(draft, edge_key, new)
    draft.connect(new, key, usual_condition(draft))


def bridge(draft: Draft, key: str) -> list[tuple[str, str]]:
    """Connect what leads to a step with what follows it; the pairs that were connected.

    Raises CannotDo when two conditions meet, or when a trigger would start several steps.
    """
    ways, done = onward(draft, key), []
    for _, before in draft.incoming(key):
        if before.get("source_trigger") and len(ways) != 1:
            raise CannotDo("needs_one_start", step=draft.name(key))
        for _, after in ways:
            target = str(after["target_job"])
            source = str(before.get("source_job") or before.get("source_trigger"))
            if before.get("source_job") and draft.between(source, target):
                continue
            edge = _joined(draft, before, after, source, target)
            draft.edges[draft.edge_key(source, target)] = edge
            done.append((source, target))
    return done


def _joined(
    draft: Draft, before: dict[str, Any], after: dict[str, Any], source: str, target: str
) -> dict[str, Any]:
    special = [e for e in (before, after) if e.get("condition_type") == "js_expression"]
    if len(special) == 2:
        raise CannotDo("two_conditions", first=draft.name(source), second=draft.name(target))
    chosen = special[0] if special else before if is_failure(before) else after
    if before.get("source_trigger"):
        edge: dict[str, Any] = {"source_trigger": source, "target_job": target}
        edge["condition_type"] = before.get("condition_type") or "always"
    else:
        edge = {"source_job": source, "target_job": target, **conditions(chosen)}
    edge["enabled"] = before.get("enabled") is not False and after.get("enabled") is not False
    return edge


def move(draft: Draft, key: str, anchor: str, *, before: bool) -> None:
    """Move a step directly in front of another, or behind it. Raises CannotDo when ways fork."""
    ways = onward(draft, key)
    if len(ways) > 1:
        raise CannotDo("which_branch", step=draft.name(key))
    following = str(ways[0][1]["target_job"]) if ways else None
    if (before and following == anchor) or (not before and draft.between(anchor, key)):
        raise CannotDo("already_there", step=draft.name(key), anchor=draft.name(anchor))
    for edge_key, edge in draft.incoming(key):
        if following is not None:
            if following != edge.get("source_job"):
                retarget(draft, edge_key, following)
        elif edge.get("condition_type") == "js_expression" and edge.get("source_job") != anchor:
            raise CannotDo("condition_would_go", step=draft.name(key))
        else:
            draft.edges.pop(edge_key)
    _put(draft, key, anchor, ways[0][0] if ways else None, before=before)


def _put(draft: Draft, key: str, anchor: str, way: str | None, *, before: bool) -> None:
    """Put a step that nothing leads to any more in its new place. `way` is its own way on."""
    if before:
        for edge_key, _ in draft.incoming(anchor):
            if edge_key != way:
                retarget(draft, edge_key, key)
        target: str | None = anchor
    else:
        ways = [w for w in onward(draft, anchor) if w[1]["target_job"] != key]
        if len(ways) > 1:
            raise CannotDo("which_branch", step=draft.name(anchor))
        target = str(ways[0][1]["target_job"]) if ways else None
        if ways:
            retarget(draft, ways[0][0], key)
        else:
            draft.connect(anchor, key, usual_condition(draft))
    if way is not None and way in draft.edges:
        if target is None:
            draft.edges.pop(way)
        else:
            retarget(draft, way, target)
    elif target is not None:
        draft.connect(key, target, usual_condition(draft))


def is_after(draft: Draft, key: str, other: str) -> bool:
    """Whether a run reaches `key` through `other`."""
    ahead, seen = [other], set()
    while ahead:
        step = ahead.pop()
        if step == key:
            return True
        if step not in seen:
            seen.add(step)
            ahead += [str(e["target_job"]) for _, e in draft.outgoing(step)]
    return False

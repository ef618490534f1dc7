"""Where the paths of a reply and of the document run in the result of a merge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .finding import find_step
from .merge_plan import Findings
from .parts import Edge, Step

#: Where a path runs in the result: from a trigger or a step, to a step.
Ends: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that every key of the reply or the document has in the result; None: removed."""

    steps: Mapping[str, str | None]
    triggers: Mapping[str, str | None]


def old_ends(edge: Edge, keys: Keys) -> Ends | None:
    """Where an edge of the document runs in the result; None when an end went or never was."""
    is_trigger = edge.source_trigger is not None
    sources = keys.triggers if is_trigger else keys.steps
    source = sources.get(edge.source_trigger or edge.source_step or "")
    target = keys.steps.get(edge.target or "")
    return (is_trigger, source, target) if source and target else None


def loses_an_end(edge: Edge, keys: Keys) -> bool:
    """Whether a step or trigger that is removed takes the edge with it."""
    ends = ((edge.target, keys.steps), (edge.source_step, keys.steps))
    removed = (key in map_ and map_[key] is None for key, map_ in ends if key is not None)
    trigger = edge.source_trigger
    return any(removed) or (trigger in keys.triggers and keys.triggers[trigger or ""] is None)


def new_ends(
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

"""Where the paths of a reply and of the document run in the result of a merge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from global_chat.workflow.finding import find_step
from global_chat.workflow.merging.plan import Findings, Planned
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import Layout, Placed

#: Where a path runs in the result: from a trigger or a step, to a step.
Ends: TypeAlias = tuple[bool, str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that a part has in the result, by the key that it had in the document (`was_*`), or
    by any key by which the reply may mean it: its own there, else the old one. None: removed."""

    steps: Mapping[str, str | None]
    triggers: Mapping[str, str | None]
    was_step: Mapping[str, str | None]
    was_trigger: Mapping[str, str | None]

    @classmethod
    def of(
        cls,
        old: Layout,
        reply: Layout,
        steps: Iterable[Planned[Step]],
        triggers: Iterable[Planned[Trigger]],
    ) -> Keys:
        """The keys of a plan, whose steps and triggers are those of the reply one by one."""
        was_step, means_step = _keys(old.steps, reply.steps, steps)
        was_trigger, means_trigger = _keys(old.triggers, reply.triggers, triggers)
        return cls(means_step, means_trigger, was_step, was_trigger)


def _keys(
    old: Iterable[Placed[Any]], given: Iterable[Placed[Any]], planned: Iterable[Planned[Any]]
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    plans = list(planned)
    was: dict[str, str | None] = {placed.part.key: None for placed in old}
    was |= {plan.old.key: plan.new.key for plan in plans if plan.old}
    means = {g.part.key: plan.new.key for g, plan in zip(given, plans, strict=True)}
    return was, {**was, **means}


def old_ends(edge: Edge, keys: Keys) -> Ends | None:
    """Where an edge of the document runs in the result; None when an end went or never was."""
    is_trigger = edge.source_trigger is not None
    sources = keys.was_trigger if is_trigger else keys.was_step
    source = sources.get(edge.source_trigger or edge.source_step or "")
    target = keys.was_step.get(edge.target or "")
    double = is_trigger and edge.source_step is not None
    return (is_trigger, source, target) if source and target and not double else None


def loses_an_end(edge: Edge, keys: Keys) -> bool:
    """Whether a step or trigger that is removed takes the edge with it."""
    ends = (
        (edge.target, keys.was_step),
        (edge.source_step, keys.was_step),
        (edge.source_trigger, keys.was_trigger),
    )
    return any(key in was and was[key] is None for key, was in ends if key is not None)


def new_ends(edge: Edge, steps: tuple[Step, ...], keys: Keys, found: Findings) -> Ends | None:
    """Where an edge of the reply is to run. None when it goes with a removed part, or points at
    nothing, which is a problem."""
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
    if source and target and None in (trigger, step):
        return trigger is not None, source, target
    if (gone and not source) or (target_gone and not target):
        return None
    end = edge.target if source else trigger or step
    if trigger is not None and step is not None:
        end = None
    where = "comes from" if not source else "leads to"
    found.problems.append(
        f"The path `{edge.key}` {where} `{end}`, which is no step or trigger of the workflow."
        if end
        else f"The path `{edge.key}` needs exactly one source and one target."
    )
    return None


def written_ends(edge: Edge) -> tuple[str | None, ...]:
    """The ends of an edge as they are written, whether there is anything there or not."""
    return edge.source_trigger, edge.source_step, edge.target


def _step_key(name: str | None, steps: tuple[Step, ...], keys: Keys) -> tuple[str | None, bool]:
    """The key in the result of the step that the reply calls `name`, and whether it is known."""
    if name is None or name in keys.steps:
        return keys.steps.get(name or ""), name is not None
    step = find_step(steps, name)
    return (keys.steps.get(step.key), True) if step else (None, False)

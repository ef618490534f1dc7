"""The shapes of a plan: a part beside what it was, all of them, and what planning comes upon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import uuid4

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.yaml.nodes import Value

P = TypeVar("P", Step, Trigger, Edge)


@dataclass(frozen=True, slots=True)
class Planned(Generic[P]):
    """One part of the result. `old` is what it was, None for a new one; `new` what it will be."""

    old: P | None
    new: P

    @property
    def changes(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole result. A part of the document that no planned part comes from is removed. New
    parts stand behind the part after which they are to be written.

    `name` is the workflow's new name, None to leave it. `start` is the part with which the
    workflow begins, in a form that says so.
    """

    name: str | None
    steps: tuple[Planned[Step], ...]
    triggers: tuple[Planned[Trigger], ...]
    edges: tuple[Planned[Edge], ...]
    start: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Findings:
    """What planning comes upon: `problems` reject the patch, `warnings` go with its result."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def fresh_id(ids: Iterable[str | None], old: Layout) -> str | None:
    """An id for a new part where its siblings, whose `ids` are given, have ids; without siblings,
    where any part of the document has one."""
    siblings = tuple(ids)
    relevant = siblings or (
        *(placed.part.id for placed in old.steps),
        *(placed.part.id for placed in old.triggers),
        *(placed.part.id for placed in old.edges),
    )
    return str(uuid4()) if any(relevant) else None


def merged(old: Mapping[str, Value], new: Mapping[str, Value]) -> dict[str, Value]:
    """`old` with what `new` says; null takes a key away, and mappings are merged key by key."""
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(before, dict):
            result[key] = merged(before, value)
            if before and not result[key]:
                del result[key]
        else:
            result[key] = value
    return result


def difference(old: Mapping[str, Value], new: Mapping[str, Value]) -> dict[str, Value]:
    """What `merged` must be given to make `new` of `old`."""
    found: dict[str, Value] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := difference(before, value):
                found[key] = inner
        elif value != before or type(value) is not type(before):
            found[key] = value
    return found


def placements(
    parts: Sequence[Placed[P]], planned: Iterable[Planned[P]]
) -> list[tuple[Placed[P], P]]:
    """Every new part with the part of the document behind which it goes: the one that it follows
    in the plan; the last one that stays, when it comes first. There must be one that stays."""
    by_part = {id(placed.part): placed for placed in parts}
    plans = list(planned)
    staying = {id(plan.old) for plan in plans if plan.old}
    after = next(placed for placed in reversed(parts) if id(placed.part) in staying)
    found: list[tuple[Placed[P], P]] = []
    for plan in plans:
        if plan.old:
            after = by_part[id(plan.old)]
        else:
            found.append((after, plan.new))
    return found

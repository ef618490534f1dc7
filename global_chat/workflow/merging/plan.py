"""What a merge will do: every step, trigger and path of the result, beside what it was.

A part of the document that no planned part comes from is removed. The plan knows no form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import uuid4

from global_chat.workflow.merging.intent import Intent
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import Layout

P = TypeVar("P", Step, Trigger, Edge)

EMPTY_BODY = "// Add operations here\n"


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
    """The whole result. New parts stand behind the part that they follow in the reply.

    `name` is the workflow's new name, None to leave it.
    """

    name: str | None
    steps: tuple[Planned[Step], ...]
    triggers: tuple[Planned[Trigger], ...]
    edges: tuple[Planned[Edge], ...]
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything is renamed, changed or new. Removals do not show here."""
        groups = (self.steps, self.triggers, self.edges)
        return self.name is not None or any(part.changes for group in groups for part in group)


@dataclass(slots=True)
class Findings:
    """What planning stumbles over: `problems` end the merge, `warnings` go with its result."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Names:
    """Hands out names and keys that nobody has yet."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def unique(self, wanted: str, joint: str) -> str:
        """`wanted`, or with `joint` and the first free number from 2 behind it; then taken."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}{joint}{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class Request:
    """What a merge goes by besides the two documents: the request's intent, the page's step, and
    whether this is the second reply, given after the first one was rejected."""

    intent: Intent
    focus: str | None = None
    confirmed: bool = False


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

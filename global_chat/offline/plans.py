"""What a request comes to: a patch of the structure and replacements in code, all or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from global_chat.workflow.patch import Fields, Patch

#: (key of the step, start, end, new text): places are those of the code before the turn.
Replacement = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A change that is fully worked out. Plans that do the same are equal.

    `wish` says it as a request would, with the names of this workflow.
    """

    wish: str
    patch: Patch = field(default_factory=Patch)
    code: frozenset[Replacement] = frozenset()

    def _what(self) -> str:
        parts = [self.patch.name, self.patch.jobs, self.patch.triggers, self.patch.edges]
        rest = [sorted(self.patch.remove), sorted(self.code)]
        return json.dumps([parts, rest], sort_keys=True, default=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._what() == other._what()

    def __hash__(self) -> int:
        return hash(self._what())

    @property
    def removed(self) -> set[str]:
        """The steps that it removes."""
        return {key.removeprefix("jobs.") for key in self.patch.remove if key.startswith("jobs.")}

    @property
    def edited(self) -> set[str]:
        """The steps that it adds or changes."""
        return {*self.patch.jobs, *(key for key, *_ in self.code)}


def together(plans: Sequence[Plan]) -> Plan | None:
    """All of them as one. None when two of them want different things of the same place."""
    found: Plan | None = plans[0]
    for plan in plans[1:]:
        found = _both(found, plan) if found else None
    return found


def _both(one: Plan, other: Plan) -> Plan | None:
    a, b = one.patch, other.patch
    jobs, triggers = _merged(a.jobs, b.jobs), _merged(a.triggers, b.triggers)
    edges, code = _merged(a.edges, b.edges), one.code | other.code
    if jobs is None or triggers is None or edges is None or _overlap(code):
        return None
    if (a.name and b.name and a.name != b.name) or (one.removed | other.removed) & (
        one.edited | other.edited
    ):
        return None
    patch = Patch(a.name or b.name, jobs, triggers, edges, tuple({*a.remove, *b.remove}))
    return Plan(f"{one.wish} and {other.wish}", patch, code)


def _merged(one: Mapping[str, Fields], other: Mapping[str, Fields]) -> dict[str, Fields] | None:
    merged: dict[str, Fields] = dict(one)
    for key, fields in other.items():
        before = merged.get(key, {})
        if any(name in before and before[name] != value for name, value in fields.items()):
            return None
        merged[key] = {**before, **fields}
    return merged


def _overlap(code: Iterable[Replacement]) -> bool:
    ordered = sorted(code)
    return any(a[0] == b[0] and a[2] > b[1] for a, b in pairwise(ordered))


def codes_after(codes: Mapping[str, str], made: Iterable[Replacement]) -> dict[str, str]:
    """The new code of each step that is edited, by key; `codes` is the code of before."""
    texts: dict[str, str] = {}
    for key, start, end, new in sorted(made, reverse=True):
        text = texts.get(key, codes[key])
        texts[key] = text[:start] + new + text[end:]
    return texts

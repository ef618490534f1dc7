"""Which part of a model's reply is which part of the document.

Every trace of identity counts: the placeholder that stands for the code, the id (or the
placeholder that stands for it), the key, the name. None of them alone is trusted: a model swaps
ids, copies placeholders, renames keys. A pair is what the most weight speaks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from global_chat.workflow.drafting import Kind, placeholder_owner
from global_chat.workflow.finding import fold
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import Placed
from global_chat.workflow.reading.nodes import Content, Mapping, Scalar, find, resolve
from global_chat.workflow.reading.source import Source

#: Key and name together outweigh a code placeholder, and that outweighs an id: a model that edits
#: copies the first two from what it was shown, and swaps or invents the last.
_CODE, _ID, _KEY, _NAME, _FOLD = 50, 40, 30, 29, 10

P = TypeVar("P", Step, Trigger, Edge)

#: Minus the weight, the number of the reply's part, the number of the document's part.
Claim: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Traces:
    """What a part of the reply says of its own identity, the key and the name aside."""

    code_of: str | None = None
    id_of: str | None = None
    id: str | None = None


def traces(source: Source, placed: Placed[P], kind: Kind, body_key: str) -> Traces:
    """The placeholders and the id in one part of a reply, which `source` holds."""
    code = placeholder_owner(raw_text(source, placed.mapping, body_key) or "")
    identity = placed.part.id
    owner = placeholder_owner(identity or raw_text(source, placed.mapping, "id") or "")
    return Traces(
        code_of=code.key if code and code.kind == "code" else None,
        id_of=owner.key if owner and owner.kind == kind else None,
        id=None if owner else identity,
    )


def raw_text(source: Source, mapping: Mapping | None, key: str) -> str | None:
    """A value's text. A list counts as it stands: so reads a placeholder that lost its quotes."""
    entry = find(mapping, key) if mapping else None
    value: Content | None = resolve(entry.value) if entry else None
    if value is None or isinstance(value, Scalar):
        return value.text if value else None
    return source.text[value.start : value.end]


def match_steps(
    old: Sequence[Step], new: Sequence[Step], found: Sequence[Traces]
) -> list[Step | None]:
    """For each step of the reply the step of the document that it is; None for a new one."""
    keys, ids = _unique((s.key, i) for i, s in enumerate(old)), _ids(old)
    names = _unique((s.name, i) for i, s in enumerate(old))
    folds = _unique((fold(text), i) for i, s in enumerate(old) for text in {s.key, s.name})
    claims: list[Claim] = []
    for number, (step, trace) in enumerate(zip(new, found, strict=True)):
        claims += _claims(
            number,
            (_CODE, keys.get(trace.code_of or "")),
            (_ID, keys.get(trace.id_of or "", ids.get(trace.id or ""))),
            (_KEY, keys.get(step.key)),
            (_NAME, names.get(step.name)),
            *((_FOLD, folds.get(fold(text))) for text in (step.key, step.name) if fold(text)),
        )
    return _settle(old, len(new), claims)


def match_triggers(
    old: Sequence[Trigger], new: Sequence[Trigger], found: Sequence[Traces]
) -> list[Trigger | None]:
    """The same for triggers. A workflow's only trigger stays itself whatever it is turned into."""
    if len(old) == len(new) == 1:
        return list(old)
    keys, ids = _unique((t.key, i) for i, t in enumerate(old)), _ids(old)
    types = _unique((t.type or "", i) for i, t in enumerate(old))
    claims: list[Claim] = []
    for number, (trigger, trace) in enumerate(zip(new, found, strict=True)):
        claims += _claims(
            number,
            (_ID, keys.get(trace.id_of or "", ids.get(trace.id or ""))),
            (_KEY, keys.get(trigger.key)),
            (_FOLD, types.get(trigger.type or "")),
        )
    return _settle(old, len(new), claims)


def _unique(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Who has each text; a text that several have says nothing."""
    found: dict[str, int | None] = {}
    for text, number in pairs:
        found[text] = number if found.get(text, number) == number else None
    return {text: number for text, number in found.items() if text and number is not None}


def _ids(parts: Sequence[Step | Trigger]) -> dict[str, int]:
    return _unique((part.id or "", number) for number, part in enumerate(parts))


def _claims(number: int, *evidence: tuple[int, int | None]) -> list[Claim]:
    """What speaks for the reply's part `number` being each of the document's, added up."""
    weights: dict[int, int] = {}
    for weight, other in evidence:
        if other is not None:
            weights[other] = weights.get(other, 0) + weight
    return [(-weight, number, other) for other, weight in weights.items()]


def _settle(old: Sequence[P], count: int, claims: Iterable[Claim]) -> list[P | None]:
    """The heaviest claims first, every part at most once on either side."""
    partner: list[P | None] = [None] * count
    taken: set[int] = set()
    for _, number, other in sorted(claims):
        if partner[number] is None and other not in taken:
            partner[number] = old[other]
            taken.add(other)
    return partner

"""What a reply says beyond structure, which a merge does not take over: the user is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from global_chat.workflow.merging.part_writing import text_of_key
from global_chat.workflow.merging.plan import Planned
from global_chat.workflow.reading.forms import Placed
from global_chat.workflow.reading.nodes import Mapping, Scalar, resolve, text_of

#: Keys that a merge reads or knowingly drops, in any form.
_READ = frozenset(
    {
        *("id", "name", "adaptor", "adaptors", "body", "expression", "next", "openfn", "<<"),
        *("type", "cron_expression", "enabled", "source_trigger", "source_job", "target_job"),
        *("condition", "condition_type", "condition_expression", "condition_label", "label"),
        *("disabled",),
    }
)


def left_over(
    kind: str,
    given: Iterable[Placed[Any]],
    planned: Iterable[Planned[Any]],
    old: Iterable[Placed[Any]],
) -> Iterator[str]:
    """One warning for each part of which the reply sets keys that stay as they are.

    `given` and `planned` belong together one by one.
    """
    places = {id(placed.part): placed.mapping for placed in old}
    for placed, plan in zip(given, planned, strict=True):
        before = places.get(id(plan.old)) if plan.old else None
        keys = [key for key, value in _extra(placed.mapping) if not _has(before, key, value)]
        if keys:
            names = ", ".join(f"`{key}`" for key in keys)
            yield f"{names} of the {kind} `{plan.new.key}` was not touched: set it in the app."


def _extra(mapping: Mapping | None) -> Iterator[tuple[str, str | None]]:
    for entry in mapping.entries if mapping else ():
        value, key = resolve(entry.value), text_of_key(entry)
        if key not in _READ and not (isinstance(value, Scalar) and value.is_null):
            yield key, value.text if isinstance(value, Scalar) else None


def _has(before: Mapping | None, key: str, value: str | None) -> bool:
    """Whether the document says the same; of more than a word, whether it says anything."""
    if before is None or key not in before.own:
        return False
    return value is None or text_of(before, key) == value

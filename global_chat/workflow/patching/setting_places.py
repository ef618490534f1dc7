"""Where the settings of a trigger are written: on the trigger or under `openfn`, by which key."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from global_chat.workflow.parts import Trigger
from global_chat.workflow.patching.planned import difference
from global_chat.workflow.reading.trigger_settings import CURSOR, KAFKA, placed_settings
from global_chat.yaml import nodes
from global_chat.yaml.nodes import data_of, entries_of, resolve, text_of_key, value_of
from global_chat.yaml.writing import Data

#: The order in which the app writes them.
SETTINGS = (CURSOR, "webhook_reply", "webhook_response_config", KAFKA)


def changed_settings(
    trigger: nodes.Mapping | None,
    old: Trigger,
    new: Trigger,
    ids: Mapping[str, str | None],
    spelled: Callable[[Mapping[str, Data]], dict[str, Data]] = dict,
    *,
    in_openfn: bool = False,
) -> dict[str, Data]:
    """What turns the settings of `old` into those of `new`, each where and as it is written: values
    by key, those under `openfn` in a mapping of their own; None takes one away.

    One that is not there yet is written as `spelled` has it, under `openfn` with `in_openfn`. `ids`
    are the steps' ids by key, for a document that names the step of a cursor by its id.
    """
    values: dict[str, Data] = {}
    places = list(placed_settings(trigger)) if trigger else []
    for name, value in difference(old.settings, new.settings).items():
        here = [place for place in places if place.name == name]
        if not here:
            within(values, ("openfn",) if in_openfn else ()).update(spelled({name: value}))
        for place in here:
            path = _path(trigger, place.holder) if trigger else ()
            if place.field is None:
                now, was = value, data_of(place.entry.value)
                if name == CURSOR and value and was not in (None, old.settings.get(CURSOR)):
                    now = ids.get(str(value))
                within(values, path)[text_of_key(place.entry)] = now
            elif path and path[-1] != "openfn":
                within(values, path[:-1])[path[-1]] = value
            else:
                fields = value if isinstance(value, dict) else {place.field: None}
                within(values, path).update(fields)
    return values


def within(values: dict[str, Data], path: tuple[str, ...]) -> dict[str, Data]:
    """The mapping at `path` in `values`, made where it is not there yet."""
    for key in path:
        inner = values.setdefault(key, {})
        values = inner if isinstance(inner, dict) else {}
    return values


def _path(trigger: nodes.Mapping, holder: nodes.Mapping) -> tuple[str, ...]:
    """The keys that lead from the trigger to the mapping that holds a setting."""
    owners: list[tuple[tuple[str, ...], object]] = [((), trigger)]
    owners.append((("openfn",), value_of(trigger, "openfn")))
    for path, owner in owners:
        if owner is holder:
            return path
    for path, owner in owners:
        for key, entry in entries_of(owner).items() if isinstance(owner, nodes.Mapping) else ():
            if resolve(entry.value) is holder:
                return (*path, key)
    return ()

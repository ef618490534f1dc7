"""Where the settings of a trigger are written: on the trigger or under `openfn`, by which key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from global_chat.workflow.parts import Trigger
from global_chat.workflow.patching.planned import difference
from global_chat.workflow.reading.trigger_settings import CURSOR, KAFKA, placed_settings
from global_chat.yaml import nodes
from global_chat.yaml.nodes import Scalar, data_of, entries_of, resolve, value_of
from global_chat.yaml.writing import Data

#: The order in which the app writes them.
SETTINGS = (CURSOR, "webhook_reply", "webhook_response_config", KAFKA)


@dataclass(slots=True)
class SettingValues:
    """New values on the trigger itself, and under its `openfn`; None takes one away."""

    own: dict[str, Data] = field(default_factory=dict)
    extra: dict[str, Data] = field(default_factory=dict)


def changed_settings(
    trigger: nodes.Mapping | None,
    old: Trigger,
    new: Trigger,
    ids: Mapping[str, str | None],
    spelled: Callable[[Mapping[str, Data]], dict[str, Data]],
    *,
    in_extra: bool = False,
) -> SettingValues:
    """What turns the settings of `old` into those of `new`, each where and as it is written.

    One that is not there yet is written as `spelled` has it, under `openfn` with `in_extra`. `ids`
    are the steps' ids by key, for a document that names the step of a cursor by its id.
    """
    values = SettingValues()
    inner = value_of(trigger, "openfn") if trigger else None
    places = list(placed_settings(trigger)) if trigger else []
    for name, value in difference(old.settings, new.settings).items():
        here = [place for place in places if place.name == name]
        if not here:
            (values.extra if in_extra else values.own).update(spelled({name: value}))
        for place in here:
            group = values.extra if place.holder is inner else values.own
            key = _text(place.entry.key)
            if place.field is None and name == CURSOR:
                was = data_of(place.entry.value)
                by_id = was is not None and was != old.settings.get(CURSOR)
                now = ids.get(str(value), None) if by_id and value else value
                if now != was:
                    group[key] = now
            elif place.field is None:
                group[key] = value
            elif place.holder in (trigger, inner):
                group.update({key: None} if value is None else _fields(value))
            elif trigger:
                group, key = _container(trigger, inner, place.holder, values)
                group[key] = value
    return values


def _fields(value: Data) -> dict[str, Data]:
    return value if isinstance(value, dict) else {}


def _text(node: nodes.Node) -> str:
    key = resolve(node)
    return key.text if isinstance(key, Scalar) else ""


def _container(
    trigger: nodes.Mapping, inner: object, holder: nodes.Mapping, values: SettingValues
) -> tuple[dict[str, Data], str]:
    """The group and the key of the mapping that holds the Kafka settings."""
    for owner, group in ((trigger, values.own), (inner, values.extra)):
        if isinstance(owner, nodes.Mapping):
            for key, entry in entries_of(owner).items():
                if resolve(entry.value) is holder:
                    return group, key
    return values.own, KAFKA

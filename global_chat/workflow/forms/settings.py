"""What a trigger holds besides its type, schedule and switch: read, and written where it stands.

The export has every setting on the trigger. The portability form has them under `openfn:`, where
the Kafka ones are `kafka:`, or on the trigger, where the Kafka ones stand one by one. A setting has
one name for all of them, that of the export.
"""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from global_chat.workflow.forms.layout import Placed
from global_chat.workflow.parts import Step, Trigger
from global_chat.yaml.nodes import (
    Entry,
    Mapping,
    Scalar,
    Value,
    data_of,
    entries_of,
    resolve,
    text_of_key,
    value_of,
)
from global_chat.yaml.writing import Data

KAFKA = "kafka_configuration"
CURSOR = "cron_cursor_job"

#: Kafka settings that may stand on the trigger itself.
KAFKA_FIELDS = frozenset(
    {
        *("hosts", "topics", "initial_offset_reset_policy", "connect_timeout"),
        *("group_id", "sasl", "ssl", "username", "password"),
    }
)
#: Where the export has a setting, by the key that a document may have it under.
SETTING_PATHS: dict[str, tuple[str, ...]] = {
    "webhook_reply": ("webhook_reply",),
    "webhook_response_config": ("webhook_response_config",),
    "custom_path": ("custom_path",),
    "cron_cursor": (CURSOR,),
    "cron_cursor_job": (CURSOR,),
    "cron_cursor_job_id": (CURSOR,),
    "kafka": (KAFKA,),
    KAFKA: (KAFKA,),
    **{field: (KAFKA, field) for field in KAFKA_FIELDS},
}
#: Every key under which a form keeps a setting.
SETTING_KEYS = frozenset(SETTING_PATHS)
_SECRET = re.compile(r"user_?name|password|passphrase|secret|token|credential|api_?key", re.I)


@dataclass(frozen=True, slots=True)
class PlacedSetting:
    """A setting and where it stands: its `entry`, and the keys that lead from the trigger to the
    mapping with it, `openfn` and that of the Kafka settings. `field` is the key of a Kafka setting,
    which is then that one of `name`, else None."""

    name: str
    field: str | None
    path: tuple[str, ...]
    entry: Entry


def placed_settings(trigger: Mapping) -> Iterator[PlacedSetting]:
    """Every setting with its place, secrets and nulls included, under the name of the export.

    One that stands both under `openfn:` and on the trigger comes twice, that of `openfn:` last: it
    is the one that counts.
    """
    for at, holder in (((), trigger), (("openfn",), value_of(trigger, "openfn"))):
        for key, entry in entries_of(holder).items() if isinstance(holder, Mapping) else ():
            value = resolve(entry.value)
            path = SETTING_PATHS.get(key, ())
            if path == (KAFKA,) and isinstance(value, Mapping):
                for field, each in entries_of(value).items():
                    yield PlacedSetting(KAFKA, field, (*at, key), each)
            elif path and path != (KAFKA,):
                yield PlacedSetting(path[0], key if path[0] == KAFKA else None, at, entry)


def trigger_settings(trigger: Mapping) -> dict[str, Value]:
    """The settings of `Trigger.settings`: null ones are absent, secret ones are left out."""
    settings: dict[str, Value] = {}
    kafka: dict[str, Value] = {}
    for placed in placed_settings(trigger):
        content = resolve(placed.entry.value)
        value = _open(data_of(content))
        if placed.name == CURSOR and value is not None and isinstance(content, Scalar):
            # The key of a step is the text that stands there: `0123` is not 123.
            value = content.text
        if value is None or (placed.field and is_secret(placed.field, value)):
            continue
        if placed.field:
            kafka[placed.field] = value
            settings[KAFKA] = kafka
        else:
            settings[placed.name] = value
    return settings


def settings_by_name(given: abc.Mapping[str, Value]) -> dict[str, Value]:
    """The settings among the keys of a trigger, under the names of the export; no secret ones."""
    found: dict[str, Value] = {}
    kafka: dict[str, Value] = {}
    for key, value in given.items():
        path = SETTING_PATHS.get(key, ())
        if path == (KAFKA,) and isinstance(value, dict):
            kafka |= {k: v for k, v in value.items() if not is_secret(k, v)}
        elif len(path) == 1:
            found[path[0]] = value
        elif path and not is_secret(key, value):
            kafka[key] = value
    return found | ({KAFKA: kafka} if kafka else {})


def secrets_in(given: abc.Mapping[str, Value]) -> list[str]:
    """The keys among those of a trigger, and of its Kafka settings, that hold secrets."""
    every = [given, *(value for value in given.values() if isinstance(value, dict))]
    return [key for keys in every for key, value in keys.items() if value and is_secret(key, value)]


def is_secret(key: str, value: Value) -> bool:
    """Whether `value` under `key` is nobody's to see. `sasl` may name a mechanism, which is no
    secret, or hold user and password, which is one."""
    return bool(_SECRET.search(key)) or (key == "sasl" and not isinstance(value, str))


def _open(value: Value) -> Value:
    """The value without what is secret in it."""
    if isinstance(value, dict):
        return {k: _open(v) for k, v in value.items() if not is_secret(k, v)}
    return [_open(item) for item in value] if isinstance(value, list) else value


def with_cursors(
    triggers: list[Placed[Trigger]], steps: list[Placed[Step]]
) -> tuple[Placed[Trigger], ...]:
    """The triggers, each with the key of the step that its cursor is, where the document has the
    step's id."""
    keys = {p.part.id: p.part.key for p in steps if p.part.id}
    return tuple(_with_cursor(placed, keys) for placed in triggers)


def _with_cursor(placed: Placed[Trigger], keys: dict[str, str]) -> Placed[Trigger]:
    settings = placed.part.settings
    key = keys.get(str(settings.get(CURSOR)))
    if key is None:
        return placed
    return replace(placed, part=replace(placed.part, settings={**settings, CURSOR: key}))


#: The order in which the app writes them.
SETTINGS = (CURSOR, "webhook_reply", "webhook_response_config", KAFKA)


def changed_settings(
    trigger: Mapping | None,
    old: Trigger,
    new: Trigger,
    ids: abc.Mapping[str, str | None],
    spelled: Callable[[abc.Mapping[str, Data]], dict[str, Data]] = dict,
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
    for name, value in _difference(old.settings, new.settings).items():
        here = [place for place in places if place.name == name]
        if not here:
            within(values, ("openfn",) if in_openfn else ()).update(spelled({name: value}))
        for place in here:
            path = place.path
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


def _difference(old: abc.Mapping[str, Value], new: abc.Mapping[str, Value]) -> dict[str, Value]:
    """What changes `old` to `new`, key by key; None takes one away."""
    found: dict[str, Value] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := _difference(before, value):
                found[key] = inner
        elif value != before or type(value) is not type(before):
            found[key] = value
    return found


def within(values: dict[str, Data], path: tuple[str, ...]) -> dict[str, Data]:
    """The mapping at `path` in `values`, made where it is not there yet."""
    for key in path:
        inner = values.setdefault(key, {})
        values = inner if isinstance(inner, dict) else {}
    return values

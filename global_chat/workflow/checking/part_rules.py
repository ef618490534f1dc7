"""Rules for single steps and triggers: names, types, schedules, settings, known keys.

`Places` gives every problem its place, the line and column of the key that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from unicodedata import combining, normalize

from cronsim import CronSim, CronSimError

from global_chat.contract import texts
from global_chat.workflow.forms.layout import Kind, Layout, Placed
from global_chat.workflow.forms.settings import KAFKA, placed_settings
from global_chat.workflow.parts import Problem, Severity, Trigger
from global_chat.yaml.nodes import Mapping, Node, bool_of, find, resolve, text_of_key, value_of
from global_chat.yaml.source import Source


class Places:
    """One workflow and the text that it stands in."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self.layout = layout

    def problem(
        self,
        severity: Severity,
        rule: str,
        message: str,
        placed: Placed[Any] | None = None,
        key: str | None = None,
        suggestion: str | None = None,
    ) -> Problem:
        """A problem at the value of `key` of a part, else at the part, else at the workflow."""
        node: Node = placed.node if placed else self.layout.root
        start = placed.entry.start if placed and placed.entry else node.start
        mapping = resolve(node)
        entry = find(mapping, key) if key and isinstance(mapping, Mapping) else None
        return self.at(severity, rule, message, entry.value.start if entry else start, suggestion)

    def at_setting(
        self,
        rule: str,
        message: str,
        placed: Placed[Trigger],
        name: str,
        suggestion: str | None = None,
    ) -> Problem:
        """A warning at the setting `name` of a trigger, wherever the document keeps it."""
        found = placed_settings(placed.mapping) if placed.mapping else ()
        starts = [each.entry.value.start for each in found if each.name == name]
        return self.at("warning", rule, message, (starts or [placed.node.start])[-1], suggestion)

    def at(
        self,
        severity: Severity,
        rule: str,
        message: str,
        offset: int,
        suggestion: str | None = None,
    ) -> Problem:
        """A problem at a character of the text."""
        return Problem(severity, rule, message, *self.source.position(offset), suggestion)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A suggestion of the known word that is most like `word`, if one is."""
    return texts.did_you_mean(word, known).strip() or None


#: What the app takes as the name of a step: at most so many characters, and no others.
MAX_NAME = 100
_NAME = re.compile(r"[a-zA-Z0-9_\- ]+")
WEBHOOK_REPLIES = ("before_start", "after_completion", "custom")
TRIGGER_TYPES = ("webhook", "cron", "kafka")
_A: dict[Kind, str] = {
    "workflow": "a workflow",
    "step": "a step",
    "trigger": "a trigger",
    "edge": "a path",
}


def part_problems(places: Places) -> Iterator[Problem]:
    """What is wrong with steps and triggers one by one, and with keys that nobody knows."""
    layout = places.layout
    if not layout.name:
        yield places.problem("warning", "workflow-name", "The workflow has no name.")
    yield from _names(places)
    for trigger in layout.triggers:
        yield from _trigger(places, trigger)
    yield from _unknown(places, "workflow", layout.root)
    groups: tuple[tuple[Kind, Iterable[Placed[Any]]], ...] = (
        ("step", layout.steps),
        ("trigger", layout.triggers),
        ("edge", layout.edges),
    )
    for kind, parts in groups:
        for placed in parts:
            if mapping := placed.mapping:
                yield from _unknown(places, kind, mapping)
                yield from _booleans(places, placed, mapping)


def _names(places: Places) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for placed in places.layout.steps:
        name = placed.part.name
        if wrong := name_problem(name):
            rule = "name-length" if len(name) > MAX_NAME else "name-characters"
            yield places.problem("warning", rule, wrong, placed, "name")
        line = first.setdefault(name, placed.part.line)
        if line != placed.part.line:
            message = f"Two steps are called {name[:MAX_NAME]}; the first one is on line {line}."
            hint = "Give each step a name of its own."
            yield places.problem("error", "name-unique", message, placed, "name", hint)


def name_problem(name: str) -> str | None:
    """What is wrong with a step's name, as a sentence; None when the app takes it."""
    if not name.strip():
        return "A step needs a name."
    if len(name) > MAX_NAME:
        return (
            f"The name `{name[:40]}…` has {len(name)} characters; the app takes at most {MAX_NAME}."
        )
    if not _NAME.fullmatch(name):
        wrong = " ".join(dict.fromkeys(c for c in name if not _NAME.fullmatch(c)))
        plain = "".join(c for c in normalize("NFD", name) if not combining(c))
        plain = " ".join("".join(c if _NAME.fullmatch(c) else " " for c in plain).split())
        return (
            f"The name `{name}` has characters that the app does not take: {wrong} (it takes "
            "letters a to z without accents, digits, blanks, `-` and `_`)."
            + (f" Write `{plain}`, say." if plain else "")
        )
    return None


def _trigger(places: Places, placed: Placed[Trigger]) -> Iterator[Problem]:
    trigger = placed.part
    if trigger.type not in TRIGGER_TYPES:
        has = f"the unknown type `{trigger.type}`" if trigger.type else "no type"
        message = f"The trigger `{trigger.key}` has {has}."
        hint = did_you_mean(trigger.type or "", TRIGGER_TYPES)
        hint = hint or "A trigger is a webhook, a cron or a kafka."
        yield places.problem("error", "trigger-type", message, placed, "type", hint)
    kafka = trigger.settings.get(KAFKA)
    if trigger.type == "kafka" and not (
        isinstance(kafka, dict) and {"hosts", "topics"} <= {*kafka}
    ):
        message = f"The Kafka trigger `{trigger.key}` has no hosts or no topics."
        yield places.problem("warning", "kafka-settings", message, placed)
    if trigger.type == "cron":
        yield from _schedule(places, placed)
    elif trigger.cron_expression and trigger.type in TRIGGER_TYPES:
        message = f"The trigger `{trigger.key}` is a {trigger.type}, but it has a schedule."
        hint = "Remove `cron_expression`."
        yield places.problem(
            "warning", "trigger-schedule", message, placed, "cron_expression", hint
        )
    reply = trigger.settings.get("webhook_reply")
    if reply is not None and reply not in WEBHOOK_REPLIES:
        message = f"The trigger `{trigger.key}` has the unknown `webhook_reply` `{reply!s:.40}`."
        hint = did_you_mean(str(reply), WEBHOOK_REPLIES)
        hint = hint or f"It is one of {', '.join(WEBHOOK_REPLIES)}."
        yield places.at_setting("webhook-reply", message, placed, "webhook_reply", hint)


def _schedule(places: Places, placed: Placed[Trigger]) -> Iterator[Problem]:
    trigger = placed.part
    hint = "Five fields are needed: minute, hour, day, month, weekday, as in `0 8 * * 1-5`."
    if not trigger.cron_expression:
        message = f"The cron trigger `{trigger.key}` has no `cron_expression`."
        yield places.problem("warning", "cron-expression", message, placed, suggestion=hint)
    elif wrong := cron_problem(trigger.cron_expression):
        message = f"The schedule `{trigger.cron_expression[:80]}` is not valid: {wrong}."
        yield places.problem("error", "cron-expression", message, placed, "cron_expression", hint)


def cron_problem(expression: str) -> str | None:
    """What is wrong with a cron expression of five fields; None when it is valid."""
    fields = len(expression.split())
    if fields != 5:
        return f"it has {fields} field{'s' * (fields != 1)}"
    try:
        CronSim(expression, datetime(2024, 1, 1))
    except CronSimError as error:
        return str(error)[:1].lower() + str(error)[1:]
    return None


def _unknown(places: Places, kind: Kind, mapping: Mapping) -> Iterator[Problem]:
    known = places.layout.form.known[kind]
    for entry in mapping.entries:
        key = text_of_key(entry)
        if key not in known and not key.startswith("x-") and key != "<<":
            message = f"`{key[:80]}` is not a known key of {_A[kind]}."
            hint = did_you_mean(key, known)
            yield places.at("warning", "unknown-key", message, entry.start, hint)


def _booleans(places: Places, placed: Placed[Any], mapping: Mapping) -> Iterator[Problem]:
    for key in ("enabled", "disabled"):
        if value_of(mapping, key) is not None and bool_of(mapping, key) is None:
            entry = find(mapping, key)
            message = f"`{key}` must be true or false, without quotes."
            offset = entry.value.start if entry else placed.node.start
            yield places.at("error", "boolean", message, offset)

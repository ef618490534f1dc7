"""What the parts of a sentence mean in one workflow: steps, paths, conditions, times, literals.

`MEANINGS` has the grammar's rules by name. Each gives every meaning that the words have: none when
the workflow has nothing of the kind, several when the words fit several parts of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Edge, Step

from .reading import Meanings, Word
from .scene import Scene, plain, words
from .schedules import WEEKDAYS, WEEKEND, When, combined

SUCCESS, FAILURE, ALWAYS, EXPRESSION = "on_job_success", "on_job_failure", "always", "js_expression"
UNITS = ("minute", "hour", "day", "week", "month")
DAYPARTS = ("morning", "afternoon", "evening", "night")
_OFTEN = [When(every=(1, unit)) for unit in UNITS[1:]] + [When(every=(30, "minute"))]

Keys = frozenset[str]


@dataclass(frozen=True, slots=True)
class Where:
    """The steps in which something is to be done; `every` is wherever it occurs among them."""

    keys: Keys
    every: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """When a path runs. `source` is the step that it depends on, as far as it was named."""

    type: str
    expression: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A literal of a request: `text` without quotes; `kind` is string, number, name or truth."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Thing:
    """A description, such as the `email` of `the email step`."""

    text: str


def unquoted(text: str) -> str:
    """What stands in quotes."""
    return text[1:-1].strip() if len(text) > 2 and text[0] in "\"'`“”„«‘’" else text.strip()


def first(parts: Iterable[Any], kind: Any) -> Any:
    """The first of a rule's children that is of a kind, or None."""
    return next((part for part in parts if isinstance(part, kind)), None)


# ---- steps and paths


def _open_step(scene: Scene, *said: Word) -> Iterator[Step]:
    """The step on the page; `them` (the third form of IT) is more than one step."""
    if scene.open_step and not any(word.type == "IT" and word.index > 1 for word in said):
        yield scene.open_step


def _step_set(scene: Scene, *parts: Any) -> Iterator[Keys]:
    """The steps that fit a description, as many as were said."""
    found = scene.described(first(parts, Thing).text)
    if len(found) > 1 and all(part == len(found) for part in parts if isinstance(part, int)):
        yield frozenset(step.key for step in found)


def _in_steps(_: Scene, what: Where | Keys, *left_out: Keys) -> Iterator[Where]:
    where = what if isinstance(what, Where) else Where(what)
    without: Keys = frozenset().union(*left_out)
    if without <= where.keys and where.keys - without:
        yield Where(where.keys - without, where.every)


def _in_step(_: Scene, step: Step, *not_in: Step) -> Iterator[Where]:
    if step not in not_in:
        yield Where(frozenset({step.key}))


def _everywhere(scene: Scene, *_: Any) -> Iterator[Where]:
    yield Where(frozenset(scene.by_key), every=True)


def _in_code(scene: Scene, *every: Where) -> Iterator[Where]:
    """The code: that of the open step, else of every step."""
    here = scene.open_step if not every else None
    return iter([Where(frozenset({here.key}))]) if here else _everywhere(scene)


def _except(scene: Scene, *parts: Step | Thing) -> Iterator[Keys]:
    thing = first(parts, Thing)
    steps = scene.described(thing.text) if thing else tuple(p for p in parts if isinstance(p, Step))
    if steps:
        yield frozenset(step.key for step in steps)


def _path_described(scene: Scene, told: Thing) -> Iterator[Edge]:
    """A path by what it leads to, or by words of its label."""
    wanted = set(words(told.text))
    targets = {step.key for step in scene.described(told.text)}
    for edge in scene.edges:
        if edge.target in targets or wanted <= set(words(edge.condition_label)):
            yield edge


# ---- conditions


def _condition(type_: str) -> Any:
    return lambda _, *source: [Condition(type_, source=source[0].key if source else None)]


def _on_expression(_: Scene, word: Word) -> Iterator[Condition]:
    text = word.text.strip().rstrip(".,;!?")
    if text.count("(") == text.count(")") and text != "state":
        yield Condition(EXPRESSION, text)


# ---- times


def _number(said: Word | int) -> int | None:
    if isinstance(said, int):
        return said
    return int(said.text) if said.type == "NUMBER" and said.text.isdigit() else None


def _count(parts: Iterable[Any]) -> int | None:
    numbers = (_number(part) for part in parts if isinstance(part, int | Word))
    return next((n for n in numbers if n is not None), None)


def _clock(_: Scene, *parts: Any) -> Iterator[tuple[int, int]]:
    """An hour of twelve or of twenty-four, with the part of the day that was said."""
    hour, minute, mark = _count(parts), 0, ""
    for part in (p for p in parts if isinstance(p, Word)):
        if part.type == "CLOCK" and (
            found := re.match(r"(\d+)(?:[:.hH](\d\d))?\s*(\w*)", part.text)
        ):
            hour, minute, mark = int(found[1]), int(found[2] or 0), found[3].lower()
        elif part.type == "OCLOCK":
            mark = part.text.lower().replace(".", "")
    day = {"am": "morning", "pm": "afternoon"}.get(mark, first(parts, str))
    if hour is None or hour > 23:
        return
    if (day in ("afternoon", "evening") and hour < 12) or (day == "night" and 7 < hour < 12):
        hour += 12
    yield (0 if day in ("morning", "night") and hour == 12 else hour), minute


def _past_hour(scene: Scene, *parts: Any) -> Iterator[tuple[int, int]]:
    minute = 15 * (1 + parts[0].index)
    return ((hour, minute) for hour, _ in _clock(scene, *parts[1:]))


def _bare_hour(_: Scene, said: Word | int) -> Iterator[tuple[int, int]]:
    hour = _number(said)
    if hour is not None and hour < 24:
        yield hour, 0


def _minute_past(_: Scene, *parts: Word) -> Iterator[When]:
    count = _count(parts) or 0
    if count < 60:
        yield When(minute=count)


def _day_hours(_: Scene, begin: tuple[int, int], end: tuple[int, int]) -> Iterator[When]:
    if begin[1] == end[1] == 0 and begin[0] < end[0]:
        yield When(between=(begin[0], end[0]))


def _day_range(_: Scene, begin: int, end: int) -> Iterator[When]:
    yield When(weekdays=frozenset(d % 7 for d in range(begin, end + 1 + 7 * (end < begin))))


def _monthday(_: Scene, *parts: Any) -> Iterator[When]:
    """A day of the month: a number, an ordinal, or the first; with a month when that was said."""
    said = (p.text for p in parts if isinstance(p, Word) and p.type in ("ORDINAL", "NUMBER"))
    digits = re.match(r"\d+", next(said, "1"))
    months = frozenset(p for p in parts if isinstance(p, int))
    if digits and 0 < int(digits[0]) < 32:
        yield When(monthdays=frozenset({int(digits[0])}), months=months or None)


def as_when(said: Any) -> When | None:
    """A time, or what is said of one, as a `When`; None for words that name no time."""
    if isinstance(said, When):
        return said
    is_time = isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], int)
    return When(times=frozenset({said})) if is_time else None


def _old(_: Scene, *said: Any) -> Iterator[When]:
    if (before := combined(filter(None, map(as_when, said)))) is not None:
        yield When(old=before) if said else When(same=True)


def _counted(_: Scene, count: Word, unit: str) -> Iterator[When]:
    if unit == "day":
        yield When(every=(1, unit), count=2 + count.index)


def _whens(_: Scene, *parts: Any) -> Iterator[When]:
    if (together := combined(filter(None, map(as_when, parts)))) is not None:
        yield together


def _value(kind: str) -> Any:
    def of(_: Scene, word: Word) -> Iterator[Value]:
        yield Value(unquoted(word.text).replace(" ", "" if kind == "number" else " "), kind)

    return of


MEANINGS: Meanings = {
    "named_step": lambda scene, word: scene.named(unquoted(word.text)),
    "described_step": lambda scene, thing: scene.described(thing.text),
    "described": lambda scene, thing: scene.described(thing.text),
    "thing": lambda _, *told: [Thing(" ".join(word.text for word in told))],
    "first_step": lambda scene: scene.ends()[0],
    "last_step": lambda scene: scene.ends()[1],
    "open_step": _open_step,
    "step_list": lambda _, *steps: [frozenset(step.key for step in steps)],
    "step_set": _step_set,
    "every_step": _everywhere,
    "in_step": _in_step,
    "in_steps": _in_steps,
    "in_every_step": _everywhere,
    "in_code": _in_code,
    "except": _except,
    "path_into": lambda scene, step: scene.into(step.key),
    "path_from": lambda scene, step: scene.out_of(step.key),
    "path_between": lambda scene, one, other: scene.between(one.key, other.key),
    "path_described": _path_described,
    "path_labelled": lambda scene, label: [
        e for e in scene.edges if e.condition_label and plain(e.condition_label) == plain(label)
    ],
    "label": lambda _, word: [unquoted(word.text)],
    "on_success": _condition(SUCCESS),
    "on_failure": _condition(FAILURE),
    "always": _condition(ALWAYS),
    "on_expression": _on_expression,
    "number_word": lambda _, word: [1 + word.index],
    "unit": lambda _, word: [UNITS[word.index]],
    "daypart": lambda _, word: [DAYPARTS[word.index]],
    "every": lambda _, *parts: [When(every=(_count(parts) or 1, parts[-1]))],
    "every_part": lambda *_: [When(every=(1, "day"))],
    "every_other": lambda _, unit: [When(every=(2, unit))],
    "half_hourly": lambda *_: [When(every=(30, "minute"))],
    "often": lambda _, word: [_OFTEN[word.index]],
    "clock": _clock,
    "past_hour": _past_hour,
    "hour_name": lambda _, word: [(12 * word.index, 0)],
    "bare_hour": _bare_hour,
    "times": lambda _, clock: [as_when(clock)],
    "minute_past": _minute_past,
    "day_hours": _day_hours,
    "day": lambda _, word: [word.index],
    "days": lambda _, day: [When(weekdays=frozenset({day}))],
    "days_name": lambda _, *said: [
        When(weekdays=WEEKEND if w.index else WEEKDAYS) for w in said if w.type == "DAYS_NAME"
    ],
    "day_range": _day_range,
    "not_days": lambda _, *days: [
        When(
            less_days=frozenset[int]().union(
                *(d.weekdays or () for d in days if isinstance(d, When))
            )
        )
    ],
    "counted": _counted,
    "monthdays": _monthday,
    "month": lambda _, word: [1 + word.index],
    "old": _old,
    "same": lambda _, *time: [When(same=True, old=as_when(time[0]) if time else None)],
    "whens": _whens,
    "string": _value("string"),
    "figure": _value("number"),
    "codeish": _value("name"),
    "truth": _value("truth"),
}

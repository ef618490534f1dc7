"""What the parts of a sentence mean in one workflow: steps, paths, conditions, times, literals.

Each function carries out the grammar's rule of its name, and gives every meaning that the words have;
none when the workflow has nothing of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Edge, Step

from .reading import Word
from .scene import Scene, plain, words
from .schedules import MONTHS, WEEKDAYS, When, combined

SUCCESS, FAILURE, ALWAYS, EXPRESSION = "on_job_success", "on_job_failure", "always", "js_expression"


@dataclass(frozen=True, slots=True)
class Where:
    """The steps that something is to be done in. `all` is where it occurs, and `one` says so singly."""

    keys: frozenset[str]
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


def unquoted(text: str) -> str:
    """What stands in quotes."""
    return text[1:-1].strip() if len(text) > 2 and text[0] in "\"'`“”„«‘’" else text.strip()


# ---- steps


def named_step(scene: Scene, word: Word) -> Iterable[Step]:
    return scene.named(unquoted(word.text))


def described_step(scene: Scene, thing: tuple[str, ...]) -> Iterable[Step]:
    return scene.described(" ".join(thing))


def thing(_: Scene, *told: Word) -> Iterable[tuple[str, ...]]:
    yield tuple(word.text for word in told)


def open_step(scene: Scene, *_: Word) -> Iterable[Step]:
    return [scene.open_step] if scene.open_step else []


def step_list(_: Scene, *steps: Step) -> Iterable[frozenset[str]]:
    yield frozenset(step.key for step in steps)


def step_set(scene: Scene, *parts: Any) -> Iterable[frozenset[str]]:
    told = next(part for part in parts if isinstance(part, tuple))
    both = any(isinstance(part, Word) and part.type == "BOTH" for part in parts)
    found = scene.described(" ".join(told))
    if len(found) > 1 and (len(found) == 2 or not both):
        yield frozenset(step.key for step in found)


def every_step(scene: Scene, *_: Word) -> Iterable[Where]:
    yield Where(frozenset(scene.by_key), every=True)


def in_steps(scene: Scene, what: Any, *without: frozenset[str]) -> Iterable[Where]:
    where = what if isinstance(what, Where) else Where(frozenset({what.key}) if isinstance(what, Step) else what)
    left_out = frozenset().union(*without)
    if left_out <= where.keys and where.keys - left_out:
        yield Where(where.keys - left_out, where.every)


def in_step(_: Scene, step: Step, *not_in: Any) -> Iterable[Where]:
    if step not in not_in:
        yield Where(frozenset({step.key}))


def in_code(scene: Scene, *_: Any) -> Iterable[Where]:
    """The code: that of the open step, else of every step."""
    open_ = scene.open_step
    yield Where(frozenset({open_.key}) if open_ and not _ else frozenset(scene.by_key), every=True)


def in_every_step(scene: Scene, *_: Any) -> Iterable[Where]:
    yield Where(frozenset(scene.by_key), every=True)


def without(_: Scene, *steps: Any) -> Iterable[frozenset[str]]:
    yield frozenset(step.key for step in steps if isinstance(step, Step))


def without_described(scene: Scene, *parts: Any) -> Iterable[frozenset[str]]:
    told = next(part for part in parts if isinstance(part, tuple))
    found = scene.described(" ".join(told))
    if found:
        yield frozenset(step.key for step in found)


# ---- paths


def path_into(scene: Scene, *target: Step) -> Iterable[Edge]:
    return scene.into(target[0].key) if target else ()


def path_from(scene: Scene, source: Step) -> Iterable[Edge]:
    return scene.out_of(source.key)


def path_between(scene: Scene, source: Step, target: Step) -> Iterable[Edge]:
    return scene.between(source.key, target.key)


def path_described(scene: Scene, told: tuple[str, ...]) -> Iterator[Edge]:
    """A path by what it leads to, or by words of its label."""
    wanted = set(words(" ".join(told)))
    targets = {step.key for step in scene.described(" ".join(told))}
    for edge in scene.edges:
        if edge.target in targets or wanted <= set(words(edge.condition_label)):
            yield edge


def path_labelled(scene: Scene, label: str) -> Iterator[Edge]:
    return (edge for edge in scene.edges if edge.condition_label and plain(edge.condition_label) == plain(label))


def label(_: Scene, word: Word) -> Iterable[str]:
    yield unquoted(word.text)


# ---- conditions


def ref_step(_: Scene, step: Step) -> Iterable[Step]:
    yield step


def ref_thing(scene: Scene, told: tuple[str, ...]) -> Iterable[Step]:
    return scene.described(" ".join(told))


def condition(type_: str) -> Callable[..., Iterable[Condition]]:
    """The function of a condition that needs no expression."""

    def of(_: Scene, *source: Any) -> Iterable[Condition]:
        steps = [s.key for s in source if isinstance(s, Step)]
        yield Condition(type_, source=steps[0] if steps else None)

    return of


def on_expression(_: Scene, expression: str) -> Iterable[Condition]:
    yield Condition(EXPRESSION, expression)


def expression(_: Scene, word: Word) -> Iterable[str]:
    text = word.text.strip().rstrip(".,;!?")
    if text.count("(") == text.count(")") and text != "state":
        yield text


# ---- times


def number_word(_: Scene, word: Word) -> Iterable[int]:
    yield 1 + word.index


def every(_: Scene, *parts: Any) -> Iterable[When]:
    unit = next(p for p in parts if isinstance(p, str))
    yield When(every=(_count(parts) or 1, unit))


def _count(parts: Iterable[Any]) -> int | None:
    for part in parts:
        if isinstance(part, int):
            return part
        if isinstance(part, Word) and part.type == "NUMBER" and part.text.isdigit():
            return int(part.text)
    return None


def unit(_: Scene, word: Word) -> Iterable[str]:
    yield word.type.lower()


def fixed(when: When) -> Callable[..., Iterable[When]]:
    """The function of words that always mean the same."""
    return lambda *_: [when]


def clock(_: Scene, *parts: Any) -> Iterator[tuple[int, int]]:
    hour, minute = _count(parts), 0
    mark = ""
    for part in parts:
        if isinstance(part, Word) and part.type == "CLOCK":
            found = re.fullmatch(r"(\d+)(?:[:.hH](\d\d))?\s*(\w*)", part.text)
            if found is None:
                return
            hour, minute, mark = int(found[1]), int(found[2] or 0), found[3].lower()
        elif isinstance(part, Word) and part.type == "OCLOCK":
            mark = part.text.lower().replace(".", "")
    day = next((p for p in parts if isinstance(p, str)), "")
    yield from _time(hour, minute, {"am": "morning", "pm": "afternoon"}.get(mark, day))


def _time(hour: int | None, minute: int, part: str) -> Iterator[tuple[int, int]]:
    """An hour of twelve or of twenty-four, with the part of the day that was said."""
    if hour is None or hour > 23:
        return
    if part in ("afternoon", "evening") and hour < 12 or (part == "night" and 7 < hour < 12):
        hour += 12
    if part in ("morning", "night") and hour == 12:
        hour = 0
    yield hour, minute


def half_past(scene: Scene, *parts: Any) -> Iterator[tuple[int, int]]:
    return ((hour, 30) for hour, _ in clock(scene, *parts))


def quarter_past(scene: Scene, *parts: Any) -> Iterator[tuple[int, int]]:
    return ((hour, 15) for hour, _ in clock(scene, *parts))


def daypart(_: Scene, word: Word) -> Iterable[str]:
    yield word.type.lower()


def bare_hour(_: Scene, said: Word | int) -> Iterable[tuple[int, int]]:
    hour = said if isinstance(said, int) else _count([said])
    return [(hour, 0)] if hour is not None and hour < 24 else []


def times(_: Scene, *clocks: Any) -> Iterable[When]:
    yield When(times=frozenset(c for c in clocks if isinstance(c, tuple)))


def minute_past(_: Scene, *parts: Word) -> Iterable[When]:
    count = _count(parts)
    if count is not None and count < 60:
        yield When(minute=count)


def day_hours(_: Scene, first: tuple[int, int], last: tuple[int, int]) -> Iterable[When]:
    if first[1] == last[1] == 0 and first[0] < last[0]:
        yield When(between=(first[0], last[0]))


_DAY_NAMES = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")


def day(_: Scene, word: Word) -> Iterable[frozenset[int]]:
    yield frozenset({_DAY_NAMES.index(word.type)})


def days(_: Scene, *parts: Any) -> Iterable[When]:
    yield When(weekdays=frozenset().union(*(p for p in parts if isinstance(p, frozenset))))


def day_range(_: Scene, first: frozenset[int], last: frozenset[int]) -> Iterable[When]:
    start, end = min(first), min(last)
    yield When(weekdays=frozenset(d % 7 for d in range(start, end + 1 + 7 * (end < start))))


def days_too(_: Scene, more: frozenset[int]) -> Iterable[When]:
    yield When(more_days=more)


def not_days(_: Scene, *parts: Any) -> Iterable[When]:
    less = next(p for p in parts if isinstance(p, When))
    yield When(less_days=less.weekdays)


def monthday(_: Scene, *parts: Any) -> Iterable[When]:
    found = next((re.match(r"\d+", p.text) for p in parts if p.type in ("ORDINAL", "NUMBER")), None)
    number = int(found[0]) if found else 1
    if 0 < number < 32:
        yield When(monthdays=frozenset({number}))


def dated(scene: Scene, *parts: Any) -> Iterable[When]:
    month = next(p for p in parts if isinstance(p, int))
    for said in monthday(scene, *(p for p in parts if isinstance(p, Word))):
        yield When(monthdays=said.monthdays, months=frozenset({month}))


def month(_: Scene, word: Word) -> Iterable[int]:
    yield 1 + word.index % 12


def monthdays(_: Scene, *parts: Any) -> Iterable[When]:
    said = [p for p in parts if isinstance(p, When)]
    days_ = frozenset().union(*(p.monthdays or () for p in said))
    months = frozenset().union(*(p.months or () for p in said))
    if not months or len(days_) == 1:
        yield When(monthdays=days_, months=months or None)


def old(_: Scene, *what: Any) -> Iterable[When]:
    if what and isinstance(what[0], When):
        yield When(old=what[0])
    elif what and isinstance(what[0], tuple) and isinstance(what[0][0], int):
        yield When(old=When(times=frozenset({what[0]})))
    else:
        yield When(same=True)


def whens(_: Scene, *parts: Any) -> Iterable[When]:
    together = combined(p for p in parts if isinstance(p, When))
    if together is not None:
        yield together


# ---- literals


def string(_: Scene, word: Word) -> Iterable[Value]:
    yield Value(unquoted(word.text), "string")


def figure(_: Scene, word: Word) -> Iterable[Value]:
    yield Value(word.text.replace(" ", ""), "number")


def codeish(_: Scene, word: Word) -> Iterable[Value]:
    yield Value(word.text, "name")


def truth(_: Scene, word: Word) -> Iterable[Value]:
    yield Value(word.text.lower(), "truth")


MEANINGS: dict[str, Callable[..., Iterable[Any]]] = {
    f.__name__: f
    for f in (named_step, described_step, thing, open_step, step_list, step_set, every_step, in_steps, in_step, in_code,
              in_every_step, without, without_described, path_into, path_from, path_between,
              path_described, path_labelled, label, ref_step, ref_thing, on_expression, expression,
              number_word, every, unit, clock, half_past, quarter_past, daypart, bare_hour, times,
              minute_past, day_hours, day, days, day_range, days_too, not_days, monthday, dated, month,
              monthdays, old, whens, string, figure, codeish, truth)
} | {
    "on_success": condition(SUCCESS),
    "on_failure": condition(FAILURE),
    "always": condition(ALWAYS),
    "half_hourly": fixed(When(every=(30, "minute"))),
    "hourly": fixed(When(every=(1, "hour"))),
    "every_part": fixed(When(every=(1, "day"))),
    "every_other": lambda _, unit: [When(every=(2, unit))],
    "weekly": fixed(When(every=(1, "week"))),
    "daily": fixed(When(every=(1, "day"))),
    "monthly": fixed(When(every=(1, "month"))),
    "noon": lambda *_: [(12, 0)],
    "midnight": lambda *_: [(0, 0)],
    "on_the_hour": fixed(When(minute=0)),
    "weekdays": fixed(When(weekdays=WEEKDAYS)),
    "weekend": fixed(When(weekdays=frozenset({0, 6}))),
    "same": lambda _, *clock: [When(same=True, old=When(times=frozenset(clock)) if clock else None)],
}  # fmt: skip

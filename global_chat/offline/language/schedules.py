"""Schedules in words to cron expressions, in English, French, Spanish, Portuguese, some Swahili.

What is said changes the present schedule no further than it goes: "at 7" keeps the days, "weekdays
only" keeps the time. What a cron expression cannot say exactly is refused with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .clock import Time, find_times, mentions_unclear_time, swahili_times
from .days import Days, find_days, weekday_field
from .intervals import EVERY, Interval, find_interval
from .numbers import number_pattern, value_of

_BETWEEN = re.compile(
    r"(?:between|from|entre|de|kati ya)\s+(?P<a>\d{1,2})(?::00|h)?\s*(?P<ap>am"
    r"|pm)?\s*(?:and|to|et|a|y|e|na|until|till)\s+(?P<b>\d{1,2})(?::00|h)?\s*(?P<bp>am"
    r"|pm)?(?!\w)"
)
_AT_MINUTE = re.compile(
    r"(?:at|a la|au|no|en el)?\s*(?:minute|minuto|dakika ya)\s+(?P<m>\d{1,2})(?!\w)"
    r"|(?P<m2>\d{1,2}) (?:minutes )?past (?:the|each|every) hour"
)
_ADD = re.compile(r"(?<!\w)(?:also|as well|too|additionally|aussi|tambien|tambem|pia|auch)(?!\w)")
_ZONE = re.compile(
    r"(?<!\w)(?:(?:utc|gmt)\s*[+-]\s*\d+|[a-z]+ time(?! zone)|eat|cat|wat|local time"
    r"|heure (?:locale|de \w+)|hora (?:local|de \w+)|timezone|time zone)(?!\w)"
)
_ZONE_FINE = re.compile(
    r"(?:this|every|each|the|same|right|run|start|long|at|any|real|first|what|one|last"
    r"|some|of|night|it|a|day|all|in|next|on|down|up|over|full|half|spare|no|our) time"
    r"|hora de la"
)
_STOP = (
    r"(?!\b(?:run|make|start|set|it|should|please|use|let|put|que|tourne|corra|ponlo|demarre"
    r"|corre|iwe|but|pero|mais|mas|lakini)\b)"
)
_REST = rf"\s+(?P<rest>(?:{_STOP}[^,.;:()])*)"
#: What is given up: « au lieu de », "no longer"; and "not" before how often ("not every Monday").
_NOT = re.compile(
    r"(?<!\w)(?:instead of|rather than|no more|no longer|si|sio|au lieu d[eu']|plutot que"
    r"|et plus|en (?:lugar|vez) de|ya no"
    r"|em vez d[eoa]|nao mais|ja nao|badala ya|statt"
    rf"|(?:and |but |et |y |e |mais )?(?:not|pas|no|nao|nicht|plus)(?=\s+(?:{EVERY}|once"
    r"|twice|at|a las?|as|une fois|una vez|uma vez|mara)\b))" + _REST
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule that was asked for. Either `cron` is set, or `problem` says why there is none."""

    cron: str | None
    problem: str | None = None
    rest: str = ""
    """The text without what was read as time, in folded form."""


def read_schedule(plain: str, current: str | None = None, *, bare: bool = False) -> Schedule | None:
    """The schedule in folded text; None when it speaks of no time at all.

    `current` is the cron expression that is changed. `bare` takes a number alone for an hour, for
    a text that is known to be about the time.
    """
    plain = _NOT.sub(_without_times, plain)
    days = find_days(plain)
    text = _blank(plain, days.spans, "·")  # "kila (ijumaa) saa nane" is not "kila saa"
    every = find_interval(text)
    rest = _blank(text, every[2]) if every else text
    between = _BETWEEN.search(rest) if every and every[1] in ("hour", "minute") else None
    at_minute = _AT_MINUTE.search(rest)
    if between:
        rest = _blank(rest, (between.span(),))
    if at_minute:
        rest = _blank(rest, (at_minute.span(),))
    times = find_times(rest)
    if not times and bare and (number := re.search(rf"(?<![\w.]){number_pattern()}", rest)):
        hour = value_of(number[0])
        if hour is not None and hour <= 24:
            times = [Time(hour % 24, 0, *number.span())]
    if not (every or times or days.weekdays or days.excluded or days.month_days or at_minute):
        return (
            Schedule(None, "unclear time") if days.unclear or mentions_unclear_time(plain) else None
        )
    rest = _blank(rest, (*((t.start, t.end) for t in times), *swahili_times(rest)))
    problem = _problem(plain, days, every)
    if problem:
        return Schedule(None, problem, rest)
    hours = (int(between["a"]), int(between["b"])) if between else None
    if between and (between["bp"] == "pm" or between["ap"] == "pm"):
        hours = (_on_24(between["a"], between["ap"]), _on_24(between["b"], between["bp"]))
    minute = int(at_minute["m"] or at_minute["m2"]) if at_minute else None
    cron = _composed(_Asked(every, times, days, hours, minute, bool(_ADD.search(plain))), current)
    return Schedule(cron, None if cron else "not expressible", rest)


def _on_24(hour: str, half: str | None) -> int:
    return int(hour) % 12 + 12 if half == "pm" else int(hour)


def _without_times(match: re.Match[str]) -> str:
    """A denied clause is blanked when it speaks of time; otherwise it says something else."""
    rest = match["rest"]
    timely = (
        find_times(rest)
        or find_interval(rest)
        or find_days(rest).spans
        or re.fullmatch(r"\s*\d+\s*", rest)
    )
    return " " * len(match[0]) if timely else match[0]


def _blank(text: str, spans: tuple[tuple[int, int], ...], mark: str = " ") -> str:
    for start, end in spans:
        text = text[:start] + mark * (end - start) + text[end:]
    return text


def _problem(plain: str, days: Days, every: Interval | None) -> str | None:
    """Why cron cannot say this, or why it is not clear enough; None when it can."""
    zone = next((m for m in _ZONE.finditer(plain) if not _ZONE_FINE.fullmatch(m[0])), None)
    if zone:
        return "time zone"
    if days.unclear:
        return "last day"
    if mentions_unclear_time(plain):
        return "unclear time"
    if every is None:
        return None
    number, unit, _ = every
    limit = {"minute": 60, "hour": 24}.get(unit)
    if number < 1 or (limit and (number >= limit or limit % number)):
        return "uneven"
    if unit == "week" and number > 1:
        return "uneven"
    if unit == "month" and 12 % number:
        return "uneven"
    return None


@dataclass(frozen=True, slots=True)
class _Asked:
    every: Interval | None
    times: list[Time]
    days: Days
    hours: tuple[int, int] | None
    minute: int | None
    additional: bool


def _composed(asked: _Asked, current: str | None) -> str | None:
    base = (current or "").split()
    if len(base) != 5:
        base = ["0", "0", "*", "*", "*"]
    minute, hour, day, month, weekday = base
    number, unit = (asked.every[0], asked.every[1]) if asked.every else (0, "")
    fixed = minute.isdigit() and hour.isdigit()
    if unit in ("minute", "hour"):
        if asked.times and not asked.hours and not (unit == "hour" and number == 1):
            return _listed(asked, weekday if not asked.every else "*", day="*")
        minute = (
            str(asked.minute or 0) if unit == "hour" else (f"*/{number}" if number > 1 else "*")
        )
        hour = "*" if unit == "minute" or number == 1 else f"*/{number}"
        if asked.hours:
            first, last = asked.hours
            hour = f"{first}-{last}" + (f"/{number}" if unit == "hour" and number > 1 else "")
        day, month, weekday = "*", "*", "*"
    elif asked.times:
        listed = _hours_and_minutes(asked.times)
        if listed is None:
            return None
        minute, hour = listed
    elif unit and not fixed:
        minute, hour = "0", "0"
    elif asked.minute is not None and not asked.every:
        minute = str(asked.minute)
    return _with_days(asked, minute, hour, [day, month, weekday])


def _listed(asked: _Asked, weekday: str, day: str) -> str | None:
    """Times that are listed say more than "twice a day": they replace it."""
    listed = _hours_and_minutes(asked.times)
    return _with_days(asked, *listed, [day, "*", weekday]) if listed else None


def _hours_and_minutes(times: list[Time]) -> tuple[str, str] | None:
    minutes = {t.minute for t in times}
    if len(minutes) != 1:
        return None
    return str(minutes.pop()), ",".join(map(str, sorted({t.hour for t in times})))


def _with_days(asked: _Asked, minute: str, hour: str, rest: list[str]) -> str | None:
    day, month, weekday = rest
    number, unit = (asked.every[0], asked.every[1]) if asked.every else (0, "")
    named = asked.days.weekdays or asked.days.excluded
    if unit == "day":
        day, month, weekday = ("*" if number == 1 else f"*/{number}"), "*", "*"
    elif unit in ("week", "month", "quarter"):
        if unit == "week":
            day, month, weekday = "*", "*", "*" if named else "1"
        else:
            every = 3 if unit == "quarter" else number
            day, month, weekday = "1", "*" if every == 1 else f"*/{every}", "*"
    if asked.days.month_days:
        day, weekday = ",".join(map(str, asked.days.month_days)), "*"
    if named:
        if asked.days.month_days:
            return None
        days = asked.days
        if asked.additional and days.weekdays and weekday != "*":
            weekday = weekday_field(days.weekdays | _expanded(weekday))
        elif days.excluded and not days.weekdays and weekday != "*":
            weekday = weekday_field(_expanded(weekday) - days.excluded)
        else:
            weekday = days.cron
        day = "*"
    return " ".join((minute, hour, day, month, weekday))


def _expanded(field: str) -> frozenset[int]:
    """The weekdays of a cron field that is a list of numbers and ranges."""
    days: set[int] = set()
    for part in field.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            days.update(d % 7 for d in range(int(first), int(last or first) + 1))
    return frozenset(days)

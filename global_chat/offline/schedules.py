"""Times and days: what a request says of them, and the cron expression that this makes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")  # fmt: skip
WEEKDAYS = frozenset({1, 2, 3, 4, 5})
WEEKEND = frozenset({0, 6})

Time = tuple[int, int]


@dataclass(frozen=True, slots=True)
class When:
    """What is said of the time, in parts; None and False say nothing.

    `every` is a number and `minute`, `hour`, `day`, `week` or `month`; `times` are (hour, minute).
    `more_days` come to those of today, `less_days` go. `old` is what is said to be so today, `same`
    that something stays.
    """

    every: tuple[int, str] | None = None
    times: frozenset[Time] | None = None
    minute: int | None = None
    between: tuple[int, int] | None = None
    weekdays: frozenset[int] | None = None
    monthdays: frozenset[int] | None = None
    months: frozenset[int] | None = None
    count: int | None = None
    more_days: frozenset[int] | None = None
    less_days: frozenset[int] | None = None
    same: bool = False
    old: When | None = None


#: What can be said in a list, such as `at 6 and 18`.
_LISTS = ("times", "weekdays", "monthdays", "months", "less_days")


def combined(parts: Iterable[When]) -> When | None:
    """All of it as one; None when it contradicts itself."""
    found = When()
    for part in parts:
        for name in (f.name for f in fields(When)):
            value, before = getattr(part, name), getattr(found, name)
            if value in (None, False) or value == before:
                continue
            if name in _LISTS and before is not None:
                value |= before
            elif before not in (None, False):
                return None
            found = replace(found, **{name: value})
    several = found.months and len(found.monthdays or ()) > 1
    return None if several or (found.weekdays and found.less_days) else found


def cron_after(cron: str | None, when: When) -> str | None:
    """The cron expression that `when` makes of today's; None when it cannot be said or done."""
    now = (cron or "").split()
    if when.old is not None and not (len(now) == 5 and _is_so(now, when.old)):
        return None
    if len(now) != 5:
        if when.every is None and when.times is None:
            return None
        now = ["0", "0", "*", "*", "*"]
    clock = _clock(now, when)
    dates = _dates(now, when)
    if clock is None or dates is None or when == When(same=when.same, old=when.old):
        return None
    return " ".join((*clock, *dates))


def _clock(now: list[str], when: When) -> tuple[str, str] | None:
    number, unit = when.every or (0, "")
    if when.count and len(when.times or ()) != when.count:
        return None
    hours = f"{when.between[0]}-{when.between[1]}" if when.between else "*"
    if when.times is not None:
        if unit in ("minute", "hour") or when.between:
            return None
        minutes = {minute for _, minute in when.times}
        ordered = ",".join(str(hour) for hour, _ in sorted(when.times))
        return (str(minutes.pop()), ordered) if len(minutes) == 1 else None
    if unit == "minute":
        fits = 0 < number < 60 and 60 % number == 0 and when.minute is None
        return ("*" if number == 1 else f"*/{number}", hours) if fits else None
    if unit == "hour":
        steps = hours if number == 1 else f"{hours}/{number}"
        fits = 0 < number < 24 and 24 % number == 0
        return (str(when.minute or 0), steps) if fits else None
    if when.minute is not None or (when.between and not _repeats(now)):
        return None
    if when.between:
        return now[0], hours
    if unit and _repeats(now):
        return None
    return now[0], now[1]


def _repeats(now: list[str]) -> bool:
    """Whether it runs several times a day at equal distances."""
    return not re.fullmatch(r"\d+(,\d+)*", now[1])


def _dates(now: list[str], when: When) -> tuple[str, str, str] | None:
    """Day of the month, month, day of the week."""
    number, unit = when.every or (0, "")
    if unit in ("day", "week", "month") and number != 1:
        return None
    today = _numbers(now[4])
    if when.more_days or when.less_days:
        if now[2:4] != ["*", "*"] or (when.more_days and now[4] == "*"):
            return None
        days = (today | (when.more_days or frozenset())) - (when.less_days or frozenset())
        return ("*", "*", _field(days)) if days else None
    if when.weekdays is not None:
        return None if when.monthdays or unit == "month" else ("*", "*", _field(when.weekdays))
    if when.monthdays is not None:
        month = _field(when.months) if when.months else now[3]
        return (_field(when.monthdays), month, "*")
    if when.months is not None:
        return None
    if unit == "month":
        return (now[2], "*", "*") if now[2] != "*" else None
    if unit == "week":
        return ("*", "*", now[4]) if now[4] != "*" else None
    if unit in ("minute", "hour"):
        return (now[2], now[3], now[4]) if when.same else ("*", "*", "*")
    if unit == "day":
        return ("*", "*", "*")
    return (now[2], now[3], now[4])


def _numbers(field: str) -> frozenset[int]:
    """The days of the week that a field of a cron expression names."""
    if field == "*":
        return frozenset(range(7))
    named = {day[:3].upper(): str(number) for number, day in enumerate(DAYS)}
    plain = re.sub(r"[A-Za-z]{3}", lambda m: named.get(m[0].upper(), "0"), field)
    found: set[int] = set()
    for part in plain.split(","):
        ends = [int(n) for n in re.findall(r"\d+", part)[:2]]
        found |= {n % 7 for n in (range(ends[0], ends[1] + 1) if len(ends) == 2 else ends)}
    return frozenset(found)


def _field(numbers: frozenset[int]) -> str:
    ordered = sorted(numbers)
    if len(ordered) == 7 and ordered == list(range(7)):
        return "*"
    run = len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1
    return f"{ordered[0]}-{ordered[-1]}" if run else ",".join(map(str, ordered))


def _is_so(now: list[str], old: When) -> bool:
    """Whether what a request says of today is true. Hours may be those of a clock with twelve."""
    said = []
    if old.times is not None:
        hours = {int(h) for h in re.findall(r"\d+", now[1])} if not _repeats(now) else set()
        wanted = {(h % 12, m) for h, m in old.times}
        said.append(now[0].isdigit() and {(h % 12, int(now[0])) for h in hours} >= wanted)
    if old.weekdays is not None:
        said.append(now[4] != "*" and _numbers(now[4]) >= old.weekdays)
    if old.monthdays is not None:
        said.append(set(now[2].split(",")) >= {str(day) for day in old.monthdays})
    if old.every is not None:
        said.append(
            _every(now) == old.every
            or (old.every[1] in ("day", "week", "month") and _every(now) == (1, old.every[1]))
        )
    return all(said)


def is_so(cron: str, said: When) -> bool:
    """Whether what a request says of a schedule is true of it."""
    now = cron.split()
    return len(now) == 5 and _is_so(now, said)


def _every(now: list[str]) -> tuple[int, str] | None:
    minute, hour = (re.fullmatch(r"(?:\*|\d+-\d+)(?:/(\d+))?", part) for part in now[:2])
    if minute:
        return int(minute[1] or 1), "minute"
    if hour:
        return int(hour[1] or 1), "hour"
    return (1, "month" if now[2] != "*" else "week" if now[4] != "*" else "day")


def in_words(cron: str | None) -> str:
    """A cron expression as a person says it: `every day at 02:00` and the expression."""
    parts = (cron or "").split()
    if len(parts) != 5:
        return f"on the schedule `{cron}`"
    clock = _clock_words(parts)
    return f"{_date_words(parts)}{clock} (`{cron}`)" if clock else f"on the schedule `{cron}`"


def _clock_words(parts: list[str]) -> str | None:
    minute, hour = parts[:2]
    if minute.isdigit() and re.fullmatch(r"\d+(,\d+)*", hour):
        return " at " + " and ".join(f"{int(h):02}:{int(minute):02}" for h in hour.split(","))
    number, unit = _every(parts) or (0, "")
    if unit not in ("minute", "hour"):
        return None
    often = f", every {unit}" if number == 1 else f", every {number} {unit}s"
    past = (
        f", {minute} minutes past the hour" if unit == "hour" and minute not in ("0", "*") else ""
    )
    range_ = re.match(r"(\d+)-(\d+)", hour)
    return often + past + (f", from {range_[1]} to {range_[2]}" if range_ else "")


def _date_words(parts: list[str]) -> str:
    _, _, monthday, month, day = parts
    in_months = ""
    if month != "*":
        named = [
            MONTHS[int(m) - 1] if m.isdigit() and 0 < int(m) < 13 else m for m in month.split(",")
        ]
        in_months = f" of {', '.join(named)}"
    if monthday != "*":
        return f"on day {monthday}{in_months or ' of every month'}"
    if day == "*":
        return f"every day{in_months}"
    days = _numbers(day)
    if days == WEEKDAYS:
        return f"every weekday, Monday to Friday,{in_months}"
    return f"every {', '.join(DAYS[n] for n in sorted(days, key=lambda n: (n - 1) % 7))}{in_months}"

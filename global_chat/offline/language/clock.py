"""Times of day in words: "half past one at night", « 5h du matin », "saa tatu usiku"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .numbers import number_pattern, value_of

_N = number_pattern()
_MORNING = (
    r"in the morning|morning|am|a\.m\.?|du matin|matin|de la manana|por la manana|da manha|manha"
)
_DAWN = r"de la madrugada|da madrugada|before dawn"
_AFTERNOON = (
    r"in the afternoon|afternoon|pm|p\.m\.?|de l'apres-midi|de la tarde|por la tarde|da tarde"
)
_EVENING = r"in the evening|evening|tonight|du soir|soir"
_NIGHT = r"in the night|at night|night|de la nuit|de la noche|por la noche|da noite|noite"
_PERIOD = rf"(?P<period>{_MORNING}|{_DAWN}|{_AFTERNOON}|{_EVENING}|{_NIGHT})(?!\w)"
_SWAHILI_PERIOD = r"asubuhi|alfajiri|mchana|alasiri|jioni|usiku"
_AT = r"(?:at|around|by|for|a las?|as|aos?|a|vers|des|from|de|um|alle) "
_HALF = r"(?: (?:et demie?|y media|e meia|na nusu)| ?(?:thirty|30))"


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, and where the text says it."""

    hour: int
    minute: int
    start: int
    end: int


_SPECIAL = re.compile(
    r"(?<!\w)(?:(?P<midnight>midnight|minuit|medianoche|meia-?noite|usiku wa manane|mitternacht)"
    r"|(?P<noon>noon|midday|midi|mediodia|meio-?dia|adhuhuri|mittags?))(?!\w)"
)
_ENGLISH_PARTS = re.compile(
    rf"(?<!\w)(?P<part>half|quarter|{_N}(?: minutes?)?) (?P<way>past|after|to"
    rf"|before) (?P<hour>{_N})"
    rf"(?: o'?clock)?(?:,? {_PERIOD})?"
)
_DIGITAL = re.compile(
    rf"(?<![\d:.,])(?P<hour>\d{{1,2}})[:.h](?P<minute>\d{{2}})(?![\d:])(?: ?{_PERIOD})?"
)
_HOURS = re.compile(
    rf"(?<![\w.])(?P<hour>{_N}) ?(?:h(?![a-z])|hrs?|heures?|horas?|uhr|o'?clock|en punto)"
    rf"(?P<more>{_HALF}| et quart| y cuarto| e um quarto| moins le quart"
    r"| menos (?:un )?cuarto| menos um quarto)?"
    rf"(?:,? {_PERIOD})?"
)
_WITH_PERIOD = re.compile(
    rf"(?<![\w.:])(?P<hour>{_N})(?P<more>{_HALF}| y cuarto| et quart| menos cuarto)? ?,?{_PERIOD}"
)
_AFTER_AT = re.compile(
    rf"(?<!\w){_AT}(?:las? |os? )?(?P<hour>{_N})"
    r"(?P<more> y media| e meia| et demie| y cuarto| e um quarto| menos cuarto)?"
    r"(?! ?(?:%|minut|dakik|min\b|hours?|jours?|days?|dias?|steps?|times?|veces|fois"
    r"|vezes|semanas?|weeks?|"
    r"mois|meses|months?|records?|rows?|er\b|st\b|nd\b|rd\b|th\b|[.,]?\d))"
)
_SWAHILI = re.compile(
    rf"(?<!\w)saa (?P<hour>{_N}|kumi na moja|kumi na mbili)"
    r"(?P<more> na nusu| na robo| kasorobo| u nusu)?(?: (?:za "
    rf"|ya )?(?P<swahili>{_SWAHILI_PERIOD}))?(?!\w)"
)
_MINUTES = {
    "half": 30, "quarter": 15, "demie": 30, "demi": 30, "media": 30, "meia": 30, "nusu": 30,
    "thirty": 30, "30": 30, "quart": 15, "cuarto": 15, "quarto": 15, "robo": 15, "kasorobo": -15,
}  # fmt: skip


def find_times(plain: str) -> list[Time]:
    """Every time of day in folded text, in order. A time that is not quite clear is left out.

    A time in digits (`06:00`) beside one in Swahili words is the same time said twice: the digits
    count.
    """
    found: list[Time] = []
    for pattern in (_SPECIAL, _ENGLISH_PARTS, _DIGITAL, _SWAHILI, _HOURS, _WITH_PERIOD, _AFTER_AT):
        for match in pattern.finditer(plain):
            if any(match.start() < t.end and t.start < match.end() for t in found):
                continue
            time = _time(pattern, match)
            if time is not None:
                found.append(time)
    if "saa" in plain and any(":" in plain[t.start : t.end] for t in found):
        found = [t for t in found if ":" in plain[t.start : t.end]]
    return sorted(found, key=lambda time: time.start)


def mentions_unclear_time(plain: str) -> bool:
    """Whether a time is spoken of that `find_times` does not dare to read."""
    swahili = [m for m in _SWAHILI.finditer(plain) if m["swahili"] is None and ":" not in plain]
    return bool(swahili)


def swahili_times(plain: str) -> list[tuple[int, int]]:
    """Where times stand in Swahili words, read or not."""
    return [match.span() for match in _SWAHILI.finditer(plain)]


def _time(pattern: re.Pattern[str], match: re.Match[str]) -> Time | None:
    groups = match.groupdict()
    if pattern is _SPECIAL:
        return Time(0 if groups["midnight"] else 12, 0, *match.span())
    hour = value_of(groups["hour"])
    if hour is None:
        return None
    minute = _minute(groups)
    if pattern is _SWAHILI:
        if groups["swahili"] is None or not 1 <= hour <= 12:
            return None
        hour = swahili_hour(hour, groups["swahili"])
    else:
        adjusted = _in_period(hour, groups.get("period"))
        if adjusted is None:
            return None
        hour = adjusted
    total = hour * 60 + minute
    if not (0 <= hour <= 24 and -60 < minute < 60):
        return None
    total %= 24 * 60
    return Time(total // 60, total % 60, *match.span())


def _minute(groups: dict[str, str | None]) -> int:
    if groups.get("minute"):
        return int(groups["minute"] or 0)
    if part := groups.get("part"):
        amount = _MINUTES.get(part) or value_of(part.split()[0]) or 0
        return amount if groups["way"] in ("past", "after") else -amount
    more = groups.get("more") or ""
    amount = next((_MINUTES[word] for word in more.split() if word in _MINUTES), 0)
    return -amount if "moins" in more or "menos" in more else amount


def _in_period(hour: int, period: str | None) -> int | None:
    """The hour on the 24-hour clock; None for what no clock says, such as 15 in the morning."""
    if hour > 24:
        return None
    if period is None or hour > 12:
        return hour if hour < 24 else 0
    if re.fullmatch(rf"{_MORNING}|{_DAWN}", period):
        return hour % 12
    if re.fullmatch(rf"{_AFTERNOON}|{_EVENING}", period):
        return hour % 12 + 12
    return hour % 12 + 12 if 6 <= hour <= 11 else hour % 12


def swahili_hour(hour: int, period: str) -> int:
    """Swahili counts the hours from six: `saa moja asubuhi` is seven in the morning."""
    base = (hour + 6) % 12
    if period in ("asubuhi", "alfajiri"):
        return base
    if period == "usiku":
        return base + 12 if base >= 6 else base
    return base + 12

"""Days in words: weekdays, days of the month, and what is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .numbers import number_pattern, value_of

_NAMES = (
    r"sun(?:day)?s?|dimanches?|domingos?|jumapili|sonntags?|domenica",
    r"mon(?:day)?s?|lundis?|lunes|segundas?(?:-feiras?)?|jumatatu|montags?|lunedi",
    r"tue(?:s(?:day)?)?s?|mardis?|martes|tercas?(?:-feiras?)?|jumanne|dienstags?|martedi",
    r"wed(?:nesday)?s?|mercredis?|miercoles|quartas?(?:-feiras?)?|jumatano|mittwochs?|mercoledi",
    r"thu(?:rs(?:day)?)?s?|jeudis?|jueves|quintas?(?:-feiras?)?|alhamisi|donnerstags?|giovedi",
    r"fri(?:day)?s?|vendredis?|viernes|sextas?(?:-feiras?)?|ijumaa|freitags?|venerdi",
    r"sat(?:urday)?s?|samedis?|sabados?|jumamosi|samstags?|sabato",
)
_DAY = "|".join(f"(?P<d{i}>{names})" for i, names in enumerate(_NAMES))
_ANY_DAY = "|".join(_NAMES)
_WORKING = (
    r"(?:on )?(?:week ?days?|working days?|work ?days?|business days?)"
    r"|jours? (?:ouvrables?|ouvres?|de semaine)"
    r"|en semaine|dias? (?:habiles|laborables?|de semana)|entre semana|dias? uteis"
    r"|siku za (?:kazi|wiki)"
    r"|werktags?"
)
_WEEKEND = (
    r"week-?ends?|week ends?|fin(?:es)? de semana|fi(?:m|ns) de semana|wikendi|mwisho wa wiki"
    r"|wochenenden?"
)
_TO = r"\s*(?:-|–|to|through|thru|till|until|au|a|ao|hasta|ate|hadi|mpaka|bis)\s*"
_RANGE = re.compile(
    rf"(?<!\w)(?P<from>{_ANY_DAY})(?:{_TO})(?:el |la |le |o )?(?P<to>{_ANY_DAY})(?!\w)"
)
_SINGLE = re.compile(rf"(?<!\w)(?:{_DAY})(?!\w)")
_SET = re.compile(rf"(?<!\w)(?:(?P<work>{_WORKING})|(?P<end>{_WEEKEND}))(?!\w)")
_INCLUDED = re.compile(
    rf"(?:{_WEEKEND})\s+(?:included|too|compris|incluidos?)|(?:including|y compris"
    rf"|incluyendo|incluindo) (?:the |les |le |el |o |los )?(?:{_WEEKEND})"
)
_EXCEPT = re.compile(
    r"(?:except|but not|not|no|never|sauf|excepto|exceto|menos|salvo|isipokuwa|ausser"
    r"|don't run|do not run"
    r"|pas|without|skip(?:ping)?|leave out|(?:don't|do not|doesn't|does not|never"
    r"|should not|shouldn't|must not|mustn't|ne|n'|nao|usi\w*|not"
    r"|no)(?:\s+\w+){1,3}?)\s+(?:on\s+|at\s+|in\s+|during\s+|for\s+|le\s+|les\s+|la\s+"
    r"|los\s+|el\s+"
    r"|aos?\s+|as\s+|os\s+|nos?\s+|the\s+|en\s+|kwa\s+|pendant\s+)*$"
)
_N = number_pattern()
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "tenth": 10, "fifteenth": 15,
    "premier": 1, "1er": 1, "primero": 1, "primer": 1, "primeiro": 1, "kwanza": 1, "pili": 2,
}  # fmt: skip
_ORDINAL = "|".join(_ORDINALS)
_OF_MONTH = (
    r"(?:of (?:the|each|every) month|of month|du mois|de chaque mois|(?:de|del) (?:cada )?mes"
    r"|ya (?:kila )?mwezi|(?:de|do) (?:cada )?mes)"
)
_MONTH_DAY = re.compile(
    rf"(?<!\w)(?:(?:on |every |each )?the (?P<a>\d{{1,2}})(?:st|nd|rd|th)(?:,? ?(?:and"
    rf"|&) (?:the )?(?P<a2>\d{{1,2}})(?:st|nd|rd|th))?(?! step)(?: (?:day )?{_OF_MONTH})?"
    rf"|(?:the |le |el |o |no |dia |siku ya )*(?P<b>{_ORDINAL})(?: (?:day|jour|dia))?,? {_OF_MONTH}"
    rf"|(?:le |el |el dia |dia |no dia |o dia |siku ya |tarehe )(?P<c>{_N})(?: (?:et|y|e"
    rf"|na) (?:le |el |dia )*(?P<c2>{_N}))? {_OF_MONTH}"
    rf"|(?:el dia|no dia|tarehe) (?P<d>\d{{1,2}})(?!\w)"
    rf"|(?:on )?(?:day )?(?P<e>\d{{1,2}})(?:st|nd|rd|th) (?:day )?{_OF_MONTH})"
)
_LAST = re.compile(
    r"last (?:day|\w+day|working day|business day) (?:of|in)|end of (?:the|each"
    r"|every) month|month.?end|dernier jour"
    r"|fin de mes|fin du mois|ultimo dia|fim do mes|mwisho wa mwezi|siku ya mwisho"
    r"|(?:first|second|third|1st|2nd|3rd) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
)


@dataclass(frozen=True, slots=True)
class Days:
    """Weekdays (0 is Sunday) or days of the month that a text asks for, and where it says so."""

    weekdays: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    month_days: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    unclear: bool = False

    @property
    def cron(self) -> str:
        """The weekdays as the fifth field of a cron expression."""
        days = self.weekdays or frozenset(range(7))
        return weekday_field(days - self.excluded)


def weekday_field(days: frozenset[int]) -> str:
    """`1-5`, `0,6`, `*`: the shortest usual way to write some weekdays."""
    if len(days) in (0, 7):
        return "*"
    ordered = sorted(days)
    run = ordered == list(range(ordered[0], ordered[-1] + 1))
    return f"{ordered[0]}-{ordered[-1]}" if run and len(days) > 2 else ",".join(map(str, ordered))


def find_days(plain: str) -> Days:
    """The days that folded text names."""
    included: set[int] = set()
    excluded: set[int] = set()
    spans: list[tuple[int, int]] = []

    def note(days: set[int], start: int, end: int) -> None:
        before = _EXCEPT.search(plain[:start])
        (excluded if before else included).update(days)
        spans.append((before.start() if before else start, end))

    for match in _RANGE.finditer(plain):
        first, last = _number(match["from"]), _number(match["to"])
        note({(first + i) % 7 for i in range((last - first) % 7 + 1)}, *match.span())
    plain = _INCLUDED.sub(lambda match: " " * len(match[0]), plain)
    for match in _SET.finditer(plain):
        note({1, 2, 3, 4, 5} if match["work"] else {0, 6}, *match.span())
    for match in _SINGLE.finditer(plain):
        if not any(s <= match.start() < e for s, e in spans):
            joined = excluded and re.fullmatch(
                r"\s*(?:,|and|et|y|e|na|or|ou|o)\s*", plain[spans[-1][1] : match.start()]
            )
            if joined:
                excluded.add(_number(match[0]))
                spans.append(match.span())
            else:
                note({_number(match[0])}, *match.span())
    month_days, month_spans = _month_days(plain)
    return Days(
        frozenset(included),
        frozenset(excluded),
        month_days,
        (*spans, *month_spans),
        bool(_LAST.search(plain)),
    )


def _number(name: str) -> int:
    return next(i for i, names in enumerate(_NAMES) if re.fullmatch(names, name))


def _month_days(plain: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    days: list[int] = []
    spans = []
    for match in _MONTH_DAY.finditer(plain):
        for text in match.groupdict().values():
            if text:
                day = _ORDINALS.get(text) or value_of(text)
                if day and 1 <= day <= 31:
                    days.append(day)
                    spans.append(match.span())
    return tuple(sorted(set(days))), tuple(spans)

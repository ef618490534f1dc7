"""How often, in words: "every 15 minutes", « tous les jours », "mara mbili kwa siku"."""

from __future__ import annotations

import re

from .numbers import number_pattern, value_of

_N = number_pattern()


EVERY = (
    r"(?:every|each|toutes? les?|tous les|chaque|cada|a cada|todos os|todas as|todos los"
    r"|todas las|kila|jeden|jede|alle|ogni)"
)


_MINUTE = r"(?:minutes?|mins?|minutos?|min|dakika|minuten|minuti|mn)"


_HOUR = r"(?:hours?|hrs?|heures?|horas?|h|saa|masaa|stunden?|ore?)"


_DAY = (
    r"(?:days?|nights?|mornings?|evenings?|afternoons?|jours?|nuits?|matins?|soirs?|dias?"
    r"|noches?|mananas?|tardes?|noites?|manhas?|siku|usiku|asubuhi|jioni|tag|nacht|morgen"
    r"|abend|giorno)"
)


_INTERVAL = re.compile(
    rf"(?<!\w){EVERY}\s+(?:(?P<n>{_N}|other|second|half(?: an?)?|demi-?|media|meia)\s*-?\s*)?"
    rf"(?P<unit>{_MINUTE}|{_HOUR}|{_DAY}|weeks?|semaines?|semanas?|wiki|months?|mois"
    r"|mes(?:es)?|mwezi|quarter|trimestres?)(?!\w)"
)


_KILA = re.compile(
    rf"(?<!\w)kila\s+(?P<unit>dakika|saa|masaa)\s+(?P<n>{_N})(?!\w)(?!\s+(?:asubuhi|usiku"
    r"|jioni|mchana))"
)


_TIMES = re.compile(
    r"(?<!\w)(?P<n>once|twice|thrice|une fois|deux fois|una vez|dos veces|uma vez"
    rf"|duas vezes|mara moja|mara mbili|{_N} (?:times|fois|veces|vezes)|mara {_N})"
    rf"\s+(?:an?|per|each|every|par|al|a la|por|ao|a|kwa|in an?)\s+(?P<unit>{_HOUR}"
    rf"|{_DAY}|weeks?|semaine|semana|wiki|month|mois|mes|mwezi)(?!\w)"
)


_WORDS: tuple[tuple[str, str], ...] = (
    (r"half-?hourly", "30 minute"),
    ((
        r"hourly|toutes les heures|cada hora|de hora em hora|kila saa(?! (?:\w+) (?:asubuhi"
        r"|usiku|jioni|mchana))"
    ), "1 hour"),
    (r"daily|nightly|quotidien\w*|diari[ao](?:mente)?|kila siku|taglich", "1 day"),
    (r"weekly|hebdomadaires?|hebdo|semanal(?:mente)?|kila wiki|wochentlich", "1 week"),
    (r"monthly|mensuel\w*|mensual\w*|mensalmente|mensal|kila mwezi|monatlich", "1 month"),
    (r"quarterly|trimestriel\w*|trimestral\w*", "3 month"),
)  # fmt: skip


Interval = tuple[int, str, tuple[tuple[int, int], ...]]


def find_interval(text: str) -> Interval | None:
    """How often, as a number and a unit, and where it says so. The text's first interval counts."""
    if match := _TIMES.search(text):
        count = _count(match["n"])
        unit = _unit(match["unit"])
        per = {"hour": (60, "minute"), "day": (24, "hour")}.get(unit)
        if count == 1:
            return (1, unit, (match.span(),))
        if per and count and per[0] % count == 0:
            return (per[0] // count, per[1], (match.span(),))
        return (0, unit, (match.span(),))
    if match := _KILA.search(text):
        return (value_of(match["n"]) or 0, _unit(match["unit"]), (match.span(),))
    for pattern, meaning in _WORDS:
        if match := re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text):
            amount, name = meaning.split()
            return (int(amount), name, (match.span(),))
    if match := _INTERVAL.search(text):
        unit = _unit(match["unit"])
        word = (match["n"] or "").strip()
        if word.split()[:1] and word.split()[0].rstrip("-") in ("half", "demi", "media", "meia"):
            return (30, "minute", (match.span(),)) if unit == "hour" else None
        number = 2 if word in ("other", "second") else value_of(word) if word else 1
        return (number or 0, unit, (match.span(),))
    return None


def _count(text: str) -> int:
    fixed = {"once": 1, "twice": 2, "thrice": 3}
    if text in fixed:
        return fixed[text]
    words = text.replace("fois", "").replace("veces", "").replace("vezes", "").replace("vez", "")
    words = words.replace("times", "").replace("mara", "").strip()
    return value_of(words) or 0


def _unit(text: str) -> str:
    for unit, pattern in (("minute", _MINUTE), ("hour", _HOUR), ("day", _DAY)):
        if re.fullmatch(pattern, text):
            return unit
    if re.fullmatch(r"months?|mois|mes(?:es)?|mwezi", text):
        return "month"
    return "quarter" if re.fullmatch(r"quarter|trimestres?", text) else "week"

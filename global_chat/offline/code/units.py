"""Words for the same kind of setting, in code and in requests: limits, days, batches."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.folding import word_set
from ..language.mentions import alike

#: Words for the same kind of setting, in code and in requests.
_GROUPS: tuple[frozenset[str], ...] = (
    word_set("limit limite limits per top size max maximum count page"),
    word_set("day days jour jours dia dias siku"),
    word_set("month months mois mes meses miezi"),
    word_set("hour hours heure heures hora horas saa timeout"),
    word_set("minute minutes minuto minutos dakika timeout"),
    word_set("second seconds seconde secondes segundo segundos sekunde timeout"),
    word_set("batch batches chunk lot lots lote lotes"),
    word_set("threshold seuil umbral limiar cutoff cut"),
    word_set("timeout timeouts"),
    word_set("retry retries attempts tries"),
    word_set("year years annee anio ano"),
    word_set("digit digits decimal decimals decimales decimais"),
    word_set("week weeks semaine semaines semana semanas wiki"),
)


NOUNS = frozenset(word for group in _GROUPS for word in group) - {
    "per",
    "top",
    "page",
    "count",
    "cut",
    "mes",
    "lot",
}


def speaks_of(word: str, name: Sequence[str]) -> bool:
    """Whether a word of a request means what a setting is named after."""
    if any(alike(word, part) for part in name):
        return True
    return any(word in group and not group.isdisjoint(name) for group in _GROUPS)


LIMITS = _GROUPS[0]


def is_of_time(word: str) -> bool:
    """Whether a word is a unit of time."""
    return any(word in group for group in _GROUPS[1:6])


#: A word after a value that says what it counts.
UNIT = (
    r"(?: (?!(?:to|by|with|a|par|por|en|para|not|and|instead|into|no|pas|et|y|e|na)\b)[^\W\d_]+)?"
)

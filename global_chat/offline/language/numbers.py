"""Numbers written as words, in English, French, Spanish, Portuguese and Swahili."""

from __future__ import annotations

import re
from functools import cache

_UNITS = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty",
    "fr": "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    " dix-sept dix-huit dix-neuf vingt",
    "es": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciseis diecisiete dieciocho diecinueve veinte",
    "pt": "um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
    " dezasseis dezassete dezoito dezanove vinte",
    "sw": "moja mbili tatu nne tano sita saba nane tisa kumi",
}
_OTHERS = {
    "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "half": 30,
    "une": 1, "trente": 30, "quarante": 40, "quarante-cinq": 45, "soixante": 60,
    "una": 1, "treinta": 30, "cuarenta": 40, "cuarenta y cinco": 45, "media": 30,
    "uma": 1, "duas": 2, "trinta": 30, "quarenta": 40, "meia": 30,
    "ishirini": 20, "thelathini": 30, "arobaini": 40, "nusu": 30,
    "kumi na moja": 11, "kumi na mbili": 12, "kumi na tano": 15,
}  # fmt: skip


@cache
def _values() -> dict[str, int]:
    found = dict(_OTHERS)
    for words in _UNITS.values():
        for number, word in enumerate(words.split(), start=1):
            found.setdefault(word, number)
    return found


@cache
def number_pattern() -> str:
    """A regular expression, without groups, for a number in digits or words (folded text)."""
    words = sorted(_values(), key=len, reverse=True)
    return r"(?:\d{1,5}(?!\d)|(?:" + "|".join(re.escape(word) for word in words) + r")(?!\w))"


def value_of(text: str) -> int | None:
    """The number that `text` (folded) writes; None when it writes none."""
    text = " ".join(text.split())
    return int(text) if text.isdigit() and text.isascii() else _values().get(text)

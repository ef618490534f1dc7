"""Which language a request is in, as far as answers exist in it."""

from __future__ import annotations

from .folding import words

_TELLING = {
    "en": (
        "the is are to of and it this that please with what which when why how does should "
        "not from for in on at make run step"
    ),
    "fr": (
        "le la les des du est et une un cette ce pour dans avec quand pourquoi quel quelle "
        "que fait svp etape sur pas plus tous toutes les il elle mets au aux en"
    ),
    "es": (
        "el la los las es y un una este esta para con cuando por que cual paso del se al no "
        "ya todos todas cada hace pon quita en"
    ),
    "pt": (
        "o os as e um uma este esta para com quando por que qual passo do da no na nao ja "
        "todos todas cada faz poe tira em ao"
    ),
    "sw": (
        "ya wa na kwa ni hii hiki kila hatua iwe katika saa siku kuwa kama gani nini "
        "tafadhali weka ondoa badilisha badala si"
    ),
}
_SETS = {language: frozenset(text.split()) for language, text in _TELLING.items()}


def everyday_words() -> frozenset[str]:
    """Words of all these languages that say nothing about a subject."""
    return frozenset().union(*_SETS.values())


def language_of(text: str) -> str:
    """`en`, `fr`, `es`, `pt` or `sw`; English when nothing else is clearly more likely."""
    found = words(text)
    scores = {
        language: sum(word in telling for word in found) for language, telling in _SETS.items()
    }
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] > scores["en"] else "en"

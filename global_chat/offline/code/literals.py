"""Literal edits: one string, URL, number or name for another, and values of properties."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..language.literals import Literal
from .asking import CodeAsk, Elsewhere, Refused, V
from .javascript import Span
from .settings import settings_of
from .units import UNIT
from .writing import digits_of, escaped

if TYPE_CHECKING:
    pass

_ART = (
    r"(?:the |la |le |les |el |los |o |a |l'|un |una |um |uma |value |number |text |word "
    r"|string |url |literal |only |at |of |de |d')*"
)
_TO_NEW = r"(?:to|into|by|with|for|->|→|=>|par|por|en|a|para|kuwa|iwe|kwa|durch|zu)"
_NOT = (
    r"(?:instead of|rather than|in place of|,? ?(?:and |but )?not|no longer|au lieu d[eu']"
    r"|plutot que|a la place de|(?:et )?pas|en (?:lugar|vez) de|(?:y )?no|em vez d[eoa]"
    r"|(?:e )?nao|badala ya|si|statt|nicht)"
)
_VERB = (
    r"(?:replace|change|swap|update|set|switch|turn|move|rename|correct|fix|substitute|bring"
    r"|lower|raise|increase|decrease|reduce|remplace[rz]?|change[rz]?|passe[rz]?|corrige[rz]?"
    r"|renomme[rz]?|cambi(?:a|ar|e)|reemplaz(?:a|ar)|reemplace|sustituy(?:e|a)|sustituir"
    r"|corrig(?:e|a)|renombra(?:r)?|troc(?:a|ar)|troque|substitu(?:i|a|ir)|mud(?:a|ar|e)"
    r"|alter(?:a|ar)|badilisha|badili|ersetze)"
)
_RENAME = r"(?:rename|replace|renomme|remplace|renombra|reemplaz|renomei|substitu|badili)"
_BE = (
    r"(?:(?:should|must|has to|needs to|ought to) (?:now )?(?:be|become|read|say|point to"
    r"|go to)(?: called| named)?|is now|are now|becomes|became|is called|was renamed to"
    r"|is renamed to|->|→|doit (?:etre|devenir)|devient|(?:est|s'appelle) maintenant|debe ser"
    r"|ahora es|pasa a ser|se llama ahora|deve ser|agora e|passa a ser|(?:sasa )?(?:ni|iwe"
    r"|inaitwa))"
)


def pairs(ask: CodeAsk) -> list[tuple[re.Match[str], Literal, Literal]]:
    """Every "this for that" of a request: where, the old value, the new one."""
    old, new = rf"{_ART}(?P<old>{V}){UNIT}", rf"{_ART}(?P<new>{V})"
    patterns = (
        rf"{_VERB} {old},? {_TO_NEW} {new}",
        rf"from {old} to {new}|de {old} a {new}|kutoka {old} (?:hadi|kwenda) {new}",
        rf"{new}{UNIT},? {_NOT} {old}",
        rf"{_NOT} {old},? (?:use |put |mets |pon |poe )?{new}",
        rf"{old} {_BE} {new}",
        rf"{old}\s*(?:->|→|=>)\s*{new}",
    )
    settings = {name for name, _, _ in settings_of(ask)}
    found = []
    for pattern in patterns:
        for match in _each(ask, pattern):
            old_value = ask.value(match["old"])
            if old_value.value in settings and not re.match(_RENAME, match[0]):
                continue  # "LeadSource must be 'Web'" gives the setting a value
            found.append((match, old_value, ask.value(match["new"])))
            ask.claim(match)
    return found


def _each(ask: CodeAsk, pattern: str) -> list[re.Match[str]]:
    """Matches of a pattern; one with alternatives of the same groups is tried piece by piece."""
    pieces = re.split(r"\|(?=(?:de|kutoka) \()", pattern)
    return [match for piece in pieces for match in ask.find(piece)]


def replace_literals(ask: CodeAsk) -> None:
    """Do every "this for that" whose old value is a literal of the code."""
    for _, old, new in pairs(ask):
        spots = occurrences(ask, old)
        if not spots:
            if occurrences(ask, new):
                raise Refused("already_so", value=new.value)
            raise Elsewhere
        text = ask.code.with_replacements((a, b, _written(ask, (a, b), old, new)) for a, b in spots)
        ask.become(text)
        ask.say("replaced", old=old.value, new=new.value)


def occurrences(ask: CodeAsk, old: Literal) -> list[Span]:
    """The places in the code that a literal means. Raises Refused when they are too many."""
    number = digits_of(old)
    if number is not None:
        spots = [
            ask.code.span(n)
            for n in ask.code.walk("number")
            if ask.code.of(n).replace("_", "") == number
        ]
        return _agreed(ask, spots, old) if spots else _in_strings(ask, old.value)
    value = old.value
    whole = [span for _, span, text in ask.code.strings() if text == value]
    spots, names = whole or _in_strings(ask, value), _names(ask, value)
    if spots and names and not old.quoted:
        raise Refused("several_places", value=value, count=str(len(spots) + len(names)))
    return _agreed(ask, spots or names, old)


def _in_strings(ask: CodeAsk, value: str) -> list[Span]:
    """Places of a value inside of strings, at the borders of words."""
    start = r"(?<![\w])" if value[:1].isalnum() else ""
    end = r"(?![\w])" if value[-1:].isalnum() else ""
    pattern = re.compile(start + re.escape(value) + end)
    return [
        (span[0] + m.start(), span[0] + m.end())
        for _, span, text in ask.code.strings()
        for m in pattern.finditer(text)
    ]


def _names(ask: CodeAsk, value: str) -> list[Span]:
    """Places of a name, or of a chain of names, in the code itself."""
    types = (
        "property_identifier",
        "identifier",
        "shorthand_property_identifier",
        "member_expression",
    )
    return [ask.code.span(n) for n in ask.code.walk(*types) if ask.code.of(n) == value]


def _agreed(ask: CodeAsk, spots: list[Span], old: Literal) -> list[Span]:
    """Several places are meant together when one statement holds them, or all are asked for."""
    if len(spots) <= 1:
        return spots
    everywhere = re.search(
        r"\b(?:all|every(?:where)?|each|both|partout|tous|toutes|tod[oa]s|ambos|zote|kote)\b",
        ask.masked.norm,
    )
    if everywhere or len({_statement(ask, s) for s in spots}) == 1:
        return spots
    raise Refused("several_places", value=old.value, count=str(len(spots)))


def _statement(ask: CodeAsk, span: Span) -> int:
    for index, statement in enumerate(ask.code.statements):
        start, end = ask.code.span(statement)
        if start <= span[0] < end:
            return index
    return -1


def _written(ask: CodeAsk, spot: Span, old: Literal, new: Literal) -> str:
    """The new value as it is written at a place: inside of a string, or as code."""
    if digits_of(old) is not None and (digits := digits_of(new)) is not None:
        if any(ask.code.span(n) == spot for n in ask.code.walk("number")):
            return digits
        return new.value
    if any(span[0] <= spot[0] and spot[1] <= span[1] for _, span, _ in ask.code.strings()):
        return escaped(ask, spot, new.value)
    if not re.fullmatch(r"[A-Za-z_$][\w$.?\[\]'\"]*", new.value):
        raise Refused("not_understood")
    return new.value

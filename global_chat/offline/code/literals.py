"""Literal edits: one string, URL, number or name for another, and values of properties."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..language.folding import folded, name_words, words
from ..language.literals import Literal
from ..language.mentions import alike
from .asking import CodeAsk, Elsewhere, Refused, V
from .javascript import Replacement, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_ART = r"(?:the |la |le |les |el |los |o |a |l'|un |una |um |uma |value |number |text |word |string |url |literal |only |at |of |de |d')*"
_UNIT = (
    r"(?: (?!(?:to|by|with|a|par|por|en|para|not|and|instead|into|no|pas|et|y|e|na)\b)[^\W\d_]+)?"
)
_TO_NEW = r"(?:to|into|by|with|for|->|→|=>|par|por|en|a|para|kuwa|iwe|kwa|durch|zu)"
_NOT = r"(?:instead of|rather than|in place of|,? ?(?:and |but )?not|no longer|au lieu d[eu']|plutot que|a la place de|(?:et )?pas|en (?:lugar|vez) de|(?:y )?no|em vez d[eoa]|(?:e )?nao|badala ya|si|statt|nicht)"
_VERB = r"(?:replace|change|swap|update|set|switch|turn|move|rename|correct|fix|substitute|bring|lower|raise|increase|decrease|reduce|remplace[rz]?|change[rz]?|passe[rz]?|corrige[rz]?|renomme[rz]?|cambi(?:a|ar|e)|reemplaz(?:a|ar)|reemplace|sustituy(?:e|a)|sustituir|corrig(?:e|a)|renombra(?:r)?|troc(?:a|ar)|troque|substitu(?:i|a|ir)|mud(?:a|ar|e)|alter(?:a|ar)|badilisha|badili|ersetze)"
_RENAME = r"(?:rename|replace|renomme|remplace|renombra|reemplaz|renomei|substitu|badili)"
#: What is asked for besides must not take the place of what is there.
_BESIDES = r"\s*(?:,\s*)?(?:as well|too\b|also|in addition|besides|aussi|tambien|tambem|pia|or |ou |o |und auch)"
_BE = r"(?:(?:should|must|has to|needs to|ought to) (?:now )?(?:be|become|read|say|point to|go to)(?: called| named)?|is now|are now|becomes|became|is called|was renamed to|is renamed to|->|→|doit (?:etre|devenir)|devient|(?:est|s'appelle) maintenant|debe ser|ahora es|pasa a ser|se llama ahora|deve ser|agora e|passa a ser|(?:sasa )?(?:ni|iwe|inaitwa))"


def pairs(ask: CodeAsk) -> list[tuple[re.Match[str], Literal, Literal]]:
    """Every "this for that" of a request: where, the old value, the new one."""
    old, new = rf"{_ART}(?P<old>{V}){_UNIT}", rf"{_ART}(?P<new>{V})"
    patterns = (
        rf"{_VERB} {old},? {_TO_NEW} {new}",
        rf"from {old} to {new}|de {old} a {new}|kutoka {old} (?:hadi|kwenda) {new}",
        rf"{new}{_UNIT},? {_NOT} {old}",
        rf"{_NOT} {old},? (?:use |put |mets |pon |poe )?{new}",
        rf"{old} {_BE} {new}",
        rf"{old}\s*(?:->|→|=>)\s*{new}",
    )
    settings = {name for name, _, _ in _settings(ask)}
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
    number = _number(old)
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


def _number(literal: Literal) -> str | None:
    """The digits of a number as code writes them."""
    text = literal.value
    if literal.kind != "number" and not re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return None
    if re.fullmatch(r"-?\d{1,3}(?:[  ,]\d{3})+", text):
        return re.sub(r"[  ,]", "", text)
    return text.replace(",", ".")


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
    """Several places are meant together when one statement holds them, or when all are asked for."""
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
    if _number(old) is not None and (digits := _number(new)) is not None:
        if any(ask.code.span(n) == spot for n in ask.code.walk("number")):
            return digits
        return new.value
    if any(span[0] <= spot[0] and spot[1] <= span[1] for _, span, _ in ask.code.strings()):
        return _escaped(ask, spot, new.value)
    if not re.fullmatch(r"[A-Za-z_$][\w$.?\[\]'\"]*", new.value):
        raise Refused("not_understood")
    return new.value


def _escaped(ask: CodeAsk, spot: Span, value: str) -> str:
    """A value that may stand in the string around a place."""
    quote = next(
        (ask.code.of(n)[0] for n, span, _ in ask.code.strings() if span[0] <= spot[0] <= span[1]),
        "'",
    )
    if quote in value or "\\" in value or (quote == "`" and "${" in value):
        value = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return value


def set_values(ask: CodeAsk) -> None:
    """ "limit 1000", "the subject should be 'X'": the value of a property or constant by its name."""
    for match in [*ask.find(V)]:
        if any(match.start() < end and start < match.end() for start, end in ask.claimed):
            continue
        value = ask.value(match[0])
        if value.kind == "identifier" and value.value in {
            ask.code.of(k) for _, k, _ in _settings(ask)
        }:
            continue
        found = _named_setting(ask, match)
        if found is None:
            continue
        if re.match(_BESIDES, ask.masked.norm[match.end() :]) or _other_unit(
            ask, match, found[1][0]
        ):
            raise Refused("needs_code")
        span, (name, _, node) = found
        replacement = _replacement(ask, node, value)
        old = ask.code.of(node)
        if ask.code.text[replacement[0] : replacement[1]] == replacement[2]:
            raise Refused("already_so", value=value.value)
        ask.become(ask.code.with_replacements([replacement]))
        ask.claimed.append(span)
        ask.say("set", name=name, old=old, new=value.value)


def _other_unit(ask: CodeAsk, match: re.Match[str], name: str) -> bool:
    """Whether the value is in a unit of time that the setting is not named after: 90 seconds are
    90000 of something.
    """
    unit = re.match(r"\s*-?([^\W\d_]+)", ask.masked.norm[match.end() :])
    if unit is None or not any(unit[1] in group for group in _GROUPS[1:6]):
        return False
    return not _speaks_of(unit[1], [w for w in name_words(name) if w != "timeout"])


_Setting = tuple[str, "Node", "Node"]


def _settings(ask: CodeAsk) -> list[_Setting]:
    """Properties and constants with a literal value: name, node of the name, node of the value."""
    found: list[_Setting] = []
    for node in ask.code.walk("pair", "variable_declarator"):
        key = node.child_by_field_name("key" if node.type == "pair" else "name")
        value = node.child_by_field_name("value")
        if key is None or value is None:
            continue
        if value.type in ("number", "string", "true", "false", "null", "unary_expression") or (
            value.type == "template_string"
            and not any(c.type == "template_substitution" for c in value.named_children)
        ):
            found.append((ask.code.of(key).strip("'\""), key, value))
    return found


_BETWEEN = r"(?:\s*(?::|=|->|→)\s*|\s+(?:(?:should|must|has to) (?:now )?(?:be|say|read)|to|is|at|of|be|is now|as|a|en|doit etre|est|debe ser|es|deve ser|e|para|iwe|ni|up to|down to|back to|only|only to|value|maintenant)\s+|\s+)(?:only |just |to |now |the |exactly )*"


def _named_setting(ask: CodeAsk, match: re.Match[str]) -> tuple[Span, _Setting] | None:
    """The one setting whose name stands right before the value (or right after it, "1000 as limit")."""
    norm = ask.masked.norm
    hits: dict[int, tuple[Span, _Setting]] = {}
    for setting in _settings(ask):
        for spoken in _spoken(ask, setting[0]):
            verb = r"(?:(?:set|put|make|change|raise|lower|increase|reduce|mets|passe|pon|poe|cambia|muda|use|weka|bring)\s+(?:the |la |le |el |o |a |its )?)?"
            before = re.search(
                rf"{verb}(?<![\w¤]){spoken}(?:\s+parameter|\s+value|\s+property)?{_BETWEEN}$",
                norm[: match.start()],
            )
            after = re.match(
                rf"\s+(?:as|for|como|comme|para|kama) (?:the |la |le |el |o |a )?{spoken}(?!\w)",
                norm[match.end() :],
            )
            if before:
                hits[setting[2].start_byte] = ((before.start(), match.end()), setting)
            elif after:
                hits[setting[2].start_byte] = ((match.start(), match.end() + after.end()), setting)
    if len(hits) > 1:
        raise Refused("several_places", value=ask.value(match[0]).value, count=str(len(hits)))
    return next(iter(hits.values()), None)


def _spoken(ask: CodeAsk, name: str) -> list[str]:
    """How a request may write the name of a setting: as in the code, or as words."""
    tokens = [
        re.escape(f"¤{i}") + r"(?!\d)"
        for i, item in enumerate(ask.masked.values)
        if item.value == name
    ]
    words = name_words(name.replace("$", ""))
    if not words or len("".join(words)) < 2:
        return tokens
    return [*tokens, r"\$?" + r"[\s_-]*".join(re.escape(word) for word in words) + r"s?"]


def _replacement(ask: CodeAsk, node: Node, value: Literal) -> Replacement:
    """The value written in the place of another, in the same kind of literal."""
    start, end = ask.code.span(node)
    if node.type in ("string", "template_string"):
        if node.type == "template_string" and "${" in value.value:
            raise Refused("not_understood")
        return start + 1, end - 1, _escaped(ask, (start + 1, end - 1), value.value)
    digits = _number(value)
    if node.type in ("number", "unary_expression") and digits is not None:
        return start, end, digits
    if node.type in ("true", "false", "null") and value.value in ("true", "false", "null"):
        return start, end, value.value
    raise Refused("other_kind", value=value.value)


_FLAG = r"(?P<flag>true|false|null)"


def set_flags(ask: CodeAsk) -> None:
    """ "dryRun true", "restart_participants should be true"."""
    for setting in _settings(ask):
        name, _, node = setting
        if node.type not in ("true", "false", "null"):
            continue
        for spoken in _spoken(ask, name):
            match = ask.first(
                rf"(?:set |put |make |mets |pon |poe )?{spoken}{_BETWEEN}{_FLAG}(?!\w)"
            )
            if match and ask.code.of(node) != match["flag"]:
                ask.become(ask.code.with_replacements([(*ask.code.span(node), match["flag"])]))
                ask.claim(match)
                ask.say("set", name=name, old=ask.code.of(node), new=match["flag"])
                return


#: A value that something is compared with is a condition, and no setting.
_COMPARED = re.compile(
    r"\b(?:under|over|below|above|older|younger|less|more|fewer|greater|smaller|larger|than|between|at least|moins d|plus d|sous|menor\w*|mayor\w*|menos de|mas de|mais d|maior\w*|chini|zaidi|if|when|si|quand|cuando|se|quando|kama|ikiwa)\b"
)


def new_value_by_kind(ask: CodeAsk) -> None:
    """ "use <id> as id", "put 30 days": the one literal of the code that is of the same kind."""
    match = ask.first(
        rf"(?:use|put|take|make it|set it to|set|it is now|is now|should be|must be|now|:|mets|met|prends|utilise|pon|usa|poe|coloca|weka|tumia|iwe|instead)[^.;¤]{{0,24}}{V}{_UNIT}",
        rf"{V}{_UNIT} (?:instead|please|maintenant|ahora|agora)",
    )
    if match is None or len(re.findall(V, ask.rest)) != 1:
        return
    token = re.search(V, match[0])
    assert token is not None
    value = ask.value(token[0])
    if _COMPARED.search(ask.masked.norm):
        raise Refused("needs_code")
    spots = [(span, node) for span, node in _like(ask, value)]
    if len(spots) != 1:
        if not spots:
            raise Elsewhere
        raise Refused("several_places", value=value.value, count=str(len(spots)))
    span, _ = spots[0]
    old = ask.code.text[span[0] : span[1]]
    ask.become(
        ask.code.with_replacements([(*span, _number(value) or _escaped(ask, span, value.value))])
    )
    ask.claim(match)
    for extra in [
        *ask.find(
            r"(?:as|for|comme|como) (?:the |l'|el |o )?(?:\w+ )?(?:id|identifier|url|address|table|number|key)"
        )
    ]:
        ask.claim(extra)
    ask.say("replaced", old=old, new=value.value)


def _like(ask: CodeAsk, value: Literal) -> list[tuple[Span, Node]]:
    """Literals of the code that a new value could take the place of."""
    digits = _number(value)
    if digits is not None and value.kind == "number":
        numbers = [
            (ask.code.span(n), n)
            for n in ask.code.walk("number")
            if ask.code.of(n) not in ("0", "1") and not _is_index(n)
        ]
        unit = re.search(rf"{re.escape(value.value)} ([^\W\d_]{{3,}})", folded(ask.masked.text))
        named = [s for s in numbers if unit and _speaks_of(unit[1], _name_of(ask, s[1]))]
        nouns = [w for w in words(ask.masked.text) if w in _NOUNS]
        if named or nouns:
            return named or [
                s for s in numbers if any(_speaks_of(w, _name_of(ask, s[1])) for w in nouns)
            ]
        return [s for s in numbers if set(_name_of(ask, s[1])) & _GROUPS[0]]
    kind = _shape(value.value)
    strings = [
        (span, node)
        for node, span, text in ask.code.strings()
        if node.type == "string" and _shape(text) == kind
    ]
    return strings if kind not in ("word", "text") else []


#: Words for the same kind of setting, in code and in requests.
_GROUPS: tuple[frozenset[str], ...] = (
    frozenset("limit limite limits per top size max maximum count page".split()),
    frozenset("day days jour jours dia dias siku".split()),
    frozenset("month months mois mes meses miezi".split()),
    frozenset("hour hours heure heures hora horas saa timeout".split()),
    frozenset("minute minutes minuto minutos dakika timeout".split()),
    frozenset("second seconds seconde secondes segundo segundos sekunde timeout".split()),
    frozenset("batch batches chunk lot lots lote lotes".split()),
    frozenset("threshold seuil umbral limiar cutoff cut".split()),
    frozenset("timeout timeouts".split()),
    frozenset("retry retries attempts tries".split()),
    frozenset("year years annee anio ano".split()),
    frozenset("digit digits decimal decimals decimales decimais".split()),
    frozenset("week weeks semaine semaines semana semanas wiki".split()),
)
_NOUNS = frozenset(word for group in _GROUPS for word in group) - {
    "per",
    "top",
    "page",
    "count",
    "cut",
    "mes",
    "lot",
}


def _speaks_of(word: str, name: list[str]) -> bool:
    """Whether a word of a request means what a setting is named after."""
    if any(alike(word, part) for part in name):
        return True
    return any(word in group and not group.isdisjoint(name) for group in _GROUPS)


def _is_index(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "subscript_expression"


def _name_of(ask: CodeAsk, node: Node) -> list[str]:
    """The words of the property or constant that a literal is the value of."""
    parent = node.parent
    if parent is None or parent.type not in ("pair", "variable_declarator"):
        return []
    key = parent.child_by_field_name("key" if parent.type == "pair" else "name")
    return name_words(ask.code.of(key)) if key is not None else []


def _shape(text: str) -> str:
    """What kind of value a text is; ids are alike when they are about as long."""
    if re.match(r"https?://", text):
        return "url"
    if re.fullmatch(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", text):
        return "email"
    if re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", text.lower()):
        return "uuid"
    if re.fullmatch(r"/[\w/{}.-]+", text):
        return "path"
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}(?:T.*)?", text):
        return "date"
    if re.fullmatch(r"\+?\d{6,}", text):
        return "phone"
    if (
        re.fullmatch(r"[A-Za-z0-9_-]{9,}", text)
        and re.search(r"\d", text)
        and re.search(r"[A-Za-z]", text)
    ):
        return "long id" if len(text) > 20 else "id"
    if re.fullmatch(r"\w+(?:\.\w+)+", text):
        return "dotted"
    return "word" if re.fullmatch(r"[\w-]+", text) else "text"

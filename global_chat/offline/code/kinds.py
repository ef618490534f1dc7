"""A new value whose old one is not named: the one literal of the code that is of its kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..language.folding import folded, name_words, word_set, words
from ..language.literals import Literal
from .asking import CodeAsk, Elsewhere, Refused, V
from .javascript import Span
from .units import LIMITS, NOUNS, UNIT, speaks_of
from .writing import digits_of, escaped

if TYPE_CHECKING:
    from tree_sitter import Node


#: A value that something is compared with is a condition, and no setting.
_COMPARED = re.compile(
    r"\b(?:under|over|below|above|older|younger|less|more|fewer|greater|smaller|larger"
    r"|than|between|at least|moins d|plus d|sous|menor\w*|mayor\w*|menos de|mas de|mais d"
    r"|maior\w*|chini|zaidi|if|when|si|quand|cuando|se|quando|kama|ikiwa)\b"
)


def new_value_by_kind(ask: CodeAsk) -> None:
    """ "use <id> as id", "put 30 days": the one literal of the code that is of the same kind."""
    match = ask.first(
        (
            r"(?:use|put|take|make it|set it to|set|it is now|is now|should be|must be|now|:"
            r"|mets|met|prends|utilise|pon|usa|poe|coloca|weka|tumia|iwe"
            rf"|instead)[^.;¤]{{0,24}}{V}{UNIT}"
        ),
        rf"(?:new|nouvel\w*|nuev[oa]|nov[oa]|jina jipya)[^.;¤]{{0,30}}? (?:is|:|est|es|e|ni) {V}",
        rf"{V}{UNIT} (?:instead|please|maintenant|ahora|agora)",
    )
    if match is None or len(re.findall(V, ask.rest)) != 1:
        return
    token = re.search(V, match[0])
    assert token is not None
    value = ask.value(token[0])
    if _COMPARED.search(ask.masked.norm):
        raise Refused("needs_code")
    if value.kind != "number" and _shape(value.value) in ("word", "text"):
        return
    spots = [(span, node) for span, node in _like(ask, value)]
    if len(spots) != 1:
        if not spots:
            raise Elsewhere
        raise Refused("several_places", value=value.value, count=str(len(spots)))
    span, _ = spots[0]
    old = ask.code.text[span[0] : span[1]]
    ask.become(
        ask.code.with_replacements([(*span, digits_of(value) or escaped(ask, span, value.value))])
    )
    ask.claim(match)
    for extra in [
        *ask.find(
            r"(?:as|for|comme|como) (?:the |l'|el |o )?(?:\w+ )?(?:id|identifier|url"
            r"|address|table|number|key)"
        )
    ]:
        ask.claim(extra)
    ask.say("replaced", old=old, new=value.value)


def _like(ask: CodeAsk, value: Literal) -> list[tuple[Span, Node]]:
    """Literals of the code that a new value could take the place of."""
    digits = digits_of(value)
    if digits is not None and value.kind == "number":
        numbers = [
            (ask.code.span(n), n)
            for n in ask.code.walk("number")
            if ask.code.of(n) not in ("0", "1") and not _is_index(n)
        ]
        unit = re.search(rf"{re.escape(value.value)} ([^\W\d_]{{3,}})", folded(ask.masked.text))
        named = [s for s in numbers if unit and speaks_of(unit[1], _name_of(ask, s[1]))]
        nouns = [w for w in words(ask.masked.text) if w in NOUNS]
        if named:
            return named
        if nouns:
            return [
                s for s in numbers if all(speaks_of(noun, _name_of(ask, s[1])) for noun in nouns)
            ]
        if not _is_bare_amount(ask, value):
            return []
        return [s for s in numbers if set(_name_of(ask, s[1])) & LIMITS]
    kind = _shape(value.value)
    strings = [
        (span, node)
        for node, span, text in ask.code.strings()
        if node.type == "string" and _shape(text) == kind
    ]
    return strings if kind not in ("word", "text") else []


_BEFORE_AMOUNT = word_set(
    "use put take make it to at is be now only just with of up down get ask for fetch a max about"
    " que prends prend mets met mettre prendre utilise a de pon usa toma trae solo con basta poe"
    " puxa traz so com apenas weka tumia iwe chukua tu or and raise lower more than not go"
)


def _is_bare_amount(ask: CodeAsk, value: Literal) -> bool:
    """Whether no noun of its own stands before the number: "take 50", and not "project 9"."""
    norm = ask.masked.norm
    token = f"¤{ask.masked.values.index(value)}"
    before = re.search(r"([^\W\d_]+)[\s:]+$", norm[: norm.index(token)])
    return before is None or before[1] in _BEFORE_AMOUNT


def _is_index(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "subscript_expression"


def _name_of(ask: CodeAsk, node: Node) -> tuple[str, ...]:
    """The words of the property or constant that a literal is the value of."""
    parent = node.parent
    if parent is None or parent.type not in ("pair", "variable_declarator"):
        return ()
    key = parent.child_by_field_name("key" if parent.type == "pair" else "name")
    return name_words(ask.code.of(key)) if key is not None else ()


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

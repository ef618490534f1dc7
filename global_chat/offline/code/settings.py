"""Settings in code: properties and constants with a literal value, and giving them another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..language.folding import name_words
from ..language.literals import Literal
from .asking import CodeAsk, Refused, V
from .javascript import Replacement, Span
from .units import is_of_time, speaks_of
from .writing import digits_of, escaped

if TYPE_CHECKING:
    from tree_sitter import Node


#: What is asked for besides must not take the place of what is there.
_BESIDES = (
    r"\s*(?:,\s*)?(?:as well|too\b|also|in addition|besides|aussi|tambien|tambem|pia|or |ou "
    r"|o |und auch)"
)


def set_values(ask: CodeAsk) -> None:
    """The value of a property or constant by its name: "limit 1000", "subject should be 'X'"."""
    for match in [*ask.find(V)]:
        if any(match.start() < end and start < match.end() for start, end in ask.claimed):
            continue
        value = ask.value(match[0])
        if value.kind == "identifier" and value.value in {
            ask.code.of(k) for _, k, _ in settings_of(ask)
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
    if unit is None or not is_of_time(unit[1]):
        return False
    return not speaks_of(unit[1], [w for w in name_words(name) if w != "timeout"])


_Setting = tuple[str, "Node", "Node"]


def settings_of(ask: CodeAsk) -> list[_Setting]:
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


_BETWEEN = (
    r"(?:\s*(?::|=|->|→)\s*|\s+(?:(?:should|must|has to) (?:now )?(?:be|say|read)|to|is|at|of"
    r"|be|is now|as|a|en|doit etre|est|debe ser|es|deve ser|e|para|iwe|ni|up to|down to"
    r"|back to|only|only to|value|maintenant)\s+|\s+)(?:only |just |to |now |the |exactly )*"
)


def _named_setting(ask: CodeAsk, match: re.Match[str]) -> tuple[Span, _Setting] | None:
    """The one setting whose name stands right before the value, or after it ("1000 as limit")."""
    norm = ask.masked.norm
    hits: dict[int, tuple[Span, _Setting]] = {}
    for setting in settings_of(ask):
        for spoken in _spoken(ask, setting[0]):
            verb = (
                r"(?:(?:set|put|make|change|raise|lower|increase|reduce|mets|passe|pon|poe"
                r"|cambia|muda|use|weka|bring)\s+(?:the |la |le |el |o |a |its )?)?"
            )
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
        return start + 1, end - 1, escaped(ask, (start + 1, end - 1), value.value)
    digits = digits_of(value)
    if node.type in ("number", "unary_expression") and digits is not None:
        return start, end, digits
    if node.type in ("true", "false", "null") and value.value in ("true", "false", "null"):
        return start, end, value.value
    raise Refused("other_kind", value=value.value)


_FLAG = r"(?P<flag>true|false|null)"


def set_flags(ask: CodeAsk) -> None:
    """ "dryRun true", "restart_participants should be true"."""
    for setting in settings_of(ask):
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

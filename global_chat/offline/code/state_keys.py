"""Keys of the state: where code reads and writes them, and renaming one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .asking import CodeAsk, Elsewhere, Refused
from .javascript import Code, Span
from .literals import pairs

if TYPE_CHECKING:
    from tree_sitter import Node

_STATE = ("state", "$")


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One use of a state key. `place` is the key's own text; `form` says what a new key must do."""

    key: str
    place: Span
    writes: bool
    form: Literal["plain", "shorthand", "binding"] = "plain"


def key_uses(code: Code) -> list[KeyUse]:
    """Every use of a key directly on the state: `state.x`, `$.x`, `'$.x[*]'`, `state['x']`, taken
    apart in `const { x } = state`, or put into a returned `{ ...state, x }`.
    """
    found = [
        use
        for node in code.walk("member_expression", "subscript_expression")
        if (use := _access(code, node))
    ]
    found += [
        use
        for node, span, text in code.strings()
        if node.type == "string"
        for use in _in_path(span, text)
    ]
    found += [use for node in code.walk("object_pattern") for use in _taken_apart(code, node)]
    found += [use for node in code.walk("object") for use in _returned(code, node)]
    return sorted(found, key=lambda use: use.place)


def _access(code: Code, node: Node) -> KeyUse | None:
    owner = node.child_by_field_name("object")
    if owner is None or owner.type != "identifier" or code.of(owner) not in _STATE:
        return None
    if node.type == "member_expression":
        key = node.child_by_field_name("property")
        if key is None:
            return None
        return KeyUse(code.of(key), code.span(key), _is_target(node))
    index = node.child_by_field_name("index")
    if index is None or index.type != "string":
        return None
    start, end = code.span(index)
    return KeyUse(code.text[start + 1 : end - 1], (start + 1, end - 1), _is_target(node))


def _is_target(node: Node) -> bool:
    """Whether something is assigned to a member, or it is deleted."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type in ("assignment_expression", "augmented_assignment_expression"):
        left = parent.child_by_field_name("left")
        return left is not None and left.id == node.id
    return (
        parent.type == "unary_expression"
        and parent.text is not None
        and parent.text.startswith(b"delete")
    )


def _in_path(span: Span, text: str) -> list[KeyUse]:
    match = re.match(r"\$\.([A-Za-z_]\w*)", text)
    if match is None:
        return []
    return [KeyUse(match[1], (span[0] + match.start(1), span[0] + match.end(1)), False)]


def _taken_apart(code: Code, node: Node) -> list[KeyUse]:
    parent = node.parent
    value = (
        parent.child_by_field_name("value")
        if parent and parent.type == "variable_declarator"
        else None
    )
    of_state = value is not None and value.type == "identifier" and code.of(value) == "state"
    if not of_state:
        return []
    found = []
    for child in node.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            found.append(KeyUse(code.of(child), code.span(child), False, "binding"))
        elif child.type == "pair_pattern" and (key := child.child_by_field_name("key")) is not None:
            found.append(KeyUse(code.of(key), code.span(key), False))
        elif child.type == "object_assignment_pattern" and child.named_children:
            first = child.named_children[0]
            found.append(KeyUse(code.of(first), code.span(first), False, "binding"))
    return found


def _returned(code: Code, node: Node) -> list[KeyUse]:
    spreads = [
        c
        for c in node.named_children
        if c.type == "spread_element" and code.of(c).replace(" ", "") == "...state"
    ]
    if not spreads:
        return []
    found = []
    for child in node.named_children:
        if child.type == "pair" and (key := child.child_by_field_name("key")) is not None:
            if key.type == "property_identifier":
                found.append(KeyUse(code.of(key), code.span(key), True))
        elif child.type == "shorthand_property_identifier":
            found.append(KeyUse(code.of(child), code.span(child), True, "shorthand"))
    return found


def renamed_key(code: Code, old: str, new: str) -> str | None:
    """The code with a state key renamed; None when it does not use it.

    Names that merely look alike stay: `state.data.x`, variables, fields of records. Raises Refused
    when the new key is in use, or when the state goes by another name that this cannot follow.
    """
    uses = key_uses(code)
    mine = [use for use in uses if use.key == old]
    if not mine:
        return None
    if any(use.key == new for use in uses):
        raise Refused("key_taken", key=new)
    if _other_names(code):
        raise Refused("state_renamed")
    replacements = []
    for use in mine:
        text = {"plain": new, "shorthand": f"{new}: {old}", "binding": f"{new}: {old}"}[use.form]
        replacements.append((*use.place, text))
    return code.with_replacements(replacements)


def _other_names(code: Code) -> bool:
    """Whether the whole state is given another name, as in `const s = state`."""
    for node in code.walk("variable_declarator"):
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if (
            name is not None
            and value is not None
            and name.type == "identifier"
            and value.type == "identifier"
            and code.of(value) == "state"
        ):
            return True
    return False


def rename_state_key(ask: CodeAsk) -> None:
    """ "rename state.a to state.b": in this step, wherever the key of the state is meant."""
    norm = ask.masked.norm
    if not re.search(r"¤\d+", norm):
        return
    claimed = list(ask.claimed)
    found = pairs(ask)
    wanted = [
        (m, o, n)
        for m, o, n in found
        if o.value.startswith(("state.", "$.")) and o.value.count(".") == 1
    ]
    ask.claimed = claimed
    for match, old, new in wanted:
        key, name = old.value.partition(".")[2], new.value.removeprefix("state.").removeprefix("$.")
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or not re.fullmatch(r"[A-Za-z_]\w*", key):
            raise Refused("not_understood")
        text = renamed_key(ask.code, key, name)
        if text is None:
            raise Elsewhere
        ask.become(text)
        ask.claim(match)
        ask.say("renamed_key", old=key, new=name)
        for extra in [
            *ask.find(
                r"(?:in|dans|en|em|katika|wherever|where) (?:every|each|all|both|the"
                r"|chaque|tou\w+|tod\w+|cada|los|las|os|as)?[^.;,]*(?:use[sd]?|steps?"
                r"|etapes?|pasos?|passos?|hatua|workflow|it is|it's)\w*|wherever[^.;,]*"
                r"|everywhere|partout|(?:what|but|the)[^.;]*(?:do not change|don't change"
                r"|stays?|unchanged|remain\w*|as (?:it is|they are))[^.;]*|(?:do not"
                r"|don't) (?:touch|change)[^.;]*"
            )
        ]:
            ask.claim(extra)

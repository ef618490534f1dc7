"""Paths and their conditions: connected, cut, decided otherwise."""

from __future__ import annotations

import re
from typing import Any

from .asking import Ask, CannotDo
from .conditions import named_condition
from .draft import conditions
from .rewiring import is_after, usual_condition
from .triggers import path_name
from .words import COME, CONNECT, DISCONNECT, IT, PATH, REMOVE, S

_DIRECT = (
    r"(?:directly |straight |directo? |directement |directamente |direkt |diretamente |right "
    r"|moja kwa moja )?"
)
_DETACH = (
    r"(?:(?:must|should|does|do|shall) not (?:wait for|depend on|come from"
    rf"|be reached from|follow|run after) (?P<x1>{S})"
    r"|(?:and |et |y |e |,\s*)?(?:no more|no longer|not any ?more|not|instead of"
    r"|rather than|et plus|plus|au lieu de|ya no|y no|en (?:lugar|vez) de|e nao|ja nao"
    rf"|nao|em vez de|badala ya)\s+{_DIRECT}(?:after |from |on |behind |to |at |sur |de "
    rf"|depuis |desde |en |a |em |kutoka )*(?P<x2>{S}))"
)


def connect(ask: Ask) -> None:
    """Let one step lead to another, with the condition that is named; the old way may go."""
    match = ask.first(
        (
            rf"(?P<b>{S}|{IT})(?: {COME}| (?:should|must"
            r"|can))?(?: also)?(?: be)?(?: also)? (?:reached|started|called|triggered"
            rf"|entered) (?:only )?(?:from|by|after) (?P<a>{S})"
        ),
        (
            r"(?:hang|attach|hook|append|rattach\w+|accroch\w+|enganch\w+|cuelg\w+"
            rf"|pendur\w+) (?P<b>{S}|{IT}) {_DIRECT}(?:at the end,? )?(?:on|onto|to|after"
            rf"|behind|from|at|a|sur|apres|de|en|despues de|em|depois de)\s+(?P<a>{S})"
        ),
        (
            rf"{CONNECT} (?:the )?(?P<a>{S}|{IT}) {_DIRECT}(?:up )?(?:to|with|and|a|au|avec"
            rf"|et|con|y|com|e|ao|na|mit)\s+(?P<b>{S})"
        ),
        (
            rf"(?P<a>{S}|{IT}) (?:should|must|doit|debe|deve"
            rf"|lazima) (?:also )?{_DIRECT}(?:lead|go|point|continue|mener|aller|llevar|ir"
            rf"|levar) {_DIRECT}(?:to|a|vers|para)\s+(?P<b>{S})"
        ),
        rf"(?:go|from) (?:from )?(?P<a>{S}) {_DIRECT}(?:go )?to (?P<b>{S})",
        (
            r"(?:add|ajoute[rz]?|agrega|adiciona|acrescenta|weka|ongeza) (?:an? |une? "
            rf"|uma? )?(?:\w+ )?{PATH}(?: d'echec| de fallo| de error| de falha"
            rf"| on failure)? (?:from|de|depuis|desde|kutoka) (?P<a>{S}) (?:to|vers|a|para"
            rf"|ate|kwenda) (?P<b>{S})"
        ),
    )
    if match is None:
        return
    source, target = (ask.meant(match, g) for g in ("a", "b"))
    if source == target:
        raise CannotDo("which_step")
    ask.claim(match)
    if is_after(ask.draft, source, target) and not is_after(ask.draft, target, source):
        source, target = target, source  # the other way round would run in a circle
    alarm = re.search(r"\b(?:failure|error|echec|fallo|falha|erreur)\b", match[0])
    named = {"condition_type": "on_job_failure"} if alarm else None
    condition = named or named_condition(ask) or _same_condition(ask, source)
    old = _detached(ask, target, source)
    if condition is None and old is not None:
        condition = conditions(old)
    ask.draft.connect(
        source, target, **_as_arguments(condition or {"condition_type": usual_condition(ask.draft)})
    )
    ask.say("connected", path=f"{ask.name(source)} → {ask.name(target)}")


def _as_arguments(condition: dict[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in condition.items() if k != "condition_type"}
    return {"condition": condition["condition_type"], **rest}


def _detached(ask: Ask, target: str, source: str) -> dict[str, Any] | None:
    """Cut the paths that the request gives up; the last of them, for its condition."""
    found = None
    for match in [*ask.find(_DETACH)]:
        other = ask.key(match["x1"] or match["x2"])
        edge = ask.draft.between(other, target)
        if edge is None or other == source:
            raise CannotDo("no_path", first=ask.name(other), second=ask.name(target))
        found = ask.draft.edges.pop(edge[0])
        ask.say("cut", path=path_name(ask, found))
        ask.claim(match)
        for again in [*ask.find(rf"(?P<s>{S}|{IT}) ?,?\s*$")]:
            ask.claim(again)
    if found is not None:
        _claim_repeats(ask, target)
    return found


def _claim_repeats(ask: Ask, key: str) -> None:
    """The step that is connected may be named again, as the subject of what it must not do."""
    for match in [*ask.find(r"§(?:\d+|t)")]:
        if ask.key(match[0]) == key:
            ask.claim(match)


def _same_condition(ask: Ask, source: str) -> dict[str, Any] | None:
    """ "with the same condition as today": the condition of the source's way on."""
    match = ask.first(
        r"(?:with |under |avec |con |com |kwa )?(?:the |la |a )?(?:same|meme|misma"
        r"|mesma) condition\w*(?:[^.;()]*)(?:\([^()]*\))?|(?:con |com |avec )?la (?:misma"
        r"|meme) condici?t?i?on[^.;()]*(?:\([^()]*\))?"
        r"|(?:com )?a mesma condicao[^.;()]*(?:\([^()]*\))?"
    )
    if match is None:
        return None
    ways = [e for _, e in ask.draft.outgoing(source)]
    special = [e for e in ways if e.get("condition_type") == "js_expression"] or ways
    if len(special) != 1:
        raise CannotDo("which_path")
    ask.claim(match)
    return conditions(special[0])


def disconnect(ask: Ask) -> None:
    """Cut the path between two steps."""
    match = ask.first(
        rf"(?:{DISCONNECT}|{REMOVE}) (?:the |la |le |el |o |a )?(?:{PATH} )?(?:between "
        rf"|entre |from |de |desde |kati ya )?(?P<a>{S}|{IT})(?:\s+(?:and|from|to|et|de|a"
        rf"|y|e|na|hasta|vers|para|con|com|au)\s+)(?:to )?(?P<b>{S})"
        rf"|cut (?:the )?(?:{PATH} )?(?:between |from )(?P<c>{S})(?: (?:and|to) )(?P<d>{S})"
    )
    if match is None:
        _cut_off(ask)
        return
    if not re.search(rf"{PATH}|{DISCONNECT}|cut|between", match[0]):
        return
    ends = ("a", "b") if match["a"] else ("c", "d")
    first, second = (ask.meant(match, end) for end in ends)
    found = ask.draft.between(first, second) or ask.draft.between(second, first)
    if found is None:
        raise CannotDo("no_path", first=ask.name(first), second=ask.name(second))
    ask.say("cut", path=path_name(ask, found[1]))
    ask.draft.edges.pop(found[0])
    ask.claim(match)


def _cut_off(ask: Ask) -> None:
    """ "disconnect X": the one path that leads there goes."""
    match = ask.first(rf"{DISCONNECT} (?P<a>{S})(?!\s+(?:from|and|de|et|y|e|na|to))")
    if match is None:
        return
    ways = ask.draft.incoming(ask.key(match["a"]))
    if len(ways) != 1 or ways[0][1].get("source_trigger"):
        raise CannotDo("which_path")
    ask.say("cut", path=path_name(ask, ways[0][1]))
    ask.draft.edges.pop(ways[0][0])
    ask.claim(match)

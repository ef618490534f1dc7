"""Steps put elsewhere: before or after another, or swapped with it."""

from __future__ import annotations

import re

from .asking import Ask, CannotDo
from .draft import is_failure
from .rewiring import is_after, move, usual_condition
from .words import AFTER, AND, BEFORE, COME, FAILURE, IT, MOVE, ONLY, SWAP, S


def reorder(ask: Ask) -> None:
    """Swap two neighbours, or move a step in front of or behind another."""
    swap = ask.first(
        rf"{SWAP} (?:the order of |l'ordre de |el orden de "
        rf"|a ordem de )?(?P<a>{S}){AND}(?P<b>{S})|{SWAP} (?P<c>{S}) (?:with|avec|con|com"
        rf"|mit) (?P<d>{S})"
    )
    if swap:
        first, second = ask.key(swap["a"] or swap["c"]), ask.key(swap["b"] or swap["d"])
        _swap(ask, first, second)
        ask.claim(swap)
        return
    subject = rf"(?P<a>{S}|{IT})"
    pattern = (
        r"(?:(?:i want |je veux |quiero |quero "
        rf"|nataka )?{subject} (?:{COME} )?(?:directly |right |immediately "
        rf"|juste )?(?P<way>{BEFORE}|{AFTER}) (?P<b>{S})"
        rf"|{MOVE} (?P<c>{S}|{IT}) (?:directly |right |just )?(?P<way2>{BEFORE}"
        rf"|{AFTER}) (?P<d>{S}))"
    )
    for match in [*ask.find(pattern)]:
        key = ask.meant(match, "a" if match["a"] else "c")
        anchor = ask.key(match["b"] or match["d"])
        way = match["way"] or match["way2"]
        before = bool(re.fullmatch(BEFORE, way))
        if key == anchor:
            raise CannotDo("which_step")
        if not before and _hung(ask, key, anchor):
            ask.claim(match)
            continue
        move(ask.draft, key, anchor, before=before)
        ask.say(
            "moved_before" if before else "moved_after", name=ask.name(key), anchor=ask.name(anchor)
        )
        ask.claim(match)
        _claim_emphasis(ask)


def _hung(ask: Ask, key: str, anchor: str) -> bool:
    """An alarm, or a step that hangs on nothing, is hung on another and cuts no chain."""
    draft = ask.draft
    ways = draft.incoming(key)
    named = ask.first(rf"(?:{ONLY} )?(?:{FAILURE})")
    if draft.outgoing(key) or not (named or not ways or all(is_failure(e) for _, e in ways)):
        return False
    kind = "on_job_failure" if named or ways else usual_condition(draft)
    for edge_key, _ in ways:
        draft.edges.pop(edge_key)
    draft.connect(anchor, key, kind)
    if named:
        ask.claim(named)
    ask.say("connected", path=f"{ask.name(anchor)} → {ask.name(key)}")
    return True


def _swap(ask: Ask, first: str, second: str) -> None:
    draft = ask.draft
    if draft.between(second, first):
        first, second = second, first
    if not draft.between(first, second) or not is_after(draft, second, first):
        raise CannotDo("not_neighbours", first=ask.name(first), second=ask.name(second))
    move(draft, second, first, before=True)
    ask.say("swapped", first=ask.name(first), second=ask.name(second))


def _claim_emphasis(ask: Ask) -> None:
    """ "not after", "just swap these two": the same said again."""
    for extra in [
        *ask.find(
            rf"(?:,? ?(?:and )?(?:not|pas|no|nao|si) (?:{AFTER}|{BEFORE})|(?:just "
            rf"|so )?{SWAP} (?:these|them|those|the) ?(?:two|both)?"
            r"|nothing else(?: to change)?)"
        )
    ]:
        ask.claim(extra)

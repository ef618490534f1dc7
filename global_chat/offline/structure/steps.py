"""Steps added, removed and moved."""

from __future__ import annotations

import re

from ..language.lexicon import has
from .adaptor_list import is_everyday
from .asking import Ask, CannotDo, is_nothing
from .draft import is_failure
from .rewiring import (
    bridge,
    insert_after,
    insert_before,
    insert_between,
    is_after,
    move,
    usual_condition,
)
from .words import ADD, AFTER, BEFORE, COME, FAILURE, IT, MOVE, ONLY, PATH, REMOVE, SWAP, S, V

_EMPTY = r"(?:blank|empty|placeholder|skeleton|dummy|vide|vierge|vaci[oa]|en blanco|vazi[oa]|em branco|tupu|leere?n?)"
_NOUN = r"(?:steps?|job|node|etape|paso|passo|etapa|hatua|schritt)"
_AND = r"(?:\s*,\s*|\s*,?\s*(?:and|et|y|e|na|und|&|\+)\s+)"
_NAME_AFTER = r"(?:called|named|by the name of|with the name|name(?:d)? it|call it|nommee?|appelee?|qui s'appelle|llamad[oa]|que se llame|chamad[oa]|com o nome|con el nombre|inayoitwa|iitwe|jina|name)"
_END = r"(?:at the (?:very )?end|in the end|as (?:the )?last(?: step)?|to the end|(?:a|en) la fin|en dernier|tout a la fin|al final|no (?:fim|final)|(?:ku|kwa)?mwisho(?:ni)?|am ende|the end|last step)"
_START = r"(?:at the (?:very )?(?:beginning|start|front)|as (?:the )?first(?: step)?|first of all|au (?:tout )?debut|en premier|al (?:principio|inicio|comienzo)|no (?:inicio|comeco|principio)|mwanzoni|am anfang)"
_BETWEEN = rf"(?:in )?(?:between|entre|kati ya|zwischen) (?P<first>{S})(?:{_AND})(?P<second>{S})"
_NO_CODE = r"(?:(?:leave|keep) (?:the |its )?(?:code|body|it) (?:blank|empty)|no code(?: yet)?|without (?:any )?code|code (?:comes )?later|sans code|sin codigo|sem codigo|bila code|i(?:'ll| will) (?:write|fill)[^.;]*|nothing in it|with nothing in it)"


def add(ask: Ask) -> None:
    """Add one empty step. What describes behaviour needs code and is not done here."""
    match = ask.first(
        rf"{ADD} (?:me |us |just |simply |also |there |in )?(?:an?|one|another|one more|the|une?|un autre|un|una|otr[oa]|mais um|uma?|moja|nyingine|new|nouvelle)?\s*(?:more |new |nouvelle |nuev[oa] |nov[oa] )*(?:{_EMPTY} )?(?:{V} |(?!new |called )[a-z0-9-]+ )?(?:{_NOUN}|(?<=[ykero] )one)(?: {_EMPTY}| mpya| nueva?o?| nov[oa]| tupu| nyingine)*",
        rf"(?:an? |one |une? |un |uma? )?(?:more |new |another |nouvelle |{_EMPTY} )+{_NOUN}(?: {_EMPTY})?",
        rf"{ADD} (?:an? )?(?:{_EMPTY} )?(?:one )?{V}(?= (?:{BEFORE}|{AFTER}|between|entre|at the|kati|in between))",
        rf"(?:{_NOUN} {_EMPTY}|{_EMPTY} (?:one|{_NOUN}))",
    )
    if match is None:
        return
    ask.claim(match)
    name, adaptor = _name_and_adaptor(ask, match)
    blank = re.search(rf"{_EMPTY}|{_NO_CODE}", ask.masked.norm)
    if not blank and _describes(ask.rest):
        raise CannotDo("needs_code")
    if not ask.draft.is_free(name):
        raise CannotDo("name_taken", name=name)
    key = ask.draft.add_step(name, adaptor)
    place = _place(ask, key)
    if name.startswith("New ") and not is_nothing(ask.rest):
        raise CannotDo("not_understood")  # what is left may be the name, or what it is to do
    for extra in [*ask.find(rf"{_NO_CODE}|{_EMPTY}|\b(?:of the|in the) (?:main )?chain\b")]:
        ask.claim(extra)
    ask.say("added", name=name, adaptor=adaptor.removeprefix("@openfn/language-"), place=place)


def _describes(rest: str) -> bool:
    """Whether what is left says what the step is to do."""
    return any(
        has(c, rest) for c in ("behaviour", "send", "coding", "filter", "with_code", "logging")
    )


def _name_and_adaptor(ask: Ask, match: re.Match[str]) -> tuple[str, str]:
    inside = re.search(V, match[0])
    quoted = inside or ask.first(rf"(?:{_NAME_AFTER}(?!\w)\s*:?\s*)?{V}")
    unquoted = ask.first(
        rf"\b{_NAME_AFTER}(?!\w)\s*:?\s*(?P<name>[^\W\d_][^,.;:¤§\n]*?)(?=\s*(?:[,.;\n]|$|\s(?:{BEFORE}|{AFTER}|between|entre|with|using|avec|con|com|at the|a la fin|al final|no fim)\b))"
    )
    colon = re.search(r":\s*(?P<name>[^\W\d_][^,.;:¤§\n]*)", ask.rest)
    named = re.match(
        r"\s+(?P<name>[^,.;:¤§\n]{2,60}?)(?=\s*(?:[,.;\n]|$|\s(?:before|after|between|with|at the|entre|avant|apres|antes|despues|depois|kabla|baada)\b))",
        ask.masked.norm[match.end() :],
    )
    name = ""
    if quoted:
        token = re.search(V, quoted[0])
        assert token is not None
        name = ask.value(token[0]).value.strip()
        if not inside and isinstance(quoted, re.Match):
            ask.claimed.append(
                (quoted.start() if quoted is not inside else match.start(), quoted.end())
            )
    elif unquoted:
        name = ask.masked.original(*unquoted.span("name")).strip()
        ask.claim(unquoted)
    elif colon:
        name = ask.masked.original(*colon.span("name")).strip()
        ask.claimed.append(colon.span())
    elif named:
        start = match.end() + named.start("name")
        said = ask.masked.original(start, match.end() + named.end("name")).strip()
        if said[:1].isupper():
            name = said
            ask.claimed.append((start, match.end() + named.end("name")))
    spoken = ask.adaptors.mentioned(ask.rest)
    inside_names = [(n, 0, 0) for n, _, _ in ask.adaptors.mentioned(match[0]) if not is_everyday(n)]
    spoken += inside_names
    adaptor = spoken[0][0] if spoken else None
    if len({n for n, _, _ in spoken}) > 1:
        raise CannotDo("which_adaptor")
    for _, start, end in spoken:
        ask.claimed.append((start, end))
    if not name:
        name = _free_name(ask, adaptor)
    return " ".join(name.split()), ask.adaptors.specifier(adaptor or "common")


def _free_name(ask: Ask, adaptor: str | None) -> str:
    base = f"New {adaptor} step" if adaptor else "New step"
    name, number = base, 1
    while not ask.draft.is_free(name):
        number += 1
        name = f"{base} {number}"
    return name


def _place(ask: Ask, key: str) -> str:
    """Put the new step where the request says; the place in words. Raises CannotDo when unclear."""
    draft = ask.draft
    if match := ask.first(_BETWEEN):
        first, second = ask.key(match["first"]), ask.key(match["second"])
        if not draft.between(first, second) and draft.between(second, first):
            first, second = second, first
        insert_between(draft, first, key, second)
        ask.claim(match)
        return f"{draft.name(first)} → {draft.name(second)}"
    for pattern, insert in ((AFTER, insert_after), (BEFORE, insert_before)):
        if match := ask.first(rf"{pattern} (?P<step>{S}|{IT}\b)"):
            anchor = ask.key(match["step"] if "§" in match["step"] else "§t")
            insert(draft, anchor, key)
            ask.claim(match)
            return f"{'→ ' if pattern is BEFORE else ''}{draft.name(anchor)}{' →' if pattern is AFTER else ''}"
    if match := ask.first(_END):
        last = _last_but(ask, key)
        insert_after(draft, last, key)
        ask.claim(match)
        return f"{draft.name(last)} →"
    if match := ask.first(_START):
        others = [k for k in draft.order() if k != key]
        insert_before(draft, others[0], key)
        ask.claim(match)
        return f"→ {draft.name(others[0])}"
    if len(draft.jobs) == 3 and (
        match := ask.first(r"in (?:the middle|between)|au milieu|entre les deux|en medio|no meio")
    ):
        first, second = [k for k in draft.order() if k != key]
        insert_between(draft, first, key, second)
        ask.claim(match)
        return f"{draft.name(first)} → {draft.name(second)}"
    raise CannotDo("which_place")


def _last_but(ask: Ask, new: str) -> str:
    draft = ask.draft
    kept = draft.jobs.pop(new)
    last = draft.last_step()
    draft.jobs[new] = kept
    if last is None:
        raise CannotDo("which_place")
    return last


def remove(ask: Ask) -> None:
    """Remove the steps that are named, with their paths; what is left in between is connected."""
    verb = rf"{REMOVE}[- ](?:the |las? |les |l[eo]s? |el |o |a )?(?:steps? |{_NOUN} )?"
    unneeded = r"(?:(?:is|are|'s) (?:no longer|not|no more) (?:needed|used|necessary)(?: any ?more)?|(?:is|are) (?:useless|superfluous|obsolete)(?: now)?|n'est plus (?:utile|necessaire)|ya no (?:se necesita|hace falta|sirve)|ja nao e preciso|haihitajiki tena)"
    patterns = (
        rf"{verb}(?P<steps>{S}(?:{_AND}{S})*)(?! (?:path|edge|connection|condition))",
        rf"(?P<steps2>{S}(?:{_AND}{S})*) {unneeded}",
        rf"(?:we |i )?(?:do not|don't|no longer) need (?P<steps3>{S}(?:{_AND}{S})*)(?: any ?more)?",
        rf"(?:take|throw) (?P<steps4>{S}(?:{_AND}{S})*) (?:out|away)(?: of the (?:chain|flow|workflow))?",
        rf"{REMOVE}[- ](?P<steps5>{IT})\b(?! (?:path|edge|connection|condition|line|log|field|comment))",
    )
    for pattern in patterns:
        for match in [*ask.find(pattern)]:
            text = next(v for k, v in match.groupdict().items() if k.startswith("steps") and v)
            keys = [ask.key(t) for t in re.findall(r"§(?:\d+|t)", text)] or [ask.key("§t")]
            ask.claim(match)
            for key in dict.fromkeys(keys):
                _remove(ask, key)
    if ask.said:
        for extra in [
            *ask.find(
                rf"(?:and |et |y |e |na )?(?:connect|join|link|reconnect|relie|conecta|une|liga)[^.;]*(?:neighbou?rs?|others?|rest|two|around it|voisin\w*|vecin\w*|vizinh\w*|demas|autres)\b|(?:and|with) (?:its|their|all its) (?:{PATH})"
            )
        ]:
            ask.claim(extra)


def _remove(ask: Ask, key: str) -> None:
    draft = ask.draft
    if len(draft.jobs) == 1:
        raise CannotDo("last_step")
    name = ask.name(key)
    connected = bridge(draft, key)
    draft.remove_step(key)
    ask.say("removed", name=name)
    for source, target in connected:
        start = ask.name(source) if source in draft.jobs else source
        ask.say("reconnected", path=f"{start} → {ask.name(target)}")


def reorder(ask: Ask) -> None:
    """Swap two neighbours, or move a step in front of or behind another."""
    swap = ask.first(
        rf"{SWAP} (?:the order of |l'ordre de |el orden de |a ordem de )?(?P<a>{S}){_AND}(?P<b>{S})|{SWAP} (?P<c>{S}) (?:with|avec|con|com|mit) (?P<d>{S})"
    )
    if swap:
        first, second = ask.key(swap["a"] or swap["c"]), ask.key(swap["b"] or swap["d"])
        _swap(ask, first, second)
        ask.claim(swap)
        return
    subject = rf"(?P<a>{S}|{IT})"
    pattern = (
        rf"(?:(?:i want |je veux |quiero |quero |nataka )?{subject} (?:{COME} )?(?:directly |right |immediately |juste )?(?P<way>{BEFORE}|{AFTER}) (?P<b>{S})"
        rf"|{MOVE} (?P<c>{S}|{IT}) (?:directly |right |just )?(?P<way2>{BEFORE}|{AFTER}) (?P<d>{S}))"
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
    """An alarm, or a step that hangs on nothing, is hung on another step and does not cut a chain."""
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
            rf"(?:,? ?(?:and )?(?:not|pas|no|nao|si) (?:{AFTER}|{BEFORE})|(?:just |so )?{SWAP} (?:these|them|those|the) ?(?:two|both)?|nothing else(?: to change)?)"
        )
    ]:
        ask.claim(extra)

"""Empty steps added, where the request says."""

from __future__ import annotations

import re

from ..language.lexicon import has
from .adaptor_list import is_everyday
from .asking import Ask, CannotDo, is_nothing
from .rewiring import insert_after, insert_before, insert_between
from .words import ADD, AFTER, AND, BEFORE, IT, NOUN, S, V

_EMPTY = (
    r"(?:blank|empty|placeholder|skeleton|dummy|vide|vierge|vaci[oa]|en blanco|vazi[oa]"
    r"|em branco|tupu|leere?n?)"
)


_NAME_AFTER = (
    r"(?:called|named|by the name of|with the name|name(?:d)? it|call it|nommee?|appelee?"
    r"|qui s'appelle|llamad[oa]|que se llame|chamad[oa]|com o nome|con el nombre|inayoitwa"
    r"|iitwe|jina|name)"
)


_END = (
    r"(?:at the (?:very )?end|in the end|as (?:the )?last(?: step)?|to the end|(?:a"
    r"|en) la fin|en dernier|tout a la fin|al final|no (?:fim|final)|(?:ku|kwa)?mwisho(?:ni)?"
    r"|am ende|the end|last step)"
)


_START = (
    r"(?:at the (?:very )?(?:beginning|start|front)|as (?:the )?first(?: step)?|first of all"
    r"|au (?:tout )?debut|en premier|al (?:principio|inicio|comienzo)|no (?:inicio|comeco"
    r"|principio)|mwanzoni|am anfang)"
)


_BETWEEN = rf"(?:in )?(?:between|entre|kati ya|zwischen) (?P<first>{S})(?:{AND})(?P<second>{S})"


_NO_CODE = (
    r"(?:(?:leave|keep) (?:the |its )?(?:code|body|it) (?:blank|empty)|no code(?: yet)?"
    r"|without (?:any )?code|code (?:comes )?later|sans code|sin codigo|sem codigo|bila code"
    r"|i(?:'ll| will) (?:write|fill)[^.;]*|nothing in it|with nothing in it)"
)


def add(ask: Ask) -> None:
    """Add one empty step. What describes behaviour needs code and is not done here."""
    match = ask.first(
        (
            rf"{ADD} (?:me |us |just |simply |also |there |in )?(?:an?|one|another|one more"
            r"|the|une?|un autre|un|una|otr[oa]|mais um|uma?|moja|nyingine|new"
            r"|nouvelle)?\s*(?:more |new |nouvelle |nuev[oa] "
            rf"|nov[oa] )*(?:{_EMPTY} )?(?:{V} |(?!new |called )[a-z0-9-]+ )?(?:{NOUN}"
            rf"|(?<=[ykero] )one)(?: {_EMPTY}| mpya| nueva?o?| nov[oa]| tupu| nyingine)*"
        ),
        (
            r"(?:an? |one |une? |un |uma? )?(?:more |new |another |nouvelle "
            rf"|{_EMPTY} )+{NOUN}(?: {_EMPTY})?"
        ),
        (
            rf"{ADD} (?:an? )?(?:{_EMPTY} )?(?:one )?{V}(?= (?:{BEFORE}|{AFTER}|between|entre"
            r"|at the|kati|in between))"
        ),
        rf"(?:{NOUN} {_EMPTY}|{_EMPTY} (?:one|{NOUN}))",
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
        rf"\b{_NAME_AFTER}(?!\w)\s*:?\s*(?P<name>[^\W\d_][^,.;:¤§\n]*?)(?=\s*(?:[,.;\n]|$"
        rf"|\s(?:{BEFORE}|{AFTER}|between|entre|with|using|avec|con|com|at the|a la fin"
        r"|al final|no fim)\b))"
    )
    colon = re.search(r":\s*(?P<name>[^\W\d_][^,.;:¤§\n]*)", ask.rest)
    named = re.match(
        (
            r"\s+(?P<name>[^,.;:¤§\n]{2,60}?)(?=\s*(?:[,.;\n]|$|\s(?:before|after|between"
            r"|with|at the|entre|avant|apres|antes|despues|depois|kabla|baada)\b))"
        ),
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
            return f"→ {draft.name(anchor)}" if pattern is BEFORE else f"{draft.name(anchor)} →"
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

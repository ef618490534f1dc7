"""Adaptors of steps: another version, or another adaptor."""

from __future__ import annotations

import re

from .asking import Ask, CannotDo
from .draft import short_adaptor
from .words import V

_LATEST = (
    r"(?:latest|newest|most recent|last version|up to date|upgrade|derniere(?: version)?"
    r"|plus recente|ultima(?: version| versao)?|mas reciente|mais recente|karibuni|neueste)"
)
_OLD = re.compile(
    r"(?:since|instead of|not|from|than|with|de|depuis|au lieu de|en lugar de|en vez de"
    r"|desde|em vez de|of|badala ya|no|pas|because|gives?|was|were)\s+(?:the |version |v"
    r"|la |le |\w+ )?$"
)
_NEW = re.compile(
    r"(?:to|back to|on|at|use|take|@|want|a|en|sur|vers|para|en|kwenda|iwe|put|set|:|->"
    r"|version|is|should be|must be)\s+(?:the |version |v|la |le )?$"
)
_ADAPTOR = (
    r"\b(?:adapt[oe]rs?|adaptateurs?|adaptador(?:es)?|version(?:es|s)?|versao|toleo|package)\b"
)
_CODE = r"\b(?:code|rewrite|script|codigo|msimbo|reecri\w+|adapt the code)\b"


def adaptors(ask: Ask) -> None:
    """Pin, raise or lower a version, or change the adaptor of steps that are named."""
    rest = ask.rest
    versions = [m for m in re.finditer(V, rest) if ask.value(m[0]).kind == "version"]
    latest = re.search(rf"\b{_LATEST}\b", rest)
    spoken = re.search(_ADAPTOR, rest)
    if versions:
        _pin(ask, rest, versions)
    elif (
        latest
        and (spoken or ask.adaptors.mentioned(rest))
        and not re.search(r"\bdangerous|\bno\b", rest[latest.start() :])
    ):
        _set_version(ask, rest, None)
        _claim_all(ask, rf"\b{_LATEST}\b")
    elif spoken or re.search(r"\b(?:use|usa|utilise|with|instead of|replace)\b", rest):
        _change(ask, rest, bool(spoken))


def _pin(ask: Ask, rest: str, versions: list[re.Match[str]]) -> None:
    wanted = [m for m in versions if not _OLD.search(rest[: m.start()])]
    named = [m for m in wanted if _NEW.search(rest[: m.start()])]
    chosen = named if len(wanted) > 1 else wanted
    values = {ask.value(m[0]).value for m in chosen}
    if len(values) != 1:
        raise CannotDo("which_version")
    value = values.pop()
    for match in versions:
        ask.claim(match)
    if "@" in value:
        name, _, version = value.removeprefix("@openfn/").removeprefix("language-").partition("@")
        _apply(ask, _targets(ask, rest, name), name, version)
    else:
        _set_version(ask, rest, value.removeprefix("v"))


def _set_version(ask: Ask, rest: str, version: str | None) -> None:
    """A version for steps that keep their adaptor; None means the newest known."""
    named = ask.adaptors.mentioned(rest)
    name = named[0][0] if named else None
    keys = _targets(ask, rest, name)
    short = {short_adaptor(ask.draft.jobs[key].get("adaptor")) for key in keys}
    if name is not None and short != {name}:
        raise CannotDo("which_step")
    if len(short) != 1:
        raise CannotDo("which_step")
    _apply(ask, keys, short.pop(), version)
    for _, start, end in named:
        ask.claimed.append((start, end))


def _targets(ask: Ask, rest: str, name: str | None) -> list[str]:
    """The steps that are meant: named ones, the open one, or those that use the adaptor."""
    tokens = list(re.finditer(r"§(?:\d+|t)", rest))
    if tokens:
        for token in tokens:
            ask.claim(token)
        return list(dict.fromkeys(ask.key(token[0]) for token in tokens))
    using = ask.draft.using(name) if name else []
    many = re.search(
        r"\b(?:all|every|each|both|the (?:two|three|four)|tou(?:s|tes)|tod[oa]s|cada|zote|alle)\b",
        rest,
    )
    if using and (many or len(using) == 1):
        return using
    if using and ask.open_key in using:
        return [ask.open_key]
    if name is None or re.search(
        r"\bth(?:is|e) adapt[oe]r\b|\bcet adaptateur\b|\best[ea] adaptador\b|\bhere\b", rest
    ):
        return [ask.key("§t")]
    if len(using) > 1 and ask.open_key is None:
        return [ask.key("§t")]
    raise CannotDo("which_step")


def _apply(ask: Ask, keys: list[str], name: str, version: str | None) -> None:
    new = ask.adaptors.specifier(name, version)
    if not version and name not in ask.adaptors.versions:
        raise CannotDo("unknown_adaptor", name=name)
    changed = [key for key in keys if ask.draft.jobs[key].get("adaptor") != new]
    if not changed:
        raise CannotDo("already_version", name=new)
    for key in changed:
        ask.draft.jobs[key]["adaptor"] = new
        ask.say("adaptor", step=ask.name(key), adaptor=new.removeprefix("@openfn/language-"))
    _claim_all(ask, _ADAPTOR)


def _change(ask: Ask, rest: str, spoken: bool) -> None:
    """Another adaptor, at its newest version. Code that must follow is not for this agent."""
    named = ask.adaptors.mentioned(rest)
    wanted = [n for n in named if not _OLD.search(rest[: n[1]])]
    if len(wanted) != 1 or not (spoken or re.search(r"§", rest)):
        return
    name = wanted[0][0]
    tokens = re.findall(r"§(?:\d+|t)", rest)
    old = [n[0] for n in named if n not in wanted]
    keys = (
        [ask.key(t) for t in dict.fromkeys(tokens)]
        if tokens
        else (ask.draft.using(old[0]) if old else [ask.key("§t")])
    )
    if old and any(short_adaptor(ask.draft.jobs[key].get("adaptor")) not in old for key in keys):
        raise CannotDo("which_step")
    if len(keys) != 1 or short_adaptor(ask.draft.jobs[keys[0]].get("adaptor")) == name:
        return
    if re.search(_CODE, rest) and not re.search(
        r"\b(?:leave|keep|not|without) (?:the )?code\b|\bempty\b", rest
    ):
        raise CannotDo("needs_code")
    for token in re.finditer(r"§(?:\d+|t)", rest):
        ask.claim(token)
    for _, start, end in named:
        ask.claimed.append((start, end))
    _apply(ask, keys, name, None)
    _claim_all(ask, r"\b(?:replace|change|switch|use|move|instead of|to)\b")


def _claim_all(ask: Ask, pattern: str) -> None:
    for match in [*ask.find(pattern)]:
        ask.claim(match)

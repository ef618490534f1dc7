"""New names: for steps and for the workflow."""

from __future__ import annotations

import re

from ..language.demands import VERBS
from ..language.literals import Literal
from .asking import Ask, CannotDo
from .words import BE_CALLED, CALL, IT, NAME_OF, RENAME, TAIL, TO, S, V

_NAME = (
    rf"(?P<name>{V}(?=\W*$|[\s,.;]+(?:please|and|people|it|because|so)\b|[.,;])"
    rf"|[^\n;.]+?)(?={TAIL}|[;.,\n]\s|\s(?:and|et|y|e|na) (?:nothing|that|then|the|switch"
    rf"|turn|run|its|also|{VERBS})|\s[-–(])"
)
_WORKFLOW = (
    r"(?:the |this |le |ce |el |este |o |la |hii )?(?:workflow|flow|flux|flujo|fluxo|mtiririko)"
)
_MOST_WORDS = 9  # of a name without quotation marks: a longer one is a sentence
_LONGEST = 99  # characters; the app refuses longer names


def rename(ask: Ask) -> None:
    """Rename the workflow or steps, as often as the request says it."""
    _rename_workflow(ask)
    _rename_open(ask)
    for match in [*ask.find(_step_pattern())]:
        if any(match.start() < end and start < match.end() for start, end in ask.claimed):
            continue
        subject = next(group for group in "abcdef" if match[group])
        name = _spoken_name(ask, match)
        if name is None:
            continue
        _set_name(ask, ask.meant(match, subject), name)
        ask.claim(match)


def _rename_open(ask: Ask) -> None:
    """ "rename to X", with nothing named: what is open is meant, a step or the workflow."""
    match = ask.first(
        rf"^(?:please |svp )?(?:{RENAME}|{NAME_OF}|new name|nouveau nom|nuevo nombre"
        r"|nombre nuevo|novo nome|jina jipya)(?:\s*:|\s+(?:to|in|into|as|en|a|para|par"
        rf"|como|kuwa)\b| (?=¤))\s*{_NAME}"
    )
    name = _spoken_name(ask, match) if match else None
    if match is None or name is None:
        return
    if ask.open_settings:
        ask.say("renamed_workflow", old=str(ask.draft.root.get("name") or ""), new=name)
        ask.draft.root["name"] = name
    else:
        _set_name(ask, ask.key("§t"), name)
    ask.claim(match)


def _step_pattern() -> str:
    subject = rf"{S}|{IT}"
    return (
        rf"(?:{RENAME}[- ]?(?P<a>{subject}){TO}|(?P<b>{S})(?: step)? {BE_CALLED}\s*:?\s*"
        rf"|{CALL}[- ](?P<c>{subject})\s*:?\s*"
        rf"|{NAME_OF} (?P<d>{subject}){TO}|(?:badilisha|badili) jina la (?P<e>{S}){TO}"
        rf"|^(?P<f>{S})\s*(?:->|→|=>)\s*)(?:now |simply |just |step )?{_NAME}"
    )


def _rename_workflow(ask: Ask) -> None:
    match = ask.first(
        rf"(?:{RENAME} {_WORKFLOW}{TO}|{_WORKFLOW}(?:'s)? {BE_CALLED}\s*:?\s*"
        rf"|{NAME_OF} {_WORKFLOW}{TO}|{CALL} {_WORKFLOW}\s*:?\s*"
        rf"|{_WORKFLOW} name\s*(?::|=|->|should be|is now|is)\s*"
        rf"|name of {_WORKFLOW}\s*(?::|=|->|should be|is now|is)\s*){_NAME}"
    )
    if match is None:
        return
    name = _spoken_name(ask, match)
    if name is None:
        return
    ask.say("renamed_workflow", old=str(ask.draft.root.get("name") or ""), new=name)
    ask.draft.root["name"] = name
    ask.claim(match)


def _spoken_name(ask: Ask, match: re.Match[str]) -> str | None:
    """The new name in the user's own spelling; None when there is none worth the word."""
    token = match["name"].strip()
    if re.fullmatch(V, token) and ask.value(token).quoted:
        literal: Literal = ask.value(token)
        return _checked(literal.value)
    start, end = match.span("name")
    name = ask.masked.original(start, end).strip().strip("\"'`“”«»").strip()
    if len(name.split()) > _MOST_WORDS:
        raise CannotDo("not_understood")
    name = (
        re.sub(r"^(?:step|to|en|a|para|as|como)\s+", "", name) if not name[:1].isupper() else name
    )
    return _checked(name)


def _checked(name: str) -> str | None:
    name = " ".join(name.split())
    if not any(c.isalnum() for c in name):
        return None
    if len(name) > _LONGEST:
        raise CannotDo("name_too_long", limit=str(_LONGEST))
    return name


def _set_name(ask: Ask, key: str, name: str) -> None:
    old = ask.name(key)
    if old == name:
        raise CannotDo("already_named", name=name)
    same_step = ask.draft.is_free(name) or _only_itself(ask, key, name)
    if not same_step:
        raise CannotDo("name_taken", name=name)
    ask.draft.jobs[key]["name"] = name
    ask.say("renamed", old=old, new=name)


def _only_itself(ask: Ask, key: str, name: str) -> bool:
    """Whether the name is only another spelling of the step's own."""
    step = ask.draft.jobs[key]
    kept = dict(ask.draft.jobs)
    del ask.draft.jobs[key]
    free = ask.draft.is_free(name)
    ask.draft.jobs.clear()
    ask.draft.jobs.update(kept)
    assert ask.draft.jobs[key] is step
    return free

"""What starts the workflow: its kind, its schedule, on or off; and switching paths on or off."""

from __future__ import annotations

import re
from typing import Any

from ..language.schedules import read_schedule
from .asking import Ask, CannotDo
from .words import OFF, ON, PATH, TRIGGER, S

_TO_WEBHOOK = (
    r"(?:(?:trigger|triggered|started|trigger it|start(?:s|ed)?|run|launched?"
    r"|fired)\b[^.;]{0,30}? (?:by|through|via|from|with|on) (?:a |the |an? http )?webhook"
    r"|(?:change|switch|turn|convert|make|set|move|go|pass|use|want"
    r"|replace)\b[^.;]{0,50}?\bwebhook\b(?: (?:trigger(?:ed)?"
    r"|instead(?: of (?:the )?cron)?))?"
    r"|webhook(?: trigger)? (?:instead|rather|and no(?:t| more"
    r"| longer) (?:by )?(?:the )?cron)[^.;]*"
    r"|(?:passe[rz]?|change[rz]?|mets|utilise[rz]?|declenche[rz]?|demarre[rz]?"
    r"|remplace[rz]?|par|en|veux)\b[^.;]{0,40}?\bwebhook(?: (?:au lieu du|et plus par"
    r"|a la place du) cron)?|plus de cron[^.;]*webhook"
    r"|(?:cambia(?:r)?|usa(?:r)?|pon|pasa|quiero|con|por|mejor|que (?:se )?(?:inicie"
    r"|dispare|empiece))\b[^.;]{0,40}?\bwebhook(?: en (?:lugar|vez) d\w+ cron)?"
    r"|(?:muda(?:r)?|usa(?:r)?|troca|passa|quero|com|por|que (?:comece"
    r"|seja disparado))\b[^.;]{0,40}?\bwebhook(?: em vez d\w+ cron)?|(?:tumia|iwe"
    r"|badilisha)\b[^.;]{0,30}?\bwebhook)"
)
_NO_WEBHOOK = (
    r"(?:instead of|rather than|no (?:more|longer)|not (?:by|with|through)?|without|(?:et "
    r"|mais )?(?:plus|pas) (?:par|de|en|avec)|au lieu d[eu]|ya no (?:por|con)|en (?:lugar"
    r"|vez) de|em vez de|nao|ja nao|badala ya|si|remove|drop|delete)\s+(?:the |a |le |un |el "
    r"|o |kwa )?(?:trigger'?s )?webhook(?: trigger)?"
)
_WHILE = re.compile(
    r"\b(?:until|till|jusqu'au?|hasta(?! las? \d)|ate(?! as)|hadi|mpaka"
    r"|from (?:next )?(?=mon|tue|wed|thu|fri|sat|sun)|a partir de(?! las)"
    r"|starting(?: from)?) \w+(?: \w+)?"
)
_SCHEDULE_WORDS = r"\b(?:cron|schedule\w*|timer|clock|horaire|programacion|agendamento|ratiba)\b"


def trigger_type(ask: Ask) -> None:
    """From a schedule to a webhook. The way back is part of `schedule`."""
    trigger = ask.draft.trigger()
    if trigger is None or "webhook" not in ask.rest:
        return
    key, value = trigger
    if ask.first(_NO_WEBHOOK):
        return
    match = ask.first(_TO_WEBHOOK)
    if match is None or value.get("type") == "webhook":
        return
    value["type"] = "webhook"
    value.pop("cron_expression", None)
    _rename_trigger(ask, key, "webhook")
    ask.say("to_webhook")
    ask.claim(match)
    for extra in [
        *ask.find(r"(?:not|no more|no longer|instead of|plus|ya no|nao|sitaki)[^.;]*?cron[^.;]*")
    ]:
        ask.claim(extra)


def schedule(ask: Ask) -> None:
    """A schedule in words: the cron trigger's, or a cron trigger in place of another."""
    trigger = ask.draft.trigger()
    rest = ask.rest
    rest = _WHILE.sub(lambda m: " " * len(m[0]), rest)
    reading = read_schedule(rest, (trigger[1] if trigger else {}).get("cron_expression"))
    if reading is None:
        return
    if trigger is None:
        raise CannotDo("several_triggers")
    key, value = trigger
    if reading.cron is None:
        raise CannotDo(f"schedule_{(reading.problem or 'unclear').replace(' ', '_')}")
    is_cron = value.get("type") == "cron"
    if is_cron and value.get("cron_expression") == reading.cron:
        raise CannotDo("same_schedule", cron=reading.cron)
    value["cron_expression"] = reading.cron
    if is_cron:
        ask.say("schedule", cron=reading.cron)
    else:
        _put_type(value, "cron")
        _rename_trigger(ask, key, "cron")
        ask.say("to_cron", cron=reading.cron)
    _claim_difference(ask, rest, reading.rest)
    for match in [*ask.find(_NO_WEBHOOK), *ask.find(_SCHEDULE_WORDS)]:
        ask.claim(match)


def _put_type(value: dict[str, Any], type_: str) -> None:
    value["type"] = type_


def _claim_difference(ask: Ask, before: str, after: str) -> None:
    """Everything that the schedule's reader took is accounted for."""
    changed = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    for index in changed:
        ask.claimed.append((index, index + 1))


def _rename_trigger(ask: Ask, key: str, new: str) -> None:
    """A trigger that is called after its type gets the new type's name."""
    draft = ask.draft
    if key not in ("cron", "webhook", "kafka") or new in draft.triggers:
        return
    draft.root["triggers"] = {new if k == key else k: v for k, v in draft.triggers.items()}
    edges: dict[str, dict[str, Any]] = {}
    for name, edge in draft.edges.items():
        if edge.get("source_trigger") == key:
            edge["source_trigger"] = new
            name = re.sub(rf"^{re.escape(key)}(?=->)", new, name)
        edges[name] = edge
    draft.root["edges"] = edges


def switch(ask: Ask) -> None:
    """Switch the trigger or a path on or off."""
    bare = ask.first(rf"^(?:please |the )?{_BARE}")
    if bare:
        _switch_trigger(ask, bare["state"] in ("on", "enabled", "active"))
        ask.claim(bare)
        return
    for turn_on, verb in ((True, ON), (False, OFF)):
        for match in [*ask.find(verb)]:
            if _taken(ask, match):
                continue
            _switch(ask, match, turn_on)


def _taken(ask: Ask, match: re.Match[str]) -> bool:
    return any(match.start() < end and start < match.end() for start, end in ask.claimed)


_BARE = (
    rf"(?P<what>{TRIGGER})\s*(?::|=|should be|must be|is|to|->)?\s*(?:back )?(?P<state>on|off"
    r"|enabled|disabled|active|inactive)(?= |$|[.,;!])"
)
_NEGATION = re.compile(
    r"(?:do not|don't|not|never|ne|no|nao|usi\w*|must not be|should not be"
    r"|shouldn't be)\s+(?:be )?$"
)


def _switch(ask: Ask, match: re.Match[str], turn_on: bool) -> None:
    norm = ask.masked.norm
    if _NEGATION.search(norm[: match.start()]):
        turn_on = not turn_on
    sentence_end = re.search(r"[.;\n]|, (?!which|that|from|to)", norm[match.start() :])
    end = match.start() + sentence_end.start() if sentence_end else len(norm)
    start = max(norm.rfind(mark, 0, match.start()) for mark in ".;\n") + 1
    before, sentence = norm[start : match.start()], norm[match.start() : max(end, match.end())]
    phrase = f"{before} {sentence}"
    steps = re.findall(r"§(?:\d+|t)", phrase)
    if steps and match[0].startswith("apag") and not re.search(PATH, phrase):
        return  # of a step, it means to delete it
    if re.search(rf"\b{PATH}\b", phrase) or steps:
        if re.search(r"\b(?:trigger|cron|schedule|webhook)\b", sentence) and not re.search(
            PATH, phrase
        ):
            _switch_trigger(ask, turn_on)
        else:
            _switch_path(ask, phrase, steps, turn_on)
        ask.claimed.append((start, max(end, match.end())))
        return
    if re.search(
        r"\bthis\b(?! (?:workflow|flow|trigger|cron|schedule|webhook|week|month))", phrase
    ):
        _switch_path(ask, phrase, ["§t"], turn_on)
        ask.claim(match)
        return
    if re.search(rf"\b{TRIGGER}\b", phrase) or _is_bare(phrase):
        _switch_trigger(ask, turn_on)
        ask.claim(match)
        for noun in [*ask.find(rf"\b{TRIGGER}\b")]:
            ask.claim(noun)


def _is_bare(phrase: str) -> bool:
    """ "turn it off for now": with nothing else named, the workflow itself is meant."""
    words = re.findall(r"[^\W\d_]+", phrase)
    return len(words) <= 8 and not re.search(r"¤", phrase)


def _switch_trigger(ask: Ask, turn_on: bool) -> None:
    trigger = ask.draft.trigger()
    if trigger is None:
        raise CannotDo("several_triggers")
    key, value = trigger
    if (value.get("enabled") is not False) == turn_on:
        raise CannotDo("already_on" if turn_on else "already_off", what=key)
    value["enabled"] = turn_on
    ask.say("trigger_on" if turn_on else "trigger_off", name=key)


def _switch_path(ask: Ask, phrase: str, steps: list[str], turn_on: bool) -> None:
    draft = ask.draft
    keys = [ask.key(step) for step in steps]
    if len(keys) == 2:
        found = draft.between(keys[0], keys[1]) or draft.between(keys[1], keys[0])
        candidates = [found] if found else []
    elif len(keys) == 1:
        out = re.search(
            rf"(?:from|out of|after|leaving|de|depuis|desde|apres|despues de|depois de|kutoka) {S}",
            phrase,
        )
        candidates = draft.outgoing(keys[0]) if out else draft.incoming(keys[0])
    elif re.search(
        r"(?:this|ce|est[ea]|hii) (?:path|edge|chemin|camino|caminho|njia)|njia hii", phrase
    ):
        candidates = draft.incoming(ask.key("§t"))
    else:
        candidates = []
    wanted = [(k, e) for k, e in candidates if (e.get("enabled") is not False) != turn_on]
    if not wanted and len(candidates) == 1:
        raise CannotDo(
            "already_on" if turn_on else "already_off", what=path_name(ask, candidates[0][1])
        )
    if len(wanted) != 1:
        raise CannotDo("which_path")
    wanted[0][1]["enabled"] = turn_on
    ask.say("path_on" if turn_on else "path_off", path=path_name(ask, wanted[0][1]))


def path_name(ask: Ask, edge: dict[str, Any]) -> str:
    """A path by the names at its ends."""
    source = edge.get("source_job")
    start = ask.name(source) if source in ask.draft.jobs else str(edge.get("source_trigger"))
    return f"{start} → {ask.name(str(edge.get('target_job')))}"

"""A new workflow from a sentence that names systems and a direction."""

from __future__ import annotations

import re

from ..language.folding import word_set
from ..language.schedules import read_schedule
from .asking import Ask, CannotDo
from .draft import Draft
from .words import V

_SOURCE = (
    r"(?:from|fetch\w*|read\w*|get(?:s|ting)?|pull\w*|extract\w*|tak(?:e|es|ing)|import\w*|of"
    r"|new|cop(?:y|ies)|depuis|de|du|lit|lire|recupere\w*|desde|lea|lee|leer|traiga|do|da"
    r"|leia|le|ler|busca|kutoka|kutoa)"
)
_TARGET = (
    r"(?:to|into|in|onto|load\w*|sav(?:e|es|ing)|send\w*|writes?|stores?|push\w*|insert\w*"
    r"|upsert\w*|by|with|via|vers|dans|ecri\w*|envoie\w*|enregistre\w*|a|al|hacia|en"
    r"|escrib\w*|guard\w*|mand\w*|envi\w*|por|para|no|na|grav\w*|escrev\w*|kwenda|kwenye|kwa"
    r"|tuma|->|→)"
)
_SENDERS = word_set("twilio gmail mailgun whatsapp nexmo telegram slack")
_WEBHOOK = (
    r"\bwebhooks?\b|\b(?:when(?:ever)?|each time|every time|quand|cuando|quando"
    r"|kila wakati) [^,.;]*\b(?:arriv\w*|comes?|posts?|sends?|submitted|received|llega\w*"
    r"|recib\w*|arrive|chega\w*|recebe\w*|inapofika)\b|\breceiv(?:e|es) (?:a "
    r"|the )?(?:webhook|post|payload)"
)
_WITH_CODE = (
    r"\b(?:with (?:the |working |all (?:the )?)?code|code (?:included|too|incluid\w+|compris"
    r"|inclus)|and (?:the )?code|write the code|avec (?:le )?code|con (?:el |su )?codigo"
    r"|(?:ja )?com (?:o )?codigo|pamoja na code|code and all|including (?:the )?code)\b"
)
_GENERIC = {
    "sms": "twilio",
    "text message": "twilio",
    "email": "gmail",
    "mail": "gmail",
    "e-mail": "gmail",
    "correo": "gmail",
    "courriel": "gmail",
}
_FETCHED = word_set("webhook")


def build(ask: Ask) -> None:
    """Build the whole workflow in an empty draft. Raises CannotDo when too little is said."""
    norm = ask.masked.norm
    systems = _systems(ask)
    if re.search(V, re.sub(r"¤\d+", lambda m: m[0] if _is_detail(ask, m[0]) else "", norm)):
        raise CannotDo("needs_code_new")
    if not systems or re.search(r"\b(?:between|entre|kati ya)\b", norm):
        raise CannotDo("which_systems")
    sources, targets = _directed(norm, systems)
    order = [*sources, *targets]
    if len(order) < 2 and not re.search(_WEBHOOK, norm):
        raise CannotDo("which_systems")
    draft = ask.draft
    draft.root.setdefault(
        "name",
        " to ".join(_title(ask, n) for n in (order[0], order[-1]))
        if len(order) > 1
        else f"Webhook to {_title(ask, order[0])}",
    )
    trigger = _trigger(norm)
    key = str(trigger["type"])
    draft.triggers[key] = trigger
    previous: str | None = None
    for name in order:
        verb = "Fetch from" if name in sources else "Send to"
        step = draft.add_step(
            _free(draft, f"{verb} {_title(ask, name)}"), ask.adaptors.specifier(name)
        )
        if previous is None:
            edge = {
                "source_trigger": key,
                "target_job": step,
                "condition_type": "always",
                "enabled": True,
            }
            draft.edges[draft.edge_key(key, step)] = edge
        else:
            draft.connect(previous, step, "on_job_success")
        previous = step
    ask.say("built", steps=" → ".join(ask.name(k) for k in draft.order()), trigger=_spoken(trigger))


def wants_code(norm: str) -> bool:
    """Whether a request for a new workflow asks for its code as well."""
    return bool(re.search(_WITH_CODE, norm))


def is_new_workflow(norm: str) -> bool:
    """Whether a request reads as one for a workflow of its own."""
    return bool(
        re.search(
            (
                r"\b(?:new|another|second|separate) (?:workflow|flow)|from (?:scratch|zero)"
                r"|build (?:me|this|a|one|the same|us)|make (?:me|us) (?:a|another)"
                r"|create a (?:second )?workflow|start (?:a new|over|from)|workflow (?:that"
                r"|which|from|for|to)|nouveau (?:workflow|flux)|autre (?:workflow|flux)"
                r"|(?:nuevo|otro) flujo|flujo (?:nuevo|que|distinto)|desde cero|hazme|(?:novo"
                r"|outro) (?:fluxo|workflow)|(?:fluxo|workflow) novo|crie um|faz um"
                r"|mtiririko (?:mpya|mwingine)|tengeneza\b"
            ),
            norm,
        )
    )


def _is_detail(ask: Ask, token: str) -> bool:
    """Whether a value says what the steps must do: that takes code."""
    return ask.value(token).kind in (
        "identifier",
        "quoted",
        "url",
        "path",
        "email",
    ) and not ask.adaptors.named(ask.value(token).value)


def _systems(ask: Ask) -> list[tuple[str, int, int]]:
    """The systems that are named, each once, in the order of the text."""
    text = ask.masked.norm
    for number, literal in enumerate(ask.masked.values):
        text = (
            text.replace(f"¤{number}", literal.value.lower(), 1)
            if ask.adaptors.named(literal.value)
            else text
        )
    found = [f for f in ask.adaptors.mentioned(text) if f[0] not in ("openfn", "common")]
    seen = {name for name, _, _ in found}
    for word, name in _GENERIC.items():
        match = re.search(rf"\b{word}s?\b", text)
        if (
            match
            and name not in seen
            and name in ask.adaptors.versions
            and not {"twilio", "rapidpro", "gmail", "mailgun", "whatsapp"} & seen
        ):
            found.append((name, *match.span()))
            seen.add(name)
    unique: dict[str, tuple[str, int, int]] = {}
    for item in sorted(found, key=lambda f: f[1]):
        unique.setdefault(item[0], item)
    return list(unique.values())


def _directed(norm: str, systems: list[tuple[str, int, int]]) -> tuple[list[str], list[str]]:
    """Sources and targets, by the word in front of each. Raises CannotDo when one has none.

    Only the first system may go without: data come from it, unless a webhook brings them. What
    only sends messages is never a source.
    """
    webhook = bool(re.search(_WEBHOOK, norm))
    sources, targets = [], []
    for index, (name, start, _) in enumerate(systems):
        before = norm[:start].split()[-3:]
        said = [w for w in before if re.fullmatch(rf"{_SOURCE}|{_TARGET}", w.strip(",.:;()"))]
        word = said[-1].strip(",.:;()") if said else ""
        if name in _SENDERS or (word and re.fullmatch(_TARGET, word)):
            targets.append(name)
        elif word or (index == 0 and not webhook):
            sources.append(name)
        elif index == 0 or re.search(
            (
                r"(?:->|→|then|and|puis|luego|despues|depois|kisha|,|y|e|et)\s*(?:an? |the "
                r"|un |una |um |uma )?$"
            ),
            norm[:start],
        ):
            targets.append(name)
        else:
            raise CannotDo("which_systems")
    if webhook and sources:
        raise CannotDo("which_systems")
    if not webhook and (not sources or not targets):
        raise CannotDo("which_systems")
    return sources, targets


def _trigger(norm: str) -> dict[str, object]:
    if re.search(_WEBHOOK, norm):
        return {"type": "webhook", "enabled": False}
    reading = read_schedule(norm)
    if reading is not None and reading.cron is None:
        raise CannotDo(f"schedule_{(reading.problem or 'unclear').replace(' ', '_')}")
    return {
        "type": "cron",
        "cron_expression": (reading and reading.cron) or "0 0 * * *",
        "enabled": False,
    }


def _spoken(trigger: dict[str, object]) -> str:
    cron = trigger.get("cron_expression")
    return f"cron `{cron}`" if cron else str(trigger["type"])


def _title(ask: Ask, name: str) -> str:
    """A system's name as people write it, as far as the catalogue knows it."""
    return ask.adaptors.titles.get(name) or name.replace("-", " ").capitalize()


def _free(draft: Draft, name: str) -> str:
    number, base = 1, name
    while not draft.is_free(name):
        number += 1
        name = f"{base} {number}"
    return name

"""Questions about structure, answered from the workflow itself.

Whatever is asked as a question changes nothing: "is it enabled?" is no request to enable.
"""

from __future__ import annotations

import re
from typing import Any

from ..language.lexicon import has
from ..language.saying import Voice
from .asking import Ask
from .triggers import path_name
from .words import AFTER, BEFORE, FAILURE, PATH, TRIGGER

_POLITE = re.compile(
    r"^(?:[^?]*?,\s*)?(?:please |hi |hello )*(?:can|could|would|will) (?:you|we|it|this"
    r"|i)\b|^(?:peux|peut|pouvez|pourrais|pourriez)[- ]|^(?:puedes?|podrias?|podemos"
    r"|pueden)\b|^(?:podes?|podias?|poderia)\b|^(?:unaweza|tunaweza|mnaweza)\b|\bpode ser\b"
)
_ASKING = re.compile(
    r"^(?:(?:hi|hello|hey|ok|and|but|so|bonjour|hola|ola|habari|please|et|y"
    r"|e)[,.!]?\s+)*(?:which|what(?:'s)?|who(?:'s)?|whose|why|how|is|are|does|do (?!not)"
    r"|did|was|has|have (?:we|you)|any|list|show|tell|explain|describe|summari[sz]e"
    r"|give me an? (?:overview|summary|list)"
    r"|walk me|under which|in which|at what|quels?|quelles?|ou (?:est|sont|va)|qui"
    r"|que (?:fait|font|se|contient)|qu'|combien|comment|pourquoi|est-ce|explique\w*"
    r"|decri\w+|liste\w*|a quoi|dans quel|a quelle|c'est quoi|resume\w*|montre"
    r"|cual\w*|que (?:hace|hacen|es|pasa|significa|tipo|version|adaptador\w*|pasos?|hay"
    r"|viene|sigue|condicion|columnas|campos)|donde (?:esta|va|se)|quien\w*|cuant\w*|como"
    r"|por que|hay|explica\w*|describ\w*|lista\w*|en que|a que|cada cuanto|resum\w*"
    r"|qual|quais|onde (?:esta|fica|vai)|quem|quant\w+|o que|descrev\w*|em que"
    r"|a que horas|ni lini|ni nini|ni|nani|wapi|lini|ngapi|kwa nini|je|eleza|nieleze"
    r"|orodhesha|hatua ipi|hatua gani|warum|wann|wie|was|welche)(?:(?<=')|(?!\w))"
)
#: Words that open questions and conditions alike: "when does it run", "when it fails, go on".
_EITHER = re.compile(
    r"^(?:and |so )?(?:when(?:'s)?|where(?:'s)?|quand|cuando|quando|lini|as what)\b"
)
_ENDING = re.compile(
    r"\?\s*$|\bnini\b|\bgani\b|\bngapi\b|\blini\b|(?:right|no|verdad|non|certo|oui)\s*\?"
)


def is_question(norm: str) -> bool:
    """Whether a folded request asks and does not ask for a change."""
    text = norm.strip().lstrip("¿¡")
    if _POLITE.search(text) and not re.search(
        r"\b(?:explain|tell|describe|list|show|expli\w+|explic\w+|eleza|summari[sz]e)\b", text
    ):
        return False
    if (
        _EITHER.match(text)
        and not re.search(r"[,;]|then|alors|entonces", text)
        and len(text.split()) <= 12
    ):
        return True
    return bool(
        _ASKING.match(text)
        or _ENDING.search(text)
        or re.search(
            (
                r"(?:^|[.,:;] )¿?(?:which|what|when|where|who|why|how|que|cual|quand|quel\w*"
                r"|qual|quando) [^.]*\?"
            ),
            text,
        )
    )


_STRUCTURAL = re.compile(
    r"\b(?:(?:runs?|comes?|happens?|executed|starts?|goes) (?:next|after|before|first"
    r"|last|when|if)|what(?:'s| is| comes| runs| happens)? (?:next|after|before)"
    r"|next step|previous step|which (?:steps?|path|adapt\w+|trigger)|when (?:does|is"
    r"|do) (?:it|this|the workflow)|how often|(?:the )?(?:trigger|schedule|cron|webhook"
    r"|condition|path|adapt[oe]r version)s?"
    r"|apres quoi|vient apres|etape suivante|quelle etape|declencheur|que (?:viene|sigue"
    r"|pasa) despues|siguiente paso|cada cuanto|disparador|o que vem (?:depois|a seguir)"
    r"|passo seguinte|gatilho|inafuata|hatua inayofuata|ratiba|kichochezi)\b"
)
_CODE_QUESTION = re.compile(
    r"\b(?:code|fields?|columns?|values?|variables?|function|log|cursor|url|body|query"
    r"|state|data|champs?|colonnes?|campos?|columnas?|colunas?|codigo|limit|table|sheet"
    r"|message|text|mail|catch|default|line)\b|¤"
)


def is_structure_question(plain: str) -> bool:
    """Whether a folded request asks about steps, paths or the trigger, and not about code."""
    return (
        is_question(plain) and bool(_STRUCTURAL.search(plain)) and not _CODE_QUESTION.search(plain)
    )


def answer_question(ask: Ask, voice: Voice) -> str | None:
    """The answer, or None when the request is no question."""
    if not is_question(ask.masked.norm):
        return None
    text = ask.masked.norm
    keys = [ask.key(token) for token in dict.fromkeys(re.findall(r"§(?:\d+|t)", text))]
    if not ask.draft.jobs:
        return voice.say("no_workflow")
    for kind in (_about_steps_around, _about_adaptors, _about_trigger, _about_paths, _about_order):
        answer = kind(ask, voice, text, keys)
        if answer:
            return answer
    return _overview(ask, voice)


_COMES = (
    r"next|follow\w*|suit|suivante?|vient|viene|sigue|siguiente|seguinte|inafuata|runs?"
    r"|happens?|executed|comes?|passe|pasa|acontece|segue|reached|after|leads?|d'ou|depends?"
)


def _about_steps_around(ask: Ask, voice: Voice, text: str, keys: list[str]) -> str | None:
    """What comes before or after a step, and when it is reached."""
    if len(keys) == 2 and re.search(rf"{PATH}|condi|between|entre", text):
        found = ask.draft.between(keys[0], keys[1]) or ask.draft.between(keys[1], keys[0])
        return (
            _path_line(ask, voice, found[1])
            if found
            else voice.say("no_path", first=ask.name(keys[0]), second=ask.name(keys[1]))
        )
    if not keys or not re.search(
        rf"\b(?:{_COMES})\b|{BEFORE}|{AFTER}|{FAILURE}|condi|when|why|{PATH}", text
    ):
        return None
    key = keys[-1] if len(keys) > 1 else keys[0]
    before = re.search(
        (
            rf"\b{BEFORE}|previous|precede\w*|prece\w*|anterior|lead|reached|when is|under"
            r"|condi|why|depends? on(?! this)|who (?:starts|triggers)|come here|d'ou"
        ),
        text,
    )
    lines = []
    if before:
        lines = [_path_line(ask, voice, e) for _, e in ask.draft.incoming(key)] or [
            voice.say("nothing_before", step=ask.name(key))
        ]
    if not before or re.search(AFTER, text):
        lines += [_path_line(ask, voice, e) for _, e in ask.draft.outgoing(key)] or [
            voice.say("nothing_after", step=ask.name(key))
        ]
    return "\n".join(lines)


def _path_line(ask: Ask, voice: Voice, edge: dict[str, Any]) -> str:
    """A path and its condition: `- A → B: on success`."""
    kind = str(edge.get("condition_type") or "always")
    expression = " ".join(str(edge.get("condition_expression") or "").split())
    words = (
        voice.say("when_expression", expression=expression)
        if expression
        else voice.say(f"when_{kind}")
    )
    label = f" ({edge['condition_label']})" if edge.get("condition_label") else ""
    off = f" — {voice.say('is_off')}" if edge.get("enabled") is False else ""
    return f"- {path_name(ask, edge)}: {words}{label}{off}"


def _about_adaptors(ask: Ask, _voice: Voice, text: str, keys: list[str]) -> str | None:
    named = ask.adaptors.mentioned(text)
    if not (has("adaptor", text) or (named and has("step", text))):
        return None
    wanted = keys
    if not wanted and re.search(r"\bother\b|\bautre\b|\botro\b|\boutr[oa]\b", text):
        wanted = [key for key in ask.draft.jobs if key != ask.open_key]
    if not wanted and named:
        wanted = [key for name, _, _ in named for key in ask.draft.using(name)] or list(
            ask.draft.order()
        )
    return "\n".join(
        f"- {ask.name(key)}: {ask.draft.jobs[key].get('adaptor')}"
        for key in wanted or ask.draft.order()
    )


def _about_trigger(ask: Ask, voice: Voice, text: str, keys: list[str]) -> str | None:
    if keys or not (
        re.search(
            (
                rf"\b{TRIGGER}\b(?! (?:do|for|que|fait))|\b(?:when|often|run(?:s|ning)?"
                r"|starts?|on|off|enabled|active|quand|tourne|cuando|corre|quando"
                r"|cada cuanto|lini|inaendeshwa|horas)\b"
            ),
            text,
        )
        and not re.search(
            (
                r"\bsteps?\b|etape|paso|passo|hatua|what does|explain|que hace|que fait"
                r"|o que faz|nini|expli|elez|overview|summar|descri|decri|walk|order|adapt"
            ),
            text,
        )
    ):
        return None
    lines = []
    for key, trigger in ask.draft.triggers.items():
        state = voice.say("is_on" if trigger.get("enabled") is not False else "is_off")
        cron = f" `{trigger['cron_expression']}` (UTC)" if trigger.get("cron_expression") else ""
        lines.append(f"- {key}: {trigger.get('type')}{cron}, {state}")
    return "\n".join(lines) or None


def _about_paths(ask: Ask, voice: Voice, text: str, keys: list[str]) -> str | None:
    if keys or not re.search(rf"\b{PATH}\b|condi|{FAILURE}|disabled|greyed|switched off", text):
        return None
    chosen = list(ask.draft.edges.values())
    if re.search(FAILURE, text):
        chosen = [e for e in chosen if e.get("condition_type") == "on_job_failure"] or chosen
    elif re.search(r"disabled|\boff\b|greyed|desactiv|apagad|desligad", text):
        chosen = [e for e in chosen if e.get("enabled") is False] or chosen
    elif re.search(r"condi", text):
        chosen = [e for e in chosen if e.get("condition_type") == "js_expression"] or chosen
    return "\n".join(_path_line(ask, voice, edge) for edge in chosen)


def _about_order(ask: Ask, voice: Voice, text: str, _keys: list[str]) -> str | None:
    if not (
        has("count_order", text)
        or has("step", text)
        or re.search(r"how many|combien|cuant|quant|ngapi|first|last|connected", text)
    ):
        return None
    names = [f"{number}. {ask.name(key)}" for number, key in enumerate(ask.draft.order(), start=1)]
    return "\n".join([voice.say("steps_in_order", count=str(len(names))), *names])


def _overview(ask: Ask, voice: Voice) -> str:
    """The whole structure: what starts it, the steps with their systems, the paths."""
    draft = ask.draft
    lines = [
        voice.say("overview", name=str(draft.root.get("name") or ""), count=str(len(draft.jobs)))
    ]
    for key, trigger in draft.triggers.items():
        state = voice.say("is_on" if trigger.get("enabled") is not False else "is_off")
        cron = f" `{trigger['cron_expression']}` (UTC)" if trigger.get("cron_expression") else ""
        lines.append(f"- {key}: {trigger.get('type')}{cron}, {state}")
    for number, key in enumerate(draft.order(), start=1):
        lines.append(
            f"{number}. {draft.name(key)} "
            f"({str(draft.jobs[key].get('adaptor')).removeprefix('@openfn/language-')})"
        )
        lines += [f"   {_path_line(ask, voice, edge)}" for _, edge in draft.outgoing(key)]
    return "\n".join(lines)

"""Which steps' code a request means, found out by trying it on what an inspection showed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..code.answer import COMMANDS, SURE_COMMANDS
from ..code.asking import CodeAsk, Elsewhere, Refused, is_idle
from ..language.folding import composed, folded, name_words, word_set
from ..language.mentions import alike
from ..request.outline import OutlineStep

_EVERYWHERE = re.compile(
    r"\b(?:all|every|everywhere|each|both|wherever|any|throughout|across|whole workflow"
    r"|of the workflow|partout|tou(?:s|tes)|chaque|les deux|tod[oa]s|cada|ambos|ambas"
    r"|los dos|os dois|as duas|todo el|todo o"
    r"|kila|zote|yote|kote|popote|alle|beide|propagate|the (?:two|three|four)"
    r"|the workflow|du workflow|del flujo|do fluxo)\b"
)
_EXCEPT = re.compile(
    r"\b(?:except|but not|not in|apart from|other than|sauf|excepto|menos|exceto"
    r"|isipokuwa|leave)\b[^.;]*"
)
_REFERENCE = re.compile(r"\b(?:like|same as|as in|comme|igual que|como (?:en|no|na)|kama)\b[^.;,]*")
_COMMAND = {
    "replaced": "Replace {old} by {new} everywhere in this code.",
    "set": "Set {name} to {new}.",
    "renamed_key": "Rename state.{old} to state.{new}.",
    "removed_console": "Remove all console.log lines.",
    "removed_emojis": "Remove all emojis.",
    "removed_comments": "Remove all comments.",
    "removed_catch": "Remove the catch.",
}


@dataclass(frozen=True, slots=True)
class StepEdit:
    """One step that the request changes, and how the job code agent is told."""

    key: str
    message: str
    code: str = ""
    replaced: tuple[str, ...] = ()
    """Values that were replaced by others, for seeing whether they are left somewhere."""


class Unclear(Exception):
    """Why no step is changed: a phrase's name and its values."""

    def __init__(self, phrase: str, **values: str) -> None:
        super().__init__(phrase)
        self.phrase, self.values = phrase, values


def edits(content: str, steps: Sequence[OutlineStep], codes: dict[str, str]) -> list[StepEdit]:
    """The steps that change, all of them or none. Raises Unclear with the reason for none."""
    named = _named(content, steps)
    group = _group(content, steps) if not named else []
    left_out = set(
        _named(" ".join(m[0] for m in _EXCEPT.finditer(folded(composed(content)))), steps)
    )
    asked = _EXCEPT.sub(" ", content) if left_out else content
    targets = [key for key in named if key not in left_out]
    applying: dict[str, StepEdit] = {}
    refused: Refused | None = None
    understood = False
    for key, code in codes.items():
        if key in left_out or (targets and key not in targets) or (group and key not in group):
            continue
        try:
            edit = _try(asked, code, steps, key, by_kind=bool(targets))
        except Elsewhere:
            understood = True
            continue
        except Refused as reason:
            refused = reason
            continue
        if edit is not None:
            applying[key] = edit
    found = _agreed(asked, applying, targets, refused, understood, steps)
    _check_whole(asked, found, codes, group)
    return found


def _group(content: str, steps: Sequence[OutlineStep]) -> list[str]:
    """The steps of the kind that the request is about: "all extract steps", "the dhis2 ones"."""
    plain = folded(composed(content))
    kind = re.search(
        (
            r"\b(?:all|every|each|both|no \w+ in|in|the)(?: (?:the|of|two|three|four"
            r"|five))*\s+((?:[\w-]+\s+){1,2})(?:steps?|jobs?|ones|etapes?|pasos?|passos?)\b"
        ),
        plain,
    )
    plural = re.search(
        (
            r"\b(?:all|every|each|both)(?: (?:the|of|two|three|four|five|\w+)){0,3} (extracts"
            r"|transforms|loads|creates|updates|gets)\b"
        ),
        plain,
    )
    words = re.findall(r"[\w-]+", kind[1]) if kind else [plural[1].rstrip("s")] if plural else []
    words = [w for w in words if w not in _PLAIN_WORDS]
    if not words:
        return []
    return [s.key for s in steps if all(_is_of(s, word) for word in words)] or ["?"]


_PLAIN_WORDS = word_set(
    "every each all both any in the two three four five other others of those these all "
    "first last next same other previous following"
)


def _is_of(step: OutlineStep, word: str) -> bool:
    return any(
        alike(word, own) for own in (*name_words(step.name), *name_words(step.key), step.system)
    )


def _check_whole(
    content: str, found: list[StepEdit], codes: dict[str, str], group: list[str]
) -> None:
    """What is to be done everywhere must leave nothing over. Raises Unclear when it would."""
    everywhere = bool(_EVERYWHERE.search(folded(composed(content))))
    if (
        group
        and any(e.message.startswith("Set ") for e in found)
        and {e.key for e in found} != set(group)
    ):
        raise Unclear("only_part")
    if not everywhere or group:
        return
    for edit in found:
        for old in edit.replaced:
            for key, code in codes.items():
                done = next((e.code for e in found if e.key == key), code)
                if old in done:
                    raise Unclear("only_part")


def _named(content: str, steps: Sequence[OutlineStep]) -> list[str]:
    ask = CodeAsk.read(content, "", steps, "")
    referred = " ".join(m[0] for m in _REFERENCE.finditer(ask.masked.norm))
    tokens = re.findall(r"§(\d+)", ask.masked.norm)
    return list(
        dict.fromkeys(ask.masked.steps[int(n)].key for n in tokens if f"§{n}" not in referred)
    )


def _try(
    content: str, code: str, steps: Sequence[OutlineStep], key: str, *, by_kind: bool
) -> StepEdit | None:
    """What the request does to one step; None when it does nothing that is fully understood."""
    ask = CodeAsk.read(content, code, steps, key)
    for match in list(re.finditer(r"(?:,|and|et|y|e|na|in|dans|en|em)?\s*§\d+", ask.masked.norm)):
        ask.claimed.append(match.span())
    missing = False
    for command in COMMANDS if by_kind else SURE_COMMANDS:
        try:
            command(ask)
        except Elsewhere:
            missing = True
    if missing:
        raise Elsewhere
    if not ask.said or ask.code.text == code or not is_idle(ask):
        return None
    message = " ".join(_told(phrase, values) for phrase, values in ask.said)
    replaced = tuple(
        v["old"]
        for phrase, v in ask.said
        if phrase == "replaced" and not re.fullmatch(r"-?[\d.]+", v["old"])
    )
    return StepEdit(key, message, ask.code.text, replaced) if message else None


def _told(phrase: str, values: dict[str, str]) -> str:
    if phrase == "added_console":
        return f"Add {values['line']} before the last return state."
    if phrase == "replaced":
        quoted = {
            name: f"`{value}`" if not re.fullmatch(r"-?[\d.]+", value) else value
            for name, value in values.items()
        }
        return _COMMAND[phrase].format(**quoted)
    if phrase == "set":
        new = (
            values["new"]
            if re.fullmatch(r"-?[\d.]+|true|false|null", values["new"])
            else f"`{values['new']}`"
        )
        return f"Set `{values['name']}` to {new}."
    return _COMMAND[phrase].format(**values) if phrase in _COMMAND else ""


def _agreed(
    content: str,
    applying: dict[str, StepEdit],
    targets: list[str],
    refused: Refused | None,
    understood: bool,
    steps: Sequence[OutlineStep],
) -> list[StepEdit]:
    if refused is not None:
        raise Unclear(refused.phrase, **refused.values)
    if not applying:
        raise Unclear("fits_nowhere" if understood else "needs_code")
    everywhere = bool(_EVERYWHERE.search(folded(composed(content)))) or any(
        "rename state" in edit.message.lower() for edit in applying.values()
    )
    if targets:
        if set(targets) - set(applying):
            raise Unclear("only_part")
        return list(applying.values())
    if everywhere or len(applying) == 1:
        return list(applying.values())
    plural = any(
        re.match(r"Remove all (?:console|emoji|comment)", e.message) for e in applying.values()
    )
    if plural:
        return list(applying.values())
    names = {step.key: step.name for step in steps}
    raise Unclear("which_steps_apply", steps=", ".join(names[key] for key in applying))

"""Features of how a request is put: its length, its values, its turns, its attachments."""

from __future__ import annotations

import re

from ..language.folding import composed, folded
from ..language.lexicon import concepts
from ..language.mentions import exact_mentions, without
from .reading import Features, Reading, page_kind

#: Concepts whose meeting says more than each alone.
_STRUCTURE = frozenset(
    {"rename", "schedule", "clock", "trigger", "switch_on", "switch_off", "path", "adaptor"}
    | {"connect", "disconnect", "move", "version_number", "before_after"}
)


_CODE = frozenset(
    {"code", "fields", "coding", "logging", "limits", "filter", "comments", "duration"}
)


_CLAUSE = re.compile(
    r"[.,;:!?\n]+|\b(?:and|but|then|et|puis|mais|pero|luego|mas|depois|na|kisha|lakini)\b"
)


def add_shape(found: Features, reading: Reading, kind: str) -> None:
    count = len(reading.text.split())
    for limit in (2, 4, 8, 16, 32):
        if count <= limit:
            found[f"short:{limit}"] = 1.0
            found[f"short:{limit}@{kind}"] = 1.0
            break
    else:
        found["long"] = 1.0
    for literal_kind in {literal.kind for literal in reading.literals}:
        found[f"l:{literal_kind}"] = 1.0
        found[f"l:{literal_kind}@{kind}"] = 1.0
    if any(item.value.startswith("state.") for item in reading.literals):
        found["l:state"] = 1.0
    if "=>" in reading.text or "()" in reading.text or "{" in reading.text:
        found["l:code"] = 1.0
    if "?" in reading.text or "¿" in reading.text:
        found["mark:question"] = 1.0
        found[f"mark:question@{kind}"] = 1.0
    if reading.question.attached and "this_step" in reading.concepts:
        found["a+this_step"] = 1.0
    for attached in {"log" if "log" in a else "clip" for a in reading.question.attached}:
        found[f"a:{attached}"] = 1.0
        found[f"a:{attached}@{kind}"] = 1.0
        if reading.exact:
            found[f"a:{attached}+named"] = 1.0


def add_clauses(found: Features, reading: Reading) -> None:
    """Whether structure and code are spoken of, together or one after the other."""
    kinds = []
    position = 0
    for end in [
        *(m.start() for m in _CLAUSE.finditer(folded(reading.masked))),
        len(reading.masked),
    ]:
        part = folded(reading.masked)[position:end]
        named = concepts(part)
        values = [i for i in reading.literals if position <= i.start < end]
        coded = any(i.kind in ("identifier", "path", "url") for i in values)
        structure = not _STRUCTURE.isdisjoint(named) or ("step" in named and "add" in named)
        code = coded or not _CODE.isdisjoint(named)
        kinds.append((structure, code))
        position = end
    if any(s and not c for s, c in kinds):
        found["clause:structure"] = 1.0
    if any(c and not s for s, c in kinds):
        found["clause:code"] = 1.0
    if any(s and c for s, c in kinds):
        found["clause:mixed"] = 1.0
    if {(True, False), (False, True)} <= set(kinds):
        found["clause:both"] = 1.0
    if not any(s or c for s, c in kinds):
        found["clause:neither"] = 1.0
        found[f"clause:neither@{page_kind(reading.question)}"] = 1.0


def add_history(found: Features, reading: Reading) -> None:
    recent = reading.question.recent
    if not recent:
        return
    found["h"] = 1.0
    short = "short" if len(reading.text.split()) <= 8 else "long"
    found[f"h:{short}"] = 1.0
    asked = " ".join(text for role, text in recent if role == "user")
    answered = " ".join(text for role, text in recent if role == "assistant")
    steps = reading.question.outline.steps
    masked = without(asked, exact_mentions(asked, steps))
    for name in concepts(folded(composed(masked))):
        found[f"h:{name}"] = 1.0
        found[f"h:{name}:{short}"] = 1.0
    named = {m.key for m in exact_mentions(f"{asked}\n{answered}", steps)}
    found[f"h:named:{min(len(named), 2)}"] = 1.0
    for name in ("many", "same", "undo", "followup"):
        if name in reading.concepts:
            found[f"h+{name}"] = 1.0

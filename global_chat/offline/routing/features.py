"""What the router's classifier looks at: plain features of a request, each with a name.

Names of steps and quoted values are taken out of the text before its words are looked at, so that
a step called "Schedule visits" is no schedule and a mail's subject is no request.
"""

from __future__ import annotations

import itertools
import re

from ..language.folding import folded
from ..language.lexicon import concepts
from ..language.masking import mask
from ..request.outline_draft import draft_of
from ..structure.adaptor_list import AdaptorList
from ..structure.answer import understood
from ..structure.building import is_new_workflow
from ..structure.draft import Draft
from ..structure.questions import is_question
from .reading import Features, Reading, page_kind
from .shape import add_clauses, add_history, add_shape

_PAIR = re.compile(
    r"¤+ (?:to|by|with|instead of|not|par|por|a|para|kuwa|->|should be|au lieu de"
    r"|en vez de|en lugar de|em vez de) (?:the )?¤+"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_VERBS = ("add", "remove", "rename", "change", "explain", "why", "question", "send", "move")
_THINGS = (
    "step", "code", "fields", "many", "new_workflow", "with_code", "empty", "workflow", "adaptor",
    "schedule", "trigger", "path", "logging", "coding", "filter", "limits", "send", "reference",
    "before_after", "this_step", "count_order", "fail", "documentation", "vague", "system",
    "behaviour", "everywhere", "plural_steps", "remaining", "log_attached", "clock",
)  # fmt: skip


def features(reading: Reading) -> Features:
    """Every plain feature of a reading, by name. Words of the text come as `w:` and `b:`."""
    found: Features = {"bias": 1.0}
    kind = page_kind(reading.question)
    found[f"page:{kind}"] = 1.0
    _add_concepts(found, reading, kind)
    _add_mentions(found, reading, kind)
    add_shape(found, reading, kind)
    add_clauses(found, reading)
    add_history(found, reading)
    _add_understood(found, reading, kind)
    words = _WORD.findall(folded(reading.masked))
    for word in words:
        found[f"w:{word}"] = 1.0
    for pair in itertools.pairwise(words):
        found[f"b:{' '.join(pair)}"] = 1.0
    return found


def _add_concepts(found: Features, reading: Reading, kind: str) -> None:
    present = reading.concepts
    for name in present:
        found[f"c:{name}"] = 1.0
        found[f"c:{name}@{kind}"] = 1.0
    for verb in _VERBS:
        for thing in _THINGS:
            if verb != thing and verb in present and thing in present:
                found[f"c:{verb}+{thing}"] = 1.0
    if present:
        found[f"first:{_first_concept(reading)}"] = 1.0


def _first_concept(reading: Reading) -> str:
    """The concept of the first word that has one among those that say what to do."""
    for word in _WORD.findall(folded(reading.masked))[:6]:
        hits = [name for name in concepts(word) if name in _VERBS]
        if hits:
            return hits[0]
    return "none"


def _add_mentions(found: Features, reading: Reading, kind: str) -> None:
    question = reading.question
    open_step = question.open_step
    referred = {m.key for m in reading.exact if reading.is_reference(m)}
    keys = {m.key for m in reading.exact} - referred
    found[f"named:{min(len(keys), 3)}"] = 1.0
    found[f"named:{min(len(keys), 2)}@{kind}"] = 1.0
    if referred:
        found["referred"] = 1.0
    if open_step and open_step.key in keys:
        found["named:open"] = 1.0
    if open_step and keys - {open_step.key}:
        found["named:other"] = 1.0
    if keys - {open_step.key if open_step else ""} and "this_step" in reading.concepts:
        found["named:other+here"] = 1.0
    if keys and reading.exact[0].start <= 3:
        found["named:first"] = 1.0
    best = reading.partial[0].weight if reading.partial else 0.0
    found["partial"] = best if not keys else 0.0
    for name in ("logging", "limits", "fields", "path", "schedule", "rename", "remove", "coding"):
        if name in reading.concepts:
            found[f"named:{min(len(keys), 2)}+{name}"] = 1.0
    steps = question.outline.steps
    if steps and not any(step.has_code for step in steps):
        found["empty:all"] = 1.0
        for name in ("explain", "workflow", "code", "question"):
            if name in reading.concepts:
                found[f"empty:all+{name}"] = 1.0


def _add_understood(found: Features, reading: Reading, kind: str) -> None:
    """What the offline agents would make of the request: a question, a structural change."""
    question = reading.question
    plain = folded(reading.text.strip())
    asking = is_question(plain)
    _add_tokens(found, reading, asking)
    found["question" if asking else "wish"] = 1.0
    found[f"{'question' if asking else 'wish'}@{kind}"] = 1.0
    if _PAIR.search(reading.masked):
        found["pair"] = 1.0
    if is_new_workflow(plain):
        found["new_workflow"] = 1.0
    if asking or not question.outline.steps:
        return
    draft = Draft.of(draft_of(question.outline))
    open_key = question.open_step.key if question.open_step else None
    phrases = understood(reading.text, draft, AdaptorList.of_catalogue(), open_key)
    if phrases:
        found["structure"] = 1.0
        found[f"structure@{kind}"] = 1.0
    for phrase in phrases:
        found[f"structure:{phrase}"] = 1.0


def _add_tokens(found: Features, reading: Reading, asking: bool) -> None:
    """How many steps are spoken of, the open one and loosely named ones included."""
    masked = mask(reading.text, reading.question.outline.steps)
    tokens = set(re.findall(r"§(?:\d+|t)", masked.norm))
    keys = {masked.step(t) or "open" for t in tokens}
    open_step = reading.question.open_step
    if open_step and open_step.key in keys:
        keys = (keys - {open_step.key}) | {"open"}
    count = min(len(keys), 3)
    found[f"tokens:{count}"] = 1.0
    found[f"tokens:{count}:{'question' if asking else 'wish'}"] = 1.0
    if "open" in keys:
        found[f"tokens:open:{count}"] = 1.0
    if masked.norm.startswith("§"):
        found["tokens:first"] = 1.0
    for name in (
        "fields",
        "limits",
        "coding",
        "logging",
        "code",
        "path",
        "before_after",
        "send",
        "filter",
        "plural_steps",
    ):
        if name in reading.concepts:
            found[f"tokens:{count}+{name}"] = 1.0

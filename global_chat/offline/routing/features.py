"""What the router's classifier looks at: plain features of a request, each with a name.

Names of steps and quoted values are taken out of the text before its words are looked at, so that
a step called "Schedule visits" is no schedule and a mail's subject is no request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.folding import composed, folded
from ..language.lexicon import concepts
from ..language.literals import Literal, find_literals, without_literals
from ..language.masking import mask
from ..language.mentions import Mention, exact_mentions, partial_mentions, without
from ..request.outline_draft import draft_of
from ..request.questions import Question
from ..structure.adaptor_list import AdaptorList
from ..structure.answer import understood
from ..structure.building import is_new_workflow
from ..structure.draft import Draft
from ..structure.questions import is_question

Features = dict[str, float]

_PAIR = re.compile(
    r"¤+ (?:to|by|with|instead of|not|par|por|a|para|kuwa|->|should be|au lieu de|en vez de|en lugar de|em vez de) (?:the )?¤+"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_REFERENCE = re.compile(
    r"(?:like|as|the (?:same )?way|same \S+(?: \S+)?(?: as)?|from|exactly like|similar to|comme|como|que"
    r"|igual que|same as|same way|tal como|kama|wie|copy)(?: (?:in|the|dans|en|no|na|el|la|le|do|da))?\s*$"
)
_REFERENCE_AFTER = re.compile(r"\s*(?:has|does|do|gives|uses|is|hace|fait|faz)\b")
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
_VERBS = ("add", "remove", "rename", "change", "explain", "why", "question", "send", "move")
_THINGS = (
    "step", "code", "fields", "many", "new_workflow", "with_code", "empty", "workflow", "adaptor",
    "schedule", "trigger", "path", "logging", "coding", "filter", "limits", "send", "reference",
    "before_after", "this_step", "count_order", "fail", "documentation", "vague", "system",
    "behaviour", "everywhere", "plural_steps", "remaining", "log_attached", "clock",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """A question with what was found in its words."""

    question: Question
    text: str
    masked: str
    literals: tuple[Literal, ...]
    exact: tuple[Mention, ...]
    partial: tuple[Mention, ...]
    concepts: dict[str, int]

    def is_reference(self, mention: Mention) -> bool:
        """Whether the step is only what another is compared with ("like Find patient does")."""
        before = folded(self.text)[: mention.start].rstrip("\"'`« ")
        after = folded(self.text)[mention.end :]
        return bool(_REFERENCE.search(before)) or (
            bool(_REFERENCE_AFTER.match(after)) and self.concepts.get("reference", 0) > 0
        )


def read(question: Question) -> Reading:
    """Find names, literals and concepts in a question."""
    text = composed(question.content)
    literals = find_literals(text)
    steps = question.outline.steps
    exact = exact_mentions(text, steps)
    masked = without(without_literals(text, literals), exact)
    partial = tuple(m for m in partial_mentions(masked, steps) if m.weight >= 0.3)[:3]
    return Reading(
        question, text, masked, tuple(literals), tuple(exact), partial, concepts(folded(masked))
    )


def page_kind(question: Question) -> str:
    """none (no workflow), overview, settings or step."""
    if not question.outline.steps:
        return "none"
    if question.page.settings:
        return "settings"
    return "step" if question.open_step else "overview"


def features(reading: Reading) -> Features:
    """Every plain feature of a reading, by name. Words of the text come as `w:` and `b:`."""
    found: Features = {"bias": 1.0}
    kind = page_kind(reading.question)
    found[f"page:{kind}"] = 1.0
    _add_concepts(found, reading, kind)
    _add_mentions(found, reading, kind)
    _add_shape(found, reading, kind)
    _add_clauses(found, reading)
    _add_history(found, reading)
    _add_understood(found, reading, kind)
    words = _WORD.findall(folded(reading.masked))
    for word in words:
        found[f"w:{word}"] = 1.0
    for pair in zip(words, words[1:], strict=False):
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


def _add_shape(found: Features, reading: Reading, kind: str) -> None:
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


def _add_clauses(found: Features, reading: Reading) -> None:
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


def _add_history(found: Features, reading: Reading) -> None:
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

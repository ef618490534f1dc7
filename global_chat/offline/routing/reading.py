"""A question with what was found in its words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.folding import composed, folded
from ..language.lexicon import concepts
from ..language.literals import Literal, find_literals, without_literals
from ..language.mentions import Mention, exact_mentions, partial_mentions, without
from ..request.questions import Question

Features = dict[str, float]


_REFERENCE = re.compile(
    r"(?:like|as|the (?:same )?way|same \S+(?: \S+)?(?: as)?|from|exactly like|similar to"
    r"|comme|como|que"
    r"|igual que|same as|same way|tal como|kama|wie|copy)(?: (?:in|the|dans|en|no|na|el"
    r"|la|le|do|da))?\s*$"
)


_REFERENCE_AFTER = re.compile(r"\s*(?:has|does|do|gives|uses|is|hace|fait|faz)\b")


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

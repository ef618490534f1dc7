"""Resolving the name of a step, by the rule of payloads/PAYLOAD_SPEC.md (`page`).

The step that is found is written to, so an ambiguous name finds nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from global_chat.workflow.parts import Step


def fold(name: str) -> str:
    """The name without case, punctuation, spaces and signs; compatibility forms made equal.

    Letters, marks and digits of every script stay. The result may be empty.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(c for c in text if unicodedata.category(c)[0] in "LMN")
    return unicodedata.normalize("NFKC", kept)


def find_step(steps: Iterable[Step], name: str | None) -> Step | None:
    """The step called `name`: by exact key, then exact name, then the fold of either.

    None when nothing fits, when several steps fit, or when the name folds to nothing.
    """
    if not name:
        return None
    every = tuple(steps)
    exact: tuple[Callable[[Step], str], ...] = (lambda s: s.key, lambda s: s.name)
    for text in exact:
        hits = [step for step in every if text(step) == name]
        if hits:
            return hits[0] if len(hits) == 1 else None
    wanted = fold(name)
    if not wanted:
        return None
    hits = [step for step in every if wanted in (fold(step.key), fold(step.name))]
    return hits[0] if len(hits) == 1 else None

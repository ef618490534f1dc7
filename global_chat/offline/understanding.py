"""What a request is understood as: changes, a question, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import coding, phrases, structure
from .answers import Answer
from .coding import CodeWish
from .phrases import as_when
from .plans import Plan, together
from .questions import answers_to, asks_first
from .reading import Meanings, Word, languages_of, read
from .scene import Scene, words
from .schedules import is_so


@dataclass(frozen=True, slots=True)
class Wish:
    """One reading of a request. `plan` is None when it only says what not to do, or all that it
    wants is a change of code that is not seen (`code`)."""

    plan: Plan | None
    code: tuple[CodeWish, ...] = ()


@dataclass(frozen=True, slots=True)
class Denied:
    """What is not to be done."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Kept:
    """What is to stay: these steps, with `all` every part that there is, and with `trigger` what
    starts the workflow."""

    steps: frozenset[str] = frozenset()
    all: bool = False
    trigger: bool = False

    def allows(self, plan: Plan) -> bool:
        """Whether a change leaves it alone."""
        gone = self.all and plan.patch.remove
        started = self.trigger and plan.patch.triggers
        return not (gone or started or (plan.edited | plan.removed) & self.steps)


def _aside(scene: Scene, *said: Word) -> Iterator[None]:
    """A statement that is no wish. One that names a step may be one after all."""
    text = f" {' '.join(words(' '.join(word.text for word in said)))} "
    if not any(f" {' '.join(words(s.name))} " in text for s in scene.steps if " " in s.name):
        yield None


def _old_aside(scene: Scene, *said: Any) -> Iterator[None]:
    """A statement about the time of today must be so."""
    time = next((when for part in said if (when := as_when(part))), None)
    cron = next((t.cron_expression for t in scene.triggers if t.cron_expression), None)
    if time is None or (cron and is_so(cron, time)):
        yield None


def _request(_: Scene, *parts: Any) -> Iterator[Wish]:
    """All that is wanted, as one change; nothing when it contradicts itself."""
    plans = [part for part in parts if isinstance(part, Plan)]
    denied = [part.plan for part in parts if isinstance(part, Denied)]
    unseen = tuple(part for part in parts if isinstance(part, CodeWish))
    if not plans:
        if denied or unseen:
            yield Wish(None, unseen)
        return
    plan = together(plans)
    if plan is None or any(other in (plan, *plans) for other in denied):
        return
    if all(part.allows(plan) for part in parts if isinstance(part, Kept)):
        yield Wish(plan, unseen)


MEANINGS: Meanings = {
    **phrases.MEANINGS,
    **structure.MEANINGS,
    **coding.MEANINGS,
    "start": lambda _, found: [found],
    "request": _request,
    "clause": lambda _, *parts: [next((part for part in parts if part is not None), None)],
    "premise": lambda *_: [None],
    "denial": lambda _, what: [Denied(what)] if isinstance(what, Plan) else [],
    "keep": lambda _, *kept: [kept[0] if kept else Kept()],
    "keep_all": lambda _, kept: [kept if kept.steps or kept.trigger else Kept(all=True)],
    "kept_step": lambda _, step: [Kept(frozenset({step.key}))],
    "kept_steps": lambda _, steps: [Kept(steps)],
    "kept_rest": lambda _: [Kept()],
    "kept_trigger": lambda _: [Kept(trigger=True)],
    "aside": _aside,
    "old_aside": _old_aside,
    "time_aside": _old_aside,
    "reason": lambda *_: [None],
    "not_others": lambda *_: [None],
}

#: Of four languages with many words in common, the request is in one of the likeliest two.
LANGUAGES_TRIED = 2


def understand(text: str, scene: Scene) -> list[Wish | Answer]:
    """Every meaning of a request: several when it is ambiguous, none when it is not understood."""
    answers: list[Wish | Answer] = [*answers_to(text, scene)]
    if answers and asks_first(text, scene):
        return answers
    for language in languages_of(text, scene)[:LANGUAGES_TRIED]:
        found: list[Wish | Answer] = read(text, scene, language, MEANINGS)
        if found:
            # What only says what not to do is less than what can be done.
            return [x for x in found if x != Wish(None)] or found
    return answers

"""What a request is understood as: changes, a question, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Step

from . import coding, phrases, questions, structure
from .coding import CodeWish
from .plans import Plan, together
from .reading import Word, languages_of, read
from .scene import Scene, words
from .schedules import When, is_so


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


def aside(scene: Scene, *said: Word) -> Iterable[None]:
    """A statement that is no wish. One that names a step may be one after all."""
    text = " ".join(words(" ".join(word.text for word in said)))
    if not any(f" {' '.join(words(s.name))} " in f" {text} " for s in scene.steps if " " in s.name):
        yield None


def old_aside(scene: Scene, old: Any, *_: Any) -> Iterable[None]:
    """What is said of today's schedule must be so."""
    crons = [t.cron_expression for t in scene.triggers if t.cron_expression]
    if not isinstance(old, When) or (crons and is_so(crons[0], old)):
        yield None


def time_aside(scene: Scene, time: tuple[int, int]) -> Iterable[None]:
    """A statement about a time must be about the time of today."""
    return old_aside(scene, When(times=frozenset({time})))


def denial(_: Scene, plan: Plan) -> Iterable[Denied]:
    yield Denied(plan)


def kept_step(_: Scene, step: Step) -> Iterable[Kept]:
    yield Kept(frozenset({step.key}))


def kept_steps(_: Scene, steps: frozenset[str]) -> Iterable[Kept]:
    yield Kept(steps)


def keep(_: Scene, *kept: Kept) -> Iterable[Kept]:
    yield kept[0] if kept else Kept()


def keep_all(_: Scene, kept: Kept) -> Iterable[Kept]:
    yield kept if kept.steps else Kept(all=True)


def request(_: Scene, *parts: Any) -> Iterator[Wish]:
    """All that is wanted, as one change; nothing when it contradicts itself."""
    plans = [part for part in parts if isinstance(part, Plan)]
    denied = [part.plan for part in parts if isinstance(part, Denied)]
    kept = [part for part in parts if isinstance(part, Kept)]
    unseen = tuple(part for part in parts if isinstance(part, CodeWish))
    if not plans:
        if denied or unseen:
            yield Wish(None, unseen)
        return
    plan = together(plans)
    if plan is None or any(other in (plan, *plans) for other in denied):
        return
    gone = plan.patch.remove and any(part.all for part in kept)
    if gone or (plan.patch.triggers and any(part.trigger for part in kept)):
        return
    if not any(plan.touched & part.steps for part in kept):
        yield Wish(plan, unseen)


def start(_: Scene, found: Any) -> Iterable[Any]:
    yield found


#: Of four languages with many words in common, the request is in one of the likeliest two.
LANGUAGES_TRIED = 2

MEANINGS: dict[str, Callable[..., Iterable[Any]]] = {
    **phrases.MEANINGS,
    **structure.COMMANDS,
    **coding.COMMANDS,
    **questions.QUESTIONS,
    **{f.__name__: f for f in (aside, old_aside, time_aside, denial, kept_step, kept_steps, keep, keep_all, request, start)},
    "kept_trigger": lambda *_: [Kept(trigger=True)],
    "kept_rest": lambda *_: [Kept()],
    "reason": lambda *_: [None],
    "except_part": lambda *_: [None],
    "clause": lambda _, *parts: [parts[0]],
}


def understand(text: str, scene: Scene) -> list[Any]:
    """Every meaning of a request: several when it is ambiguous, none when it is not understood."""
    for language in languages_of(text, scene)[:LANGUAGES_TRIED]:
        found = read(text, scene, language, MEANINGS)
        if found:
            # What only says what not to do is less than what can be done.
            return [x for x in found if x != Wish(None)] or found
    return []

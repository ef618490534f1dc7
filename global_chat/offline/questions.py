"""Questions about what is there, answered from the workflow and from nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from global_chat.workflow.parts import Edge, Step

from .phrases import ALWAYS, EXPRESSION, FAILURE, SUCCESS, unquoted
from .reading import Meanings, Word
from .scene import Scene, stem, system_of, words
from .schedules import in_words

#: Code is quoted up to here, in lines; what is looked up, in places.
MOST_LINES = 60
MOST_PLACES = 20
_MOST_QUOTES = 5
_CONDITIONS = {
    SUCCESS: "when {} succeeds",
    FAILURE: "when {} fails",
    ALWAYS: "always, whether {} succeeds or fails",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question, in Markdown. `about` is the step whose code it is about, `whole` for
    all of the workflow, `structure` for the rest."""

    text: str
    about: Step | str = "structure"


def _list(head: str, lines: list[str], none: str) -> Answer:
    return Answer("\n".join([head, *(f"- {line}" for line in lines)]) if lines else none)


def _condition(scene: Scene, edge: Edge) -> str:
    off = ", but this path is switched off" if edge.enabled is False else ""
    if edge.source_trigger:
        return f"first{off}"
    source = scene.title(edge.source_step)
    if edge.condition_type == EXPRESSION:
        label = f" ({edge.condition_label})" if edge.condition_label else ""
        return f"after {source} if `{(edge.condition_expression or '').strip()}`{label}{off}"
    return _CONDITIONS.get(edge.condition_type or ALWAYS, "after {}").format(source) + off


def _start(scene: Scene) -> str:
    """What starts the workflow, and whether it does."""
    lines = []
    for trigger in scene.triggers:
        how = f"It is started by its {trigger.type} trigger"
        if trigger.type == "cron":
            how = f"It runs {in_words(trigger.cron_expression)}"
        off = "the trigger is switched off (disabled), so it does not run"
        lines.append(f"{how}; {off if trigger.enabled is False else 'the trigger is switched on'}.")
    return "\n".join(lines) or "Nothing starts this workflow: it has no trigger."


def _when_step_runs(scene: Scene, step: Step) -> Iterator[Answer]:
    paths = [_condition(scene, edge) for edge in scene.into(step.key)]
    yield _list(f"**{step.name}** runs", paths, f"No path leads to **{step.name}**.")


def _what_follows(scene: Scene, step: Step) -> Iterator[Answer]:
    paths = [f"**{scene.title(e.target)}**: {_condition(scene, e)}" for e in scene.out_of(step.key)]
    none = f"Nothing comes after **{step.name}**."
    yield _list(f"After **{step.name}** comes", paths, none)


def _what_on_failure(scene: Scene, *asked: Step) -> Iterator[Answer]:
    for step in asked or ([scene.open_step] if scene.open_step else []):
        runs = [edge for edge in scene.out_of(step.key) if edge.condition_type != SUCCESS]
        lines = [f"**{scene.title(edge.target)}** runs {_condition(scene, edge)}" for edge in runs]
        none = f"Nothing runs when **{step.name}** fails: its paths need it to succeed."
        yield _list(f"If **{step.name}** fails:", lines, none)


def _is_it_on(scene: Scene, *_: Any) -> Iterator[Answer]:
    off = [scene.path_title(edge) for edge in scene.edges if edge.enabled is False]
    paths = [f"The path {path} is switched off (disabled)." for path in off]
    yield Answer("\n".join([_start(scene), *paths]))


def _which_adaptor(scene: Scene, *asked: Step) -> Iterator[Answer]:
    for step in asked or ([scene.open_step] if scene.open_step else []):
        yield Answer(f"**{step.name}** uses `{step.adaptor or 'no adaptor'}`.")


def _steps_with(scene: Scene, adaptor: Any) -> Iterator[Answer]:
    found = [step for step in scene.steps if system_of(step.adaptor) == adaptor.system]
    lines = [f"**{step.name}** (`{step.adaptor}`)" for step in found]
    yield _list(f"These use {adaptor.system}:", lines, f"No step uses {adaptor.system}.")


def _where_used(scene: Scene, token: str) -> Iterator[Answer]:
    """The lines of code, the conditions and the credentials that hold a text."""
    lines = [
        f"**{step.name}**: `{line.strip()}`"
        for step in scene.coded
        for line in (step.code or "").splitlines()
        if token in line
    ]
    edges = [edge for edge in scene.edges if token in (edge.condition_expression or "")]
    lines += [f"the path {scene.path_title(edge)}: {_condition(scene, edge)}" for edge in edges]
    users = [key for key, name in scene.credentials.items() if name == token]
    lines += [f"**{scene.title(key)}**: as its credential" for key in users]
    if lines:
        more = [f"and {len(lines) - MOST_PLACES} more"] if len(lines) > MOST_PLACES else []
        yield Answer(_list(f"`{token}` occurs here:", lines[:MOST_PLACES] + more, "").text, "whole")


def _how_many(scene: Scene, *_: Any) -> Iterator[Answer]:
    names = ", ".join(step.name for step in in_order(scene))
    count = len(scene.steps)
    yield Answer(f"There {'is 1 step' if count == 1 else f'are {count} steps'}: {names}.")


def in_order(scene: Scene) -> list[Step]:
    """The steps as a run reaches them, the others last."""
    found: dict[str, Step] = {}
    waiting = deque(edge.target for edge in scene.edges if edge.source_trigger)
    while waiting:
        key = waiting.popleft()
        if key and key in scene.by_key and key not in found:
            found[key] = scene.by_key[key]
            waiting.extend(edge.target for edge in scene.out_of(key))
    return [*found.values(), *(step for step in scene.steps if step.key not in found)]


def _explain_workflow(scene: Scene, *_: Any) -> Iterator[Answer]:
    if not scene.steps:
        yield Answer("The workflow is empty: it has no steps yet.", "whole")
        return
    lines = [f"**{scene.name or 'This workflow'}**", _start(scene), ""]
    for number, step in enumerate(in_order(scene), 1):
        how = "; ".join(_condition(scene, edge) for edge in scene.into(step.key))
        system = system_of(step.adaptor) or "no adaptor"
        lines.append(f"{number}. **{step.name}** ({system}): {how}")
    yield Answer("\n".join(lines), "whole")


def _explain_step(scene: Scene, step: Step) -> Iterator[Answer]:
    into = "; ".join(_condition(scene, edge) for edge in scene.into(step.key))
    after = ", ".join(scene.title(edge.target) for edge in scene.out_of(step.key))
    lines = [
        f"**{step.name}** uses `{step.adaptor or 'no adaptor'}`.",
        f"It runs {into or 'never: no path leads to it'}.",
        f"After it: {after}." if after else "Nothing comes after it.",
    ]
    code = (step.code or "").strip("\n").splitlines()
    more = "" if len(code) <= MOST_LINES else f"\n({len(code) - MOST_LINES} more lines)"
    quoted = ["This is its code:", "", "```js", *code[:MOST_LINES], f"```{more}"]
    yield Answer("\n".join(lines + (quoted if step.has_code else ["It has no code yet."])), step)


def _explain_open(scene: Scene) -> Iterator[Answer]:
    return _explain_step(scene, scene.open_step) if scene.open_step else _explain_workflow(scene)


_ASKING = frozenset(
    words(
        "what which where when who why how does did the this that these those are is was were have "
        "has there here from with for and you can could our they them any all use uses used using "
        "step steps code workflow get gets come comes value much many long"
    )
)


def quoted_lines(scene: Scene, text: str) -> Answer | None:
    """The lines of code that hold most of a question's words; None when none holds a telling one.

    Those of the open step count alone when there is one.
    """
    asked = {stem(word) for word in words(text) if len(word) > 2} - {stem(w) for w in _ASKING}
    found: list[tuple[int, str]] = []
    for step in [scene.open_step] if scene.open_step else scene.coded:
        for line in (step.code or "").splitlines():
            said = words(line)
            held = {stem(w) for w in said} | {a + b for a, b in pairwise(said)}
            found.append((len(asked & held), f"**{step.name}**: `{line.strip()}`"))
    best = max((score for score, _ in found), default=0)
    chosen = [line for score, line in found if score == best]
    if best < (1 if scene.open_step else 2) or len(chosen) > _MOST_QUOTES:
        return None
    return _list("I can only look words up. These lines hold yours:", chosen, "")


MEANINGS: Meanings = {
    "question": lambda _, *parts: [part for part in parts if isinstance(part, Answer)],
    "token": lambda _, word: [unquoted(word.text)] if isinstance(word, Word) else [],
    "when_runs": lambda scene, *_: [Answer(_start(scene))],
    "when_step_runs": _when_step_runs,
    "what_follows": _what_follows,
    "what_precedes": _when_step_runs,
    "what_on_failure": _what_on_failure,
    "is_it_on": _is_it_on,
    "which_adaptor": _which_adaptor,
    "steps_with": _steps_with,
    "where_used": _where_used,
    "how_many": _how_many,
    "explain_workflow": _explain_workflow,
    "explain_step": _explain_step,
    "explain_open": _explain_open,
}

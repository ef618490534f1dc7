"""Questions about what is there, answered from the workflow and from nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from global_chat.workflow.parts import Edge, Step

from .phrases import ALWAYS, EXPRESSION, FAILURE, SUCCESS, unquoted
from .reading import Word
from .scene import Scene, stem, system_of, words
from .schedules import in_words

#: Code is quoted up to here, in lines.
MOST_LINES = 60
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
    if not scene.triggers:
        return "Nothing starts this workflow: it has no trigger."
    lines = []
    for trigger in scene.triggers:
        how = f"It is started by its {trigger.type} trigger"
        if trigger.type == "cron":
            how = f"It runs {in_words(trigger.cron_expression)}"
        off = "the trigger is switched off (disabled), so it does not run"
        lines.append(f"{how}; {off if trigger.enabled is False else 'the trigger is switched on'}.")
    return "\n".join(lines)


def when_runs(scene: Scene, *_: Any) -> Iterable[Answer]:
    yield Answer(_start(scene))


def when_step_runs(scene: Scene, what: Any, *_: Any) -> Iterator[Answer]:
    for step in [what] if isinstance(what, Step) else scene.described(" ".join(what)):
        paths = scene.into(step.key)
        lines = [f"- {_condition(scene, edge)}" for edge in paths]
        head = f"**{step.name}** runs" if lines else f"No path leads to **{step.name}**."
        yield Answer("\n".join([head, *lines]))


def what_follows(scene: Scene, step: Step) -> Iterable[Answer]:
    lines = [f"- **{scene.title(e.target)}**: {_condition(scene, e)}" for e in scene.out_of(step.key)]
    head = f"After **{step.name}** comes" if lines else f"Nothing comes after **{step.name}**."
    yield Answer("\n".join([head, *lines]))


def what_precedes(scene: Scene, step: Step) -> Iterable[Answer]:
    return when_step_runs(scene, step)


def what_on_failure(scene: Scene, *what: Any) -> Iterator[Answer]:
    for step in what or ([scene.open_step] if scene.open_step else []):
        runs = [e for e in scene.out_of(step.key) if e.condition_type != SUCCESS]
        lines = [f"- **{scene.title(e.target)}** runs {_condition(scene, e)}" for e in runs]
        none = f"Nothing runs when **{step.name}** fails: its paths need it to succeed."
        yield Answer("\n".join([f"If **{step.name}** fails:", *lines]) if lines else none)


def is_it_on(scene: Scene, *_: Any) -> Iterable[Answer]:
    off = [e for e in scene.edges if e.enabled is False]
    paths = [f"The path {scene.path_title(e)} is switched off (disabled)." for e in off]
    yield Answer("\n".join([_start(scene), *paths]))


def which_adaptor(scene: Scene, *step: Step) -> Iterator[Answer]:
    for asked in step or ([scene.open_step] if scene.open_step else []):
        yield Answer(f"**{asked.name}** uses `{asked.adaptor or 'no adaptor'}`.")


def steps_with(scene: Scene, word: Word) -> Iterable[Answer]:
    system = system_of(word.text)
    found = [step for step in scene.steps if system_of(step.adaptor) == system]
    lines = [f"- **{step.name}** (`{step.adaptor}`)" for step in found]
    none = f"No step uses the adaptor {system}."
    yield Answer("\n".join([f"These use {system}:", *lines]) if lines else none)


def where_used(scene: Scene, token: str) -> Iterator[Answer]:
    """The lines of code and the conditions that hold a text."""
    lines = [
        f"- **{step.name}**: `{line.strip()}`"
        for step in scene.coded
        for line in (step.code or "").splitlines()
        if token in line
    ]
    edges = [e for e in scene.edges if token in (e.condition_expression or "")]
    lines += [f"- the path {scene.path_title(e)}: {_condition(scene, e)}" for e in edges]
    lines += [
        f"- **{scene.title(key)}**: as its credential"
        for key, name in scene.credentials.items()
        if name == token
    ]
    if lines:
        more = f"\nand {len(lines) - 20} more" if len(lines) > 20 else ""
        yield Answer("\n".join([f"`{token}` occurs here:", *lines[:20]]) + more, "whole")


def token(_: Scene, word: Word) -> Iterable[str]:
    yield unquoted(word.text)


def how_many(scene: Scene, *_: Any) -> Iterable[Answer]:
    names = ", ".join(step.name for step in in_order(scene))
    count = len(scene.steps)
    yield Answer(f"There {'is 1 step' if count == 1 else f'are {count} steps'}: {names}.")


def in_order(scene: Scene) -> list[Step]:
    """The steps as a run reaches them, the others last."""
    found: dict[str, Step] = {}
    first = [edge.target for edge in scene.edges if edge.source_trigger]
    waiting = deque(key for key in first if key)
    while waiting:
        key = waiting.popleft()
        if key in scene.by_key and key not in found:
            found[key] = scene.by_key[key]
            waiting.extend(edge.target for edge in scene.out_of(key) if edge.target)
    return [*found.values(), *(step for step in scene.steps if step.key not in found)]


def explain_workflow(scene: Scene, *_: Any) -> Iterable[Answer]:
    if not scene.steps:
        yield Answer("The workflow is empty: it has no steps yet.")
        return
    lines = [f"**{scene.name or 'This workflow'}**", _start(scene), ""]
    for number, step in enumerate(in_order(scene), 1):
        how = "; ".join(_condition(scene, edge) for edge in scene.into(step.key))
        lines.append(f"{number}. **{step.name}** ({system_of(step.adaptor) or 'no adaptor'}): {how}")
    yield Answer("\n".join(lines), "whole")


def explain_step(scene: Scene, step: Step) -> Iterable[Answer]:
    lines = [f"**{step.name}** uses `{step.adaptor or 'no adaptor'}`.", _runs(scene, step)]
    if not step.has_code:
        yield Answer("\n".join([*lines, "It has no code yet."]), step)
        return
    code = (step.code or "").strip("\n").splitlines()
    more = "" if len(code) <= MOST_LINES else f"\n({len(code) - MOST_LINES} more lines)"
    quoted = "\n".join(code[:MOST_LINES])
    yield Answer("\n".join([*lines, "This is its code:", "", f"```js\n{quoted}\n```{more}"]), step)


def _runs(scene: Scene, step: Step) -> str:
    into = "; ".join(_condition(scene, edge) for edge in scene.into(step.key))
    after = ", ".join(scene.title(edge.target) for edge in scene.out_of(step.key))
    return f"It runs {into or 'never: no path leads to it'}. {f'After it: {after}.' if after else 'Nothing comes after it.'}"


def explain_open(scene: Scene, *_: Any) -> Iterable[Answer]:
    return explain_step(scene, scene.open_step) if scene.open_step else explain_workflow(scene)


def quoted_lines(scene: Scene, text: str) -> Answer | None:
    """The lines of code that hold most of a question's words; None when none holds a telling one.

    Those of the open step count alone when it has any.
    """
    asked = {stem(word) for word in words(text) if len(word) > 2} - {stem(w) for w in _ASKING}
    found: list[tuple[int, str, str]] = []
    steps = [scene.open_step] if scene.open_step else list(scene.coded)
    for step in steps:
        for line in (step.code or "").splitlines():
            held = {stem(w) for w in words(line)}
            held |= {"".join(pair) for pair in zip(words(line), words(line)[1:], strict=False)}
            if score := len(asked & held):
                found.append((score, step.name, line.strip()))
    best = max((score for score, _, _ in found), default=0)
    if best < (1 if scene.open_step else 2):
        return None
    chosen = [f"- **{name}**: `{line}`" for score, name, line in found if score == best]
    if len(chosen) > _MOST_QUOTES:
        return None
    return Answer("\n".join(["I can only look words up. These lines hold yours:", *chosen]))


_ASKING = frozenset(
    "what which where when who why how does did the this that these those are is was were have has "
    "there here from with for and you can could our they them any all use uses used using step steps "
    "code workflow get gets come comes value much many long".split()
)

QUESTIONS: dict[str, Callable[..., Iterable[Any]]] = {
    f.__name__: f
    for f in (when_runs, when_step_runs, what_follows, what_precedes, what_on_failure, is_it_on,
              which_adaptor, steps_with, where_used, token, how_many, explain_workflow, explain_step,
              explain_open)
} | {"question": lambda _, *parts: [p for p in parts if isinstance(p, Answer)]}  # fmt: skip

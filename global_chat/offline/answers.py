"""What the workflow says of itself: the answers to questions about what is there, in Markdown."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from global_chat.workflow.parts import Edge, Step

from .phrases import ALWAYS, EXPRESSION, FAILURE, SUCCESS
from .scene import Scene, stem, system_of, words
from .schedules import in_words

#: Code is quoted up to here, in lines; what is looked up, in places.
_MOST_LINES = 60
_MOST_PLACES = 20
_MOST_QUOTES = 5
_MOST_MEANT = 30
_CONDITIONS = {
    SUCCESS: "when {} succeeds",
    FAILURE: "when {} fails",
    ALWAYS: "always, whether {} succeeds or fails",
}
#: What code puts on state: `state.x = …`, the keys of a returned `{ ...state, x }`.
_ASSIGNED = re.compile(r"\bstate\.([\w$]+(?:\.[\w$]+)*)\s*(?:[-+*/]|\?\?|\|\|)?=(?![=>])")
_RETURNED = re.compile(r"\{\s*\.\.\.state\s*,([^{}]*)")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question. `about` is the step whose code it is about, `whole` for all of the
    workflow, `structure` for the rest."""

    text: str
    about: Step | str = "structure"


def _list(head: str, lines: Sequence[str], none: str) -> Answer:
    more = [f"- and {len(lines) - _MOST_PLACES} more"] if len(lines) > _MOST_PLACES else []
    shown = [f"- {line}" for line in lines[:_MOST_PLACES]]
    return Answer("\n".join([head, *shown, *more]) if lines else none)


def condition(scene: Scene, edge: Edge) -> str:
    """When a path is taken."""
    off = ", but this path is switched off (disabled)" if edge.enabled is False else ""
    if edge.source_trigger:
        return f"first{off}"
    source = scene.title(edge.source_step)
    if edge.condition_type == EXPRESSION:
        label = f" ({edge.condition_label})" if edge.condition_label else ""
        return f"after {source} if `{(edge.condition_expression or '').strip()}`{label}{off}"
    return _CONDITIONS.get(edge.condition_type or ALWAYS, "after {}").format(source) + off


def start(scene: Scene) -> Answer:
    """What starts the workflow, and whether it does."""
    lines = []
    for trigger in scene.triggers:
        how = f"It is started by its {trigger.type} trigger"
        if trigger.type == "cron":
            how = f"It runs {in_words(trigger.cron_expression)}"
        off = "the trigger is switched off (disabled), so it does not run"
        lines.append(f"{how}; {off if trigger.enabled is False else 'the trigger is switched on'}.")
    return Answer("\n".join(lines) or "Nothing starts this workflow: it has no trigger.")


def is_it_on(scene: Scene, *asked: Step) -> Answer:
    """Whether the workflow runs, and which paths do not; those to one step when it is named."""
    keys = {step.key for step in asked}
    edges = [e for e in scene.edges if not keys & scene.by_key.keys() or e.target in keys]
    off = [scene.path_title(edge) for edge in edges if edge.enabled is False]
    if asked and not off:
        off_none = [f"No path to **{step.name}** is switched off." for step in asked]
        return Answer("\n".join([*off_none, start(scene).text]))
    paths = [f"The path {path} is switched off (disabled)." for path in off]
    return Answer("\n".join([start(scene).text, *paths]))


def when_step_runs(scene: Scene, step: Step) -> Answer:
    """The conditions of every path that leads to a step."""
    paths = [condition(scene, edge) for edge in scene.into(step.key)]
    return _list(f"**{step.name}** runs", paths, f"No path leads to **{step.name}**.")


def when(scene: Scene, *asked: Step) -> Answer:
    """When the workflow starts, and when the steps that are named do."""
    runs = [when_step_runs(scene, step).text for step in asked]
    return Answer("\n\n".join([*runs, start(scene).text]))


def before(scene: Scene, step: Step) -> Answer:
    """The steps that lead to a step."""
    sources = [e for e in scene.into(step.key) if e.source_step]
    lines = [f"**{scene.title(e.source_step)}**: {_lead(scene, e)}" for e in sources]
    none = f"No step comes before **{step.name}**: it runs first."
    return _list(f"Before **{step.name}** comes", lines, none)


def _lead(scene: Scene, edge: Edge) -> str:
    return f"{scene.title(edge.target)} runs {condition(scene, edge)}"


def after(scene: Scene, step: Step) -> Answer:
    """The steps that a step leads to."""
    edges = scene.out_of(step.key)
    lines = [f"**{scene.title(e.target)}**: {condition(scene, e)}" for e in edges]
    none = f"Nothing comes after **{step.name}**."
    return _list(f"After **{step.name}** comes", lines, none)


def on_result(scene: Scene, unwanted: str, verb: str, *asked: Step) -> Answer:
    """What runs when steps fail or succeed: every path that does not need the opposite."""
    told = []
    for step in asked:
        runs = [edge for edge in scene.out_of(step.key) if edge.condition_type != unwanted]
        lines = [f"**{scene.title(e.target)}** runs {condition(scene, e)}" for e in runs]
        none = f"Nothing runs when **{step.name}** {verb}: no path of it leads on then."
        told.append(_list(f"If **{step.name}** {verb}:", lines, none).text)
    return Answer("\n\n".join(told))


def paths_of(scene: Scene, kind: str | None = None) -> Answer:
    """The paths, or those of one kind of condition."""
    edges = [e for e in scene.edges if kind in (None, e.condition_type)]
    lines = [f"{scene.path_title(e)}: {condition(scene, e)}" for e in edges]
    none = "There are no paths." if kind is None else "No path has this condition."
    return _list("These are the paths:", lines, none)


def condition_between(scene: Scene, *asked: Step) -> Answer:
    """The condition of the path between two steps, else of those that lead to one."""
    if len(asked) != 2:
        return Answer("\n\n".join(when_step_runs(scene, step).text for step in asked))
    one, other = asked
    edges = (*scene.between(one.key, other.key), *scene.between(other.key, one.key))
    lines = [f"{scene.path_title(e)}: {condition(scene, e)}" for e in edges]
    none = f"No path joins **{one.name}** and **{other.name}**."
    return _list("The path runs", lines, none)


def adaptors(scene: Scene, *asked: Step) -> Answer:
    """The adaptor of each step that is named, else of all."""
    told = [f"**{s.name}** uses `{s.adaptor or 'no adaptor'}`" for s in asked or in_order(scene)]
    return Answer(f"{told[0]}.") if len(told) == 1 else _list("By step:", told, "No step.")


def steps_with(scene: Scene, system: str) -> Answer:
    """The steps that use an adaptor."""
    found = [step for step in in_order(scene) if system_of(step.adaptor) == system]
    lines = [f"**{step.name}** (`{step.adaptor}`)" for step in found]
    return _list(f"These use {system}:", lines, f"No step uses {system}.")


def credentials(scene: Scene, name: str | None, *asked: Step) -> Answer:
    """Which credential steps have, or which steps have one."""
    if name:
        steps = [scene.title(k) for k, held in scene.credentials.items() if held == name]
        lines = [f"**{step}**" for step in steps]
        return _list(f"These use the credential `{name}`:", lines, f"No step uses `{name}`.")
    held = [(s, scene.credentials.get(s.key)) for s in asked or in_order(scene)]
    lines = [f"**{s.name}**: {f'`{c}`' if c else 'no credential'}" for s, c in held]
    return _list("Credentials by step:", lines, "There are no steps.")


def where_used(scene: Scene, token: str, *asked: Step) -> Answer:
    """The lines of code, the conditions, adaptors and credentials that hold a text."""
    whole = re.compile(rf"(?<![\w$]){re.escape(token)}(?![\w$])")
    lines = [
        f"**{step.name}**: `{line.strip()}`"
        for step in asked or scene.coded
        for line in (step.code or "").splitlines()
        if whole.search(line)
    ]
    if not asked:
        edges = [e for e in scene.edges if whole.search(e.condition_expression or "")]
        lines += [f"the path {scene.path_title(e)}: {condition(scene, e)}" for e in edges]
        users = [key for key, name in scene.credentials.items() if name == token]
        lines += [f"**{scene.title(key)}**: as its credential" for key in users]
    none = f"`{token}` occurs nowhere in {'this code' if asked else 'the code or the conditions'}."
    about = asked[0] if asked else "whole"
    places = f" in {len(lines)} places" if len(lines) > 1 else ""
    return Answer(_list(f"`{token}` occurs{places}:", lines, none).text, about)


def steps(scene: Scene) -> Answer:
    """How many steps there are, and their names."""
    count = len(scene.steps)
    names = ", ".join(step.name for step in in_order(scene))
    return Answer(f"There {'is 1 step' if count == 1 else f'are {count} steps'}: {names}.")


def ends(scene: Scene, *, last: bool) -> Answer:
    """The steps that a run begins with, or ends with."""
    begun = {e.target for e in scene.edges if e.source_trigger}
    found = [s for s in in_order(scene) if (not scene.out_of(s.key) if last else s.key in begun)]
    lines = [f"**{step.name}**" for step in found]
    return _list("A run ends with" if last else "A run begins with", lines, "No step.")


def empty_steps(scene: Scene) -> Answer:
    """The steps without code."""
    lines = [
        f"**{step.name}**" for step in in_order(scene) if not (step.has_code or step.code_path)
    ]
    return _list("These have no code yet:", lines, "Every step has code.")


def written(*asked: Step) -> Answer:
    """What the code of a step puts on state."""
    told = []
    for step in asked:
        keys = dict.fromkeys(_ASSIGNED.findall(step.code or ""))
        for inner in _RETURNED.findall(step.code or ""):
            keys |= dict.fromkeys(re.findall(r"(?:^|,)\s*([\w$]+)\s*(?=[:,]|$)", inner))
        none = f"The code of **{step.name}** itself puts nothing on state."
        head = f"The code of **{step.name}** writes"
        told.append(_list(head, [f"`state.{key}`" for key in keys], none).text)
    told.append("What its operations put there, such as `state.data`, is not in the code.")
    return Answer("\n\n".join(told), asked[0])


def changed() -> Answer:
    """That nothing is known of earlier versions."""
    return Answer(
        "The document holds the workflow as it is now and no earlier version of it, so it does not "
        "tell what was changed, when or by whom."
    )


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


def explain_workflow(scene: Scene) -> Answer:
    """Every step in order, with when it runs."""
    if not scene.steps:
        return Answer("The workflow is empty: it has no steps yet.", "whole")
    lines = [f"**{scene.name or 'This workflow'}**", start(scene).text, ""]
    for number, step in enumerate(in_order(scene), 1):
        how = "; ".join(condition(scene, edge) for edge in scene.into(step.key))
        system = system_of(step.adaptor) or "no adaptor"
        lines.append(f"{number}. **{step.name}** ({system}): {how or 'no path leads to it'}")
    return Answer("\n".join(lines), "whole" if any(scene.coded) else "structure")


def explain_step(scene: Scene, step: Step) -> Answer:
    """What a step is, when it runs, what follows, and its code."""
    into = "; ".join(condition(scene, edge) for edge in scene.into(step.key))
    next_ = ", ".join(scene.title(edge.target) for edge in scene.out_of(step.key))
    lines = [
        f"**{step.name}** uses `{step.adaptor or 'no adaptor'}`.",
        f"It runs {into or 'never: no path leads to it'}.",
        f"After it: {next_}." if next_ else "Nothing comes after it.",
    ]
    code = (step.code or "").strip("\n").splitlines()
    more = [f"({len(code) - _MOST_LINES} more lines)"] if len(code) > _MOST_LINES else []
    quoted = ["This is its code:", "", *fenced("\n".join(code[:_MOST_LINES])), *more]
    none = "It has no code yet."
    if step.code_path:
        none = f"Its code is kept in the file {step.code_path}, which is not here."
    return Answer("\n".join(lines + (quoted if step.has_code else [none])), step)


def quoted_lines(scene: Scene, asked: Iterable[str]) -> Answer | None:
    """The lines of code that hold most of the given words; None when none holds a telling one.

    Those of the open step count alone when there is one.
    """
    wanted = {stem(word) for word in asked if len(word) > 2}
    found: list[tuple[int, str, Step]] = []
    for step in [scene.open_step] if scene.open_step else scene.coded:
        named = {stem(w) for w in words(step.name)}
        for line in (step.code or "").splitlines():
            said = words(line)
            held = {stem(w) for w in said} | {a + b for a, b in pairwise(said)}
            score = len(wanted & held)
            if score:
                score += len(wanted & named - held) * (scene.open_step is None)
            found.append((score, f"**{step.name}**: `{line.strip()}`", step))
    best = max((score for score, _, _ in found), default=0)
    least = max(1 if scene.open_step else 2, best - 1)
    chosen = [(line, step) for score, line, step in found if score >= least]
    if len(chosen) > _MOST_QUOTES:
        chosen = [(line, step) for score, line, step in found if score == best]
    if not 0 < len(chosen) <= _MOST_QUOTES:
        return None
    text = _list("I can only look words up. These lines hold yours:", [c for c, _ in chosen], "")
    return Answer(text.text, chosen[0][1] if len({s.key for _, s in chosen}) == 1 else "whole")


def code_meant(scene: Scene, request: str) -> Answer | None:
    """The code of the step that a question is likely about, when it is short: the open one, else
    the only one that has two of its words in its name."""
    asked = {stem(word) for word in words(request) if len(word) > 3}
    named = [s for s in scene.coded if len(asked & {stem(word) for word in words(s.name)}) > 1]
    plain_request = f" {' '.join(words(request))} "
    others = [s for s in scene.steps if f" {' '.join(words(s.name))} " in plain_request]
    step = scene.open_step or (named[0] if len(named) == 1 else None)
    if any(other is not step for other in others):
        return None
    code = (step.code or "").strip("\n") if step and step.has_code else ""
    if not step or not 0 < len(code.splitlines()) <= _MOST_MEANT:
        return None
    return Answer("\n".join([f"This is the code of **{step.name}**:", "", *fenced(code)]), step)


def fenced(text: str, language: str = "js") -> list[str]:
    """A text as a block of Markdown, whatever is in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [f"{fence}{language}", *text.splitlines(), fence]

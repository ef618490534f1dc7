"""Rules for paths, for the flow that they make, and for other references to steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from global_chat.workflow.checking.code import condition_problem
from global_chat.workflow.checking.part_rules import Places, did_you_mean
from global_chat.workflow.forms.layout import Placed
from global_chat.workflow.forms.settings import CURSOR
from global_chat.workflow.parts import Edge, Problem

#: The app's limits, in characters.
MAX_EXPRESSION = 255
MAX_LABEL = 255


def edge_problems(places: Places) -> Iterator[Problem]:
    """What is wrong with paths one by one, and with triggers that start more than one step."""
    layout = places.layout
    steps = {placed.part.key for placed in layout.steps}
    triggers = {placed.part.key for placed in layout.triggers}
    targets: dict[str, list[str]] = {}
    for placed in layout.edges:
        yield from _ends(places, placed, steps, triggers)
        yield from _condition(places, placed)
        if placed.part.source_trigger in triggers and placed.part.target:
            targets.setdefault(placed.part.source_trigger or "", []).append(placed.part.target)
    for trigger in layout.triggers:
        started = targets.get(trigger.part.key, [])
        if len(started) > 1:
            message = (
                f"The trigger `{trigger.part.key}` starts {len(started)} steps at once: "
                f"{', '.join(f'`{key}`' for key in started)}."
            )
            hint = "Let it start one, and lead on from there."
            yield places.problem("error", "trigger-targets", message, trigger, suggestion=hint)
        elif not started:
            message = f"The trigger `{trigger.part.key}` starts no step."
            yield places.problem("warning", "trigger-targets", message, trigger)


def _ends(
    places: Places, placed: Placed[Edge], steps: set[str], triggers: set[str]
) -> Iterator[Problem]:
    edge = placed.part
    sources = [s for s in (edge.source_trigger, edge.source_step) if s is not None]
    if len(sources) != 1:
        has = "no source" if not sources else "two sources, a trigger and a step"
        message = f"The path `{edge.key}` has {has}."
        hint = "Give it either `source_trigger` or `source_job`."
        yield places.problem("error", "edge-source", message, placed, suggestion=hint)
    if edge.target is None:
        message = f"The path `{edge.key}` leads nowhere."
        yield places.problem("error", "edge-target", message, placed, "target_job")
    ends = (
        ("source_trigger", edge.source_trigger, triggers),
        ("source_job", edge.source_step, steps),
        ("target_job", edge.target, steps),
    )
    for key, name, known in ends:
        if name is not None and name not in known:
            what = "trigger" if known is triggers else "step"
            message = f"The path `{edge.key}` refers to the {what} `{name}`, which does not exist."
            near = did_you_mean(name, known)
            yield places.problem("error", "edge-dangling", message, placed, key, near)


def _condition(places: Places, placed: Placed[Edge]) -> Iterator[Problem]:
    edge = placed.part
    kind, expression = edge.condition_type, (edge.condition_expression or "").strip()
    allowed = places.layout.form.conditions
    if kind is None:
        message = f"The path `{edge.key}` has no `condition_type`."
        hint = f"It is one of {', '.join(allowed)}."
        yield places.problem("warning", "condition-type", message, placed, suggestion=hint)
    elif kind not in allowed:
        message = f"The path `{edge.key}` has the unknown condition type `{kind[:40]}`."
        hint = did_you_mean(kind, allowed) or f"It is one of {', '.join(allowed)}."
        yield places.problem("error", "condition-type", message, placed, "condition_type", hint)
    elif edge.source_trigger is not None and kind not in ("always", "js_expression"):
        message = f"The path `{edge.key}` starts at a trigger, which neither succeeds nor fails."
        hint = "Its condition is `always` or a `js_expression`."
        yield places.problem("error", "condition-source", message, placed, "condition_type", hint)
    if kind == "js_expression" and not expression:
        message = f"The path `{edge.key}` is a `js_expression` without a `condition_expression`."
        yield places.problem("error", "condition-expression", message, placed)
    if kind != "js_expression" and expression:
        message = f"The path `{edge.key}` has a `condition_expression`, but its type is `{kind}`."
        hint = "Set `condition_type: js_expression`, or remove the expression."
        yield places.problem(
            "error", "condition-expression", message, placed, "condition_expression", hint
        )
    if kind == "js_expression" and expression and (wrong := condition_problem(expression)):
        message = f"The condition of the path `{edge.key}` cannot be evaluated. {wrong}"
        yield places.problem("warning", "condition-syntax", message, placed, "condition_expression")
    yield from _texts(places, placed, expression)


def _texts(places: Places, placed: Placed[Edge], expression: str) -> Iterator[Problem]:
    edge, label = placed.part, placed.part.condition_label or ""
    limits = (
        ("condition_expression", expression, MAX_EXPRESSION),
        ("condition_label", label, MAX_LABEL),
    )
    for key, text, most in limits:
        if len(text) > most:
            message = f"The `{key}` of the path `{edge.key}` has {len(text)} characters."
            limit = f"The app takes at most {most}."
            yield places.problem("error", "condition-length", message, placed, key, limit)


def flow_problems(places: Places) -> Iterator[Problem]:
    """Circles, which neither the app nor its runtime takes; steps that never run; doubles."""
    layout = places.layout
    steps = {placed.part.key: placed for placed in layout.steps}
    after: dict[str, list[str]] = {key: [] for key in steps}
    started: list[str] = []
    drawn: set[tuple[str | None, str | None, str | None]] = set()
    for placed in layout.edges:
        edge = placed.part
        ends = (edge.source_trigger, edge.source_step, edge.target)
        if ends in drawn:
            message = f"The path `{edge.key}` joins two parts that another path joins already."
            yield places.problem("warning", "edge-double", message, placed)
        drawn.add(ends)
        if edge.target in steps and edge.source_step in steps:
            after[edge.source_step].append(edge.target)
        elif edge.target in steps and edge.source_trigger is not None:
            started.append(edge.target)
    circle = _circle(after)
    if circle:
        names = " → ".join(steps[key].part.name for key in circle)
        message = f"The workflow runs in a circle: {names}."
        hint = "Remove one of these paths."
        yield places.problem("error", "flow-circle", message, steps[circle[0]], suggestion=hint)
    if layout.triggers:
        reached = _reached(started, after)
        for key, step in steps.items():
            if key not in reached:
                message = f"Nothing leads to the step {step.part.name}: it never runs."
                yield places.problem("warning", "flow-unreachable", message, step)


def _circle(after: dict[str, list[str]]) -> list[str]:
    """The keys of one circle, first and last the same; empty when there is none."""
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        on_path: set[str] = set()
        waiting = [(start, False)]
        while waiting:
            key, leaving = waiting.pop()
            if leaving:
                done.add(path.pop())
                on_path.discard(key)
            elif key in on_path:
                return [*path[path.index(key) :], key]
            elif key not in done:
                path.append(key)
                on_path.add(key)
                waiting.append((key, True))
                waiting.extend((target, False) for target in after[key])
    return []


def _reached(started: list[str], after: dict[str, list[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(started)
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting.extend(after[key])
    return reached


_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def reference_problems(places: Places) -> Iterator[Problem]:
    """References to what does not exist. The command line cannot run a workflow whose `start` is
    one; the app takes a cursor that is one for no cursor."""
    layout = places.layout
    steps = {placed.part.key for placed in layout.steps}
    known = steps | {placed.part.key for placed in layout.triggers}
    entry = layout.root.own.get("start")
    if entry and layout.start is not None and layout.start not in known:
        message = f"`start` refers to `{layout.start[:80]}`, which does not exist."
        near = did_you_mean(layout.start, known)
        yield places.at("error", "start-dangling", message, entry.value.start, near)
    # A file that the command line wrote may name a step by an id that the file does not hold.
    has_ids = any(placed.part.id for placed in layout.steps)
    for trigger in layout.triggers:
        cursor = trigger.part.settings.get(CURSOR)
        unknown = cursor is not None and cursor not in steps
        if unknown and (has_ids or not _UUID.fullmatch(str(cursor))):
            message = (
                f"The cursor of the trigger `{trigger.part.key}` refers to the step "
                f"`{cursor!s:.80}`, which does not exist."
            )
            near = did_you_mean(str(cursor), steps)
            yield places.at_setting("cursor-dangling", message, trigger, CURSOR, near)

"""Rules for paths: their two ends and the condition under which they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from global_chat.workflow.checking.code import condition_problem
from global_chat.workflow.checking.problem_places import Places, did_you_mean
from global_chat.workflow.parts import Edge, Problem
from global_chat.workflow.reading.forms import Placed

CONDITION_TYPES = ("always", "on_job_success", "on_job_failure", "js_expression")
#: The app's limits, in characters.
MAX_EXPRESSION = 255
MAX_LABEL = 255


def allowed_conditions(form: Literal["jobs", "steps"]) -> tuple[str, ...]:
    """The condition types; the portability form also knows a path that is never taken."""
    return CONDITION_TYPES if form == "jobs" else (*CONDITION_TYPES, "never")


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
    allowed = allowed_conditions(places.layout.form)
    if kind is None:
        message = f"The path `{edge.key}` has no `condition_type`."
        hint = f"It is one of {', '.join(CONDITION_TYPES)}."
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

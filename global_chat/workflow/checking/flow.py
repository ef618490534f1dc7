"""Rules for the whole flow: no circles, no step that nothing leads to, no path drawn twice."""

from __future__ import annotations

from collections.abc import Iterator

from global_chat.workflow.checking.problem_places import Places
from global_chat.workflow.parts import Problem


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

"""Commands that change the structure: each makes the patch that carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch
from global_chat.yaml.nodes import Value

from .phrases import (
    ALWAYS,
    EXPRESSION,
    FAILURE,
    SUCCESS,
    Condition,
    Keys,
    Where,
    as_when,
    first,
    unquoted,
)
from .plans import Plan, together
from .reading import Meanings, Word
from .scene import Scene, system_of, words
from .schedules import When, cron_after

#: The adaptor of a new step that is to be empty and names no system.
PLAIN_ADAPTOR = "common"
LONGEST_NAME = 100
ON_SUCCESS = Condition(SUCCESS)


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step that is to be added, without code."""

    name: str
    system: str = PLAIN_ADAPTOR


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new step goes: from `source` under a condition, in front of `target`, or both."""

    source: str | None = None
    target: str | None = None
    condition: Condition = ON_SUCCESS


@dataclass(frozen=True, slots=True)
class Adaptor:
    """An adaptor of a request. `old` is the one that is to go; `version` None is any."""

    system: str
    version: str | None = None
    old: bool = False


def _said(condition: Condition) -> str:
    said = {SUCCESS: "on success", FAILURE: "on failure", ALWAYS: "always"}
    return said.get(condition.type, f"if {condition.expression}")


def _and(scene: Scene, keys: Iterable[str]) -> str:
    return " and ".join(scene.title(key) for key in sorted(keys))


# ---- names and steps


def _new_name(scene: Scene, word: Word) -> Iterator[str]:
    """A name; one without quotes holds no other step's, for then it is more than a name."""
    text = " ".join(unquoted(word.text).split())
    said = f" {' '.join(words(text))} "
    inside = any(f" {' '.join(words(s.name))} " in said for s in scene.steps if " " in s.name)
    if 0 < len(text) < LONGEST_NAME and (word.type == "QUOTED" or not inside):
        yield text


def _rename_step(scene: Scene, step: Step, name: str) -> Iterator[Plan]:
    if not any(other.name == name for other in scene.steps):
        yield Plan(f'rename "{step.name}" to "{name}"', Patch(jobs={step.key: {"name": name}}))


def _renames(scene: Scene, plan: Plan, *pairs: Any) -> Iterator[Plan]:
    """Several steps get new names."""
    more = [
        p for s, n in zip(pairs[::2], pairs[1::2], strict=True) for p in _rename_step(scene, s, n)
    ]
    if len(more) == len(pairs) // 2 and (both := together([plan, *more])):
        yield both


def _rename_label(scene: Scene, what: Edge | str, name: str) -> Iterator[Plan]:
    for edge in scene.edges:
        if edge == what or (isinstance(what, str) and edge.condition_label == what):
            wish = f'label the path {scene.path_title(edge)} "{name}"'
            yield Plan(wish, Patch(edges={edge.key: {"condition_label": name}}))


def _remove_steps(scene: Scene, what: Step | Keys) -> Iterator[Plan]:
    keys = sorted({what.key} if isinstance(what, Step) else what)
    steps = " and ".join(f"the step {scene.title(key)}" for key in keys)
    yield Plan(f"remove {steps}", Patch(remove=tuple(f"jobs.{key}" for key in keys)))


def _new_step(scene: Scene, *parts: Any) -> Iterator[NewStep]:
    systems = {part.system for part in parts if isinstance(part, Adaptor)}
    names = [part for part in parts if isinstance(part, str)]
    if len(systems) < 2 and len(names) == 1 and not scene.named(names[0]):
        yield NewStep(names[0], systems.pop() if systems else PLAIN_ADAPTOR)


def _place_between(scene: Scene, before: Step, after: Step) -> Iterator[Place]:
    if scene.between(before.key, after.key):
        yield Place(before.key, after.key)


def _place_end(scene: Scene, condition: Condition = ON_SUCCESS) -> Iterator[Place]:
    ends = [step.key for step in scene.steps if not scene.out_of(step.key)]
    if len(ends) == 1:
        yield Place(ends[0], condition=condition)


def _add_step(scene: Scene, *parts: Any) -> Iterator[Plan]:
    new = next(_new_step(scene, *parts), None)
    places = [part for part in parts if isinstance(part, Place)]
    where = places[0] if places else next(_place_end(scene), None)
    specifier = scene.specifier(new.system) if new else None
    if new is None or where is None or specifier is None or places[1:]:
        return
    if where.condition.source not in (None, where.source):
        return
    key, source, target = scene.new_key(new.name), where.source, where.target
    edges: dict[str, Fields] = {}
    if target is None:
        edges[f"{source}->{key}"] = _path(source, key, where.condition)
    else:
        entering = scene.between(source, target) if source else scene.into(target)
        edges |= {edge.key: {"target_job": key} for edge in entering}
        edges[f"{key}->{target}"] = _path(key, target, ON_SUCCESS)
    near = f"after {scene.title(source)}" if source else f"before {scene.title(target)}"
    if source and target:
        near = f"between {scene.title(source)} and {scene.title(target)}"
    if where.condition.type != SUCCESS:
        near += f" that runs {_said(where.condition)}"
    fields: Fields = {"name": new.name, "adaptor": specifier, "body": ""}
    wish = f'add an empty {new.system} step "{new.name}" {near}'
    yield Plan(wish, Patch(jobs={key: fields}, edges=edges))


def _path(source: str | None, target: str, condition: Condition) -> Fields:
    return {"source_job": source, "target_job": target, **_condition(condition), "enabled": True}


def _condition(condition: Condition) -> dict[str, Value]:
    fields: dict[str, Value] = {"condition_type": condition.type}
    if condition.type == EXPRESSION:
        fields["condition_expression"] = condition.expression
    return fields


# ---- adaptors


def _adaptor(_: Scene, word: Word) -> Iterator[Adaptor]:
    version = word.text.rpartition("@")[2] if "@" in word.text[1:] else None
    yield Adaptor(system_of(word.text), version)


def _with_adaptor(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """Another adaptor in the steps named, or in those that use the old one.

    Steps that are named must use the old one; several that are not are a choice.
    """
    where = first(parts, Where)
    adaptors = [part for part in parts if isinstance(part, Adaptor)]
    new, old = (next((a for a in adaptors if a.old == flag), None) for flag in (False, True))
    if new and old:
        yield from _in_users(scene, old.system, where, new.system, new.version)
    elif new and where:
        yield from _use(scene, where.keys, new.system, new.version)


def _in_users(
    scene: Scene, old: str, where: Where | None, new: str, version: str | None
) -> Iterator[Plan]:
    using = frozenset(step.key for step in scene.steps if system_of(step.adaptor) == old)
    if where is None:
        for key in sorted(using):
            yield from _use(scene, frozenset({key}), new, version)
    elif where.every or where.keys <= using:
        yield from _use(scene, using & where.keys, new, version)


def _use(scene: Scene, keys: Keys, system: str, version: str | None) -> Iterator[Plan]:
    specifier = scene.specifier(system, version)
    if specifier and keys:
        jobs: dict[str, Fields] = {key: {"adaptor": specifier} for key in sorted(keys)}
        yield Plan(f"use {specifier} in {_and(scene, keys)}", Patch(jobs=jobs))


def _with_version(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """Another version of an adaptor that is named, or of the one that all the steps named use."""
    *old, number = [part for part in parts if isinstance(part, str)]
    adaptor, where = first(parts, Adaptor), first(parts, Where)
    left_out = [part for part in parts if isinstance(part, frozenset)]
    step = first(parts, Step) or (scene.open_step if not where and not adaptor else None)
    if step:
        where = Where(frozenset({step.key}))
    if where and left_out:
        where = Where(where.keys.difference(*left_out), where.every)
    systems = {system_of(scene.by_key[key].adaptor) for key in where.keys} if where else set()
    if adaptor:
        found = _in_users(scene, adaptor.system, where, adaptor.system, number)
    else:
        found = (
            _use(scene, where.keys, systems.pop(), number)
            if where and len(systems) == 1
            else iter(())
        )
    for plan in found:
        used = [scene.by_key[key].adaptor or "" for key in plan.patch.jobs]
        if all(adaptor.endswith(f"@{version}") for adaptor in used for version in old):
            yield plan


def _version_of_all(scene: Scene, number: str) -> Iterator[Plan]:
    every = Where(frozenset(scene.by_key), every=True)
    systems = sorted({system_of(step.adaptor) for step in scene.steps} - {""})
    plans = [p for s in systems for p in _in_users(scene, s, every, s, number)]
    if plans and (plan := together(plans)):
        yield plan


# ---- paths


def _switch(scene: Scene, on: bool, targets: tuple[Edge | Trigger, ...]) -> Iterator[Plan]:
    verb = "on" if on else "off"
    plans = [
        Plan(
            f"switch {verb} the path {scene.path_title(part)}",
            Patch(edges={part.key: {"enabled": on}}),
        )
        if isinstance(part, Edge)
        else Plan(f"switch {verb} the trigger", Patch(triggers={part.key: {"enabled": on}}))
        for part in targets
    ]
    if plan := together(plans):
        yield plan


def _condition_of_step(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """The condition of the path into a step: from the step that it depends on, else of the only
    one. A second condition is what it is not to be any more."""
    step = parts[0]
    wanted, *instead_of = [p for p in parts if isinstance(p, Condition)] or [Condition(ALWAYS)]
    source = wanted.source
    for edge in scene.between(source, step.key) if source else scene.into(step.key):
        needs_step = wanted.type in (SUCCESS, FAILURE) and not edge.source_step
        kind = edge.condition_type or ALWAYS
        if not needs_step and (not instead_of or any(kind == old.type for old in instead_of)):
            yield from _condition_of_path(scene, edge, wanted)


def _condition_of_path(scene: Scene, edge: Edge, wanted: Condition, *_: Any) -> Iterator[Plan]:
    if wanted.source in (None, edge.source_step):
        fields = _condition(wanted)
        if wanted.type != EXPRESSION and edge.condition_type == EXPRESSION:
            fields |= {"condition_expression": None, "condition_label": None}
        wish = f"run {scene.path_title(edge)} {_said(wanted)}"
        yield Plan(wish, Patch(edges={edge.key: fields}))


def _run_on(type_: str) -> Any:
    """The meaning of `if A fails, run B`: the condition of the path from A, or a new path."""

    def of(scene: Scene, source: Step, target: Step) -> Iterator[Plan]:
        wanted = Condition(type_)
        there = scene.between(source.key, target.key)
        if there:
            return _condition_of_path(scene, there[0], wanted)
        return _connect(scene, source, target, wanted)

    return of


def _connect(scene: Scene, *parts: Any) -> Iterator[Plan]:
    source, target = (part for part in parts if isinstance(part, Step))
    wanted = first(parts, Condition) or ON_SUCCESS
    there = scene.between(source.key, target.key) or source.key in _after(scene, target.key)
    if not there and wanted.source in (None, source.key):
        path = _path(source.key, target.key, wanted)
        wish = f"connect {source.name} to {target.name} {_said(wanted)}"
        yield Plan(wish, Patch(edges={f"{source.key}->{target.key}": path}))


def _after(scene: Scene, key: str) -> set[str]:
    """The steps that run after a step, it included."""
    found, waiting = {key}, [key]
    while waiting:
        new = {e.target or "" for e in scene.out_of(waiting.pop())} - found - {""}
        found |= new
        waiting += new
    return found


def _also_run(scene: Scene, step: Step, condition: Condition) -> Iterator[Plan]:
    """A step runs in one case more: on a new path, or always on the one that is there."""
    for edge in scene.between(condition.source, step.key):
        if {edge.condition_type, condition.type} == {SUCCESS, FAILURE}:
            return _condition_of_path(scene, edge, Condition(ALWAYS, source=condition.source))
    if condition.source is None:
        paths = [e for e in scene.into(step.key) if e.source_step]
        if len(paths) == 1 and {paths[0].condition_type, condition.type} == {SUCCESS, FAILURE}:
            return _condition_of_path(scene, paths[0], Condition(ALWAYS))
    source = scene.by_key.get(condition.source or "")
    return _connect(scene, source, step, condition) if source else iter(())


def _remove_path(scene: Scene, *edges: Edge) -> Iterator[Plan]:
    for edge in edges:
        patch = Patch(remove=(f"edges.{edge.key}",))
        yield Plan(f"remove the path {scene.path_title(edge)}", patch)


def _move_step(scene: Scene, step: Step, after: Step, *not_after: Step) -> Iterator[Plan]:
    """The path into a step comes from another step; what follows it stays."""
    old = {s.key for s in not_after}
    paths = [e for e in scene.into(step.key) if e.source_step and (not old or e.source_step in old)]
    there = after.key in _after(scene, step.key) or scene.between(after.key, step.key)
    if len(paths) == 1 and not there:
        kept = Condition(paths[0].condition_type or ALWAYS, paths[0].condition_expression)
        edges: dict[str, Fields] = {f"{after.key}->{step.key}": _path(after.key, step.key, kept)}
        patch = Patch(edges=edges, remove=(f"edges.{paths[0].key}",))
        yield Plan(f"move {step.name} to after {after.name}", patch)


# ---- what starts it


def _triggers(scene: Scene, *types: str) -> tuple[Trigger, ...]:
    """The one trigger, when it is of one of these types."""
    found = scene.triggers if len(scene.triggers) == 1 else ()
    return tuple(t for t in found if not types or t.type in types)


def _scheduled(scene: Scene, cron: str | None, **more: Value) -> Iterator[Plan]:
    fields: Fields = {**more, "cron_expression": cron}
    if cron is not None:
        patch = Patch(triggers={scene.triggers[0].key: fields})
        yield Plan(f"run it on the schedule {cron}", patch)


def _set_schedule(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """Another time. Of two times, the first is that of today."""
    times = [time for part in parts if (time := as_when(part))]
    wanted = replace(times[-1], old=times[0]) if times[1:] else times[0]
    for trigger in _triggers(scene, "cron"):
        yield from _scheduled(scene, cron_after(trigger.cron_expression, wanted))


def _add_days(scene: Scene, said: When, *_: When) -> Iterator[Plan]:
    """Days more; a time that is said must be that of today."""
    days = When(more_days=said.weekdays, old=When(times=said.times) if said.times else None)
    if said.weekdays and replace(said, weekdays=None, times=None, same=False) == When():
        yield from _set_schedule(scene, days)


def _set_cron(scene: Scene, word: Word) -> Iterator[Plan]:
    return _scheduled(scene, word.text) if _triggers(scene, "cron") else iter(())


def _schedule_for_webhook(scene: Scene, *parts: Any) -> Iterator[Plan]:
    if _triggers(scene, "webhook"):
        yield from _scheduled(scene, cron_after(None, first(parts, When)), type="cron")


def _to_webhook(scene: Scene, *_: Any) -> Iterator[Plan]:
    for trigger in _triggers(scene, "cron", "kafka"):
        fields: dict[str, Value] = {"type": "webhook"}
        if trigger.cron_expression:
            fields["cron_expression"] = None
        yield Plan("start it by a webhook", Patch(triggers={trigger.key: fields}))


def _reply(value: str) -> Any:
    """The meaning of when a webhook is to answer."""

    def of(scene: Scene, *_: Any) -> Iterator[Plan]:
        for trigger in _triggers(scene, "webhook"):
            patch = Patch(triggers={trigger.key: {"webhook_reply": value}})
            yield Plan(f"let the webhook answer {value.replace('_', ' the ')}", patch)

    return of


MEANINGS: Meanings = {
    "new_name": _new_name,
    "rename_step": lambda scene, *parts: _rename_step(scene, first(parts, Step), first(parts, str)),
    "renames": _renames,
    "rename_workflow": lambda _, name: [Plan(f'rename the workflow to "{name}"', Patch(name=name))],
    "rename_label": _rename_label,
    "remove_steps": _remove_steps,
    "place_after": lambda _, step, condition=ON_SUCCESS: [Place(step.key, condition=condition)],
    "place_before": lambda _, step: [Place(target=step.key)],
    "place_between": _place_between,
    "place_end": _place_end,
    "add_step": _add_step,
    "add_on_failure": lambda scene, step, *new: _add_step(
        scene, Place(step.key, condition=Condition(FAILURE)), *new
    ),
    "adaptor": _adaptor,
    "new_adaptor": lambda _, adaptor: [adaptor],
    "old_adaptor": lambda _, adaptor: [replace(adaptor, old=True)],
    "with_adaptor": _with_adaptor,
    "version": lambda _, word: [word.text.lstrip("@")],
    "with_version": _with_version,
    "version_of_all": _version_of_all,
    "on": lambda _, word: [word.index == 0],
    "trigger": lambda scene, *_: _triggers(scene),
    "targets": lambda _, *parts: [parts],
    "switch": lambda scene, *parts: _switch(
        scene, *sorted(parts, key=lambda p: isinstance(p, tuple))
    ),
    "switch_on": lambda scene, targets: _switch(scene, True, targets),
    "switch_off": lambda scene, targets: _switch(scene, False, targets),
    "path_off_step": lambda scene, step: [
        plan for edge in scene.into(step.key) for plan in _switch(scene, False, (edge,))
    ],
    "always_step": _condition_of_step,
    "condition_of_step": _condition_of_step,
    "condition_of_path": _condition_of_path,
    "on_failure_run": _run_on(FAILURE),
    "on_success_run": _run_on(SUCCESS),
    "connect": _connect,
    "also_run": _also_run,
    "disconnect": lambda scene, one, other: _remove_path(
        scene, *scene.between(one.key, other.key), *scene.between(other.key, one.key)
    ),
    "remove_path": _remove_path,
    "move_step": _move_step,
    "set_schedule": _set_schedule,
    "reschedule": _set_schedule,
    "schedule_instead": lambda scene, *parts: (
        _set_schedule(scene, parts[-1]) if parts[-1].old else ()
    ),
    "from_old_hour": _set_schedule,
    "add_days": _add_days,
    "set_cron": _set_cron,
    "schedule_for_webhook": _schedule_for_webhook,
    "to_webhook": _to_webhook,
    "reply_after": _reply("after_completion"),
    "reply_before": _reply("before_start"),
}

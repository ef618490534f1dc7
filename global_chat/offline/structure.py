"""Commands that change the structure: each makes the patch that carries it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from global_chat.knowledge.specifier import parse_specifier
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch, Value

from .phrases import ALWAYS, EXPRESSION, FAILURE, SUCCESS, Condition, Where, unquoted
from .plans import Plan, together
from .reading import Word
from .scene import Scene, system_of
from .schedules import When, cron_after

#: The adaptor of a new step that is to be empty and names no system.
PLAIN_ADAPTOR = "common"
LONGEST_NAME = 100



def _said(condition: Condition) -> str:
    said = {SUCCESS: "on success", FAILURE: "on failure", ALWAYS: "always"}
    return said.get(condition.type, f"if {condition.expression}")


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step that is to be added, without code."""

    name: str
    system: str = PLAIN_ADAPTOR


# ---- names


def new_name(_: Scene, word: Word) -> Iterable[str]:
    text = " ".join(unquoted(word.text).split())
    if 0 < len(text) < LONGEST_NAME:
        yield text


def rename_step(scene: Scene, step: Step, name: str) -> Iterable[Plan]:
    if step.name != name and not any(s.name == name for s in scene.steps):
        yield Plan(f'rename "{step.name}" to "{name}"', Patch(jobs={step.key: {"name": name}}))


def rename_workflow(_: Scene, name: str) -> Iterable[Plan]:
    yield Plan(f'rename the workflow to "{name}"', Patch(name=name))


def rename_label(scene: Scene, what: Any, name: str) -> Iterator[Plan]:
    for edge in scene.edges:
        if what == edge or (isinstance(what, str) and edge.condition_label == what):
            fields: Fields = {"condition_label": name}
            wish = f'label the path {scene.path_title(edge)} "{name}"'
            yield Plan(wish, Patch(edges={edge.key: fields}))


# ---- steps


def remove_steps(scene: Scene, what: Any) -> Iterable[Plan]:
    keys = sorted({what.key} if isinstance(what, Step) else what)
    wish = f'remove {" and ".join(f"the step {scene.title(key)}" for key in keys)}'
    yield Plan(wish, Patch(remove=tuple(f"jobs.{key}" for key in keys)))


def new_step(scene: Scene, *parts: Any) -> Iterable[NewStep]:
    names = [p if isinstance(p, str) else unquoted(p.text) for p in parts if not isinstance(p, tuple) and not _is_adaptor(p)]
    systems = [system_of(p.text) for p in parts if _is_adaptor(p)]
    if len(names) == 1 and len(set(systems)) < 2 and names[0] and not scene.named(names[0]):
        yield NewStep(names[0], systems[0] if systems else PLAIN_ADAPTOR)


def _is_adaptor(part: Any) -> bool:
    return isinstance(part, Word) and part.type == "ADAPTOR"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new step goes: from `source` under a condition, in front of `target`, or both."""

    source: str | None = None
    target: str | None = None
    condition: Condition = Condition(SUCCESS)


def place_after(_: Scene, step: Step, *condition: Condition) -> Iterable[Place]:
    yield Place(step.key, condition=condition[0] if condition else Condition(SUCCESS))


def place_before(_: Scene, step: Step) -> Iterable[Place]:
    yield Place(target=step.key)


def place_between(scene: Scene, first: Step, last: Step) -> Iterable[Place]:
    if scene.between(first.key, last.key):
        yield Place(first.key, last.key)


def place_end(scene: Scene, *condition: Condition) -> Iterable[Place]:
    ends = [step.key for step in scene.steps if not scene.out_of(step.key)]
    wanted = condition[0] if condition else Condition(SUCCESS)
    return [Place(ends[0], condition=wanted)] if len(ends) == 1 else []


def add_step(scene: Scene, *parts: Any) -> Iterator[Plan]:
    names = [NewStep(p) for p in parts if isinstance(p, str)]
    new = next((p for p in parts if isinstance(p, NewStep)), names[0] if names else None)
    if new is None or scene.named(new.name):
        return
    for system in (system_of(p.text) for p in parts if _is_adaptor(p)):
        new = replace(new, system=system)
    place = [p for p in parts if isinstance(p, Place)]
    where = place[0] if place else next(iter(place_end(scene)), None)
    adaptor = scene.specifier(new.system)
    if where is None or adaptor is None or (where.condition.source not in (None, where.source)):
        return
    key = scene.new_key(new.name)
    edges: dict[str, Fields] = {}
    if where.target is None:
        edges[f"{where.source}->{key}"] = _path(where.source, key, where.condition)
    else:
        entering = scene.between(where.source, where.target) if where.source else scene.into(where.target)
        edges |= {edge.key: {"target_job": key} for edge in entering}
        edges[f"{key}->{where.target}"] = _path(key, where.target, Condition(SUCCESS))
    near = f"after {scene.title(where.source)}" if where.source else f"before {scene.title(where.target)}"
    if where.source and where.target:
        near = f"between {scene.title(where.source)} and {scene.title(where.target)}"
    if where.condition.type != SUCCESS:
        near += f" that runs {_said(where.condition)}"
    fields: Fields = {"name": new.name, "adaptor": adaptor, "body": ""}
    yield Plan(f'add an empty {new.system} step "{new.name}" {near}', Patch(jobs={key: fields}, edges=edges))


def add_on_failure(scene: Scene, step: Step, new: NewStep, *_: Any) -> Iterator[Plan]:
    return add_step(scene, new, Place(step.key, condition=Condition(FAILURE)))


def _path(source: str | None, target: str | None, condition: Condition) -> Fields:
    return {"source_job": source, "target_job": target, **_condition(condition), "enabled": True}


def _condition(condition: Condition) -> dict[str, Value]:
    fields: dict[str, Value] = {"condition_type": condition.type}
    if condition.type == EXPRESSION:
        fields["condition_expression"] = condition.expression
    return fields


# ---- adaptors


def new_adaptor(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """`use mailgun here instead of gmail`: the new one, where, the old one."""
    named = [system_of(p.text) for p in parts if _is_adaptor(p)]
    where = next((p for p in parts if isinstance(p, Where)), None)
    if len(named) == 2:
        return _swapped(scene, named[1], named[0], where)
    versions = {_version(p.text) for p in parts if _is_adaptor(p)}
    return _with_adaptor(scene, where, named[0], versions.pop()) if where else iter(())


def swap_adaptor(scene: Scene, old: Word, new: Word, *where: Where) -> Iterator[Plan]:
    return _swapped(scene, system_of(old.text), system_of(new.text), where[0] if where else None)


def adaptor_of(scene: Scene, where: Where, new: Word, *old: Word) -> Iterator[Plan]:
    if old:
        return _swapped(scene, system_of(old[0].text), system_of(new.text), where)
    return _with_adaptor(scene, where, system_of(new.text), _version(new.text))


def _version(text: str) -> str | None:
    return text.rpartition("@")[2] if "@" in text[1:] else None


def _swapped(scene: Scene, old: str, new: str, where: Where | None) -> Iterator[Plan]:
    using = frozenset(step.key for step in scene.steps if system_of(step.adaptor) == old)
    keys = using & where.keys if where else using
    if where and not where.every and keys != where.keys:
        return
    if not where and len(using) > 1:
        for key in sorted(using):
            yield from _with_adaptor(scene, Where(frozenset({key})), new, None)
    else:
        yield from _with_adaptor(scene, Where(keys), new, None)


def _with_adaptor(scene: Scene, where: Where, system: str, version: str | None) -> Iterator[Plan]:
    specifier = scene.specifier(system, version)
    if specifier is None or not where.keys:
        return
    jobs: dict[str, Fields] = {key: {"adaptor": specifier} for key in sorted(where.keys)}
    names = " and ".join(scene.title(key) for key in sorted(where.keys))
    yield Plan(f"use {specifier} in {names}", Patch(jobs=jobs))


def version(_: Scene, word: Word) -> Iterable[str]:
    yield word.text.lstrip("@")


def version_of(
    scene: Scene, where: Where, number: str, *without: frozenset[str]
) -> Iterator[Plan]:
    """Another version of whatever adaptor the steps use, which must be the same one."""
    where = Where(where.keys.difference(*without), where.every)
    systems = {system_of(scene.by_key[key].adaptor) for key in where.keys}
    if len(systems) == 1:
        yield from _with_adaptor(scene, where, systems.pop(), number)


def version_of_adaptor(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """Another version of one adaptor, in the steps named or in the only one that uses it."""
    system = next(system_of(p.text) for p in parts if _is_adaptor(p))
    number = next(p for p in parts if isinstance(p, str))
    where = next((p for p in parts if isinstance(p, Where)), None)
    using = frozenset(step.key for step in scene.steps if system_of(step.adaptor) == system)
    keys = using & where.keys if where else using
    if where and not where.every and keys != where.keys:
        return
    if where is None and len(using) > 1:
        for key in sorted(using):
            yield from _with_adaptor(scene, Where(frozenset({key})), system, number)
    yield from _with_adaptor(scene, Where(keys), system, number)


def version_of_open(scene: Scene, number: str) -> Iterator[Plan]:
    """Another version of the adaptor of the step that is open."""
    step = scene.open_step
    return version_of(scene, Where(frozenset({step.key})), number) if step else iter(())


def version_of_all(scene: Scene, number: str) -> Iterator[Plan]:
    """The same version of every adaptor, such as the latest."""
    systems = {system_of(step.adaptor) for step in scene.steps} - {""}
    every = frozenset(scene.by_key)
    plans = [p for system in sorted(systems) for p in _with_version(scene, system, every, number)]
    plan = together(plans) if plans else None
    if plan:
        yield plan


def _with_version(scene: Scene, system: str, keys: frozenset[str], number: str) -> Iterator[Plan]:
    using = frozenset(key for key in keys if system_of(scene.by_key[key].adaptor) == system)
    return _with_adaptor(scene, Where(using), system, number)


def adaptor_swap(scene: Scene, where: Where, old: Word, new: Word) -> Iterator[Plan]:
    return _swapped(scene, system_of(old.text), system_of(new.text), where)


def version_of_named(scene: Scene, word: Word, adaptor: Word, number: str) -> Iterator[Plan]:
    for step in scene.named(word.text):
        if system_of(step.adaptor) == system_of(adaptor.text):
            yield from version_of(scene, Where(frozenset({step.key})), number)


# ---- paths


def switched(on: bool) -> Callable[..., Iterable[Plan]]:
    """The function that switches paths and the trigger on or off."""
    return lambda scene, *what: switch(scene, on, *what)


def switch(scene: Scene, *parts: Any) -> Iterable[Plan]:
    on = next(p for p in parts if isinstance(p, bool))
    flat = [x for p in parts for x in (p[1:] if isinstance(p, tuple) and p[:1] == ("targets",) else [p])]
    plans = [_switched(scene, part, on) for part in flat if isinstance(part, Edge | Trigger)]
    plan = together(plans)
    return [plan] if plan else []


def _switched(scene: Scene, part: Edge | Trigger, on: bool) -> Plan:
    verb = "on" if on else "off"
    if isinstance(part, Edge):
        wish = f"switch {verb} the path {scene.path_title(part)}"
        return Plan(wish, Patch(edges={part.key: {"enabled": on}}))
    return Plan(f"switch {verb} the trigger", Patch(triggers={part.key: {"enabled": on}}))


def path_off_step(scene: Scene, step: Step) -> Iterator[Plan]:
    for edge in scene.into(step.key):
        yield _switched(scene, edge, on=False)


def condition_of_step(scene: Scene, step: Step, condition: Condition, *instead_of: Condition) -> Iterator[Plan]:
    """The condition of the path into a step: from the step that it depends on, else of the only one."""
    paths = scene.between(condition.source, step.key) if condition.source else scene.into(step.key)
    if condition.source is None and condition.type in (SUCCESS, FAILURE):
        paths = tuple(edge for edge in paths if edge.source_step)
    for edge in paths:
        if not any(_same(edge, other) for other in instead_of) and instead_of:
            continue
        yield from condition_of_path(scene, edge, condition)


def _same(edge: Edge, condition: Condition) -> bool:
    return (edge.condition_type or ALWAYS) == condition.type


def always_step(scene: Scene, step: Step) -> Iterator[Plan]:
    return condition_of_step(scene, step, Condition(ALWAYS))


def run_on(type_: str) -> Callable[..., Iterator[Plan]]:
    """The function that runs a step when another one fails or succeeds, by a new path if need be."""

    def of(scene: Scene, source: Step, target: Step) -> Iterator[Plan]:
        wanted = Condition(type_, source=source.key)
        there = scene.between(source.key, target.key)
        return condition_of_path(scene, there[0], wanted) if there else connect(scene, source, target, wanted)

    return of


def condition_of_path(scene: Scene, edge: Edge, condition: Condition, *_: Any) -> Iterator[Plan]:
    if condition.source not in (None, edge.source_step):
        return
    fields = _condition(condition)
    if condition.type != EXPRESSION and edge.condition_type == EXPRESSION:
        fields |= {"condition_expression": None, "condition_label": None}
    yield Plan(f"run {scene.path_title(edge)} {_said(condition)}", Patch(edges={edge.key: fields}))


def connect(scene: Scene, source: Step, target: Step, *condition: Condition) -> Iterator[Plan]:
    wanted = condition[0] if condition else Condition(SUCCESS)
    if source == target or wanted.source not in (None, source.key):
        return
    if scene.between(source.key, target.key) or source.key in _reachable(scene, target.key):
        return
    edges: dict[str, Fields] = {f"{source.key}->{target.key}": _path(source.key, target.key, wanted)}
    yield Plan(f"connect {source.name} to {target.name} {_said(wanted)}", Patch(edges=edges))


def _reachable(scene: Scene, key: str) -> set[str]:
    """The steps that run after a step, it included."""
    found, waiting = {key}, [key]
    while waiting:
        for edge in scene.out_of(waiting.pop()):
            if edge.target and edge.target not in found:
                found.add(edge.target)
                waiting.append(edge.target)
    return found


def also_run(scene: Scene, step: Step, condition: Condition) -> Iterator[Plan]:
    source = scene.by_key.get(condition.source or "")
    return connect(scene, source, step, condition) if source else iter(())


def disconnect(scene: Scene, one: Step, other: Step) -> Iterator[Plan]:
    for edge in (*scene.between(one.key, other.key), *scene.between(other.key, one.key)):
        yield from remove_path(scene, edge)


def remove_path(scene: Scene, edge: Edge) -> Iterator[Plan]:
    yield Plan(f"remove the path {scene.path_title(edge)}", Patch(remove=(f"edges.{edge.key}",)))


def move_step(scene: Scene, step: Step, after: Step, *not_after: Step) -> Iterator[Plan]:
    """The path into a step comes from another step; what follows it stays."""
    sources = {s.key for s in not_after}
    paths = [e for e in scene.into(step.key) if e.source_step and (not sources or e.source_step in sources)]
    if len(paths) != 1 or after.key in _reachable(scene, step.key) or scene.between(after.key, step.key):
        return
    old = paths[0]
    condition = Condition(old.condition_type or ALWAYS, old.condition_expression)
    edges: dict[str, Fields] = {f"{after.key}->{step.key}": _path(after.key, step.key, condition)}
    patch = Patch(edges=edges, remove=(f"edges.{old.key}",))
    yield Plan(f"move {step.name} to after {after.name}", patch)


# ---- what starts it


def trigger(scene: Scene, *_: Any) -> Iterable[Trigger]:
    return scene.triggers if len(scene.triggers) == 1 else []


def set_schedule(scene: Scene, *parts: Any) -> Iterator[Plan]:
    said = [p for p in parts if isinstance(p, When)]
    if len(scene.triggers) == 1 and scene.triggers[0].type == "cron" and said:
        trigger = scene.triggers[0]
        cron = cron_after(trigger.cron_expression, said[0])
        if cron is not None:
            yield _scheduled(trigger, cron)


def reschedule(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """From one time to another; a single time is the new one."""
    said = [p for p in parts if isinstance(p, When)]
    if len(said) == 1:
        return set_schedule(scene, *said)
    before, after = said
    return set_schedule(scene, When(**{**_fields(after), "old": before}))


def _fields(when: When) -> dict[str, Any]:
    return {name: getattr(when, name) for name in When.__dataclass_fields__}


def set_cron(scene: Scene, word: Word) -> Iterator[Plan]:
    for trigger in scene.triggers if len(scene.triggers) == 1 else ():
        if trigger.type == "cron":
            yield _scheduled(trigger, word.text)


def from_old_hour(scene: Scene, *parts: Any) -> Iterator[Plan]:
    """`it runs at 2, make it 4`"""
    before, hour = next(p for p in parts if isinstance(p, When | tuple)), parts[-1]
    old = before if isinstance(before, When) else When(times=frozenset({before}))
    return set_schedule(scene, When(times=frozenset({hour}), old=old))


def _scheduled(trigger: Trigger, cron: str) -> Plan:
    fields: Fields = {"cron_expression": cron}
    return Plan(f"run it on the schedule {cron}", Patch(triggers={trigger.key: fields}))


def schedule_for_webhook(scene: Scene, *parts: Any) -> Iterator[Plan]:
    said = next(p for p in parts if isinstance(p, When))
    if len(scene.triggers) == 1 and scene.triggers[0].type == "webhook":
        cron = cron_after(None, said)
        fields: Fields = {"type": "cron", "cron_expression": cron}
        if cron is not None:
            yield Plan(f"run it on the schedule {cron} instead of the webhook", Patch(triggers={scene.triggers[0].key: fields}))


def set_trigger(scene: Scene, *kind: str) -> Iterator[Plan]:
    wanted = next(k for k in kind if isinstance(k, str))
    if len(scene.triggers) == 1 and scene.triggers[0].type != wanted:
        fields: Fields = {"type": wanted, "cron_expression": None} if scene.triggers[0].cron_expression else {"type": wanted}
        yield Plan(f"start it by a {wanted}", Patch(triggers={scene.triggers[0].key: fields}))


def reply(value: str) -> Callable[..., Iterator[Plan]]:
    """The function that sets when a webhook answers."""

    def of(scene: Scene, *_: Any) -> Iterator[Plan]:
        if len(scene.triggers) == 1 and scene.triggers[0].type == "webhook":
            fields: Fields = {"webhook_reply": value}
            yield Plan(f"let the webhook answer {value.replace('_', ' the ')}", Patch(triggers={scene.triggers[0].key: fields}))

    return of


COMMANDS: dict[str, Callable[..., Iterable[Any]]] = {
    f.__name__: f
    for f in (new_name, rename_step, rename_workflow, rename_label, remove_steps, new_step, place_after,
              place_before, place_between, place_end, add_step, add_on_failure, new_adaptor,
              swap_adaptor, adaptor_of, version, version_of, version_of_adaptor, version_of_named,
              version_of_open, version_of_all, adaptor_swap, always_step, set_cron, from_old_hour,
              switch, path_off_step, condition_of_step, condition_of_path, connect, also_run,
              disconnect, remove_path, move_step, trigger, set_schedule, reschedule,
              schedule_for_webhook, set_trigger)
} | {
    "true": lambda *_: [True],
    "false": lambda *_: [False],
    "on_failure_run": run_on(FAILURE),
    "on_success_run": run_on(SUCCESS),
    "switch_on": switched(True),
    "switch_off": switched(False),
    "webhook": lambda *_: ["webhook"],
    "kafka": lambda *_: ["kafka"],
    "reply_after": reply("after_completion"),
    "reply_before": reply("before_start"),
}  # fmt: skip

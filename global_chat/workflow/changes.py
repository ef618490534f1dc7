"""What changed between two workflows, one line a change, in the words of whoever draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from global_chat.contract.specifier import PREFIX
from global_chat.workflow import other_keys
from global_chat.workflow.forms.settings import CURSOR, SETTING_PATHS
from global_chat.workflow.other_keys import OtherKeys, differences, sentence
from global_chat.workflow.parts import Edge, Step, Trigger

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

_CONDITIONS = {
    "always": "always",
    "on_job_success": "on success",
    "on_job_failure": "on failure",
    "js_expression": "on a condition",
}


def changes(
    old: Workflow, new: Workflow, renamed: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """What `new` has that `old` has not, and the other way round, in the order of `new`.

    Steps are the same when their ids are, else when their keys are, else when their names are,
    else when their adaptor and code are; `renamed` gives the new keys of old steps if known.
    Every change in what a run does is told. Nothing is said of comments, positions, ids and the
    keys of paths; a secret is told by its name only.
    """
    marks: tuple[Callable[[Step], str], ...]
    marks = (lambda s: s.name, lambda s: f"{s.adaptor} {s.code}")
    steps = pairs(old.steps, new.steps, renamed or {}, *marks)
    triggers = pairs(old.triggers, new.triggers, {}, lambda t: t.type)
    if len(old.triggers) == len(new.triggers) == 1:
        triggers = [(old.triggers[0], new.triggers[0])]
    ends = _Ends(old, new, steps, triggers)
    was, now = (other_keys.of_parts(each.source, each.layout) for each in (old, new))
    lines: list[str] = []
    if not old.is_empty and not new.is_empty:
        lines += _name(old.name, new.name)
        lines += ends.start(old, new)
    beside = (other_keys.of_workflow(each.source, each.layout) for each in (old, new))
    lines += differences("the workflow", *beside)
    for before, after in steps:
        lines += _step(before, after)
        if after:
            lines += differences(after.name, was.get(id(before), {}), now[id(after)])
    for first, then in triggers:
        lines += _trigger(first, then, is_only=len(new.triggers) == 1)
        if then:
            lines += ends.cursor(first, then)
            keys = _lasting(first, then, was.get(id(first), {}), now[id(then)])
            lines += differences(f"trigger {then.key}", keys, now[id(then)])
    lines += ends.edges(old.edges, new.edges, was, now)
    return tuple(lines)


def project_changes(old: Workflow, new: Workflow) -> tuple[str, ...]:
    """What changed in the project beside its workflows, when both stand in one."""
    was, now = (other_keys.of_project(each.source, each.root) for each in (old, new))
    return () if was is None or now is None else tuple(differences("the project", was, now))


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """How many lines `after` adds to `before` and how many it takes away.

    Lines that only end in another way count when nothing else differs.
    """
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    old, new = old[same:], new[same:]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    blocks = SequenceMatcher(None, old, new, autojunk=len(old) > 2_000).get_matching_blocks()
    kept = sum(block.size for block in blocks)
    return len(new) - kept, len(old) - kept


def adaptor_name(adaptor: str | None) -> str:
    """`@openfn/language-http@6.5.4` → `http@6.5.4`."""
    return (adaptor or "no adaptor").removeprefix(PREFIX)


P = TypeVar("P", Step, Trigger)
Pair: TypeAlias = "tuple[P | None, P | None]"


def pairs(
    old: Sequence[P],
    new: Sequence[P],
    renamed: Mapping[str, str],
    *marks: Callable[[P], str | None],
) -> list[Pair[P]]:
    """Which part of `new` is which of `old`: as `renamed` says, by id, by key, then by each of
    `marks`, where only one part on either side has it.

    Parts of `old` that went come last, with None beside them; new ones have None before them.
    """
    by_key = {part.key: part for part in new}
    partner = {id(by_key[renamed[p.key]]): p for p in old if renamed.get(p.key) in by_key}
    left = [part for part in old if renamed.get(part.key) not in by_key]
    for mark in (lambda p: p.id, lambda p: p.key, *marks):
        open_ = [part for part in new if id(part) not in partner]
        by_mark, by_new_mark = _unique(left, mark), _unique(open_, mark)
        partner |= {id(by_new_mark[m]): by_mark[m] for m in by_mark if m in by_new_mark}
        gone = {id(part) for part in partner.values()}
        left = [part for part in left if id(part) not in gone]
    together: list[Pair[P]] = [(partner.get(id(part)), part) for part in new]
    return together + [(part, None) for part in left]


def _unique(parts: Sequence[P], mark: Callable[[P], str | None]) -> dict[str, P]:
    often = Counter(mark(part) for part in parts)
    return {m: part for part in parts if (m := mark(part)) and often[m] == 1}


def _name(old: str | None, new: str | None) -> Iterator[str]:
    if old and new and old != new:
        yield f"Workflow renamed from {old} to {new}"
    elif old != new:
        yield sentence("Name", "the workflow", old, new)


def _step(old: Step | None, new: Step | None) -> Iterator[str]:
    if new is None:
        yield f"Removed step {old.name if old else ''}"
    elif old is None:
        yield f"Added step {new.name} ({adaptor_name(new.adaptor).rsplit('@', 1)[0]})"
        if new.has_code:
            yield code_change(new.name, "", new.code or "")
    else:
        if old.name != new.name:
            yield f"Renamed step {old.name} to {new.name}"
        elif old.key != new.key:
            yield f"Key of step {new.name} changed from {old.key} to {new.key}"
        if old.adaptor != new.adaptor:
            was, now = adaptor_name(old.adaptor), adaptor_name(new.adaptor)
            yield f"Adaptor of {new.name} changed from {was} to {now}"
        if old.code_path != new.code_path:
            yield f"Code of {new.name} now comes from {new.code_path or 'the document itself'}"
        elif (old.code or "") != (new.code or ""):
            yield code_change(new.name, old.code or "", new.code or "")


def code_change(name: str, before: str, after: str) -> str:
    """The change of one step's code, in one line."""
    added, removed = changed_lines(before, after)
    return f"Code of {name} changed (+{added} −{removed})"


def _trigger(old: Trigger | None, new: Trigger | None, *, is_only: bool) -> Iterator[str]:
    if new is None:
        yield f"Removed trigger {old.key if old else ''}"
        return
    if old is None:
        schedule = f" `{new.cron_expression}`" if new.cron_expression else ""
        yield f"Added trigger {new.key} ({new.type}{schedule}, {_switched(new.enabled)})"
        return
    if old.key != new.key and old.type == new.type:
        yield f"Renamed trigger {old.key} to {new.key}"
    which = "" if is_only else f" {new.key}"
    if old.type != new.type:
        schedule = f" (`{new.cron_expression}`)" if new.cron_expression else ""
        was, now = old.type or "no type", new.type or "no type"
        yield f"Trigger{which} changed from {was} to {now}{schedule}"
    elif old.cron_expression != new.cron_expression:
        yield f"Schedule{which and f' of trigger{which}'} {_schedule(old, new)}"
    if (old.enabled is not False) != (new.enabled is not False):
        yield f"Trigger {new.key} switched {_switched(new.enabled)}"


def _schedule(old: Trigger, new: Trigger) -> str:
    if new.cron_expression is None:
        return "removed"
    was = f"changed from `{old.cron_expression}`" if old.cron_expression else "set"
    return f"{was} to `{new.cron_expression}`"


def _lasting(old: Trigger | None, new: Trigger, was: OtherKeys, now: OtherKeys) -> OtherKeys:
    """The old keys without the settings that went together with the trigger's type; nobody needs
    to be told."""
    if old is None or old.type == new.type:
        return was
    settings = {path[0] for path in SETTING_PATHS.values()}
    return {path: v for path, v in was.items() if path in now or path[0] not in settings}


def _switched(enabled: bool | None) -> str:
    return "off" if enabled is False else "on"


class _Ends:
    """Compares edges by the parts at their ends, so that a renamed step's paths stay the same."""

    def __init__(
        self,
        old: Workflow,
        new: Workflow,
        steps: Iterable[tuple[Step | None, Step | None]],
        triggers: Iterable[tuple[Trigger | None, Trigger | None]],
    ) -> None:
        self._step_now = {a.key: b.key for a, b in steps if a and b}
        self._trigger_now = {a.key: b.key for a, b in triggers if a and b}
        self._old_names = {step.key: step.name for step in old.steps}
        self._new_names = {step.key: step.name for step in new.steps}
        self._gone = {step.key for step in old.steps} - self._step_now.keys()
        self._gone_triggers = {t.key for t in old.triggers} - self._trigger_now.keys()

    def start(self, old: Workflow, new: Workflow) -> Iterator[str]:
        """Where a run begins. Without `start:` that is the trigger, if there is but one."""
        if old.start is None and new.start is None:
            return
        was, now = _start(old), _start(new)
        gone = was in self._gone or was in self._gone_triggers
        expected = self._step_now.get(was or "") or self._trigger_now.get(was or "") or was
        if expected != now and not (gone and now is None):
            names = self._old_names.get(was or "", was), self._new_names.get(now or "", now)
            yield sentence("Start", "the workflow", *names)

    def cursor(self, old: Trigger | None, new: Trigger) -> Iterator[str]:
        """The step whose output the next scheduled run begins with."""
        was, now = _cursor(old), _cursor(new)
        if self._step_now.get(was or "", was) != now:
            names = self._old_names.get(was or "", was), self._new_names.get(now or "", now)
            yield sentence("Cursor", f"trigger {new.key}", *names)

    def edges(
        self,
        old: Iterable[Edge],
        new: Iterable[Edge],
        was: Mapping[int, OtherKeys],
        now: Mapping[int, OtherKeys],
    ) -> Iterator[str]:
        before: dict[tuple[str | None, ...], list[Edge]] = {}
        for edge in old:
            before.setdefault(self._ends_now(edge), []).append(edge)
        for edge in new:
            same = before.get((edge.source_trigger, edge.source_step, edge.target))
            path = _path(edge, self._new_names)
            if same:
                partner = same.pop(0)
                yield from _edge(path, partner, edge)
                yield from differences(f"path {path}", was[id(partner)], now[id(edge)])
            else:
                off = ", switched off" if edge.enabled is False else ""
                yield f"Added path {path} ({_condition(edge)}{off})"
        for edge in (edge for rest in before.values() for edge in rest):
            if not self._implied(edge):
                off = " (switched off)" if edge.enabled is False else ""
                yield f"Removed path {_path(edge, self._old_names)}{off}"

    def _ends_now(self, edge: Edge) -> tuple[str | None, ...]:
        """Where the old `edge` runs in terms of the new keys."""
        return (
            self._trigger_now.get(edge.source_trigger or "", edge.source_trigger),
            self._step_now.get(edge.source_step or "", edge.source_step),
            self._step_now.get(edge.target or "", edge.target),
        )

    def _implied(self, edge: Edge) -> bool:
        """A step or trigger that went takes its paths with it; nobody needs to be told."""
        return (
            edge.target in self._gone
            or edge.source_step in self._gone
            or edge.source_trigger in self._gone_triggers
        )


def _path(edge: Edge, names: dict[str, str]) -> str:
    source = edge.source_trigger or names.get(edge.source_step or "", edge.source_step)
    return f"{source or '?'} → {names.get(edge.target or '', edge.target or '?')}"


def _start(workflow: Workflow) -> str | None:
    only = workflow.triggers[0].key if len(workflow.triggers) == 1 else None
    return workflow.start or only


def _cursor(trigger: Trigger | None) -> str | None:
    cursor = trigger.settings.get(CURSOR) if trigger else None
    return None if cursor is None else str(cursor)


def _rule(edge: Edge) -> tuple[str, str]:
    """When a path runs, however the document breaks its lines at the end."""
    return edge.condition_type or "always", (edge.condition_expression or "").strip()


def _condition(edge: Edge) -> str:
    words = _CONDITIONS.get(edge.condition_type or "always", str(edge.condition_type))
    expression = " ".join((edge.condition_expression or "").split())
    return f"if `{expression}`" if edge.condition_type == "js_expression" and expression else words


def _edge(path: str, old: Edge, new: Edge) -> Iterator[str]:
    if _rule(old) != _rule(new):
        yield f"Path {path} now runs {_condition(new)}"
    if (old.condition_label or None) != (new.condition_label or None):
        label = old.condition_label or None, new.condition_label or None
        yield sentence("Label", f"path {path}", *label)
    if (old.enabled is not False) != (new.enabled is not False):
        yield f"Path {path} switched {_switched(new.enabled)}"

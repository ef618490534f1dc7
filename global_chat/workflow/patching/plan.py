"""What a patch makes of a workflow: every step, trigger and path of the result, beside what it was.

The plan knows no form. It is made whole or not at all: what cannot be done is named in
`PatchRejected`, part by part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from global_chat.workflow.checking.adaptors import adaptor_problem, full_specifier
from global_chat.workflow.checking.part_rules import name_problem
from global_chat.workflow.drafting import placeholder_owner
from global_chat.workflow.forms.layout import Layout, Plan, Planned
from global_chat.workflow.forms.settings import CURSOR, KAFKA, settings_by_name
from global_chat.workflow.parts import EMPTY_BODY, Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch, PatchRejected
from global_chat.workflow.patching.given import (
    STEP_ENDS,
    Findings,
    fresh_id,
    goes_by_name,
    in_own_terms,
    not_there,
    unknown_fields,
    unset_fields,
    wrong_removals,
    wrong_types,
)
from global_chat.workflow.patching.paths import plan_paths
from global_chat.yaml.nodes import Value

#: Settings that mean something for one type of trigger only; they go when the type changes.
_SETTINGS_OF = {
    "webhook": frozenset({"custom_path", "webhook_reply", "webhook_response_config"}),
    "cron": frozenset({CURSOR}),
    "kafka": frozenset({KAFKA}),
}


def make_plan(
    layout: Layout,
    patch: Patch,
    adaptors: Mapping[str, Collection[str]] | None,
    *,
    unknown_adaptors: bool,
) -> Plan:
    """The plan for `patch`. `adaptors`: known versions by package name, None when nothing is known.

    An adaptor that is not known is a problem, or with `unknown_adaptors` a warning: a catalogue
    does not hold everything. Raises `PatchRejected`.
    """
    if wrong := list(wrong_types(patch)):
        raise PatchRejected(*wrong)
    patch = in_own_terms(layout, patch)
    found = Findings([*wrong_removals(layout, patch), *unknown_fields(layout, patch)])
    planner = _Planner(layout, patch, adaptors, found, unknown_adaptors)
    plan = planner.plan()
    if found.problems:
        raise PatchRejected(*found.problems)
    return replace(plan, warnings=(*found.warnings, *unset_fields(layout, patch)))


@dataclass(frozen=True, slots=True)
class _Planner:
    layout: Layout
    patch: Patch
    adaptors: Mapping[str, Collection[str]] | None
    found: Findings
    unknown_adaptors: bool

    def plan(self) -> Plan:
        steps = self._steps()
        triggers = self._triggers(steps)
        edges = plan_paths(self.layout, self.patch, steps, triggers, self.found)
        name = self.patch.name.strip() if self.patch.name else None
        return Plan(
            name=name if name and name != self.layout.name else None,
            steps=tuple(_in_order(steps, edges)),
            triggers=tuple(triggers),
            edges=tuple(edges),
            start=self._start(steps, triggers),
        )

    def _steps(self) -> list[Planned[Step]]:
        there = {p.part.key: p for p in self.layout.steps}
        planned = [
            Planned(p, self._kept_step(p.part, self.patch.jobs.get(key, {}), goes_by_name(p)))
            for key, p in there.items()
            if f"jobs.{key}" not in self.patch.remove
        ]
        for key, fields in self.patch.jobs.items():
            if key not in there and (step := self._new_step(key, fields, list(there))):
                planned.append(Planned(None, step))
        self._check_names(planned)
        return planned

    def _kept_step(self, old: Step, fields: Fields, by_name: bool) -> Step:
        self._check_code(old.name, fields, old.code)
        if fields.get("name", "") is None or fields.get("adaptor", "") is None:
            self.found.problems.append(f"The step `{old.key}` cannot be without a name or adaptor.")
            return old
        name, adaptor = str(fields.get("name", old.name)).strip(), old.adaptor
        if "adaptor" in fields:
            adaptor = self._adaptor(old.key, str(fields["adaptor"]), old.adaptor)
        return replace(old, key=name if by_name and name else old.key, name=name, adaptor=adaptor)

    def _new_step(self, key: str, fields: Fields, there: list[str]) -> Step | None:
        touched = {e.get(end) for e in self.patch.edges.values() for end in STEP_ENDS}
        if not fields.get("adaptor") or not ("name" in fields or key in touched):
            needs = "A new one needs a `name` and an `adaptor`"
            self.found.problems.append(not_there("step", key, there, needs))
            return None
        triggers = [p.part.key for p in self.layout.triggers]
        self._check_key(key, (*triggers, *self.patch.triggers))
        code = self._check_code(key, fields, None)
        new_id = fresh_id((p.part.id for p in self.layout.steps), self.layout)
        name = str(fields.get("name") or key).strip()
        adaptor = self._adaptor(key, str(fields["adaptor"]), None)
        return Step(key, name, adaptor, code or EMPTY_BODY, id=new_id)

    def _check_key(self, key: str, others: Iterable[str]) -> None:
        """Steps and triggers of a list share their keys, and no key is blank."""
        if not key.strip() or (self.layout.form.is_list and key in others):
            self.found.problems.append(
                f"`{key}` cannot be the key of a new part: give it one of its own."
            )

    def _check_code(self, name: str, fields: Fields, old: str | None) -> str | None:
        """Code never comes from a patch, except into a workflow that has no steps yet."""
        body = fields.get("body")
        code = body if isinstance(body, str) and not placeholder_owner(body) else ""
        lines = [line.strip() for line in code.splitlines()]
        if not any(line and not line.startswith("//") for line in lines):
            return None
        if not self.layout.steps:
            return code
        if code.strip() != (old or "").strip():
            self.found.warnings.append(
                f"Code that came with the step {name} was left out: this changes structure only."
            )
        return None

    def _adaptor(self, key: str, given: str, old: str | None) -> str:
        """The adaptor as the app writes it."""
        adaptor = full_specifier(given, self.adaptors)
        if old and adaptor == full_specifier(old, self.adaptors):
            return old
        in_use = {p.part.adaptor for p in self.layout.steps}
        wrong = adaptor_problem(adaptor, self.adaptors) if adaptor not in in_use else None
        if wrong:
            rule, message, suggestion = wrong
            sentence = f"Step `{key}`: {message}{f' {suggestion}' if suggestion else ''}"
            if rule == "adaptor-format" or not self.unknown_adaptors:
                self.found.problems.append(sentence)
            else:
                self.found.warnings.append(sentence)
        return adaptor

    def _check_names(self, planned: list[Planned[Step]]) -> None:
        """A new name is one that the app takes and that no other step has; old ones may stay."""
        first: dict[str, Planned[Step]] = {}
        for part in sorted(planned, key=lambda p: not (p.old and p.old.name == p.new.name)):
            named = not (part.old and part.old.name == part.new.name)
            if named and (wrong := name_problem(part.new.name)):
                self.found.problems.append(wrong)
            if first.setdefault(part.new.name, part) is not part and named:
                self.found.problems.append(
                    f"Two steps would have the name `{part.new.name}`. Give each a name of its own."
                )

    def _triggers(self, steps: list[Planned[Step]]) -> list[Planned[Trigger]]:
        """What becomes of the trigger: a workflow has one, so the only one that is taken out for
        another is that one, changed."""
        patch, problems = self.patch, self.found.problems
        there = {placed.part.key: placed for placed in self.layout.triggers}
        kept = [key for key in there if f"triggers.{key}" not in patch.remove]
        fresh = [key for key in patch.triggers if key not in there]
        planned = [Planned(there[key], self._trigger(there[key].part, key, steps)) for key in kept]
        for key in fresh:
            self._check_key(key, [step.new.key for step in steps])
            if len(there) == len(fresh) == 1 and not kept:
                (old,) = there.values()
                return [Planned(old, replace(self._trigger(old.part, key, steps), key=key))]
            if not patch.triggers[key].get("type"):
                needs = "A new one needs a `type`"
                problems.append(not_there("trigger", key, there, needs))
            elif kept:
                problems.append(
                    f"A workflow has one trigger, `{kept[0]}`. Change that one under its key, "
                    f"its `type` included, instead of adding `{key}`."
                )
            elif planned:
                problems.append(f"A workflow has one trigger. Give only one, without `{key}`.")
            else:
                # Off, and written so, unless it is given as on.
                new = self._trigger(Trigger(key, enabled=False), key, steps)
                new_id = fresh_id((old.part.id for old in there.values()), self.layout)
                planned.append(Planned(None, replace(new, key=key, id=new_id)))
        return planned

    def _trigger(self, old: Trigger, given: str, steps: list[Planned[Step]]) -> Trigger:
        """What the patch makes of a trigger. Id and `enabled` stay whatever its type is."""
        fields = self.patch.triggers.get(given, {})
        if fields.get("type", "") is None:
            self.found.problems.append(f"The trigger `{given}` cannot be without a type.")
        type_ = str(fields.get("type") or old.type or "") or None
        cron = fields.get("cron_expression", old.cron_expression)
        if str(cron).split() == str(old.cron_expression).split():
            cron = old.cron_expression if type_ in ("cron", old.type) else None
        elif cron and type_ in ("webhook", "kafka"):
            self.found.problems.append(
                f"The trigger `{given}` is a {type_}, which has no schedule. Set `type: cron` with "
                "the `cron_expression`."
            )
        enabled = fields.get("enabled", old.enabled)
        return replace(
            old,
            key=self._trigger_key(old, type_),
            type=type_,
            enabled=enabled if isinstance(enabled, bool) else None,
            cron_expression=str(cron) if cron is not None else None,
            settings=self._settings(old, type_, fields, steps),
        )

    def _trigger_key(self, old: Trigger, type_: str | None) -> str:
        """A trigger that is named after its type follows it, where that key is free."""
        taken = {p.part.key for p in self.layout.triggers}
        if self.layout.form.is_list:
            taken |= {p.part.key for p in self.layout.steps} | self.patch.jobs.keys()
        return type_ if type_ and old.key == old.type and type_ not in taken else old.key

    def _settings(
        self, old: Trigger, type_: str | None, fields: Fields, steps: list[Planned[Step]]
    ) -> dict[str, Value]:
        foreign: set[str] = set()
        if type_ != old.type:
            foreign = {k for t, keys in _SETTINGS_OF.items() if t != type_ for k in keys}
        kept = {key: value for key, value in old.settings.items() if key not in foreign}
        settings = _merged(kept, settings_by_name(fields))
        self._follow_cursor(old, settings, steps)
        return settings

    def _follow_cursor(
        self, old: Trigger, settings: dict[str, Value], steps: list[Planned[Step]]
    ) -> None:
        """A cursor names a step: it follows the step's key, and goes when the step goes."""
        cursor = settings.get(CURSOR)
        if not isinstance(cursor, str):
            return
        now = {p.old.key: p.new.key for p in steps if p.old}
        keys = {p.new.name: p.new.key for p in steps} | {p.new.key: p.new.key for p in steps} | now
        if cursor in keys:
            settings[CURSOR] = keys[cursor]
        elif cursor in {p.part.key for p in self.layout.steps}:
            del settings[CURSOR]
            self.found.warnings.append(
                f"The trigger {old.key} went on from the last state of {cursor}, which is gone: "
                "that setting was taken out too."
            )
        elif cursor != old.settings.get(CURSOR):
            self.found.problems.append(
                not_there("step", cursor, sorted(keys), "A cursor names a step")
            )

    def _start(self, steps: list[Planned[Step]], triggers: list[Planned[Trigger]]) -> str | None:
        """`start` names a step or trigger: it follows its key, and goes when the part goes."""
        start = self.layout.start
        now = {p.old.key: p.new.key for p in steps if p.old}
        now |= {p.old.key: p.new.key for p in triggers if p.old}
        there = {p.part.key for p in self.layout.steps}
        there |= {p.part.key for p in self.layout.triggers}
        if start and len(triggers) == 1 and not (self.layout.triggers and start in now):
            return triggers[0].new.key
        if start is None or start in now or start not in there:
            return now.get(start or "", start)
        self.found.warnings.append(f"`start` named {start}, which is gone: it was taken out too.")
        return None


def _in_order(steps: list[Planned[Step]], edges: Iterable[Planned[Edge]]) -> list[Planned[Step]]:
    """The steps with every new one behind the step that leads to it, else at the end.

    So the order of a patch does not matter, and a file reads in the order of its paths.
    """
    leads_to: dict[str, list[str]] = {}
    for edge in edges:
        if edge.new.source_step and edge.new.target:
            leads_to.setdefault(edge.new.target, []).append(edge.new.source_step)
    ordered = [step for step in steps if step.old]
    waiting = [step for step in steps if not step.old]
    while waiting:
        at = {step.new.key: place for place, step in enumerate(ordered)}
        for step in waiting:
            places = [at[key] for key in leads_to.get(step.new.key, ()) if key in at]
            if places:
                place = max(places) + 1
                while place < len(ordered) and not ordered[place].old:
                    place += 1
                ordered.insert(place, step)
                waiting.remove(step)
                break
        else:
            return ordered + waiting
    return ordered


def _merged(old: Mapping[str, Value], new: Mapping[str, Value]) -> dict[str, Value]:
    """`old` with what `new` says; null takes a key away, and mappings are merged key by key."""
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(before, dict):
            result[key] = _merged(before, value)
            if before and not result[key]:
                del result[key]
        else:
            result[key] = value
    return result

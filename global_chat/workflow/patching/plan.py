"""What a patch makes of a workflow: every step, trigger and path of the result, beside what it was.

The plan knows no form. It is made whole or not at all: what cannot be done is named in
`PatchRejected`, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from global_chat.workflow.checking.adaptors import adaptor_problem, full_specifier
from global_chat.workflow.checking.part_rules import name_problem
from global_chat.workflow.drafting import edge_fields, placeholder_owner, trigger_fields
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch, PatchRejected, Value
from global_chat.workflow.patching.paths import plan_paths
from global_chat.workflow.patching.planned import (
    Findings,
    Plan,
    Planned,
    fresh_id,
    merged,
    not_there,
)
from global_chat.workflow.reading.forms import Layout
from global_chat.workflow.reading.nodes import text_of
from global_chat.workflow.reading.trigger_settings import CURSOR, KAFKA, settings_by_name

EMPTY_BODY = "// Add operations here\n"

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
    planner = _Planner(layout, patch, adaptors, Findings(), unknown_adaptors)
    plan = planner.plan()
    if planner.found.problems:
        raise PatchRejected(*planner.found.problems)
    return plan


@dataclass(frozen=True, slots=True)
class _Planner:
    layout: Layout
    patch: Patch
    adaptors: Mapping[str, Collection[str]] | None
    found: Findings
    unknown_adaptors: bool

    def plan(self) -> Plan:
        self._check_removals()
        steps = self._steps()
        triggers = self._triggers(steps)
        edges = plan_paths(self.layout, self.patch, steps, triggers, self.found)
        name = self.patch.name.strip() if self.patch.name else None
        start = self._start(steps, triggers)
        self._check_left_over()
        return Plan(
            name=name if name and name != self.layout.name else None,
            steps=tuple(_in_order(steps, edges)),
            triggers=tuple(triggers),
            edges=tuple(edges),
            start=start,
            warnings=tuple(self.found.warnings),
        )

    def _check_removals(self) -> None:
        """What is removed is there, and nothing is removed and changed at once."""
        groups = self._groups()
        for name in dict.fromkeys(self.patch.remove):
            section, _, key = name.partition(".")
            if section not in groups:
                self.found.problems.append(
                    f"`{name[:80]}` in `remove` does not say what it is: write `jobs.KEY`, "
                    "`triggers.KEY` or `edges.KEY`."
                )
                continue
            what, there, given = groups[section]
            if key not in there:
                self.found.problems.append(not_there(what, key, there, "It cannot be removed"))
            elif key in given:
                self.found.problems.append(
                    f"`{name}` is removed and changed at once. Leave it out of `remove` or of the "
                    "YAML."
                )

    def _groups(self) -> dict[str, tuple[str, list[str], Mapping[str, Fields]]]:
        layout, patch = self.layout, self.patch
        return {
            "jobs": ("step", [p.part.key for p in layout.steps], patch.jobs),
            "triggers": ("trigger", [p.part.key for p in layout.triggers], patch.triggers),
            "edges": ("path", [p.part.key for p in layout.edges], patch.edges),
        }

    def _steps(self) -> list[Planned[Step]]:
        there = {p.part.key for p in self.layout.steps}
        planned = [
            Planned(p.part, self._kept_step(p.part, self.patch.jobs.get(p.part.key, {})))
            for p in self.layout.steps
            if f"jobs.{p.part.key}" not in self.patch.remove
        ]
        for key, fields in self.patch.jobs.items():
            if key not in there and (step := self._new_step(key, fields, sorted(there))):
                planned.append(Planned(None, step))
        self._check_names(planned)
        return planned

    def _kept_step(self, old: Step, fields: Fields) -> Step:
        self._check_code(old.name, fields, old.code)
        if fields.get("name", "") is None or fields.get("adaptor", "") is None:
            self.found.problems.append(f"The step `{old.key}` cannot be without a name or adaptor.")
            return old
        name = str(fields.get("name", old.name)).strip()
        adaptor = old.adaptor
        if "adaptor" in fields and fields["adaptor"] != old.adaptor:
            adaptor = self._adaptor(old.key, str(fields["adaptor"]), old.adaptor)
        return replace(
            old, key=self._key_of_renamed(old, name), name=name or old.name, adaptor=adaptor
        )

    def _key_of_renamed(self, old: Step, name: str) -> str:
        """The key stays, but for a step that has none: an item of a list that goes by its name."""
        placed = self.layout.step(old.key)
        mapping = placed.mapping if placed else None
        nameless = self.layout.form == "steps" and mapping and text_of(mapping, "id") is None
        return name if nameless and name else old.key

    def _new_step(self, key: str, fields: Fields, there: list[str]) -> Step | None:
        touched = {e.get(end) for e in self.patch.edges.values() for end in _STEP_ENDS}
        if not fields.get("adaptor") or not ("name" in fields or key in touched):
            self.found.problems.append(
                not_there("step", key, there, "A new one needs a `name` and an `adaptor`")
            )
            return None
        if not key.strip() or (self.layout.form == "steps" and key in self._trigger_keys()):
            self.found.problems.append(
                f"`{key}` cannot be the key of a new step: give it one of its own."
            )
            return None
        code = self._check_code(key, fields, None)
        new_id = fresh_id((p.part.id for p in self.layout.steps), self.layout)
        name = str(fields.get("name") or key).strip()
        adaptor = self._adaptor(key, str(fields["adaptor"]), None)
        return Step(key, name, adaptor, code or EMPTY_BODY, id=new_id)

    def _trigger_keys(self) -> set[str]:
        return {p.part.key for p in self.layout.triggers} | self.patch.triggers.keys()

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
        layout, patch = self.layout, self.patch
        kept = [p.part for p in layout.triggers if f"triggers.{p.part.key}" not in patch.remove]
        there = [p.part.key for p in layout.triggers]
        fresh = [key for key in patch.triggers if key not in there]
        if len(there) == len(fresh) == 1 and not kept:
            # A workflow has one trigger: the only one taken out for another is that one, changed.
            (placed,), (key,) = layout.triggers, fresh
            return [Planned(placed.part, self._kept_trigger(placed.part, key, steps, moved=True))]
        planned = [Planned(t, self._kept_trigger(t, t.key, steps)) for t in kept]
        for key in fresh:
            if not patch.triggers[key].get("type"):
                self.found.problems.append(
                    not_there("trigger", key, there, "A new one needs a `type`")
                )
            elif kept:
                self.found.problems.append(
                    f"A workflow has one trigger, `{kept[0].key}`. Change that one under its key, "
                    f"its `type` included, instead of adding `{key}`."
                )
            else:
                planned.append(Planned(None, self._new_trigger(key, steps)))
        if len(fresh) > 1 and len(fresh) == len(planned):
            self.found.problems.append("A workflow has one trigger. Give only one.")
        return planned

    def _new_trigger(self, key: str, steps: list[Planned[Step]]) -> Trigger:
        """A trigger that the document has not: off, and written so, unless it is given as on."""
        fields = self.patch.triggers[key]
        empty = Trigger(key, type=str(fields.get("type")))
        ids = (p.part.id for p in self.layout.triggers)
        new = self._kept_trigger(empty, key, steps)
        return replace(
            new, key=key, enabled=fields.get("enabled") is True, id=fresh_id(ids, self.layout)
        )

    def _kept_trigger(
        self, old: Trigger, given: str, steps: list[Planned[Step]], *, moved: bool = False
    ) -> Trigger:
        """What the patch makes of a trigger. Id and `enabled` stay whatever its type is."""
        shown = trigger_fields(old)
        fields = self.patch.triggers.get(given, {})
        fields = {name: value for name, value in fields.items() if shown.get(name) != value}
        type_ = str(fields.get("type") or old.type or "") or None
        cron = fields.get("cron_expression", old.cron_expression)
        if "".join(str(cron).split()) == "".join(str(old.cron_expression).split()):
            cron = old.cron_expression
        if type_ != "cron" and "cron_expression" not in fields and type_ != old.type:
            cron = None
        elif type_ in ("webhook", "kafka") and fields.get("cron_expression"):
            self.found.problems.append(
                f"The trigger `{given}` is a {type_}, which has no schedule. Set `type: cron` with "
                "the `cron_expression`."
            )
        settings = self._settings(old, type_, fields, steps)
        enabled = fields.get("enabled", old.enabled)
        return replace(
            old,
            key=given if moved else self._trigger_key(old, type_),
            type=type_,
            enabled=enabled if isinstance(enabled, bool) else None,
            cron_expression=str(cron) if cron is not None else None,
            settings=settings,
        )

    def _trigger_key(self, old: Trigger, type_: str | None) -> str:
        """A trigger that is named after its type follows it, where that key is free."""
        taken = {p.part.key for p in self.layout.triggers}
        if self.layout.form == "steps":
            taken |= {p.part.key for p in self.layout.steps} | self.patch.jobs.keys()
        follows = old.key == old.type != type_ and type_ and type_ not in taken
        return type_ if follows and type_ else old.key

    def _settings(
        self, old: Trigger, type_: str | None, fields: Fields, steps: list[Planned[Step]]
    ) -> dict[str, Value]:
        foreign: set[str] = set()
        if type_ != old.type:
            foreign = {k for t, keys in _SETTINGS_OF.items() if t != type_ for k in keys}
        kept = {key: value for key, value in old.settings.items() if key not in foreign}
        settings = merged(kept, settings_by_name(fields))
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
        names = {p.new.name: p.new.key for p in steps}
        keys = {p.new.key for p in steps}
        if cursor in now or cursor in keys or cursor in names:
            settings[CURSOR] = now.get(cursor, cursor if cursor in keys else names[cursor])
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
        if start is None or start in now or start not in there:
            return now.get(start or "", start)
        if len(triggers) == 1:
            return triggers[0].new.key
        self.found.warnings.append(f"`start` named {start}, which is gone: it was taken out too.")
        return None

    def _check_left_over(self) -> None:
        """Keys that a patch sets and nobody takes over: the user is told."""
        known: dict[str, Callable[[str], bool]] = {
            "jobs": {"name", "adaptor", "id", "body"}.__contains__,
            "triggers": lambda name: name in _TRIGGER_FIELDS or bool(settings_by_name({name: ""})),
            "edges": {
                *edge_fields(Edge("", "t", "t", "t", "t", "t", "t", True)),
                "id",
            }.__contains__,
        }
        for section, (what, _, given) in self._groups().items():
            for key, fields in given.items():
                extra = [k for k, v in fields.items() if v is not None and not known[section](k)]
                if extra:
                    names = ", ".join(f"`{name}`" for name in extra)
                    self.found.warnings.append(
                        f"{names} of the {what} {key} {'was' if len(extra) == 1 else 'were'} not "
                        "set: that is done in the app."
                    )


_STEP_ENDS = ("source_job", "target_job")
_EDGE_FIELDS = frozenset({*edge_fields(Edge("", "t", "t", "t", "t", "t", "t", True)), "id"})
_TRIGGER_FIELDS = frozenset({"id", "name", "type", "enabled", "cron_expression"})


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

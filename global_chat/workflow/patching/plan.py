"""What a patch makes of a workflow: every step, trigger and path of the result, beside what it was.

The plan knows no form. It is made whole or not at all: what cannot be done is named in
`PatchRejected`, part by part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from global_chat.workflow.checking.adaptors import adaptor_problem, full_specifier
from global_chat.workflow.checking.known_keys import Kind, known_keys
from global_chat.workflow.checking.part_rules import name_problem
from global_chat.workflow.checking.problem_places import did_you_mean
from global_chat.workflow.drafting import (
    edge_fields,
    placeholder_owner,
    step_fields,
    trigger_fields,
)
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch, PatchRejected
from global_chat.workflow.patching.paths import plan_paths
from global_chat.workflow.patching.planned import (
    TEXTS,
    Findings,
    Plan,
    Planned,
    fresh_id,
    merged,
    not_there,
)
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.trigger_settings import (
    CURSOR,
    KAFKA,
    secrets_in,
    settings_by_name,
)
from global_chat.yaml.nodes import Value, text_of

EMPTY_BODY = "// Add operations here\n"

_MAPPINGS = frozenset({"webhook_response_config", KAFKA, "kafka"})
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
    if wrong := list(_wrong_types(patch)):
        raise PatchRejected(*wrong)
    patch = _keyed_by_name(layout, _without_repeats(layout, patch))
    planner = _Planner(layout, patch, adaptors, Findings(), unknown_adaptors)
    plan = planner.plan()
    if planner.found.problems:
        raise PatchRejected(*planner.found.problems)
    return plan


def _wrong_types(patch: Patch) -> Iterator[str]:
    """Whatever has the wrong type, field by field."""
    for what, parts in (("step", patch.jobs), ("trigger", patch.triggers), ("path", patch.edges)):
        for key, fields in parts.items():
            for name, value in fields.items():
                type_: type = str
                needed = "text"
                if name == "enabled":
                    type_, needed = bool, "true or false"
                elif name in _MAPPINGS:
                    type_, needed = dict, "a mapping"
                elif name not in TEXTS:
                    continue
                if value is not None and not isinstance(value, type_):
                    yield f"`{name}` of the {what} `{key[:80]}` must be {needed}."


def _without_repeats(layout: Layout, patch: Patch) -> Patch:
    """The patch without the fields that say what the document says: they are no change. What says
    nothing of `enabled` is switched on; an id never changes, and a placeholder means no change."""

    def differing(parts: Mapping[str, Fields], shown: Mapping[str, Fields]) -> dict[str, Fields]:
        return {
            key: {k: v for k, v in fields.items() if not _repeats(k, v, shown.get(key))}
            for key, fields in parts.items()
        }

    return replace(
        patch,
        jobs=differing(patch.jobs, {p.part.key: step_fields(p.part) for p in layout.steps}),
        triggers=differing(
            patch.triggers, {p.part.key: trigger_fields(p.part) for p in layout.triggers}
        ),
        edges=differing(patch.edges, {p.part.key: edge_fields(p.part) for p in layout.edges}),
    )


def _repeats(name: str, value: Value, shown: Fields | None) -> bool:
    if shown is None:
        return False
    unsaid = name == "id" or (name == "body" and placeholder_owner(str(value)) is not None)
    return unsaid or value == shown.get(name, True if name == "enabled" else None)


def _keyed_by_name(layout: Layout, patch: Patch) -> Patch:
    """The patch with its new steps under their names, where the document's steps have no `id`."""
    if not layout.steps or any(not _goes_by_name(placed) for placed in layout.steps):
        return patch
    there = {placed.part.key for placed in layout.steps} | patch.jobs.keys()
    names = {key: str(fields.get("name") or key).strip() for key, fields in patch.jobs.items()}
    keys = {k: n for k, n in names.items() if layout.step(k) is None and n not in there}
    edges = {
        key: {k: keys.get(str(v), v) if k in _STEP_ENDS else v for k, v in fields.items()}
        for key, fields in patch.edges.items()
    }
    jobs = {keys.get(key, key): fields for key, fields in patch.jobs.items()}
    return replace(patch, jobs=jobs, edges=edges)


def _goes_by_name(placed: Placed[Step]) -> bool:
    """Whether a step's key is its name: an item of a list that has no `id`."""
    return placed.entry is None and bool(placed.mapping and text_of(placed.mapping, "id") is None)


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
            elif given.get(key):
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
        return name if placed and _goes_by_name(placed) and name else old.key

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
        fields = self.patch.triggers.get(given, {})
        if fields.get("type", "") is None:
            self.found.problems.append(f"The trigger `{given}` cannot be without a type.")
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

    def _check_left_over(self) -> None:
        """Fields that nobody takes over: the user is told of one that the app sets, and the model
        of one that there is not."""
        kinds: dict[str, tuple[Kind, frozenset[str]]] = {
            "jobs": ("step", _STEP_FIELDS),
            "triggers": ("trigger", _TRIGGER_FIELDS),
            "edges": ("edge", _EDGE_FIELDS),
        }
        for section, (what, _, given) in self._groups().items():
            kind, own = kinds[section]
            known = known_keys("jobs", kind) | known_keys(self.layout.form, kind)
            for key, fields in given.items():
                extra = [k for k, v in fields.items() if v is not None and k not in own]
                extra = [k for k in extra if kind != "trigger" or not settings_by_name({k: ""})]
                for name in [n for n in extra if n not in known and not n.startswith("x-")]:
                    self.found.problems.append(
                        f"`{name[:80]}` is not a field of a {what}, so nothing was done with it at "
                        f"`{key[:80]}`. {did_you_mean(name, own) or f'It has {_listed(own)}.'}"
                    )
                secret = secrets_in(fields) if kind == "trigger" else []
                extra = [k for k in extra if k not in secret] + secret
                if extra:
                    were = "was" if len(extra) == 1 else "were"
                    self.found.warnings.append(
                        f"{_listed(extra)} of the {what} {key} {were} not set: that is done in the "
                        "app."
                    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_STEP_FIELDS = frozenset({"id", "name", "adaptor", "body"})
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

"""The form with `jobs:`, `triggers:` and `edges:` mappings, which the app exports."""

from __future__ import annotations

from collections import abc
from typing import Any

from global_chat.workflow.drafting import fields_of
from global_chat.workflow.forms.layout import (
    Form,
    Layout,
    Placed,
    Plan,
    Planned,
    code_of,
    code_path_of,
    key_text,
    mapping_or_null,
    section,
    words,
    write_section,
)
from global_chat.workflow.forms.settings import (
    SETTINGS,
    changed_settings,
    trigger_settings,
    with_cursors,
)
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.node_edits import NodeEdits
from global_chat.yaml.nodes import Entry, Mapping, bool_of, resolve, text_of, value_of
from global_chat.yaml.source import Source
from global_chat.yaml.writing import Data, block

KEYS = ("jobs", "triggers", "edges")


def read(
    source: Source, root: Mapping, key: str | None = None, entry: Entry | None = None
) -> Layout:
    """The workflow that `root` holds. Raises InvalidWorkflow where a part has the wrong shape."""
    steps = [_step(source, *pair) for pair in _parts(source, root, "jobs")]
    triggers = [_trigger(source, *pair) for pair in _parts(source, root, "triggers")]
    return Layout(
        form=JOBS,
        root=root,
        name=text_of(root, "name"),
        id=text_of(root, "id"),
        steps=tuple(steps),
        triggers=with_cursors(triggers, steps),
        edges=tuple(_edge(source, *pair) for pair in _parts(source, root, "edges")),
        key=key,
        entry=entry,
    )


def _parts(source: Source, root: Mapping, name: str) -> list[tuple[Mapping, Entry]]:
    holder = root.own[name].value if name in root.own else None
    mapping = resolve(holder) if holder else None
    entries = section(source, root, name)
    return [(mapping, e) for e in entries] if isinstance(mapping, Mapping) else []


def _step(source: Source, holder: Mapping, entry: Entry) -> Placed[Step]:
    key = key_text(source, entry)
    job = mapping_or_null(source, entry.value, f"The job `{key}`")
    line = source.line(entry.start)
    if job is None:
        return Placed(Step(key, key, line=line), entry.value, entry, holder)
    body = value_of(job, "body")
    path = code_path_of(body)
    step = Step(
        key=key,
        name=text_of(job, "name") or key,
        adaptor=text_of(job, "adaptor"),
        code=None if path else code_of(body),
        code_path=path,
        id=text_of(job, "id"),
        line=line,
    )
    return Placed(step, entry.value, entry, holder)


def _trigger(source: Source, holder: Mapping, entry: Entry) -> Placed[Trigger]:
    key = key_text(source, entry)
    value = mapping_or_null(source, entry.value, f"The trigger `{key}`")
    trigger = Trigger(key, line=source.line(entry.start))
    if value is not None:
        trigger = Trigger(
            key=key,
            type=text_of(value, "type"),
            enabled=bool_of(value, "enabled"),
            cron_expression=text_of(value, "cron_expression"),
            id=text_of(value, "id"),
            line=trigger.line,
            settings=trigger_settings(value),
        )
    return Placed(trigger, entry.value, entry, holder)


def _edge(source: Source, holder: Mapping, entry: Entry) -> Placed[Edge]:
    key = key_text(source, entry)
    value = mapping_or_null(source, entry.value, f"The edge `{key}`")
    edge = Edge(key, None, line=source.line(entry.start))
    if value is not None:
        edge = Edge(
            key=key,
            target=text_of(value, "target_job"),
            source_trigger=text_of(value, "source_trigger"),
            source_step=text_of(value, "source_job"),
            condition_type=text_of(value, "condition_type"),
            condition_expression=text_of(value, "condition_expression"),
            condition_label=text_of(value, "condition_label"),
            enabled=bool_of(value, "enabled"),
            id=text_of(value, "id"),
            line=edge.line,
        )
    return Placed(edge, entry.value, entry, holder)


#: The order in which the app writes sections, and the keys of a part of each.
_ORDER: dict[str, tuple[str, ...]] = {
    "name": (),
    "jobs": ("id", "name", "adaptor", "credential", "body"),
    "triggers": ("id", "type", "custom_path", "cron_expression", *SETTINGS, "enabled"),
    "edges": (
        *("id", "source_trigger", "source_job", "target_job", "condition_type"),
        *("condition_label", "condition_expression", "enabled"),
    ),
}


def write(edits: NodeEdits, layout: Layout, plan: Plan) -> None:
    """Collect in `edits` what turns the workflow of `layout` into that of `plan`."""
    groups: tuple[tuple[str, tuple[Placed[Any], ...], tuple[Planned[Any], ...]], ...] = (
        ("jobs", layout.steps, plan.steps),
        ("triggers", layout.triggers, plan.triggers),
        ("edges", layout.edges, plan.edges),
    )
    ids = {step.new.key: step.new.id for step in plan.steps}
    for name, _, planned in groups:
        for part in planned:
            if part.placed and part.changes:
                _write_part(edits, part.placed, part.new, _ORDER[name], ids)
    for name, placed, planned in groups:
        write_section(edits, layout, name, placed, planned, whole_part, tuple(_ORDER))


def _write_part(
    edits: NodeEdits,
    placed: Placed[Any],
    new: Any,
    order: tuple[str, ...],
    ids: abc.Mapping[str, str | None],
) -> None:
    old = placed.part
    if old.key != new.key and placed.entry:
        edits.rename(placed.entry.key, new.key)
    was, now = fields_of(old), fields_of(new)
    values = {key: now.get(key) for key in {**was, **now} if now.get(key) != was.get(key)}
    if isinstance(old, Trigger):
        settings = {*old.settings, *new.settings}
        values = {key: value for key, value in values.items() if key not in settings}
        if placed.mapping and text_of(placed.mapping, "name") == old.key != new.key:
            values["name"] = new.key
        values |= changed_settings(placed.mapping, old, new, ids)
    edits.put(placed.holder, placed.entry, placed.node, values, order)


def whole_part(part: Any) -> dict[str, Data]:
    """All that a new part holds, as the app writes it."""
    body: dict[str, Data] = {"body": part.code or ""} if isinstance(part, Step) else {}
    return ({"id": part.id} if part.id else {}) | fields_of(part) | body


def new_document(plan: Plan, above: str) -> str:
    """A workflow that is all new, in the form that the app exports. `above` holds comments that
    were there before."""
    whole: dict[str, Data] = {"name": plan.name or "New workflow"}
    parts: dict[str, tuple[Planned[Any], ...]]
    parts = {"jobs": plan.steps, "triggers": plan.triggers, "edges": plan.edges}
    for name, planned in parts.items():
        whole[name] = {p.new.key: whole_part(p.new) for p in planned}
    kept = [line for line in above.splitlines() if line.lstrip().startswith("#")]
    lines = block({key: value for key, value in whole.items() if value})
    return "\n".join((*kept, *lines)) + "\n"


JOBS = Form(
    sections=KEYS,
    body_key="body",
    structure=frozenset(KEYS),
    known={
        "workflow": words(
            "id name description jobs triggers edges positions concurrency enable_job_logs "
            "options schema_version lock_version version_history inserted_at updated_at "
            "deleted_at"
        ),
        "step": words(
            "id name adaptor body credential keychain_credential project_credential_id "
            "keychain_credential_id globals enabled pos position delete"
        ),
        "trigger": words(
            "id name type enabled cron_expression cron_cursor cron_cursor_job "
            "cron_cursor_job_id custom_path comment webhook_reply webhook_response "
            "webhook_response_config webhook_auth_methods sync_webhook_response_config "
            "kafka_configuration pos position delete"
        ),
        "edge": words(
            "id source_trigger source_job target_job condition_type condition_expression "
            "condition_label enabled delete"
        ),
    },
    held={
        "step": words("name adaptor body"),
        "trigger": words("type enabled cron_expression"),
        "edge": words(
            "source_trigger source_job target_job enabled condition_type condition_expression "
            "condition_label"
        ),
    },
    conditions=("always", "on_job_success", "on_job_failure", "js_expression"),
    named={},
    is_list=False,
    read=read,
    write=write,
)

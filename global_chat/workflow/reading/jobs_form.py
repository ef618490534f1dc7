"""Reads the form with `jobs:`, `triggers:` and `edges:` mappings, which the app exports."""

from __future__ import annotations

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading.forms import (
    Layout,
    Placed,
    code_of,
    code_path_of,
    key_text,
    mapping_or_null,
    section,
)
from global_chat.workflow.reading.trigger_settings import trigger_settings, with_cursors
from global_chat.yaml.nodes import Entry, Mapping, bool_of, resolve, text_of, value_of
from global_chat.yaml.source import Source

KEYS = ("jobs", "triggers", "edges")


def read(
    source: Source, root: Mapping, key: str | None = None, entry: Entry | None = None
) -> Layout:
    """The workflow that `root` holds. Raises InvalidWorkflow where a part has the wrong shape."""
    steps = [_step(source, *pair) for pair in _parts(source, root, "jobs")]
    triggers = [_trigger(source, *pair) for pair in _parts(source, root, "triggers")]
    return Layout(
        form="jobs",
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

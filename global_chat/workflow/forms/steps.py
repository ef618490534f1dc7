"""The portability form: one `steps:` list of steps and triggers, joined by `next`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from global_chat.workflow.forms.jobs import JOBS
from global_chat.workflow.forms.layout import (
    MAX_PARTS,
    Form,
    Layout,
    Placed,
    check_number,
    code_of,
    code_path_of,
    is_nothing,
    key_text,
    words,
)
from global_chat.workflow.forms.settings import KAFKA_FIELDS, trigger_settings, with_cursors
from global_chat.workflow.forms.steps_writing import write
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.nodes import (
    Content,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    bool_of,
    find,
    resolve,
    text_of,
    value_of,
)
from global_chat.yaml.refusals import refusal
from global_chat.yaml.source import Source

#: Conditions that the app knows by name; the expressions are other ways that files write them.
CONDITIONS = {
    "always": "always",
    "on_job_success": "on_job_success",
    "on_job_failure": "on_job_failure",
    "never": "never",
    "!state.errors": "on_job_success",
    "state.errors": "on_job_failure",
    "!!state.errors": "on_job_failure",
}


def read(
    source: Source, root: Mapping, key: str | None = None, entry: Entry | None = None
) -> Layout:
    """The workflow that `root` holds. Raises InvalidWorkflow where a part has the wrong shape."""
    steps: list[Placed[Step]] = []
    triggers: list[Placed[Trigger]] = []
    edges: list[Placed[Edge]] = []
    lines: dict[str, int] = {}
    for holder, item, mapping in _items(source, root):
        name = text_of(mapping, "id") or text_of(mapping, "name")
        if not name:
            raise refusal(
                source, item.start, "A step has neither `id` nor `name`.", "Give it an `id`."
            )
        line = source.line(item.start)
        if name in lines:
            raise refusal(
                source,
                item.start,
                f"The id `{name[:80]}` stands twice, first on line {lines[name]}.",
                "Rename one of them.",
            )
        lines[name] = line
        is_trigger = _is_trigger(mapping)
        if is_trigger:
            triggers.append(Placed(_trigger(name, mapping, line), item, None, holder))
        else:
            steps.append(Placed(_step(name, mapping, line), item, None, holder))
        edges += islice(_edges(source, name, mapping, is_trigger), MAX_PARTS + 1)
        check_number(edges)
        check_number(steps)
    return Layout(
        form=STEPS,
        root=root,
        name=text_of(root, "name"),
        id=_uuid(root) or text_of(root, "id"),
        steps=tuple(steps),
        triggers=with_cursors(triggers, steps),
        edges=tuple(edges),
        key=key,
        entry=entry,
        start=text_of(root, "start"),
    )


def _items(source: Source, root: Mapping) -> Iterator[tuple[Sequence, Node, Mapping]]:
    entry = root.own.get("steps")
    value = resolve(entry.value) if entry else None
    if entry is None or value is None or is_nothing(value):
        return
    if not isinstance(value, Sequence):
        raise refusal(source, entry.value.start, "`steps` must hold a list, each item a step.")
    for item in value.items:
        mapping = resolve(item)
        if not isinstance(mapping, Mapping):
            raise refusal(source, item.start, "A step must be a mapping of keys to values.")
        yield value, item, mapping


def _is_trigger(mapping: Mapping) -> bool:
    return find(mapping, "type") is not None and not any(
        find(mapping, key) for key in ("expression", "adaptor", "adaptors")
    )


def _openfn(mapping: Mapping) -> Mapping | None:
    value = value_of(mapping, "openfn")
    return value if isinstance(value, Mapping) else None


def _uuid(mapping: Mapping) -> str | None:
    extra = _openfn(mapping)
    return text_of(extra, "uuid") if extra else None


def _step(key: str, mapping: Mapping, line: int) -> Step:
    body = value_of(mapping, "expression")
    path = code_path_of(body)
    return Step(
        key=key,
        name=text_of(mapping, "name") or key,
        adaptor=text_of(mapping, "adaptor") or _first_text(value_of(mapping, "adaptors")),
        code=None if path else code_of(body),
        code_path=path,
        id=_uuid(mapping),
        line=line,
    )


def _first_text(value: Content | None) -> str | None:
    if isinstance(value, Scalar):
        return value.text
    first = resolve(value.items[0]) if isinstance(value, Sequence) and value.items else None
    return first.text if isinstance(first, Scalar) and not first.is_null else None


def _trigger(key: str, mapping: Mapping, line: int) -> Trigger:
    extra = _openfn(mapping)
    enabled, cron = bool_of(mapping, "enabled"), text_of(mapping, "cron_expression")
    if extra:
        enabled = bool_of(extra, "enabled") if enabled is None else enabled
        cron = text_of(extra, "cron") or text_of(extra, "cron_expression") or cron
    return Trigger(
        key=key,
        type=text_of(mapping, "type"),
        enabled=enabled,
        cron_expression=cron,
        id=_uuid(mapping),
        line=line,
        settings=trigger_settings(mapping),
    )


def _edges(source: Source, key: str, mapping: Mapping, is_trigger: bool) -> Iterator[Placed[Edge]]:
    entry = find(mapping, "next")
    following = resolve(entry.value) if entry else None
    if entry is None or following is None:
        return
    if isinstance(following, Mapping):
        for target in following.entries:
            edge = _edge(
                key, key_text(source, target), target.value, is_trigger, source.line(target.start)
            )
            yield Placed(edge, target.value, target, following)
    elif isinstance(following, Sequence):
        for item in following.items:
            yield from _plain_edge(source, key, item, is_trigger, following)
    else:
        yield from _plain_edge(source, key, entry.value, is_trigger, mapping)


def _plain_edge(
    source: Source, key: str, node: Node, is_trigger: bool, holder: Mapping | Sequence
) -> Iterator[Placed[Edge]]:
    target = resolve(node)
    if isinstance(target, Scalar) and not target.is_null:
        edge = _edge(key, target.text, None, is_trigger, source.line(node.start))
        yield Placed(edge, node, None, holder)


def _edge(key: str, target: str, node: Node | None, is_trigger: bool, line: int) -> Edge:
    value = resolve(node) if node else None
    label, enabled, edge_id, beside = None, None, None, None
    if isinstance(value, Mapping):
        label = text_of(value, "label") or text_of(value, "condition_label")
        disabled = bool_of(value, "disabled")
        enabled = bool_of(value, "enabled") if disabled is None else not disabled
        edge_id = _uuid(value)
        beside = text_of(value, "expression")
        value = value_of(value, "condition")
    if isinstance(value, Scalar) and not value.style and value.text.lower() == "false":
        value, enabled = None, False
    kind, expression = _condition(value)
    if expression == "js_expression" and beside is not None:
        expression = beside
    return Edge(
        key=f"{key}->{target}",
        target=target,
        source_trigger=key if is_trigger else None,
        source_step=None if is_trigger else key,
        condition_type=kind,
        condition_expression=expression,
        condition_label=label,
        enabled=enabled,
        id=edge_id,
        line=line,
    )


def _condition(value: Content | None) -> tuple[str, str | None]:
    """A condition's type, and its expression when it is one. None and `true` mean always."""
    if not isinstance(value, Scalar) or value.is_null:
        return "always", None
    text = value.text.strip()
    if not value.style and text.lower() == "true":
        return "always", None
    known = CONDITIONS.get(text)
    return (known, None) if known else ("js_expression", value.text)


STEPS = Form(
    sections=("steps",),
    body_key="expression",
    structure=frozenset({"steps", "next", "start"}),
    known={
        "workflow": words(
            "id name description schema_version steps start openfn options globals credentials "
            "history concurrency enable_job_logs"
        ),
        "step": words(
            "id name adaptor adaptors expression configuration credential keychain_credential "
            "openfn enabled next state linker previous workflow pos"
        ),
        "trigger": words(
            "id name type enabled cron_expression cron_cursor cron_cursor_job "
            "cron_cursor_job_id webhook_reply webhook_response_config webhook_auth_methods "
            "custom_path comment kafka kafka_configuration openfn next previous pos"
        )
        | KAFKA_FIELDS,
        "edge": words("condition expression label condition_label disabled enabled openfn name"),
    },
    held={
        "step": words("name adaptor expression"),
        "trigger": words("type enabled cron_expression cron"),
        "edge": words("condition expression label condition_label disabled enabled"),
    },
    conditions=(*JOBS.conditions, "never"),
    named=CONDITIONS,
    is_list=True,
    read=read,
    write=write,
)

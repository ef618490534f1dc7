"""The draft: the workflow as the workflow agent is shown it, and as its patches are written.

It has the form that the app exports, whatever form the document has. Code and ids never travel: in
their place stand texts that name their owner. Nobody need send them back; one that comes back means
that nothing changes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml import writing as yaml_text
from global_chat.yaml.nodes import Value

Kind = Literal["code", "job", "trigger", "edge"]

_OPENINGS: dict[Kind, str] = {
    "code": "[code of ",
    "job": "[id of job ",
    "trigger": "[id of trigger ",
    "edge": "[id of edge ",
}


class Owner(NamedTuple):
    """Whose code or id a placeholder stands for."""

    kind: Kind
    key: str


def placeholder(kind: Kind, key: str) -> str:
    """The text that stands for the code of a step, or for the id of a part."""
    return f"{_OPENINGS[kind]}{key}]"


def placeholder_owner(text: str) -> Owner | None:
    """The part that a placeholder names, blanks around it aside; None for any other text."""
    stripped = text.strip()
    for kind, opening in _OPENINGS.items():
        if stripped.startswith(opening) and stripped.endswith("]"):
            return Owner(kind, stripped[len(opening) : -1])
    return None


def draft(
    name: str | None, steps: Sequence[Step], triggers: Sequence[Trigger], edges: Sequence[Edge]
) -> str:
    """One workflow as YAML with `jobs`, `triggers` and `edges`, ending with a newline.

    A part has an id only when it has one in the document. Keys that a model has no business with,
    such as credentials, are left out.
    """
    whole: dict[str, Value] = {"name": name} if name else {}
    whole["jobs"] = {
        s.key: {**_id("job", s), **step_fields(s), "body": placeholder("code", s.key)}
        for s in steps
    }
    whole["triggers"] = {t.key: {**_id("trigger", t), **trigger_fields(t)} for t in triggers}
    whole["edges"] = {e.key: {**_id("edge", e), **edge_fields(e)} for e in edges}
    return "\n".join(yaml_text.block({k: v for k, v in whole.items() if v})) + "\n"


def _id(kind: Kind, part: Step | Trigger | Edge) -> dict[str, Value]:
    return {"id": placeholder(kind, part.key)} if part.id else {}


def step_fields(step: Step) -> dict[str, Value]:
    """What a patch may change of a step, in the order in which the app writes it."""
    return _present(name=step.name, adaptor=step.adaptor)


def trigger_fields(trigger: Trigger) -> dict[str, Value]:
    """What a patch may change of a trigger: every setting of it."""
    return _present(
        type=trigger.type,
        cron_expression=trigger.cron_expression,
        **trigger.settings,
        enabled=trigger.enabled,
    )


def edge_fields(edge: Edge) -> dict[str, Value]:
    """What a patch may change of a path."""
    return _present(
        source_trigger=edge.source_trigger,
        source_job=edge.source_step,
        target_job=edge.target,
        condition_type=edge.condition_type,
        condition_expression=edge.condition_expression,
        condition_label=edge.condition_label,
        enabled=edge.enabled,
    )


def fields_of(part: Step | Trigger | Edge) -> dict[str, Value]:
    """What a patch may change of a part, with the values that it has."""
    if isinstance(part, Step):
        return step_fields(part)
    return trigger_fields(part) if isinstance(part, Trigger) else edge_fields(part)


def _present(**values: Value) -> dict[str, Value]:
    return {key: value for key, value in values.items() if value is not None}

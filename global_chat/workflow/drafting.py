"""The draft: the workflow as the workflow agent gets it and gives it back.

It has the form that the app exports, whatever form the document has. Code and ids never travel: in
their place stand texts that name their owner, so that whatever comes back can be told apart and is
taken from the document itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.reading import yaml_text
from global_chat.workflow.reading.yaml_text import Data

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
    whole: dict[str, Data] = {"name": name} if name else {}
    whole["jobs"] = {step.key: _job(step) for step in steps}
    whole["triggers"] = {trigger.key: _trigger(trigger) for trigger in triggers}
    whole["edges"] = {edge.key: _edge(edge) for edge in edges}
    return "\n".join(yaml_text.block({k: v for k, v in whole.items() if v})) + "\n"


def _job(step: Step) -> dict[str, Data]:
    return _present(
        id=placeholder("job", step.key) if step.id else None,
        name=step.name,
        adaptor=step.adaptor,
        body=placeholder("code", step.key),
    )


def _trigger(trigger: Trigger) -> dict[str, Data]:
    return _present(
        id=placeholder("trigger", trigger.key) if trigger.id else None,
        type=trigger.type,
        cron_expression=trigger.cron_expression,
        enabled=trigger.enabled,
    )


def _edge(edge: Edge) -> dict[str, Data]:
    return _present(
        id=placeholder("edge", edge.key) if edge.id else None,
        source_trigger=edge.source_trigger,
        source_job=edge.source_step,
        target_job=edge.target,
        condition_type=edge.condition_type,
        condition_expression=edge.condition_expression,
        condition_label=edge.condition_label,
        enabled=edge.enabled,
    )


def _present(**values: str | bool | None) -> dict[str, Data]:
    return {key: value for key, value in values.items() if value is not None}

"""An outline as a draft, to try on it what a structural request would do."""

from __future__ import annotations

import re
from typing import Any

from .outline import Outline, OutlinePath

_KINDS = {"": "always", "success": "on_job_success", "failure": "on_job_failure"}


def draft_of(outline: Outline) -> dict[str, Any]:
    """The outline's steps, triggers and paths in the canonical form, without bodies."""
    jobs = {s.key: {"name": s.name, "adaptor": s.adaptor, "body": ""} for s in outline.steps}
    triggers = {t.key: _trigger(t.what) for t in outline.triggers}
    edges: dict[str, dict[str, Any]] = {}
    for trigger in outline.triggers:
        for path in trigger.paths:
            edges[f"{trigger.key}->{path.target}"] = {"source_trigger": trigger.key, **_edge(path)}
    for step in outline.steps:
        for path in step.paths:
            edges[f"{step.key}->{path.target}"] = {"source_job": step.key, **_edge(path)}
    return {"name": outline.name, "jobs": jobs, "triggers": triggers, "edges": edges}


def _trigger(what: str) -> dict[str, Any]:
    kind, _, rest = what.partition(" ")
    found: dict[str, Any] = {"type": kind.rstrip(","), "enabled": not what.endswith(", off")}
    cron = re.sub(r", (?:on|off)$", "", rest).strip()
    if found["type"] == "cron" and cron:
        found["cron_expression"] = cron
    return found


def _edge(path: OutlinePath) -> dict[str, Any]:
    note = re.sub(r"(?:, )?off$", "", path.note) if path.is_off else path.note
    edge: dict[str, Any] = {"target_job": path.target, "enabled": not path.is_off}
    if note.startswith("if "):
        label = re.match(r'if "((?:[^"\\]|\\.)*)": (.*)', note, re.DOTALL)
        edge["condition_type"] = "js_expression"
        edge["condition_expression"] = label[2] if label else note.removeprefix("if ")
        if label:
            edge["condition_label"] = label[1]
    else:
        edge["condition_type"] = _KINDS.get(note, note or "always")
    return edge

"""Writes a workflow that is all new, in the form that the app exports."""

from __future__ import annotations

from global_chat.workflow.merging.jobs_writing import edge_data, step_data, trigger_data
from global_chat.workflow.merging.plan import Plan
from global_chat.workflow.reading import yaml_text
from global_chat.workflow.reading.yaml_text import Data


def write(plan: Plan, above: str) -> str:
    """The document, ending with a newline. `above` are comments that were there before, kept."""
    whole: dict[str, Data] = {"name": plan.name or "New workflow"}
    whole["jobs"] = {step.new.key: step_data(step.new) for step in plan.steps}
    whole["triggers"] = {t.new.key: trigger_data(t.new) for t in plan.triggers}
    whole["edges"] = {edge.new.key: edge_data(edge.new) for edge in plan.edges}
    kept = [line for line in above.splitlines() if line.lstrip().startswith("#")]
    lines = yaml_text.block({key: value for key, value in whole.items() if value})
    return "\n".join((*kept, *lines)) + "\n"

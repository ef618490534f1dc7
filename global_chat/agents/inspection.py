"""Reading the code of steps: one tool, shared by the job code agent and the planner."""

from __future__ import annotations

from collections.abc import Sequence

from global_chat.contract.attachments import block
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step


def known_steps(workflow: Workflow) -> str:
    """The keys that a model can choose from, for a reply to a name that fits none."""
    keys = ", ".join(step.key for step in workflow.steps)
    return f"The steps are: {keys}." if keys else "The workflow has no steps yet."


def inspect(workflow: Workflow, names: Sequence[str]) -> tuple[str, bool]:
    """The code of the named steps, ready to be shown to a model, and whether none was found."""
    found = {name: workflow.find_step(name) for name in dict.fromkeys(names)}
    texts = [
        _shown(step) if step else f"No step is called {name!r}. {known_steps(workflow)}"
        for name, step in found.items()
    ]
    return "\n\n".join(texts), not any(found.values())


def _shown(step: Step) -> str:
    if step.code_path:
        return f"The code of {step.key} is kept in the file {step.code_path}, which is not here."
    if step.code is None or not step.code.strip():
        return f"{step.key} has no code yet."
    adaptor = f" ({step.adaptor})" if step.adaptor else ""
    return f"Code of {step.key}{adaptor}:\n{block('code', step.code)}"

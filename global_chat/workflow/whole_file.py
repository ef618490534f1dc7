"""Every workflow of a file: one, or all those of a project."""

from __future__ import annotations

from global_chat.workflow.document import Workflow
from global_chat.workflow.forms.project import places
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Mapping, resolve
from global_chat.yaml.source import Source


def every_workflow(text: str) -> tuple[tuple[str | None, Workflow], ...]:
    """The workflows of `text`, each with what the project calls it; None in a file of its own.

    Raises InvalidWorkflow, with line and column, when the text is no workflow or project, or
    when two workflows of a project cannot be told apart.
    """
    source = Source(text)
    root = compose(source)
    content = resolve(root) if root else None
    is_project = isinstance(content, Mapping) and "workflows" in content.own
    found = places(source, root) if root and is_project else ()
    if len(found) < 2:
        return ((found[0].key if found else None, Workflow.read(text)),)
    return tuple((place.key, Workflow.read(text, f"workflows/{place.key}")) for place in found)

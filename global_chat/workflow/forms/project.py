"""Finds the workflows of a text, whichever form it has, and picks the one that a page names."""

from __future__ import annotations

from dataclasses import dataclass

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.finding import fold
from global_chat.workflow.forms.jobs import JOBS
from global_chat.workflow.forms.layout import Form, Layout, is_nothing, key_text, unusable
from global_chat.workflow.forms.steps import STEPS
from global_chat.yaml.data import Path
from global_chat.yaml.nodes import (
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    resolve,
    text_of,
)
from global_chat.yaml.refusals import refusal
from global_chat.yaml.source import Source

FORMS = (JOBS, STEPS)


@dataclass(frozen=True, slots=True)
class Place:
    """A workflow's mapping in the text, and what leads to it there. In a project it has a key: the
    mapping key, or the list item's `id` or name."""

    root: Mapping
    path: Path = ()
    key: str | None = None
    entry: Entry | None = None

    @property
    def names(self) -> tuple[str | None, ...]:
        """What a page may call it, best first."""
        return self.key, text_of(self.root, "id"), text_of(self.root, "name")

    def read(self, source: Source) -> Layout:
        """Its parts. Raises InvalidWorkflow where one has the wrong shape."""
        form = next(iter(_forms(self.root)), JOBS)
        return form.read(source, self.root, self.key, self.entry)


def _forms(mapping: Mapping) -> list[Form]:
    """The forms that a mapping has sections of."""
    return [form for form in FORMS if not mapping.own.keys().isdisjoint(form.sections)]


def places(source: Source, root: Node) -> tuple[Place, ...]:
    """Every workflow of the text: one, or those of a project.

    Raises InvalidWorkflow when the text holds no workflow.
    """
    top = resolve(root)
    if not isinstance(top, Mapping):
        raise unusable(
            "The document is not a workflow: it must be a mapping with `jobs:` or `steps:`, "
            "or a project with `workflows:`."
        )
    entry = top.own.get("workflows")
    if entry is None:
        _must_be_workflow(source, top, root.start)
        return (Place(top),)
    found = tuple(_project(source, entry))
    if not found:
        raise refusal(source, entry.start, "The project holds no workflow.")
    return found


def _must_be_workflow(source: Source, mapping: Mapping, offset: int) -> None:
    forms = _forms(mapping)
    if not forms and "name" not in mapping.own:
        message = "This is not a workflow: it has neither `jobs:` nor `steps:` nor `name:`."
        raise refusal(source, offset, message)
    if len(forms) > 1:
        start = next(mapping.own[key].start for key in forms[-1].sections if key in mapping.own)
        raise refusal(source, start, "A workflow has either `steps:` or `jobs:`, not both.")


def _project(source: Source, entry: Entry) -> list[Place]:
    value = resolve(entry.value)
    if isinstance(value, Mapping):
        keys = [(key_text(source, entry), entry) for entry in value.entries]
        return [_place(source, entry.value, key, key, entry) for key, entry in keys]
    if isinstance(value, Sequence):
        return [_place(source, item, at) for at, item in enumerate(value.items)]
    if is_nothing(value):
        return []
    raise refusal(source, entry.value.start, "`workflows` must hold a mapping or a list.")


def _place(
    source: Source,
    node: Node,
    at: str | int,
    key: str | None = None,
    entry: Entry | None = None,
) -> Place:
    root = resolve(node)
    if isinstance(root, Scalar) and root.is_null:
        raise refusal(source, node.start, f"The workflow `{key}` is empty.", "Give it `jobs:`.")
    if not isinstance(root, Mapping):
        raise refusal(source, node.start, "A workflow must be a mapping with `jobs:` or `steps:`.")
    _must_be_workflow(source, root, node.start)
    name = key or text_of(root, "id") or text_of(root, "name")
    return Place(root, ("workflows", at), name, entry)


def select(found: tuple[Place, ...], wanted: str | None) -> Place:
    """The workflow that `wanted` names: by key, id, name, then the fold; the only one if single.

    Raises InvalidWorkflow, naming them, when there are several and none or more fit.
    """
    if len(found) == 1:
        return found[0]
    if wanted:
        for nth in range(3):
            hits = [place for place in found if place.names[nth] == wanted]
            if len(hits) == 1:
                return hits[0]
        folded = fold(wanted)
        hits = [p for p in found if folded and folded in {fold(n) for n in p.names if n}]
        if len(hits) == 1:
            return hits[0]
    names = ", ".join(f"`{place.key or 'unnamed'}`" for place in found[:20])
    asked = f"and `{wanted}` is none of them" if wanted else "and no page says which is meant"
    raise InvalidWorkflow(
        f"The project holds {len(found)} workflows ({names}), {asked}. "
        "Set the page to `workflows/<one of them>`."
    )

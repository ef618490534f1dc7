"""Stitching: another code for one step, and not one byte more.

The new text is spliced in between the marks of the body's scalar, then the whole document is read
again and compared: what was meant to change has changed, and nothing else has. Rule: section 6 of
the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from global_chat.contract.errors import InternalError, InvalidWorkflow
from global_chat.workflow.parts import Step
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.stitching.body_edits import BodyEdits
from global_chat.workflow.stitching.code_scalars import clean
from global_chat.yaml.nodes import Scalar, value_of
from global_chat.yaml.refusals import refusal
from global_chat.yaml.source import Splice

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

#: A step of the text: the number of its workflow, and its key.
Target: TypeAlias = tuple[int, str]

#: Whether words may be changed in place, and whether literal blocks may be used; the best first.
Style: TypeAlias = tuple[bool, bool]
_STYLES: tuple[Style, ...] = ((True, True), (False, True), (False, False))


def stitch(workflow: Workflow, key: str, code: str) -> Workflow:
    """The workflow with `code` as the body of the step `key`.

    Line ends of the code become the document's own; halves of surrogate pairs, which no file can
    hold, become U+FFFD. Raises KeyError when no step has exactly this key, and InvalidWorkflow
    when its body is kept in another file or is no text.
    """
    layout = workflow.layout
    step = layout.step(key) if layout else None
    if layout is None or step is None:
        raise KeyError(key)
    _refuse_other_bodies(workflow, layout, step)
    code = clean(code)
    if code == step.part.code:
        return workflow
    target = (workflow.layouts.index(layout), key)
    for style in _STYLES:
        try:
            after = _attempt(workflow, target, code, style)
        except (InvalidWorkflow, ValueError):
            continue
        if _is_as_meant(workflow, after, target, code):
            return after
    raise InternalError(
        f"The code of `{key}` could not be written into this document without touching other "
        "parts, so nothing was changed. Give its body a plain style (`body: |`) and try again."
    )


def _refuse_other_bodies(workflow: Workflow, layout: Layout, step: Placed[Step]) -> None:
    key = step.part.key
    if step.part.code_path:
        raise InvalidWorkflow(
            f"The code of `{key}` is kept in the file {step.part.code_path}, not in the workflow "
            "document. Name the workflow's own file with --workflow, so that the code is found "
            "beside it, or put the code into the document."
        )
    body = value_of(step.mapping, layout.body_key) if step.mapping else None
    if body is not None and not isinstance(body, Scalar):
        raise refusal(
            workflow.source,
            body.start,
            f"The `{layout.body_key}` of `{key}` is no text.",
            "Write its code as a text, below `|`.",
        )


def _attempt(workflow: Workflow, target: Target, code: str, style: Style) -> Workflow:
    """The document with the code in it, and every other step's code as it was.

    Where the step is shared by an anchor, those who share it get their old code as their own.
    """
    after = _with_bodies(workflow, {target: code}, style)
    before, now = _codes(workflow), _codes(after)
    lost = {t: c for t, c in before.items() if t != target and now.get(t) != c}
    return _with_bodies(after, lost, style) if lost else after


def _with_bodies(workflow: Workflow, codes: Mapping[Target, str | None], style: Style) -> Workflow:
    splices: list[Splice] = []
    for number, layout in enumerate(workflow.layouts):
        edits = BodyEdits(workflow.source, workflow.root, layout, *style)
        for step in layout.steps:
            here = (number, step.part.key)
            if here in codes:
                splices += edits.set_body(step, codes[here])
    return workflow.with_text(workflow.source.splice(splices))


def _codes(workflow: Workflow) -> dict[Target, str | None]:
    return {
        (number, step.part.key): step.part.code
        for number, layout in enumerate(workflow.layouts)
        for step in layout.steps
    }


def _is_as_meant(before: Workflow, after: Workflow, target: Target, code: str) -> bool:
    """Whether the target's code is the new one and all other parts, of every workflow, are as they
    were."""
    return _parts(after, target, None) == _parts(before, target, code)


def _parts(workflow: Workflow, target: Target, code: str | None) -> list[object]:
    """All that the text says, lines aside; `code`, if given, in the place of the target's."""
    found: list[object] = []
    for number, layout in enumerate(workflow.layouts):
        found += (layout.name, layout.id, layout.key)
        for step in layout.steps:
            part = replace(step.part, line=0)
            if code is not None and (number, part.key) == target:
                part = replace(part, code=code)
            found.append(part)
        found += (replace(trigger.part, line=0) for trigger in layout.triggers)
        found += (replace(edge.part, line=0) for edge in layout.edges)
    return found

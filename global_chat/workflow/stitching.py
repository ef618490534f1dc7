"""Stitching: another code for one step, and not one byte more.

The new text is spliced in between the marks of the body's scalar, then the whole document is read
again and compared: what was meant to change has changed, and nothing else has. Rule: section 6 of
the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from global_chat.contract.errors import InternalError, InvalidWorkflow
from global_chat.contract.texts import replace_lone_surrogates
from global_chat.workflow.forms.layout import Layout, Placed
from global_chat.workflow.parts import Step
from global_chat.yaml.data import at, only_changed
from global_chat.yaml.nodes import Scalar, Sequence, has_aliases, value_of
from global_chat.yaml.refusals import refusal
from global_chat.yaml.source import Splice
from global_chat.yaml.text_edits import TextEdits

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
    when its body is kept in another file, is not text, or is shared by aliases for good.
    """
    layout = workflow.layout
    step = layout.step(key) if layout else None
    if layout is None or step is None:
        raise KeyError(key)
    _refuse_other_bodies(workflow, layout, step)
    code = replace_lone_surrogates(code).replace("\r\n", "\n")
    if code == step.part.code:
        return workflow
    target = (workflow.layouts.index(layout), key)
    for style in _STYLES:
        try:
            after = _attempt(workflow, target, code, style)
        except (InvalidWorkflow, ValueError):
            continue
        if _is_as_meant(workflow, after, key, code):
            return after
    if workflow.root and has_aliases(workflow.root):
        raise InvalidWorkflow(
            "The workflow document shares text between its parts (`&` and `*`), so new code for "
            f"`{key}` would reach further. Write them out first. Nothing was changed."
        )
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
            f"`{layout.body_key}` of `{key}` must be text.",
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
        edits = TextEdits(workflow.source, workflow.root, layout.body_key, layout.steps, "next")
        for step in layout.steps:
            here = (number, step.part.key)
            if here in codes:
                in_place, in_blocks = style[0] and step.part.has_code, style[1]
                splices += edits.set_text(step, codes[here], in_place, in_blocks)
    return workflow.with_text(workflow.source.splice(splices))


def _codes(workflow: Workflow) -> dict[Target, str | None]:
    return {
        (number, step.part.key): step.part.code
        for number, layout in enumerate(workflow.layouts)
        for step in layout.steps
    }


def _is_as_meant(before: Workflow, after: Workflow, key: str, code: str) -> bool:
    """Whether the step's code is the new one and all else in the text says what it said."""
    layout, now = before.layout, after.layout
    step, stitched = (each.step(key) if each else None for each in (layout, now))
    if not (layout and step and stitched and before.root and after.root):
        return False
    holder = step.holder
    own = holder.items.index(step.node) if isinstance(holder, Sequence) else key
    place = at((*before.path, layout.form.sections[0], own, layout.body_key))
    return stitched.part.code == code and only_changed(before.root, after.root, place)

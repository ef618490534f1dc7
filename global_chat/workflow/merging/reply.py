"""From a model's reply to the workflow that it holds, whatever stands around the YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.reading.forms import Layout
from global_chat.workflow.reading.source import Source

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+-]*)[ \t]*\r?$", re.MULTILINE)
_FIRST_KEY = re.compile(r"^(?:name|id|jobs|steps|triggers|workflows)[ \t]*:", re.MULTILINE)


class ReplyRejected(Exception):
    """A model's reply that cannot be used. `problems` are sentences for it to correct by."""

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def read_reply(reply: str, workflow: Workflow) -> tuple[Source, Layout]:
    """The workflow that `reply` gives back for `workflow`, in any of the forms.

    Raises `ReplyRejected` when there is none: with line and column when it cannot be parsed.
    """
    refusal: InvalidWorkflow | None = None
    for text in _candidates(reply):
        try:
            found = type(workflow).read(text, _page(workflow))
        except InvalidWorkflow as error:
            refusal = error
            continue
        if found.layout and found.layout.steps:
            return found.source, found.layout
        if found.layout:
            raise ReplyRejected(
                "The workflow in the reply has no steps. Give the whole workflow, every step of it "
                "included, even those that do not change."
            )
    if refusal is None or not _FIRST_KEY.search(reply):
        raise ReplyRejected("The reply holds no workflow. Give the whole workflow as YAML.")
    raise ReplyRejected(refusal.message.replace("The workflow document", "The YAML of the reply"))


def _page(workflow: Workflow) -> str | None:
    """How a reply in the form of a project would call the same workflow."""
    name = workflow.layout and (workflow.layout.key or workflow.name)
    return f"workflows/{name}" if name else workflow.page


def _candidates(reply: str) -> Iterator[str]:
    """What the YAML may be: all of the reply, what a fence holds, or what follows some prose."""
    yield reply
    first, fence = _FIRST_KEY.search(reply), _FENCE.search(reply)
    if first and (fence is None or first.start() < fence.start()):
        yield reply[first.start() :]
    for text in _fenced(reply):
        if _FIRST_KEY.search(text):
            yield text


def _fenced(reply: str) -> Iterator[str]:
    """What stands in each fence, unindented.

    A fence closes at the first bare fence as far to the left as the opening one: those of a
    template literal inside a step's code stand further right.
    """
    opening = _FENCE.search(reply)
    while opening:
        closing = re.compile(rf"^{opening[1]}{opening[2]}[ \t]*\r?$", re.MULTILINE)
        end = closing.search(reply, opening.end())
        inside = reply[opening.end() : end.start() if end else len(reply)].lstrip("\r\n")
        yield re.sub(rf"^{opening[1]}", "", inside, flags=re.MULTILINE)
        opening = _FENCE.search(reply, end.end()) if end else None

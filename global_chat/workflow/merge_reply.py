"""From a model's reply to the workflow that it holds, whatever stands around the YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from global_chat.contract.errors import InvalidWorkflow

from .forms import Layout
from .source import Source

if TYPE_CHECKING:
    from .document import Workflow

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
    layout = workflow.layout
    return f"workflows/{layout.key}" if layout and layout.key else workflow.page


def _candidates(reply: str) -> Iterator[str]:
    """What the YAML may be: all of the reply, what a fence holds, or what follows some prose.

    A fence closes at the first bare fence as far to the left as the opening one: those of a
    template literal inside a step's code stand further right.
    """
    yield reply
    openings = [f for f in _FENCE.finditer(reply) if f[3] or not f[1]]
    found = False
    for opening in sorted(openings, key=lambda f: f[3].lower() not in ("yaml", "yml")):
        indent, fence = opening[1], re.escape(opening[2])
        closing = re.compile(rf"^{indent}{fence}[ \t]*\r?$", re.MULTILINE)
        end = closing.search(reply, opening.end())
        inside = reply[opening.end() : end.start() if end else len(reply)].lstrip("\r\n")
        text = re.sub(rf"^{indent}", "", inside, flags=re.MULTILINE)
        if _FIRST_KEY.search(text):
            found = True
            yield text
    first = _FIRST_KEY.search(reply)
    if first and not found:
        yield reply[first.start() :]

"""What was done, from comparing what was with what is: never from what a model says of it."""

from __future__ import annotations

import difflib

from global_chat.contract.attachments import block, inline, listed
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow

#: How a tool's result begins when the workflow is as it was.
NOTHING = "Nothing was changed."

#: The planner reads the changed lines of an edit up to here; of a larger one only the numbers.
MOST_LINES = 20
MOST_CHARACTERS = 2_000


def changes_between(before: Workflow, after: Workflow) -> tuple[str, ...]:
    """One line a change, in workflow terms; empty only when the text is the same."""
    if before.text == after.text:
        return ()
    return before.changes_to(after) or ("Comments, layout or other keys changed",)


def code_done(key: str, before: str, after: str) -> str:
    """What became of the code of the step `key`, for the planner: how much, and which lines."""
    added, removed = changed_lines(before, after)
    done = f"Done: the code of {inline(key)} changed (+{added} −{removed} lines)."
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    lines = "\n".join(list(diff)[2:])  # without the two file names
    if not lines or added + removed > MOST_LINES or len(lines) > MOST_CHARACTERS:
        return done
    return f"{done}\n{block('diff', lines)}"


def structure_done(before: Workflow, after: Workflow) -> str:
    """What became of the structure, for the planner: each change, and the workflow as it now is."""
    changes = listed(changes_between(before, after))
    return f"Done:\n{changes}\n\n{block('workflow', after.outline())}" if changes else NOTHING

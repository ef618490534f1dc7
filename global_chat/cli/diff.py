"""What `diff` does: tell what changed between two workflow files, in workflow terms and as text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from global_chat.contract.errors import InputError
from global_chat.disk.reading import read_text
from global_chat.render.diffs import diff_lines
from global_chat.render.safe_text import clean, one_line
from global_chat.render.stream import Stream
from global_chat.render.wording import error_text
from global_chat.workflow.changes import project_changes
from global_chat.workflow.document import Workflow
from global_chat.workflow.whole_file import every_workflow

_SAME, _DIFFERENT, _UNREADABLE = 0, 1, 2
_NOTHING = "Nothing that the workflow does changed: only comments, layout or ids."


def run_diff(old: str | Path, new: str | Path) -> int:
    """Print what `new` changes in `old`: one line a change, then the lines of the two texts.

    Returns the exit code, as `diff` does: 0 when the texts are the same, 1 when they differ, 2
    when a file could not be read.
    """
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    try:
        texts = read_text(old), read_text(new)
        told = list(_changes(*texts))
    except InputError as error:
        err.line(error_text(error))
        return _UNREADABLE
    if texts[0] == texts[1]:
        return _SAME
    for change in told or [_NOTHING]:
        out.line(one_line(change))
    out.line("")
    for line in diff_lines(clean(texts[0]), clean(texts[1])):
        out.line(line)
    return _DIFFERENT


def _changes(old: str, new: str) -> Iterator[str]:
    """The changes of every workflow, of a project's under its key."""
    before, after = dict(every_workflow(old)), dict(every_workflow(new))
    yield from project_changes(next(iter(before.values())), next(iter(after.values())))
    if len(before) == len(after) == 1:
        yield from next(iter(before.values())).changes_to(next(iter(after.values())))
        return
    nothing = Workflow.read(None)
    for key in dict.fromkeys((*before, *after)):
        if key not in after:
            yield f"Removed workflow {key}"
            continue
        if key not in before:
            yield f"Added workflow {key}"
        for change in before.get(key, nothing).changes_to(after[key]):
            yield f"{key}: {change}"

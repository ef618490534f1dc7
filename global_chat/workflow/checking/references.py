"""Rules for what names a step by its key outside of paths: `start`, and the cursors of triggers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from global_chat.workflow.checking.problem_places import Places, did_you_mean
from global_chat.workflow.parts import Problem
from global_chat.workflow.reading.trigger_settings import CURSOR

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def reference_problems(places: Places) -> Iterator[Problem]:
    """References to what does not exist. The command line cannot run a workflow whose `start` is
    one; the app takes a cursor that is one for no cursor."""
    layout = places.layout
    steps = {placed.part.key for placed in layout.steps}
    known = steps | {placed.part.key for placed in layout.triggers}
    entry = layout.root.own.get("start")
    if entry and layout.start is not None and layout.start not in known:
        message = f"`start` refers to `{layout.start[:80]}`, which does not exist."
        near = did_you_mean(layout.start, known)
        yield places.at("error", "start-dangling", message, entry.value.start, near)
    # A file that the command line wrote may name a step by an id that the file does not hold.
    has_ids = any(placed.part.id for placed in layout.steps)
    for trigger in layout.triggers:
        cursor = trigger.part.settings.get(CURSOR)
        unknown = cursor is not None and cursor not in steps
        if unknown and (has_ids or not _UUID.fullmatch(str(cursor))):
            message = (
                f"The cursor of the trigger `{trigger.part.key}` refers to the step "
                f"`{cursor!s:.80}`, which does not exist."
            )
            near = did_you_mean(str(cursor), steps)
            yield places.at_setting("cursor-dangling", message, trigger, CURSOR, near)

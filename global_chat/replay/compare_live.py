"""What a live turn is held to. A model chooses its own words; some things must hold all the same.

A request that was sent to the wrong place may still be saved: by a handover to the planner, with
the step that happened to be open left as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from global_chat.contract.errors import InputError
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

from .case import Case, Label
from .document_diff import covers, document_diff, other_bytes
from .judge import route_is_right
from .outcome import Outcome


def live_differences(case: Case, outcome: Outcome, *, routes_only: bool) -> tuple[str, ...]:
    """Why a live turn did not pass; nothing when it did."""
    error = outcome.error
    if error is not None and not (
        isinstance(error, InputError) and error.type == case.expect.error
    ):
        return (f"error: {error.type} ({error.message})",)
    if error is not None:
        return ()
    found = [*_route(case.label, outcome, routes_only)] if case.label else []
    if not routes_only:
        found += [*_words(case, outcome), *_document(case, outcome)]
    return tuple(found)


def _route(label: Label, outcome: Outcome, routes_only: bool) -> Iterator[str]:
    if route_is_right(label, outcome):
        return
    if not routes_only and outcome.handover is not None:
        step = _open_step(outcome)
        if step is not None and step != label.job_key and _changed(step, outcome):
            yield f"route: handed over, but the open step {step} changed, which was not meant"
        return
    taken = outcome.route.sent_to if outcome.route else "nowhere"
    at = f" at {outcome.step}" if outcome.step else ""
    wanted = " or ".join((label.destination, *label.also_ok))
    meant = f" at {label.job_key}" if label.job_key else ""
    yield f"route: expected {wanted}{meant}, got {taken}{at}"


def _open_step(outcome: Outcome) -> str | None:
    workflow = Workflow.read(outcome.workflow, outcome.page)
    step = workflow.find_step(Page.parse(outcome.page).step)
    return step.key if step else None


def _changed(step: str, outcome: Outcome) -> bool:
    before, after = (Workflow.read(t, outcome.page) for t in (outcome.workflow, outcome.after))
    old, new = before.find_step(step), after.find_step(step)
    return (old.code if old else None) != (new.code if new else None)


def _words(case: Case, outcome: Outcome) -> Iterator[str]:
    text = outcome.response.response if outcome.response else ""
    for words in case.expect.never_says:
        if words.lower() in text.lower():
            yield f"never_says: {words!r} is in the answer"


def _document(case: Case, outcome: Outcome) -> Iterator[str]:
    """Parts outside the expected ones may not change, and the expected ones must."""
    expect = case.expect
    wanted = (*expect.changed, *expect.added, *expect.removed, *expect.moved)
    if case.script is None and not wanted:
        return  # a labelled request says nothing of what comes out
    diff = document_diff(outcome.workflow, outcome.after)
    got = (*diff.changed, *diff.added, *diff.removed)
    for path in got:
        if not any(covers(one, path) for one in wanted):
            yield f"changed: {path} changed, which was not meant"
    for path in expect.changed:
        if not any(covers(path, one) for one in got):
            yield f"changed: {path} was to change and did not"
    if other_bytes(outcome.workflow, outcome.after, diff, expect.moved):
        yield "changed: other bytes of the document differ"

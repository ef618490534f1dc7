"""What was expected against what happened. Each difference is a sentence with both sides in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from global_chat.contract.errors import InputError
from global_chat.contract.events import HandedOver, Warned
from global_chat.model.request_texts import texts_of
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

from .case import Expect, PartExpectation, RequestExpectation, Texts
from .document_diff import DocumentDiff, covers, document_diff, other_bytes
from .play import Outcome


class Difference(NamedTuple):
    """One expectation that was not met. `key` is its name in the case file."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


Found = Iterator[Difference]


def differences(outcome: Outcome) -> tuple[Difference, ...]:
    """Everything that came out otherwise than the case expects; empty when it passed."""
    parts = (_end, _path, _answer, _requests, _document)
    found = [difference for part in parts for difference in part(outcome.case.expect, outcome)]
    if outcome.unused:
        found.append(Difference("script", f"no call used {', '.join(outcome.unused)}"))
    return tuple(found)


def live_differences(outcome: Outcome, *, routes_only: bool = False) -> tuple[Difference, ...]:
    """Why a live turn did not pass; empty when it did.

    A model chooses its own words; what holds all the same is where the request belongs, what is
    never said, and which parts of the workflow change.
    """
    expect, error = outcome.case.expect, outcome.error
    if error is not None:
        refused = isinstance(error, InputError) and error.type == expect.error
        return () if refused else (Difference("error", f"{error.type} ({error.message})"),)
    found = [*_live_route(outcome, routes_only)]
    if not routes_only:
        found += _said("never_says", _text(outcome), (), expect.never_says)
    wanted = any((expect.changed, expect.added, expect.removed, expect.moved))
    if not routes_only and (outcome.case.script or wanted):  # a label says nothing of changes
        found += _document(expect, outcome, exact=False)
    return tuple(found)


def observed(outcome: Outcome) -> dict[str, Any]:
    """What came, by the names that a case file has for it, but for the document."""
    meta = outcome.response.meta if outcome.response else None
    planned = meta is not None and meta.planner_iterations is not None
    return {
        "agents": outcome.agents,
        "confidence": outcome.route.confidence if outcome.route else None,
        "handover": outcome.handover.agent if outcome.handover else None,
        "handed_back": tuple(e.agent for e in outcome.of(HandedOver) if not e.to_planner),
        "planning": {
            "iterations": meta.planner_iterations,
            "tool_calls": meta.total_tool_calls,
            "limit_reached": meta.limit_reached is not None,
        }
        if meta and planned
        else {},
        "usage": outcome.response.usage if outcome.response else None,
        "warnings": tuple(event.message for event in outcome.of(Warned)),
        "error": outcome.error.type if outcome.error else None,
    }


def _words(
    key: str,
    where: str,
    text: str,
    contains: Texts = (),
    lacks: Texts = (),
    fold: Callable[[str], str] = str,
) -> Found:
    """Texts that are missing in `text`, and that should be; compared as `fold` makes them."""
    for words in contains:
        if fold(words) not in fold(text):
            yield Difference(key, f"{words!r} is not in {where}")
    for words in lacks:
        if fold(words) in fold(text):
            yield Difference(key, f"{words!r} is in {where}")


def _said(key: str, text: str, contains: Texts = (), lacks: Texts = ()) -> Found:
    """The same for what people read, ignoring case."""
    return _words(key, repr(text), text, contains, lacks, str.lower)


def _equal(key: str, expected: object, got: object, detail: str = "") -> Found:
    if expected != got:
        yield Difference(key, f"expected {expected}, got {got}{detail and f' ({detail})'}")


def _list(texts: Iterable[str]) -> str:
    return ", ".join(map(repr, texts)) or "none"


def _text(outcome: Outcome) -> str:
    return outcome.response.response if outcome.response else ""


def _end(expect: Expect, outcome: Outcome) -> Found:
    message = outcome.error.message if outcome.error else ""
    got = outcome.error.type if outcome.error else "an answer"
    yield from _equal("error", expect.error or "an answer", got, message)
    if message:
        yield from _said("error_says", message, expect.error_says)
    warnings = observed(outcome)["warnings"]
    pairs = zip(expect.warnings, warnings, strict=False)
    met = all(words.lower() in warning.lower() for words, warning in pairs)
    if not met or len(expect.warnings) != len(warnings):
        yield from _equal("warnings", _list(expect.warnings), _list(warnings))


def _path(expect: Expect, outcome: Outcome) -> Found:
    got = observed(outcome)
    if expect.agents is not None:
        yield from _equal("agents", " → ".join(expect.agents), " → ".join(outcome.agents))
    if expect.confidence is not None:
        yield from _equal("confidence", expect.confidence, got["confidence"])
    goal = outcome.handover.goal if outcome.handover else ""
    yield from _equal("handover", expect.handover or "none", got["handover"] or "none", goal)
    yield from _said("goal", goal, expect.goal)
    yield from _equal("handed_back", _list(expect.handed_back), _list(got["handed_back"]))


def _answer(expect: Expect, outcome: Outcome) -> Found:
    yield from _said("says", _text(outcome), expect.says)
    yield from _said("never_says", _text(outcome), (), expect.never_says)
    if outcome.response is not None:
        if expect.usage is not None:
            yield from _equal("usage", expect.usage, outcome.response.usage)
        planning = observed(outcome)["planning"]
        for name, value in expect.planning.items():
            yield from _equal("planning", f"{name} {value}", f"{name} {planning.get(name)}")


def _requests(expect: Expect, outcome: Outcome) -> Found:
    for agent, wanted in expect.requests.items():
        requests = (x.request for x in outcome.exchanges if x.request.agent == agent)
        sent = [texts_of(request)["any"] for request in requests]
        if isinstance(wanted, RequestExpectation):
            count = len(sent) if wanted.count is None else wanted.count
            # A text stands in one request, never across two.
            texts = [(f"any request of {agent}", wanted, "\0".join(sent))]
        else:
            count = len(wanted)
            each = enumerate(zip(wanted, sent, strict=False), start=1)
            texts = [(f"request {number} of {agent}", *pair) for number, pair in each]
        if count != len(sent):
            times = f"{count} times and was asked {len(sent)} times"
            yield Difference("requests", f"{agent} was to be asked {times}")
        for where, one, text in texts:
            yield from _words("requests", where, text, one.contains, one.lacks)


def _document(expect: Expect, outcome: Outcome, *, exact: bool = True) -> Found:
    """Every part that changed must be covered by an expected path, and every path be used.

    What is not `exact` may change in any of the expected ways, and hold anything.
    """
    sets = {"changed": (*expect.changed,), "added": (*expect.added,), "removed": expect.removed}
    every = (*(path for paths in sets.values() for path in paths), *expect.moved)
    if outcome.after == outcome.workflow and not every:
        return
    diff = document_diff(outcome.workflow, outcome.after)
    for key, expected in sets.items():
        got = getattr(diff, key)
        for path in got:
            if not any(covers(wanted, path) for wanted in (expected if exact else every)):
                yield Difference(key, f"{path} was {key}, which was not expected")
        used = got if exact else (*diff.changed, *diff.added, *diff.removed)
        for wanted in expected if exact or key == "changed" else ():
            # Of `added`, a path below another one only says what that part must hold.
            below = any(covers(other, wanted) for other in expected if other != wanted)
            if not below and not any(covers(wanted, path) for path in used):
                yield Difference(key, f"{wanted} was to be {key} and was not")
    for path, part in (*expect.changed.items(), *expect.added.items()) if exact else ():
        yield from _part(path, part, diff)
    for path in expect.moved if exact else ():
        if path in diff.changed or path not in diff.before or path not in diff.after:
            yield Difference("moved", f"{path} was to keep its value and did not")
    if others := other_bytes(outcome.workflow, outcome.after, diff, expect.moved):
        lines = "\n".join(("outside the parts that changed, these lines differ too:", *others))
        yield Difference("changed", lines)


def _part(path: str, wanted: PartExpectation, diff: DocumentDiff) -> Found:
    if wanted == PartExpectation():
        return
    if path not in diff.after:
        yield Difference("changed", f"{path} is not in the document")
        return
    text = diff.after[path].text
    if text is None:  # a mapping or list holds the texts of everything in it
        inside = {p.removeprefix(f"{path}."): x for p, x in diff.after.items() if covers(path, p)}
        text = "\n".join(f"{name}: {x.text}" for name, x in inside.items() if x.text is not None)
    if wanted.equals not in (None, text):
        yield Difference("changed", f"{path} is {text!r}, not {wanted.equals!r}")
    yield from _words("changed", path, text, wanted.contains, wanted.lacks)


def _live_route(outcome: Outcome, routes_only: bool) -> Found:
    """A request that was sent to the wrong place is saved by a handover to the planner.

    It is saved only when the step that happened to be open is left as it was.
    """
    label, page = outcome.case.label, outcome.case.given.get("page")
    if label is None or outcome.is_right(label):
        return
    if not routes_only and outcome.handover is not None:
        before, after = (Workflow.read(t, page) for t in (outcome.workflow, outcome.after))
        step = before.find_step(Page.parse(page).step)
        now = after.find_step(step.key) if step else None
        if step and step.key != label.job_key and step.code != (now.code if now else None):
            changed = f"the open step {step.key} changed, which was not meant"
            yield Difference("route", f"handed over, but {changed}")
        return
    taken = outcome.route.sent_to if outcome.route else "nowhere"
    at, meant = (f" at {key}" if key else "" for key in (outcome.step, label.job_key))
    expected = " or ".join((label.destination, *label.also_ok))
    yield Difference("route", f"expected {expected}{meant}, got {taken}{at}")

"""Compares what a case expects with what came out. Each difference is a sentence with both.

Parts of a document are named by where they stand: `jobs.fetch.body`. An item of a list goes by its
`id` or `name`, else by its number. The comparison of documents does not know what a workflow is,
so it sees every change.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from global_chat.contract.errors import InputError, InvalidWorkflow
from global_chat.contract.events import HandedOver, Warned
from global_chat.model.seam import texts_of
from global_chat.render.text import counted
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Alias, Mapping, Node, Scalar, Sequence, resolve
from global_chat.yaml.source import Source

from .cases import Expect, PartExpectation, RequestExpectation, Texts
from .play import Outcome


class Difference(NamedTuple):
    """One expectation that was not met. `key` is its name in the case file."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


Found = Iterator[Difference]
Fold = Callable[[str], str]

_CUT = "\0"
_AROUND_CUTS = re.compile(rf"\s*{_CUT}[\s{_CUT}]*")
_REST_OF_LINE = re.compile(r"[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|\Z)")


def differences(outcome: Outcome) -> tuple[Difference, ...]:
    """Every difference from what the case expects; empty when it passed."""
    parts = (_facts, _texts, _requests, _document)
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
        found += _missing_words("never_says", outcome.text, (), expect.never_says)
    wanted = any((expect.changed, expect.added, expect.removed, expect.moved))
    if not routes_only and (outcome.case.script or wanted):  # a label says nothing of changes
        found += _document(expect, outcome, exact=False)
    return tuple(found)


def observed(outcome: Outcome) -> dict[str, Any]:
    """What came out, by the keys of `Expect`; the document is compared apart."""
    meta = outcome.response.meta if outcome.response else None
    planning: dict[str, Any] = {}
    if meta and meta.planner_iterations is not None:
        planning = {"iterations": meta.planner_iterations, "tool_calls": meta.total_tool_calls}
        planning["limit_reached"] = meta.limit_reached is not None
    return {
        "agents": outcome.agents,
        "confidence": outcome.route.confidence if outcome.route else None,
        "handover": outcome.handover.agent if outcome.handover else None,
        "handed_back": tuple(e.agent for e in outcome.of(HandedOver) if not e.to_planner),
        "planning": planning,
        "usage": outcome.response.usage if outcome.response else None,
        "warnings": tuple(event.message for event in outcome.of(Warned)),
        "error": outcome.error.type if outcome.error else None,
    }


def _facts(expect: Expect, outcome: Outcome) -> Found:
    details = {
        "error": outcome.error and outcome.error.message,
        "handover": outcome.handover and outcome.handover.goal,
    }
    for key, came in observed(outcome).items():
        expected, detail = getattr(expect, key), details.get(key)
        if key in ("agents", "confidence", "usage") and expected is None:
            continue
        if key in ("planning", "usage") and outcome.response is None:
            continue
        same = expected == came
        if key == "planning":
            same = expected.items() <= came.items()
        if key == "warnings":
            pairs = zip(expected, came, strict=False)
            same = len(expected) == len(came) and all(a.lower() in b.lower() for a, b in pairs)
        if not same:
            got = f"{_shown(came)} ({detail})" if detail else _shown(came)
            yield Difference(key, f"expected {_shown(expected)}, got {got}")


def _shown(value: object) -> str:
    listed = isinstance(value, tuple) and ", ".join(map(repr, value))
    return listed or str(value or "none")


def _texts(expect: Expect, outcome: Outcome) -> Found:
    if outcome.error:
        yield from _missing_words("error_says", outcome.error.message, expect.error_says)
    goal = outcome.handover.goal if outcome.handover else ""
    yield from _missing_words("goal", goal, expect.goal)
    yield from _missing_words("says", outcome.text, expect.says)
    yield from _missing_words("never_says", outcome.text, (), expect.never_says)


def _missing_words(key: str, text: str, contains: Texts = (), lacks: Texts = ()) -> Found:
    """Texts that are missing in `text` and that should be, for people: ignoring case."""
    return _words(key, repr(text), text, contains, lacks, str.lower)


def _words(
    key: str, where: str, text: str, contains: Texts, lacks: Texts, fold: Fold = str
) -> Found:
    text = fold(text)
    for wanted, words in (*((True, w) for w in contains), *((False, w) for w in lacks)):
        if (fold(words) in text) is not wanted:
            yield Difference(key, f"{words!r} {'is not' if wanted else 'is'} in {where}")


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
            expected = counted(count, "request")
            yield Difference("requests", f"expected {expected} to {agent}, got {len(sent)}")
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
                yield Difference(key, f"{wanted} was expected to be {key} and was not")
    for path, part in (*expect.changed.items(), *expect.added.items()) if exact else ():
        yield from part_differences(path, part, diff)
    for path in expect.moved if exact else ():
        if path in diff.changed or path not in diff.before or path not in diff.after:
            yield Difference("moved", f"{path} was expected to keep its value and did not")
    if others := other_bytes(outcome.workflow, outcome.after, diff, expect.moved):
        lines = "\n".join(("outside the parts that changed, these lines differ too:", *others))
        yield Difference("changed", lines)


def part_differences(path: str, wanted: PartExpectation, diff: DocumentDiff) -> Found:
    """How a part of the document differs from what is expected of it."""
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


class PlacedPart(NamedTuple):
    """One value, with its own span (`span`) and the span of its key and it (`whole`).

    `text` is a scalar's own text, None for a mapping or a list; `parent` is the path around it.
    """

    parent: str
    text: str | None
    span: tuple[int, int]
    whole: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """Paths of scalars that changed, and the topmost paths that were added and removed."""

    before: dict[str, PlacedPart]
    after: dict[str, PlacedPart]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def document_diff(before: str, after: str) -> DocumentDiff:
    """What changed between two texts. A text that cannot be read has no parts."""
    old, new = _parts(before), _parts(after)
    changed = tuple(p for p in old if p in new and old[p].text != new[p].text)

    def topmost(here: dict[str, PlacedPart], there: dict[str, PlacedPart]) -> tuple[str, ...]:
        # A mapping that became a text is one change: what stood in it is not removed as well.
        kept = {"", *there} - {*changed}
        return tuple(p for p, part in here.items() if p not in there and part.parent in kept)

    return DocumentDiff(old, new, changed, topmost(new, old), topmost(old, new))


def covers(path: str, below: str) -> bool:
    """Whether `below` is `path` or stands in it."""
    return below == path or below.startswith(f"{path}.")


def _parts(text: str) -> dict[str, PlacedPart]:
    try:
        root = compose(Source(text))
    except InvalidWorkflow:
        return {}
    return {} if root is None else dict(_below(root, ""))


def _below(node: Node, path: str) -> Iterator[tuple[str, PlacedPart]]:
    for name, child, whole in _children(node):
        content = resolve(child)
        text = content.text if isinstance(content, Scalar) else None
        below = f"{path}.{name}" if path else name
        yield below, PlacedPart(path, text, (child.start, child.end), whole)
        if not isinstance(child, Alias):
            yield from _below(child, below)


def _children(node: Node) -> Iterator[tuple[str, Node, tuple[int, int]]]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            key = resolve(entry.key)
            name = key.text if isinstance(key, Scalar) else f"@{entry.start}"
            yield name, entry.value, (entry.start, entry.end)
    elif isinstance(node, Sequence):
        for number, item in enumerate(node.items):
            content = resolve(item)
            own = content.own if isinstance(content, Mapping) else {}
            named = (resolve(own[key].value) for key in ("id", "name") if key in own)
            names = (value.text for value in named if isinstance(value, Scalar))
            yield next(names, str(number)), item, (item.start, item.end)


def other_bytes(
    before: str, after: str, diff: DocumentDiff, moved: Collection[str] = ()
) -> tuple[str, ...]:
    """Lines outside the changed parts that differ, as a diff; empty when all are the same.

    Of a part that changed, its value does not count, nor the blanks around it. A part that was
    added or removed takes its whole lines with it, blank lines between parts do not count, and a
    comment right above a part that was removed may go too.
    """
    valued = {p for p in (*diff.changed, *moved) if p in diff.before and p in diff.after}
    old = _kept(before, [diff.before[p] for p in valued], [diff.before[p] for p in diff.removed])
    new = _kept(after, [diff.after[p] for p in valued], [diff.after[p] for p in diff.added])
    if diff.removed:
        old = [line for line in old if line in new or not line.lstrip().startswith("#")]
    if diff.added or diff.removed:  # whether the last line of the text has an end is no change
        old, new = (
            [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines]
            for lines in (old, new)
        )
    # `repr` shows blanks and line ends, which a diff for people would hide.
    found = difflib.unified_diff([*map(repr, old)], [*map(repr, new)], n=0, lineterm="")
    return tuple(found)[2:]


def _kept(text: str, values: Iterable[PlacedPart], wholes: Iterable[PlacedPart]) -> list[str]:
    """The lines of the text without the given values and the lines of the given parts."""
    cuts = [(*part.span, _CUT) for part in values]
    cuts += [(*_lines_of(text, *part.whole), "") for part in wholes]
    for start, end, mark in sorted(cuts, reverse=True):
        text = text[:start] + mark + text[end:]
    return [line for line in _AROUND_CUTS.sub(_CUT, text).splitlines(keepends=True) if line.strip()]


def _lines_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines of a part that has them to itself; else only the part."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    rest = _REST_OF_LINE.match(text, end)
    if text[line:start].strip(" \t-\ufeff") or rest is None:
        return start, end
    return line, rest.end()

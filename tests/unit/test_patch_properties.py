"""Over generated documents in every form: a patch does what it says, and touches nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workflow_strategies import APP_NAMES, SETTINGS, STEP, Change, Drawn, changes, documents, said

from global_chat.workflow.document import Workflow
from global_chat.workflow.patching.apply import Patched
from global_chat.workflow.patching.reply import read_patch

pytestmark = pytest.mark.unit

slow = [HealthCheck.too_slow]
moderate = settings(max_examples=50, deadline=None, suppress_health_check=slow)
few = settings(max_examples=30, deadline=None, suppress_health_check=slow)


@contextmanager
def counted_ids() -> Iterator[None]:
    """New ids that two runs have in common."""
    numbers = count(1)
    where = "global_chat.workflow.patching.given.uuid4"
    with mock.patch(where, lambda: UUID(int=next(numbers))):
        yield


def dumped(data: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    return text


def applied(before: Workflow, data: dict[str, Any], remove: list[str]) -> Patched:
    with counted_ids():
        return before.apply(read_patch(dumped(data) if data else None, remove, before))


@given(documents())
@moderate
def test_the_draft_and_an_empty_patch_change_no_byte(drawn: Drawn) -> None:
    before = drawn.workflow
    for reply in (before.draft(), None, "{}"):
        patched = before.apply(read_patch(reply, [], before))
        assert (patched.workflow.text, patched.changes) == (drawn.text, ())


@given(documents(), st.data())
@moderate
def test_a_patch_does_what_it_says_and_touches_no_other_line(
    drawn: Drawn, data: st.DataObject
) -> None:
    before = drawn.workflow
    change: Change = data.draw(changes(before))
    after = applied(before, change.patch, change.remove).workflow
    assert said(after) == change.after
    assert after.name == change.patch.get("name", before.name)
    keeps_code_and_ids(before, after)
    assert untouched(before, after, change) == untouched(after, before, change)


@given(documents(), st.data())
@few
def test_a_whole_document_and_the_patch_that_it_amounts_to_give_the_same_bytes(
    drawn: Drawn, data: st.DataObject
) -> None:
    before = drawn.workflow
    change: Change = data.draw(changes(before))
    short = applied(before, change.patch, change.remove)
    whole = applied(before, change.whole(before), change.remove)
    assert short.workflow.text == whole.workflow.text
    assert short.changes == whole.changes


@given(documents(), st.data())
@few
def test_a_patch_changes_nothing_the_second_time(drawn: Drawn, data: st.DataObject) -> None:
    before = drawn.workflow
    change: Change = data.draw(changes(before))
    patch = read_patch(dumped(change.patch), change.remove, before)
    after = before.apply(patch).workflow
    if patch.triggers:
        (fields,), (trigger,) = patch.triggers.values(), after.triggers
        patch = replace(patch, triggers={trigger.key: fields})
    again = after.apply(replace(patch, remove=()))
    assert (again.workflow.text, again.changes) == (after.text, ())


@given(documents(names=APP_NAMES), st.data())
@few
def test_patching_back_gives_what_the_workflow_said_before(
    drawn: Drawn, data: st.DataObject
) -> None:
    before = drawn.workflow
    change: Change = data.draw(changes(before))
    after = applied(before, change.patch, change.remove).workflow
    now, then = said(after), said(before)
    (old,), (new,) = before.triggers, after.triggers
    now["triggers"] = {old.key: now["triggers"][new.key]}
    ends = {
        (e.source_trigger or e.source_step, e.target): e.key for e in (*before.edges, *after.edges)
    }
    back: dict[str, Any] = {"name": before.name}
    for section, parts in then.items():
        back[section] = {k: dict.fromkeys(now[section].get(k, {})) | f for k, f in parts.items()}
    back["triggers"] = {new.key: back["triggers"][old.key]}
    back["edges"] = {}
    for edge in said(before)["edges"].values():
        if "source_trigger" in edge:
            edge["source_trigger"] = new.key
        source, target = edge.get("source_trigger") or edge["source_job"], edge["target_job"]
        key = ends.get((source, target), f"{source}->{target}")
        gone = dict.fromkeys(now["edges"].get(f"{source}->{target}", {}))
        back["edges"][key] = gone | edge
    remove = [f"jobs.{key}" for key in now["jobs"] if key not in then["jobs"]]
    remove += [
        f"edges.{e.key}"
        for e in after.edges
        if e.source_step and f"{e.source_step}->{e.target}" not in then["edges"]
    ]
    restored = applied(after, back, remove).workflow
    assert said(restored) == then


@given(documents(), st.data())
@few
def test_every_setting_of_a_trigger_is_written_read_back_and_taken_away(
    drawn: Drawn, data: st.DataObject
) -> None:
    before = drawn.workflow
    type_ = data.draw(st.sampled_from(sorted(SETTINGS)))
    cron = {"cron_expression": "1 2 * * *"} if type_ == "cron" else {}
    settings = {k: drawn.keys[-1] if v == STEP else v for k, v in SETTINGS[type_].items()}
    fields = {"type": type_, **cron, **settings}
    (old,) = before.triggers
    after = applied(before, {"triggers": {old.key: fields}}, []).workflow
    (new,) = after.triggers
    assert (new.type, new.cron_expression, new.settings) == (
        type_,
        cron.get("cron_expression"),
        settings,
    )
    assert (new.id, new.enabled) == (old.id, old.enabled)
    assert new.key in {old.key, type_}
    assert [e.target for e in after.edges if e.source_trigger == new.key] == drawn.keys[:1]
    assert after.start in (None, new.key)
    bare = applied(after, {"triggers": {new.key: dict.fromkeys(settings)}}, []).workflow
    assert not bare.triggers[0].settings
    back = applied(bare, {"triggers": {new.key: settings}}, []).workflow
    assert said(back) == said(after)


def keeps_code_and_ids(before: Workflow, after: Workflow) -> None:
    now = {step.key: step for step in after.steps}
    for step in before.steps:
        if step.key in now:
            assert (now[step.key].code, now[step.key].id) == (step.code, step.id)
    known = {step.key for step in before.steps}
    for step in after.steps:
        assert step.key in known or not step.has_code
        assert step.key in known or bool(step.id) == any(s.id for s in before.steps)
    assert [t.id for t in after.triggers] == [t.id for t in before.triggers]


def untouched(of: Workflow, other: Workflow, change: Change) -> list[str]:
    """The lines outside of what the patch names, blank ones and the end of the file aside.

    In the list form a path is a line of the part that it leaves.
    """
    assert of.source.newline == other.source.newline
    assert of.text.startswith("\ufeff") == other.text.startswith("\ufeff")
    layout = of.layout
    assert layout is not None
    mine, theirs = said(of), said(other)
    steps = change.patch.get("jobs", {}).keys()
    steps |= {name.removeprefix("jobs.") for name in change.remove}
    edges = [(k, f) for says in (mine, theirs) for k, f in says["edges"].items()]
    paths = {k for k, _ in edges if mine["edges"].get(k) != theirs["edges"].get(k)}
    sources = {f.get("source_job") or f["source_trigger"] for k, f in edges if k in paths}
    touched: set[int] = set()
    trigger = mine["triggers"] != theirs["triggers"]
    for step in layout.steps:
        if step.part.key in steps or (layout.form.is_list and step.part.key in sources):
            touched |= span(of, step)
    for placed in layout.triggers:
        if trigger or (layout.form.is_list and placed.part.key in sources):
            touched |= span(of, placed)
    for path in layout.edges if not layout.form.is_list else ():
        edge = path.part
        if f"{edge.source_trigger or edge.source_step}->{edge.target}" in paths:
            touched |= span(of, path)
    for key, same in (("name", of.name == other.name), ("start", of.start == other.start)):
        if not same:
            touched.add(of.source.line(layout.root.own[key].start))
    lines = of.text.removeprefix("\ufeff").split(of.source.newline)
    kept = [line for number, line in enumerate(lines, 1) if number not in touched and line.strip()]
    return [line.replace("edges: {}", "edges:") for line in kept]


def span(of: Workflow, placed: Any) -> set[int]:
    """The lines of a part, with the comments above that are as far in and those below that are
    further in."""
    start = placed.entry.start if placed.entry else placed.node.start
    first, last = of.source.line(start), of.source.line(max(placed.node.end, start))
    lines = of.text.removeprefix("\ufeff").splitlines()

    def comment(number: int) -> int:
        line = lines[number - 1] if 0 < number <= len(lines) else ""
        return line.index("#") if line.strip().startswith("#") else -1

    column = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    while comment(first - 1) == column:
        first -= 1
    while comment(last + 1) > column:
        last += 1
    return set(range(first, last + 1))

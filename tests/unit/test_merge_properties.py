"""Over generated documents in every form and style: a merge changes what it should and no more."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from global_chat.workflow.merging.merge import ReplyRejected
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workflow_strategies import Drawn, documents, edits

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

moderate = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def draft(of: Workflow) -> dict[str, Any]:
    whole: dict[str, Any] = yaml.load(of.draft(), Loader=yaml.BaseLoader)
    return {"edges": {}, **whole}


def reply(whole: dict[str, Any]) -> str:
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True)


@given(documents())
@moderate
def test_identity(drawn: Drawn) -> None:
    before = Workflow.read(drawn.text, drawn.page)
    merged = before.merge(before.draft(), request="what is this?")
    assert merged.workflow.text == drawn.text
    assert merged.changes == ()


@given(documents(), st.data())
@moderate
def test_round_trip_locality_and_idempotence(drawn: Drawn, data: st.DataObject) -> None:
    before = Workflow.read(drawn.text, drawn.page)
    whole = draft(before)
    for _ in range(data.draw(st.integers(1, 3))):
        whole = whole | {}
        request = data.draw(edits(whole))
        if "do it" not in request:
            break
    answer = reply(whole)
    after = before.merge(answer, request=request, confirmed=True).workflow
    says_what_was_asked(after, whole, before)
    keeps_what_was_not(before, after)
    again = after.merge(after.draft(), request="what is this?")
    assert again.workflow.text == after.text
    if {step.key for step in after.steps} >= {step.key for step in before.steps}:
        repeated = after.merge(answer, request=request, confirmed=True)
        assert repeated.workflow.text == after.text


def says_what_was_asked(after: Workflow, whole: dict[str, Any], before: Workflow) -> None:
    assert {step.key for step in after.steps} == set(whole["jobs"])
    for step in after.steps:
        asked = whole["jobs"][step.key]
        assert (step.name, step.adaptor) == (asked["name"], asked["adaptor"])
        owner = asked.get("body", "[code of ]")[len("[code of ") : -1]
        was = next((s for s in before.steps if s.key == owner), None)
        if was:
            assert (step.code, step.id) == (was.code, was.id)
        else:
            assert not step.has_code
            assert bool(step.id) == any(s.id for s in before.steps)
    (trigger,) = after.triggers
    asked = whole["triggers"]["cron"]
    assert (trigger.type, trigger.cron_expression) == (asked["type"], asked.get("cron_expression"))
    assert trigger.enabled is (str(asked["enabled"]).lower() == "true")
    for edge in after.edges:
        assert edge.target in whole["jobs"]
        assert edge.source_trigger == "cron" or edge.source_step in whole["jobs"]
    asked_ends = {(e.get("source_job", "cron"), e["target_job"]) for e in whole["edges"].values()}
    renamed = {e[0] for e in asked_ends} | {e[1] for e in asked_ends}
    if renamed <= {*whole["jobs"], "cron"}:
        there = {(e.source_step or "cron", e.target) for e in after.edges}
        assert there == asked_ends


def keeps_what_was_not(before: Workflow, after: Workflow) -> None:
    """Every line outside the parts that differ stands in the new text too, in the same order."""
    assert before.source.newline == after.source.newline
    assert before.text.startswith("\ufeff") == after.text.startswith("\ufeff")
    if after.text.endswith("\n") is not before.text.endswith("\n"):
        bare = after.with_text(after.text.removesuffix(after.source.newline))
        assert [s.code for s in bare.steps] != [s.code for s in after.steps]
    lines = [line.rstrip("\r") for line in before.text.split("\n")]
    kept = [line for number, line in enumerate(lines, 1) if number not in touched(before, after)]
    if not after.edges:
        kept = [line for line in kept if line.strip() != "edges:"]  # now `edges: {}`
    new = iter([line.rstrip("\r") for line in after.text.split("\n")])
    assert [line for line in kept if line.strip() and not any(line == n for n in new)] == []


def touched(before: Workflow, after: Workflow) -> set[int]:
    """The lines of the parts that changed, with the comments right above them."""
    layout = before.layout
    assert layout is not None
    now = {id_of(p): p for p in (*after.steps, *after.triggers, *after.edges)}
    found: set[int] = set()
    sources: set[str | None] = set()
    parts: list[Any] = [*layout.steps, *layout.triggers, *layout.edges]
    for placed in parts:
        same = now.get(id_of(placed.part))
        if same is None or id_of(same, full=True) != id_of(placed.part, full=True):
            found |= span(before, placed)
            sources |= {getattr(placed.part, "source_step", None)}
            sources |= {getattr(placed.part, "source_trigger", None)}
    new_sources = {e.source_step for e in after.edges} if layout.form == "steps" else set()
    changed = {id_of(e, full=True) for e in before.edges} ^ {
        id_of(e, full=True) for e in after.edges
    }
    sources |= {key for edge in changed for key in edge[1:3]} | (set() if changed else new_sources)
    if layout.form == "steps":
        for placed in parts[: len(layout.steps) + len(layout.triggers)]:
            if placed.part.key in sources:
                found |= span(before, placed)
    last = max(parts, key=lambda p: p.node.end)
    return found | (set() if before.text.endswith("\n") else span(before, last))


def id_of(part: Any, *, full: bool = False) -> tuple[Any, ...]:
    kind = type(part).__name__
    if kind != "Edge":
        short = (kind, part.key)
        return (
            (*short, part.name, part.adaptor)
            if full and kind == "Step"
            else ((*short, part.type, part.cron_expression, part.enabled) if full else short)
        )
    short = (kind, part.source_step, part.source_trigger, part.target)
    more = (part.condition_type, (part.condition_expression or "").strip(), part.enabled)
    return (*short, *more) if full else short


def span(of: Workflow, placed: Any) -> set[int]:
    start = placed.entry.start if placed.entry else placed.node.start
    first, last = of.source.line(start), of.source.line(max(placed.node.end, start))
    lines = of.text.split("\n")
    while first > 1 and lines[first - 2].strip().startswith("#"):
        first -= 1
    while last < len(lines) and lines[last].strip().startswith("#"):
        last += 1
    return set(range(first, last + 1))


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_no_reply_makes_a_traceback(text: str) -> None:
    before = Workflow.read("name: A\njobs:\n  a:\n    name: A\n    body: x\n")
    try:
        after = before.merge(text, request=text).workflow
    except ReplyRejected as rejected:
        assert all(rejected.problems)
    else:
        assert [step.code for step in after.steps][:1] == ["x"]

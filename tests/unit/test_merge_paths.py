"""Paths are moved, and conditions changed, only as asked, in every form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from global_chat.workflow.merging.merge import ReplyRejected
from workflow_documents import FORMS, difference, edge, new_step, reply, workflow

from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Edge

pytestmark = pytest.mark.unit

every_form = pytest.mark.parametrize("form", FORMS)


def path(of: Workflow, source: str, target: str) -> Edge:
    ends = {(e.source_step or e.source_trigger, e.target): e for e in of.edges}
    return replace(ends[source, target], line=0)


@every_form
def test_a_step_in_between_leads_the_path_over(form: str) -> None:
    before = workflow(form)

    def between(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("check", "Check")
        del whole["edges"]["clean->store"]
        whole["edges"] |= {**edge("clean", "check"), **edge("check", "store")}

    after = before.merge(reply(before, between), request="a check between Clean and Store").workflow
    assert {(e.source_step, e.target) for e in after.edges} == {
        (None, "read"),
        ("read", "clean"),
        ("clean", "check"),
        ("check", "store"),
    }
    assert path(after, "read", "clean") == path(before, "read", "clean")


@every_form
def test_a_path_that_is_led_elsewhere_keeps_its_id_and_condition(form: str) -> None:
    before = workflow(form)

    def direct(whole: dict[str, Any]) -> None:
        moved = whole["edges"].pop("clean->store")
        whole["edges"]["read->store"] = {**moved, "source_job": "read"}

    after = before.merge(reply(before, direct), request="Store follows Read directly").workflow
    assert path(after, "read", "store").condition_type == "on_job_success"
    assert path(after, "read", "store").id == path(before, "clean", "store").id


@every_form
def test_a_path_that_only_goes_missing_is_asked_about(form: str) -> None:
    before = workflow(form)

    def lose(whole: dict[str, Any]) -> None:
        del whole["edges"]["clean->store"]

    answer = reply(before, lose)
    with pytest.raises(ReplyRejected, match="`clean` to `store`"):
        before.merge(answer, request="rename nothing")
    for merged in (
        before.merge(answer, request="rename nothing", confirmed=True),
        before.merge(answer, request="remove the path to Store"),
    ):
        assert merged.changes == ("Removed path Clean → Store",)
        assert "Nothing leads to the step Store" in merged.warnings[0]


@every_form
def test_a_condition_changes_in_its_place(form: str) -> None:
    before = workflow(form)

    def stricter(whole: dict[str, Any]) -> None:
        whole["edges"]["read->clean"]["condition_expression"] = "state.data.length > 10"

    after = before.merge(reply(before, stricter), request="more than ten").workflow
    gone, came = difference(before.text, after.text)
    assert [line.split(": ")[1] for line in gone] == ["state.data.length > 0"]
    assert [line.split(": ")[1] for line in came] == ["state.data.length > 10"]


@every_form
def test_a_condition_that_is_no_expression_any_more_drops_it(form: str) -> None:
    before = workflow(form)

    def always(whole: dict[str, Any]) -> None:
        # the model forgets the expression beside the new type
        whole["edges"]["read->clean"]["condition_type"] = "always"
        del whole["edges"]["read->clean"]["condition_label"]

    after = before.merge(reply(before, always), request="always run Clean").workflow
    changed = path(after, "read", "clean")
    assert (changed.condition_type, changed.condition_expression) == ("always", None)
    assert changed.condition_label is None
    assert "state.data.length" not in after.text


@every_form
def test_a_condition_becomes_an_expression(form: str) -> None:
    before = workflow(form)

    def some(whole: dict[str, Any]) -> None:
        whole["edges"]["clean->store"] |= {
            "condition_type": "js_expression",
            "condition_expression": "!state.errors && state.data",
            "condition_label": "some: data",
        }

    after = before.merge(reply(before, some), request="store only when there is data").workflow
    changed = path(after, "clean", "store")
    assert changed.condition_type == "js_expression"
    assert changed.condition_expression == "!state.errors && state.data"
    assert changed.condition_label == "some: data"
    assert path(after, "read", "clean") == path(before, "read", "clean")


@every_form
def test_a_second_path_from_one_step_leaves_the_first(form: str) -> None:
    before = workflow(form)

    def alert(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("alert", "Alert")
        whole["edges"] |= edge("clean", "alert", condition_type="on_job_failure")
        whole["edges"] |= edge("store", "alert", condition_type="on_job_failure")

    after = before.merge(reply(before, alert), request="alert when it fails").workflow
    assert path(after, "clean", "alert").condition_type == "on_job_failure"
    assert path(after, "store", "alert").condition_type == "on_job_failure"
    assert path(after, "clean", "store") == path(before, "clean", "store")


@every_form
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"source_job": "nowhere"}, "`nowhere`"),
        ({"target_job": "nowhere"}, "`nowhere`"),
        ({"target_job": None}, "exactly one"),
        ({"source_trigger": "cron"}, "exactly one"),
        ({"target_job": "clean"}, "circle"),
        ({"condition_type": "sometimes"}, "sometimes"),
        ({"condition_type": "js_expression"}, "condition_expression"),
        ({"condition_type": "js_expression", "condition_expression": "x" * 256}, "255"),
    ],
)
def test_a_path_that_the_app_would_refuse_is_sent_back(
    form: str, change: dict[str, Any], told: str
) -> None:
    before = workflow(form)

    def spoil(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("ping", "Ping")
        whole["edges"]["x"] = {**edge("clean", "ping")["clean->ping"], **change}

    with pytest.raises(ReplyRejected) as rejected:
        before.merge(reply(before, spoil), request="add a ping")
    assert told in " ".join(rejected.value.problems)


BESIDE = """\
steps:
  - id: a
    expression: fn(s => s);
    next:
      b:
        condition: js_expression
        expression: state.data.ok  # who said so
  - id: b
    expression: fn(s => s);
"""


def test_an_expression_beside_its_condition_is_read_and_changed_where_it_stands() -> None:
    workflow = Workflow.read(BESIDE)
    assert workflow.edges[0].condition_expression == "state.data.ok"

    reply = workflow.draft().replace("state.data.ok", "state.data.fine")
    merged = workflow.merge(reply, request="check fine instead of ok")
    assert merged.workflow.text == BESIDE.replace("state.data.ok", "state.data.fine")

"""What a model leaves out is removed only when the user asked for it."""

from __future__ import annotations

from typing import Any

import pytest
from global_chat.workflow.merging.merge import ReplyRejected
from workflow_documents import FORMS, edge, new_step, reply, workflow

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

every_form = pytest.mark.parametrize("form", FORMS)


def codes(of: Workflow) -> dict[str, str | None]:
    return {step.key: step.code for step in of.steps}


def ids(of: Workflow) -> dict[str, str | None]:
    return {part.key: part.id for part in (*of.steps, *of.triggers)}


@every_form
def test_a_step_that_the_model_leaves_out_is_not_deleted(form: str) -> None:
    before = workflow(form)

    def only_new(whole: dict[str, Any]) -> None:
        whole["jobs"] = new_step("audit", "Audit")
        whole["edges"] = edge("store", "audit")
        del whole["triggers"]

    with pytest.raises(ReplyRejected) as rejected:
        before.merge(reply(before, only_new), request="add an audit step after Store")
    told = " ".join(rejected.value.problems)
    for name in ("`read`", "`clean`", "`store`", "`cron`"):
        assert name in told
    assert "if the request asks to remove them, leave them out again" in told.lower()


@every_form
def test_a_step_that_is_to_go_takes_its_paths_and_its_comment(form: str) -> None:
    before = workflow(form)

    def drop(whole: dict[str, Any]) -> None:
        del whole["jobs"]["clean"]
        whole["edges"] |= edge("read", "store")

    merged = before.merge(reply(before, drop), request="delete Clean, Read leads to Store then")
    text = merged.workflow.text
    assert "clean" not in text.replace("nothing to clean", "").lower()
    assert "do not remove" not in text
    assert merged.changes == ("Removed step Clean", "Added path Read → Store (on success)")
    assert {e.target for e in merged.workflow.edges} == {"read", "store"}
    assert ids(merged.workflow) == {k: v for k, v in ids(before).items() if k != "clean"}


def test_removal_needs_the_word_and_the_name_and_a_second_reply_needs_the_word() -> None:
    before = workflow()

    def drop(whole: dict[str, Any]) -> None:
        del whole["jobs"]["store"]
        del whole["edges"]["clean->store"]

    answer = reply(before, drop)
    with pytest.raises(ReplyRejected):
        before.merge(answer, request="remove the last one")
    with pytest.raises(ReplyRejected):
        before.merge(answer, request="add a step after Store", confirmed=True)
    assert before.merge(answer, request="remove the last one", confirmed=True).changes
    assert before.merge(answer, request="remove this step", focus="store").changes
    assert before.merge(answer, request="ondoa hatua ya Store").changes


@every_form
def test_a_reply_without_steps_is_never_a_workflow(form: str) -> None:
    before = workflow(form)
    for answer in ("name: Clinic sync\njobs: {}\n", "name: x\nsteps: []\n", "name: only\n"):
        with pytest.raises(ReplyRejected, match="no steps"):
            before.merge(answer, request="delete every job", confirmed=True)


@every_form
def test_a_step_may_take_the_key_of_one_that_goes(form: str) -> None:
    before = workflow(form)

    def take(whole: dict[str, Any]) -> None:
        jobs = whole["jobs"]
        jobs["clean"] = {**jobs.pop("store"), "name": "Store it"}
        whole["edges"] = {
            **{key: whole["edges"][key] for key in ("cron->read", "read->clean")},
        }

    after = before.merge(reply(before, take), request="remove Clean", confirmed=True).workflow
    (moved,) = [step for step in after.steps if step.key == "clean"]
    assert (moved.id, moved.code) == ("aa03", codes(before)["store"])
    assert {(e.source_step, e.target) for e in after.edges} == {(None, "read"), ("read", "clean")}

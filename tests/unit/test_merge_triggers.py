"""Triggers are switched, changed and added only as asked, in every form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from global_chat.workflow.merging.merge import ReplyRejected
from workflow_documents import FORMS, JOBS, difference, edge, new_step, reply, workflow

from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Edge

pytestmark = pytest.mark.unit

every_form = pytest.mark.parametrize("form", FORMS)


def path(of: Workflow, source: str, target: str) -> Edge:
    ends = {(e.source_step or e.source_trigger, e.target): e for e in of.edges}
    return replace(ends[source, target], line=0)


@every_form
@pytest.mark.parametrize("said", [False, None])
def test_enabled_stays_when_the_request_is_about_something_else(
    form: str, said: bool | None
) -> None:
    before = workflow(form)

    def meddle(whole: dict[str, Any]) -> None:
        for part in (whole["triggers"]["cron"], *whole["edges"].values()):
            part.pop("enabled", None)
            if said is not None:
                part["enabled"] = said
        whole["jobs"] |= new_step("ping", "Ping")
        whole["edges"] |= edge("store", "ping", enabled=False)

    after = before.merge(reply(before, meddle), request="add a cleanup step at the end").workflow
    assert [t.enabled for t in after.triggers] == [True]
    assert all(e.enabled is not False for e in after.edges)


@every_form
def test_what_is_to_be_switched_off_is(form: str) -> None:
    before = workflow(form)

    def off(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"]["enabled"] = False

    merged = before.merge(reply(before, off), request="mets le déclencheur en pause")
    assert merged.changes == ("Trigger cron switched off",)
    assert difference(before.text, merged.workflow.text) == (["enabled: true"], ["enabled: false"])
    back = merged.workflow.merge(before.draft(), request="turn the schedule on again")
    assert back.workflow.text == before.text


@every_form
def test_a_path_is_switched_off_and_on_again(form: str) -> None:
    before = workflow(form)

    def off(whole: dict[str, Any]) -> None:
        whole["edges"]["read->clean"]["enabled"] = False
        whole["triggers"]["cron"]["enabled"] = False

    merged = before.merge(reply(before, off), request="disable the path from Read to Clean")
    assert merged.changes == ("Path Read → Clean switched off",)
    assert path(merged.workflow, "read", "clean").enabled is False

    def on(whole: dict[str, Any]) -> None:
        whole["edges"]["read->clean"]["enabled"] = True

    off_now = merged.workflow
    back = off_now.merge(reply(off_now, on), request="enable that path").workflow
    assert path(back, "read", "clean").enabled is True


@every_form
def test_a_trigger_that_changes_type_loses_its_schedule_and_nothing_else(form: str) -> None:
    before = workflow(form)

    def webhook(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"] |= {"type": "webhook", "enabled": False}

    merged = before.merge(reply(before, webhook), request="use a webhook instead")
    after = merged.workflow
    (trigger,) = after.triggers
    assert (trigger.type, trigger.cron_expression, trigger.enabled) == ("webhook", None, True)
    assert trigger.id == "bb01"
    assert "webhook_reply: before_start" in after.text
    assert merged.changes == ("Trigger changed from cron to webhook",)
    assert len(difference(before.text, after.text)[0]) == 2


@every_form
def test_a_trigger_that_is_replaced_under_another_key_stays_itself(form: str) -> None:
    before = workflow(form)

    def webhook(whole: dict[str, Any]) -> None:
        whole["triggers"] = {"hook": {"type": "webhook", "enabled": False}}
        first = whole["edges"].pop("cron->read")
        whole["edges"]["hook->read"] = {**first, "source_trigger": "hook"}

    after = before.merge(reply(before, webhook), request="use a webhook instead").workflow
    (trigger,) = after.triggers
    assert (trigger.key, trigger.id, trigger.enabled) == ("hook", "bb01", True)
    assert path(after, "hook", "read").condition_type == "always"
    if after.layout and after.layout.form == "steps":
        assert "start: hook" in after.text


def test_a_trigger_keeps_its_key_when_nobody_speaks_of_it() -> None:
    before = Workflow.read(JOBS.replace("cron->", "nightly->").replace(" cron:", " nightly:"))
    before = Workflow.read(before.text.replace("source_trigger: cron", "source_trigger: nightly"))
    answer = before.draft().replace("nightly", "cron")
    assert before.merge(answer, request="what is this?").workflow.text == before.text


@every_form
def test_a_new_trigger_is_off_unless_it_is_to_be_on(form: str) -> None:
    before = workflow(form)

    def drop(whole: dict[str, Any]) -> None:
        del whole["triggers"]["cron"], whole["edges"]["cron->read"]

    bare = before.merge(reply(before, drop), request="remove the trigger").workflow
    assert bare.triggers == ()
    for request, enabled in (("add a webhook", False), ("add a webhook, switched on", True)):

        def add(whole: dict[str, Any]) -> None:
            whole["triggers"] = {"hook": {"type": "webhook", "enabled": True}}
            ends = {"source_trigger": "hook", "target_job": "read", "condition_type": "always"}
            whole.setdefault("edges", {})["hook->read"] = ends

        after = bare.merge(reply(bare, add), request=request).workflow
        assert [t.enabled for t in after.triggers] == [enabled]
        assert f"enabled: {str(enabled).lower()}" in after.text
        assert path(after, "hook", "read").enabled is not False


@every_form
def test_a_trigger_starts_one_step(form: str) -> None:
    before = workflow(form)

    def two(whole: dict[str, Any]) -> None:
        ends = {"source_trigger": "cron", "target_job": "store", "condition_type": "always"}
        whole["edges"]["cron->store"] = ends

    with pytest.raises(ReplyRejected) as rejected:
        before.merge(reply(before, two), request="start Store as well")
    assert "`read`, `store`" in rejected.value.problems[0]


@every_form
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cron_expression": "every day"}, "every day"),
        ({"cron_expression": "0 0 0 8 * *"}, "6 fields"),
        ({"type": "timer"}, "timer"),
    ],
)
def test_a_trigger_that_the_app_would_refuse_is_sent_back(
    form: str, change: dict[str, Any], told: str
) -> None:
    before = workflow(form)

    def spoil(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"] |= change

    with pytest.raises(ReplyRejected, match=told):
        before.merge(reply(before, spoil), request="another schedule")

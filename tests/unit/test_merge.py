"""A structural edit changes what it was asked to and nothing else, whatever a model sends back."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from global_chat.workflow.merging.merge import ReplyRejected
from workflow_documents import FORMS, JOBS, difference, edge, new_step, reply, workflow

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

every_form = pytest.mark.parametrize("form", FORMS)


def codes(of: Workflow) -> dict[str, str | None]:
    return {step.key: step.code for step in of.steps}


def ids(of: Workflow) -> dict[str, str | None]:
    return {part.key: part.id for part in (*of.steps, *of.triggers)}


@every_form
def test_the_draft_given_back_changes_no_byte(form: str) -> None:
    before = workflow(form)
    merged = before.merge(before.draft(), request="what does this do?")
    assert merged.workflow.text == before.text
    assert (merged.changes, merged.warnings) == ((), ())


@every_form
def test_another_schedule_is_one_line(form: str) -> None:
    before = workflow(form)

    def later(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"]["cron_expression"] = "0 7 * * 1"

    merged = before.merge(reply(before, later), request="run it on Mondays at 7")
    gone, came = difference(before.text, merged.workflow.text)
    assert len(gone) == len(came) == 1
    assert came[0].endswith("'0 7 * * 1'   # before the office opens")
    assert merged.changes == ("Schedule changed from `0 5 * * *` to `0 7 * * 1`",)


@every_form
@pytest.mark.parametrize("what", ["left out", "invented", "swapped"])
def test_ids_stay_whatever_the_model_does_to_them(form: str, what: str) -> None:
    before = workflow(form)

    def meddle(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"]["cron_expression"] = "0 7 * * 1"
        parts = [*whole["jobs"].values(), *whole["edges"].values(), whole["triggers"]["cron"]]
        for number, part in enumerate(parts):
            part.pop("id", None)
            if what == "invented":
                part["id"] = f"new-{number}"
        if what == "swapped":
            whole["jobs"]["read"]["id"], whole["jobs"]["store"]["id"] = "aa03", "aa01"

    after = before.merge(reply(before, meddle), request="run it on Mondays at 7").workflow
    assert len(difference(before.text, after.text)[0]) == 1
    assert ids(after) == ids(before)
    assert codes(after) == codes(before)


@every_form
def test_an_added_step_comes_with_its_path_and_touches_no_line(form: str) -> None:
    before = workflow(form)

    def add(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("ping", "Ping", id="aa01")
        whole["edges"] |= edge("store", "ping")

    merged = before.merge(reply(before, add), request="add a ping at the end")
    gone, _ = difference(before.text.rstrip(), merged.workflow.text.rstrip())
    kept = [line for line in gone if line not in merged.workflow.text]
    assert kept == []
    assert merged.changes == ("Added step Ping (http)", "Added path Store → Ping (on success)")
    ping = merged.workflow.find_step("ping")
    assert ping is not None
    assert not ping.has_code
    assert ping.id not in (None, "aa01")
    assert codes(merged.workflow) == {**codes(before), "ping": ping.code}


def test_a_new_part_has_an_id_only_where_its_kind_has_ids() -> None:
    bare = Workflow.read("\n".join(line for line in JOBS.splitlines() if "id:" not in line))

    def add(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("ping", "Ping", id="made-up")
        whole["edges"] |= edge("store", "ping")

    after = bare.merge(reply(bare, add), request="add a ping").workflow
    assert "id:" not in after.text


@every_form
def test_keys_that_the_model_never_saw_survive_and_are_not_copied(form: str) -> None:
    before = workflow(form)

    def add(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("ping", "Ping", credential="warehouse")

        whole["triggers"]["cron"]["webhook_reply"] = "after_completion"

    merged = before.merge(reply(before, add), request="add a ping")
    text = merged.workflow.text
    assert any("`credential`" in warning and "`ping`" in warning for warning in merged.warnings)
    for key in ("webhook_reply: before_start", "x-owner: data", "clinic-api"):
        assert text.count(key) == before.text.count(key)
    assert text.count("warehouse") == before.text.count("warehouse")


@every_form
def test_a_renamed_key_moves_its_paths_even_those_that_the_model_forgot(form: str) -> None:
    before = workflow(form)

    def rename(whole: dict[str, Any]) -> None:
        whole["jobs"]["clean-up"] = {**whole["jobs"].pop("clean"), "name": "Clean up"}
        path = whole["edges"].pop("read->clean")
        whole["edges"]["read->clean-up"] = {**path, "target_job": "clean-up"}

    merged = before.merge(reply(before, rename), request="rename Clean to Clean up")
    assert merged.changes == ("Renamed step Clean to Clean up",)
    after = merged.workflow
    step = after.find_step("clean-up")
    assert step is not None
    assert (step.id, step.code) == ("aa02", "fn(state => state);")
    joined = {(e.source_step, e.target): e.condition_type for e in after.edges}
    assert joined[("read", "clean-up")] == "js_expression"
    assert joined[("clean-up", "store")] == "on_job_success"
    assert all("clean-up" in line for line in difference(before.text, after.text)[1][:1])
    assert not any(part == "clean" for e in after.edges for part in (e.source_step, e.target))


@every_form
def test_another_display_name_keeps_the_key(form: str) -> None:
    before = workflow(form)

    def rename(whole: dict[str, Any]) -> None:
        whole["jobs"]["clean"]["name"] = "Tidy up"

    after = before.merge(reply(before, rename), request="call it Tidy up").workflow
    assert difference(before.text, after.text) == (["name: Clean"], ["name: Tidy up"])


def test_a_key_that_the_model_only_tidied_up_stays() -> None:
    text = JOBS.replace("read", "Récupérer_ça").replace("Read", "Récupérer ça")
    before = Workflow.read(text)
    for spelling in ("Recuperer-ca", "récupérer-ça", "Récupérer_ça".encode().decode()):
        answer = before.draft().replace("Récupérer_ça", spelling)
        answer = answer.replace(f"[code of {spelling}]", "[code of Récupérer_ça]")
        assert before.merge(answer, request="what is this?").workflow.text == text


@every_form
def test_a_renamed_workflow_can_still_be_edited(form: str) -> None:
    before = workflow(form)
    answer = reply(before, lambda whole: whole.update(name="Ward sync"))
    after = before.merge(answer, request="rename the workflow to Ward sync").workflow
    assert after.name == "Ward sync"
    assert after.text == before.text.replace("name: Clinic sync", "name: Ward sync")
    code = after.with_code("read", "get('/ward');\n").find_step("read")
    assert code and code.code == "get('/ward');\n"


@pytest.mark.parametrize("what", ["name", "key"])
def test_a_rename_to_what_another_step_has_is_rejected(what: str) -> None:
    before = workflow()

    def clash(whole: dict[str, Any]) -> None:
        whole["jobs"]["read"]["name"] = "Store"

    answer = reply(before, clash)
    if what == "key":
        answer = before.draft().replace("  read:\n", "  store:\n", 1)
    with pytest.raises(ReplyRejected):
        before.merge(answer, request="rename Read to Store")


def test_a_new_step_gets_a_name_of_its_own() -> None:
    before = workflow()

    def add(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("read-2", "Read", body="// patients")
        whole["edges"] |= edge("read", "read-2")

    after = before.merge(reply(before, add), request="add another read for /patients").workflow
    assert sorted(step.name for step in after.steps) == ["Clean", "Read", "Read 2", "Store"]
    assert difference(before.text, after.text)[0] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda jobs: {**jobs, "read": {"name": "Read patients", "body": "get('/patients');"}},
        lambda jobs: {
            **jobs,
            "read": {"name": "Read patients", "body": "get('/patients');"},
            "read-1": {**jobs["read"], "name": "Read 1"},
        },
    ],
    ids=["overwritten", "made room"],
)
def test_another_step_under_an_existing_key_is_sent_back(change: Any) -> None:
    before = workflow()

    def squat(whole: dict[str, Any]) -> None:
        whole["jobs"] = change(whole["jobs"])

    with pytest.raises(ReplyRejected, match="`read`"):
        before.merge(reply(before, squat), request="add another read for patients")


@every_form
def test_code_in_a_structure_reply_is_left_out_with_a_warning(form: str) -> None:
    before = workflow(form)

    def smuggle(whole: dict[str, Any]) -> None:
        whole["jobs"]["read"]["body"] = "get('/stolen');"
        whole["jobs"]["store"]["body"] = "[code of stoer]"
        whole["jobs"] |= new_step("ping", "Ping", body="post('/ping');")

    merged = before.merge(reply(before, smuggle), request="add a ping")
    after = codes(merged.workflow)
    assert {key: after[key] for key in codes(before)} == codes(before)
    assert "/stolen" not in merged.workflow.text
    assert "/ping" not in merged.workflow.text
    assert sum("was left out" in warning for warning in merged.warnings) == 2


@every_form
def test_placeholders_that_lost_their_quotes_still_name_their_owner(form: str) -> None:
    before = workflow(form)
    answer = before.draft().replace("'[code of clean]'", "[code of clean]")
    answer = answer.replace("  clean:\n", "  tidy:\n").replace("name: Clean\n", "name: Tidy\n")
    after = before.merge(answer, request="rename Clean to Tidy").workflow
    step = after.find_step("tidy")
    assert step is not None
    assert step.code == "fn(state => state);"


@every_form
def test_the_order_of_keys_means_nothing(form: str) -> None:
    before = workflow(form)

    def shuffle(whole: dict[str, Any]) -> None:
        for section in ("jobs", "edges"):
            whole[section] = dict(reversed(whole[section].items()))

    assert before.merge(reply(before, shuffle), request="x").workflow.text == before.text


def test_a_document_without_steps_takes_the_code_that_comes() -> None:
    empty = Workflow.read("name: Empty\njobs:\nedges: {}\n")
    merged = empty.merge(workflow("jobs").text, request="build it")
    assert codes(merged.workflow) == codes(workflow("jobs"))
    assert yaml.safe_load(merged.workflow.text)["jobs"]["read"]["body"] == "get('/clinics');\n"

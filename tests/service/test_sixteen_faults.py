"""Sixteen ways in which an assistant of this kind was seen to go wrong, and that this one does not.

One test a fault, named by what is promised instead.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from global_chat.contract.events import Stitched
from global_chat.workflow.document import Workflow
from tests.service.recorded_turns import Taken, results_in, take
from tests.service.scripts import (
    BODIES,
    PAGE,
    RENAMED,
    TO_PLANNER,
    TO_STRUCTURE,
    WORKFLOW,
    Script,
    calls,
    code_call,
    drafted,
    edit,
    says,
    structure,
    to_code,
)

pytestmark = pytest.mark.service

LOAD_BODY = "    body: |\n      // body-zq23\n      insert('visits', $.data);\n"


def draft_of(text: str, old: str, new: str) -> str:
    """What the workflow agent gives back for a document, with one text exchanged."""
    draft = Workflow.read(text).draft()
    assert old in draft
    return draft.replace(old, new)


async def restructure(
    *replies: Script, workflow: str = WORKFLOW, content: str = "Rename it."
) -> Taken:
    script = {"router": TO_STRUCTURE, "workflow_agent": list(replies)}
    return await take(script, content, workflow=workflow)


async def test_01_a_job_without_a_body_costs_no_other_job_its_code() -> None:
    for empty in ("    body: null\n", "    body:\n", ""):
        workflow = WORKFLOW.replace(LOAD_BODY, empty)
        yaml = draft_of(workflow, "name: Fetch visits", f"name: {RENAMED}")
        taken = await restructure(structure(yaml, "Renamed."), workflow=workflow)
        assert taken.response.workflow_yaml == workflow.replace("Fetch visits", RENAMED)


@pytest.mark.parametrize(
    "copied", ["[code of fecth]", "[code of load]", "[has code]", "", "...", "fn(state => state);"]
)
async def test_02_a_placeholder_that_is_copied_wrongly_costs_no_code(copied: str) -> None:
    yaml = drafted("[code of fetch]", copied).replace("name: Load visits", "name: Save visits")
    taken = await restructure(structure(yaml, "Renamed."))
    assert taken.response.workflow_yaml == WORKFLOW.replace("Load visits", "Save visits")


async def test_03_a_job_that_the_model_leaves_out_is_not_deleted_unasked() -> None:
    whole = Workflow.read(WORKFLOW).draft()
    start, end = whole.index("  clean:\n"), whole.index("  load:\n")
    without = (whole[:start] + whole[end:]).replace("name: Load visits", "name: Save visits")
    kept = drafted("name: Load visits", "name: Save visits")
    taken = await restructure(structure(without, "Renamed."), structure(kept, "Renamed."))
    assert taken.response.workflow_yaml == WORKFLOW.replace("Load visits", "Save visits")
    assert "clean" in str(taken.to("workflow_agent")[-1].messages[-1].content)


@pytest.mark.parametrize("key", ["Récupérer (1)", "取得[2]", "step #3"])
async def test_04_keys_with_accents_or_brackets_stay_one_with_their_edges(key: str) -> None:
    quoted = f"'{key}'"
    workflow = WORKFLOW.replace("  fetch:\n", f"  {quoted}:\n")
    workflow = workflow.replace("_job: fetch\n", f"_job: {quoted}\n")
    yaml = draft_of(workflow, "name: Load visits", "name: Save visits")
    taken = await restructure(structure(yaml, "Renamed."), workflow=workflow)
    assert taken.response.workflow_yaml == workflow.replace("Load visits", "Save visits")
    assert not [p for p in taken.after.check() if p.severity == "error"]


async def test_05_two_code_calls_for_one_step_both_last() -> None:
    script = {
        "router": TO_PLANNER,
        "planner": [calls(code_call("fetch", "one"), code_call("fetch", "two")), says("Done.")],
        "job_code_agent": [
            calls(
                edit("limit: 50", "limit: 80"), text="ok", when={"contains": "one", "in": "last"}
            ),
            calls(edit("query", "params"), text="ok", when={"contains": "two", "in": "last"}),
        ],
    }
    taken = await take(script)
    assert "params: { limit: 80 }" in taken.code_of("fetch")


async def test_06_ten_code_calls_without_a_word_are_ten_edits_that_last() -> None:
    edits = [
        calls(edit(None, f"step({n});\n"), when={"contains": f"write {n}.", "in": "last"})
        for n in range(10)
    ]
    asks = [code_call(("fetch", "clean", "load")[n % 3], f"write {n}.") for n in range(10)]
    script = {"router": TO_PLANNER, "planner": [calls(*asks), says("")], "job_code_agent": edits}
    taken = await take(script)
    assert [taken.code_of(key) for key in ("fetch", "clean", "load")] == [
        "step(9);\n", "step(7);\n", "step(8);\n",
    ]  # fmt: skip
    assert len(taken.of(Stitched)) == 10
    assert taken.response.response.strip()


async def test_07_edits_outlive_a_planner_that_fails_after_them() -> None:
    script = {
        "router": TO_PLANNER,
        "planner": [calls(code_call("load")), {"error": {"type": "OVERLOADED"}}],
        "job_code_agent": [calls(edit(None, "post('/new');\n"), text="ok")],
    }
    taken = await take(script)
    assert taken.failure.type == "OVERLOADED"
    assert taken.failure.partial_workflow == WORKFLOW.replace(
        "      // body-zq23\n      insert('visits', $.data);\n", "      post('/new');\n"
    )


async def test_08_two_edits_in_one_answer_are_both_made() -> None:
    answer = calls(edit("limit: 50", "limit: 80"), edit("limit: 80", "limit: 90"), text="ok")
    taken = await take({"router": to_code(), "job_code_agent": [answer]})
    assert taken.response.workflow_yaml == WORKFLOW.replace("limit: 50", "limit: 90")


async def test_09_an_edit_that_does_not_apply_is_never_reported_as_done() -> None:
    fails = calls(edit("limit: 51", "limit: 80"), text="I raised the limit.", repeat=2)
    taken = await take({"router": to_code(), "job_code_agent": [fails]})
    assert "raised" not in taken.response.response
    assert "as it was" in taken.response.response
    assert taken.response.attachments == []

    planner = [calls(code_call("fetch")), says("It did not work.")]
    taken = await take({"router": TO_PLANNER, "planner": planner, "job_code_agent": [fails]})
    (result,) = results_in(taken.to("planner")[1])
    assert result["is_error"] is True
    assert "raised" not in result["content"]


async def test_10_code_for_a_step_that_is_not_there_is_refused_aloud() -> None:
    planner = [calls(code_call("feetch")), says("There is no such step.")]
    taken = await take({"router": TO_PLANNER, "planner": planner})
    (result,) = results_in(taken.to("planner")[1])
    assert result["is_error"] is True
    assert "feetch" in result["content"]
    assert all(key in result["content"] for key in BODIES)


async def test_11_an_answer_that_was_cut_off_is_no_success() -> None:
    planner = [says("The first half of", stop_reason="max_tokens")]
    taken = await take({"router": TO_PLANNER, "planner": planner})
    assert (taken.failure.type, taken.failure.exit_code) == ("OUTPUT_TRUNCATED", 5)


@pytest.mark.parametrize(
    ("status", "type_", "exit_code"),
    [
        (401, "AUTH_ERROR", 3),
        (429, "RATE_LIMIT", 4),
        (529, "OVERLOADED", 4),
        (500, "PROVIDER_ERROR", 4),
    ],
)
async def test_12_a_failure_keeps_its_kind_and_costs_no_dearer_call(
    status: int, type_: str, exit_code: int
) -> None:
    taken = await take({"router": [{"error": {"status": status}}]})
    assert (taken.failure.type, taken.failure.exit_code) == (type_, exit_code)
    assert taken.asked == ["router"]


def test_13_no_key_of_any_provider_is_needed_to_start() -> None:
    modules = "global_chat.cli.app, global_chat.turn.take, global_chat.model.anthropic"
    env = {k: v for k, v in os.environ.items() if "KEY" not in k and "TOKEN" not in k}
    done = subprocess.run(
        [sys.executable, "-c", f"import {modules}"], env=env, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


async def test_14_an_attachment_belongs_to_one_turn() -> None:
    script = {"router": to_code(), "job_code_agent": [says("It failed.")]}
    first = await take(script, "why?", attachments=[{"type": "log", "content": "canary-5519"}])
    assert first.holding("canary-5519") == {"job_code_agent"}
    assert repr(first.requests).count("canary-5519") == 1
    history = [entry.model_dump() for entry in first.response.history]
    second = await take(script, "and now?", history=history)
    assert second.holding("canary-5519") == set()


async def test_15_no_scalar_is_read_as_another_and_written_back() -> None:
    odd = "x-version: 1.10\nx-country: NO\nx-code: 0123\nx-time: 12:30\nx-day: 2024-01-02\n"
    workflow = WORKFLOW + odd
    coded = await take(
        {"router": to_code(), "job_code_agent": [calls(edit("limit: 50", "limit: 80"), text="ok")]},
        workflow=workflow,
    )
    assert coded.response.workflow_yaml == workflow.replace("limit: 50", "limit: 80")
    yaml = draft_of(workflow, "name: Fetch visits", f"name: {RENAMED}")
    restructured = await restructure(structure(yaml, "Renamed."), workflow=workflow)
    assert restructured.response.workflow_yaml == workflow.replace("Fetch visits", RENAMED)


@pytest.mark.parametrize("word", ["yes", "no", "on", "true", "null", "~", "1.10", "0123"])
async def test_16_a_step_may_be_called_by_a_word_that_reads_as_something_else(word: str) -> None:
    workflow = WORKFLOW.replace("  fetch:\n", f"  {word}:\n").replace(
        "name: Fetch visits", f"name: {word}"
    )
    workflow = workflow.replace("_job: fetch\n", f"_job: {word}\n")
    script = {
        "router": to_code(word),
        "job_code_agent": [calls(edit("limit: 50", "limit: 80"), text="ok")],
    }
    for page in (PAGE, f"{PAGE}/{word}"):
        taken = await take(script, workflow=workflow, page=page)
        assert taken.response.workflow_yaml == workflow.replace("limit: 50", "limit: 80")
    yaml = draft_of(workflow, "name: Load visits", "name: Save visits")
    taken = await restructure(structure(yaml, "Renamed."), workflow=workflow)
    assert taken.response.workflow_yaml == workflow.replace("Load visits", "Save visits")

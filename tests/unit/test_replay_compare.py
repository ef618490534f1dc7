"""Every expectation of a case fails when it is not met: a case that cannot fail guards nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from global_chat.replay.compare import differences
from global_chat.replay.play import play_script
from tests.replay_cases import CASE, SCRIPT, a_case

pytestmark = pytest.mark.unit


async def keys(tmp_path: Path, case: str = CASE, script: str = SCRIPT) -> set[str]:
    made = a_case(tmp_path, case=case, script=script)
    return {difference.key for difference in differences(await play_script(made))}


async def test_a_case_that_is_met_has_no_differences(tmp_path: Path) -> None:
    assert await keys(tmp_path) == set()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("agents: [router, job_code_agent]", "agents: [router, planner]"),
        ("says: Done", "says: Finished"),
        ("says: Done", "never_says: Done"),
        ("says: Done", "confidence: 3"),
        ("says: Done", "handover: job_code_agent"),
        ("says: Done", "handed_back: [workflow_agent]"),
        ("says: Done", "error: REFUSED"),
        ("says: Done", "warnings: [something]"),
        ("says: Done", "usage: { input_tokens: 1 }"),
        ("says: Done", "removed: [jobs.save]"),
        ("says: Done", "added: { jobs.more: }"),
        ("says: Done", "moved: [jobs.get.body]"),
        ("says: Done", "requests: { router: { count: 2 } }"),
        ("says: Done", "requests: { router: { contains: zebra } }"),
        ("says: Done", "requests: { router: { lacks: ask for /z } }"),
        ("says: Done", "requests: { router: [{}, {}] }"),
        ("says: Done", "requests: { job_code_agent: [{ contains: zebra }] }"),
        ("says: Done", "requests: { job_code_agent: [{ lacks: ask for /z }] }"),
        ("{ contains: /z }", "{ contains: /y }"),
        ("{ contains: /z }", "{ lacks: /z }"),
        ("{ contains: /z }", "get('/a');"),
        ("jobs.get.body", "jobs.save.body"),
    ],
)
async def test_an_expectation_that_is_not_met_is_told_by_its_name(
    tmp_path: Path, line: str, wrong: str
) -> None:
    assert line in CASE
    key = wrong.partition(":")[0] if line.startswith(("says", "agents")) else "changed"
    assert key in await keys(tmp_path, CASE.replace(line, wrong))


@pytest.mark.parametrize("key", ["goal", "error_says"])
async def test_words_of_a_handover_or_an_error_are_looked_for(tmp_path: Path, key: str) -> None:
    script = {
        "goal": SCRIPT.replace("edit_job", "edit_workflow")
        + "planner: [{ text: Done. }]\n".replace("Done.", "Done."),
        "error_says": "router: [{ error: { status: 401, message: bad key } }]\n",
    }[key]
    assert key in await keys(tmp_path, CASE + f"  {key}: zebra\n", script)


async def test_a_change_that_nobody_expected_fails(tmp_path: Path) -> None:
    case = CASE.replace("  changed:\n    jobs.get.body: { contains: /z }\n", "")
    assert await keys(tmp_path, case) == {"changed"}


async def test_a_turn_that_no_call_used_fails(tmp_path: Path) -> None:
    assert await keys(tmp_path, script=SCRIPT + "planner: [{ text: never }]\n") == {"script"}


async def test_a_call_that_no_turn_answers_names_the_nearest_turn_and_the_difference(
    tmp_path: Path,
) -> None:
    script = SCRIPT.replace("  - text: Done.", "  - when: { contains: zebra }\n    text: Done.")
    made = a_case(tmp_path, script=script)
    found = {d.key: d.message for d in differences(await play_script(made))}
    assert "SCRIPT_MISMATCH" in found["error"]
    assert "job_code_agent[0]" in found["error"] and "'zebra' is not in" in found["error"]
    assert "script" not in found  # the turns left over follow from the miss


async def test_planning_is_looked_at(tmp_path: Path) -> None:
    case = CASE.split("expect:")[0] + (
        "expect:\n  agents: [router, planner]\n  planning: { iterations: 2, tool_calls: 1 }\n"
    )
    script = (
        "router: [{ reply: { destination: planner, confidence: 5, job_key: null } }]\n"
        "planner: [{ text: Which one? }]\n"
    )
    assert await keys(tmp_path, case, script) == {"planning"}

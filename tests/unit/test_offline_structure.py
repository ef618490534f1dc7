"""Structural requests change the workflow exactly as asked, or change nothing and say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.offline.structure.adaptor_list import AdaptorList
from global_chat.offline.structure.answer import StructureReply, change
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

pytestmark = pytest.mark.unit

WORKFLOWS = Path(__file__).parents[2] / "fixtures" / "workflows"
KOBO = "kobo-household-to-dhis2"
COMMCARE = "commcare-referrals-openmrs"
DONATIONS = "donations-to-salesforce"
LAB = "lab-results.portable"
STOCK = "stock-levels.portable"
ODK = "odk-nutrition-postgres"
PRIMERO = "primero-case-referrals"
CHOLERA = "cholera-surveillance"


def document(name: str, page: str = "") -> Workflow:
    text = (WORKFLOWS / f"{name}.yaml").read_bytes().decode("utf-8")
    return Workflow.read(text, f"workflows/{name}/{page}".rstrip("/"))


def asked(name: str, page: str, request: str) -> tuple[StructureReply, tuple[str, ...]]:
    """The reply, and the changes that the merge makes of it."""
    workflow = document(name, page)
    where = f"workflows/{name}/{page}".rstrip("/")
    reply = change(request, workflow.draft(), AdaptorList.of_catalogue(), where)
    if reply.yaml is None:
        return reply, ()
    focus = workflow.find_step(Page.parse(where).step)
    merged = workflow.merge(
        reply.yaml, request=request, focus=focus.key if focus else None, confirmed=True
    )
    return reply, merged.changes


def cases() -> list[tuple[str, str, str, list[str]]]:
    """The cases of `offline_structure.txt`, beside this file."""
    found: list[tuple[str, str, str, list[str]]] = []
    name = page = ""
    for line in (Path(__file__).parent / "offline_structure.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, _, page = (part.strip() for part in line[3:].partition("|"))
        elif line.startswith("    "):
            found[-1][3].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            found.append((name, page, line, []))
    return found


@pytest.mark.parametrize(("name", "page", "request_", "expected"), cases())
def test_a_change_is_what_was_asked_and_no_more(
    name: str, page: str, request_: str, expected: list[str]
) -> None:
    _, changes = asked(name, page, request_)
    assert sorted(changes) == sorted(expected)


@pytest.mark.parametrize(
    ("name", "page", "request_"),
    [
        (KOBO, "", "is it enabled?"),
        (KOBO, "", "remove the step that is slow"),
        (KOBO, "", "rename it"),
        (KOBO, "", "every 7 minutes"),
        (KOBO, "", "run it at 7 Nairobi time"),
        (KOBO, "", "rename Clean and map to Get submissions"),
        (KOBO, "", "delete Email data team and make the batches smaller"),
        (KOBO, "", "run it hourly and only take 50 submissions"),
        (KOBO, "", "add an empty step after the one that fails"),
        (KOBO, "Clean-and-map", "do not delete this step"),
        (LAB, "", "add an empty step after Validate result"),
        (COMMCARE, "", "swap Receive referral and Confirm to CommCare"),
        (COMMCARE, "", "put a condition before it"),
        (DONATIONS, "", "remove the demo stuff"),
        (KOBO, "", ""),
        (KOBO, "", "¿?"),
    ],
)
def test_what_is_unclear_changes_nothing(name: str, page: str, request_: str) -> None:
    reply, changes = asked(name, page, request_)
    assert changes == ()
    assert reply.yaml is None
    assert reply.text or reply.handover


def test_removing_a_step_in_the_middle_leaves_no_hole() -> None:
    _, changes = asked(KOBO, "", "remove Clean and map")
    assert "Added path Get submissions → Upsert tracked entities (on success)" in changes


def test_moving_a_step_keeps_each_condition_with_the_step_that_it_speaks_of() -> None:
    _, changes = asked(PRIMERO, "", "Get lookups has to run before Get referred cases")
    condition = "if `state.cases && state.cases.length > 0`"
    assert f"Added path Get referred cases → Map to proGres ({condition})" in changes


def test_a_condition_is_extended_and_not_replaced() -> None:
    _, changes = asked(COMMCARE, "Find-patient", "the path to this step should also check state.x")
    assert changes == (
        "Path Receive referral → Find patient now runs if "
        "`!state.errors && !state.rejected && state.x`",
    )


def test_a_step_with_behaviour_is_handed_over_because_it_needs_code() -> None:
    reply, _ = asked(KOBO, "", "add a step at the end that emails the number of households")
    assert reply.handover


def test_the_open_step_is_not_guessed_when_no_page_is_known() -> None:
    reply = change("remove this step", document(KOBO).draft(), AdaptorList.of_catalogue(), None)
    assert reply.handover == "remove this step"


@pytest.mark.parametrize(
    ("name", "request_", "words"),
    [
        (KOBO, "when does this run?", ["0 2 * * *"]),
        (KOBO, "what comes after Clean and map?", ["Upsert tracked entities"]),
        (KOBO, "¿qué paso viene después de Get submissions?", ["Clean and map"]),
        (COMMCARE, "when is Log rejected referral reached?", ["state.rejected === true"]),
        (STOCK, "list the steps in order", ["1. Get stock cards", "4. Warn low stock"]),
        (ODK, "is the cron on?", ["off"]),
        (DONATIONS, "which steps use salesforce?", ["create-in-SF", "update-in-SF"]),
        (LAB, "what leads to Quarantine?", ["Parse result bundle"]),
    ],
)
def test_questions_are_answered_from_the_workflow(
    name: str, request_: str, words: list[str]
) -> None:
    reply, changes = asked(name, "", request_)
    assert changes == ()
    assert all(word in reply.text for word in words)


@pytest.mark.parametrize(
    ("request_", "trigger", "adaptors"),
    [
        ("from CommCare into DHIS2 every night", "cron", ["commcare", "dhis2"]),
        ("fetch patients from OpenMRS, write them to MySQL", "cron", ["openmrs", "mysql"]),
        ("de kobo vers google sheets chaque matin à 6h", "cron", ["kobotoolbox", "googlesheets"]),
        ("crea un flujo de primero a postgres", "cron", ["primero", "postgresql"]),
        ("webhook -> salesforce -> sms with twilio", "webhook", ["salesforce", "twilio"]),
    ],
)  # fmt: skip
def test_a_new_workflow_goes_from_the_source_to_the_targets(
    request_: str, trigger: str, adaptors: list[str]
) -> None:
    reply = change(request_, "", AdaptorList.of_catalogue(), None)
    assert reply.yaml is not None
    built = Workflow.read("").merge(reply.yaml, request=request_).workflow
    assert [t.type for t in built.triggers] == [trigger]
    assert [str(s.adaptor).split("language-")[1].split("@")[0] for s in built.steps] == adaptors
    assert not any(step.has_code for step in built.steps)
    assert not any(problem.severity == "error" for problem in built.check())


@pytest.mark.parametrize(
    "request_", ["build something", "make me a workflow", "sync openmrs", "between odk and mysql"]
)
def test_a_new_workflow_without_systems_and_direction_is_not_built(request_: str) -> None:
    assert change(request_, "", AdaptorList.of_catalogue(), None).yaml is None


_FRAGMENTS = """
remove rename delete Clean and map Get submissions Email data team to the step this before after add
an empty enable disable path every hour at 7 webhook cron http 4.3.1 latest only if state.x
> 1 "New" connect swap always not and , . ? § ¤ ¤0 §1
supprime renomme quita cada todos \\ ( [ *
"""


@given(st.lists(st.sampled_from(_FRAGMENTS.split()), max_size=14).map(" ".join))
@settings(max_examples=120)
def test_whatever_is_asked_the_result_is_a_sound_workflow(request_: str) -> None:
    workflow = document(KOBO, "Clean-and-map")
    where = f"workflows/{KOBO}/Clean-and-map"
    reply = change(request_, workflow.draft(), AdaptorList.of_catalogue(), where)
    if reply.yaml is not None:
        merged = workflow.merge(reply.yaml, request=request_, focus="Clean-and-map", confirmed=True)
        assert not any(problem.severity == "error" for problem in merged.workflow.check())
        assert merged.changes

"""Whole offline turns: done as a whole or not at all, told from the document, nothing guessed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from global_chat.agents.context import Services
from global_chat.cli.offline_turns import take_offline_turn
from global_chat.contract.events import (
    Event,
    ModelCallStarted,
    RouteDecided,
    Stitched,
    TextDelta,
    WorkflowChanged,
)
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.knowledge.library import Library, Reference
from global_chat.offline.router import OfflineRouter
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.service

FIXTURES = Path(__file__).parents[2] / "fixtures"
KOBO = "kobo-household-to-dhis2"
NOTHING = "Nothing was changed."


def original(name: str) -> str:
    return (FIXTURES / "workflows" / f"{name}.yaml").read_bytes().decode("utf-8")


async def turn(
    content: str, name: str | None = KOBO, step: str = "", *, log: str = "", document: str = ""
) -> tuple[Response, list[Event]]:
    payload = Payload.model_validate(
        {
            "content": content,
            "workflow_yaml": document or (original(name) if name else None),
            "page": f"workflows/{name}/{step}".rstrip("/"),
            "attachments": [{"type": "log", "content": log}] if log else [],
        }
    )
    knowledge = Reference(Library(None, offline=True))
    services = Services(OfflineRouter(), knowledge=knowledge, backend="offline")
    events: list[Event] = []
    return await take_offline_turn(payload, services, events.append), events


async def changes(content: str, name: str = KOBO, step: str = "", **more: str) -> list[str]:
    """What a turn changed, one line a change, and nothing less than its whole answer says."""
    response, _ = await turn(content, name, step, **more)
    for line in response.meta.changes:
        assert line in response.response
    if not response.meta.changes:
        assert response.workflow_yaml is None
    return response.meta.changes


async def test_a_turn_names_no_agent_and_asks_no_model_and_says_what_changed() -> None:
    response, events = await turn("every weekday at 7")
    assert (response.meta.agents, response.meta.backend) == ([], "offline")
    assert response.meta.changes == ["Schedule changed from `0 2 * * *` to `0 7 * * 1-5`"]
    assert not any(isinstance(e, ModelCallStarted | RouteDecided) for e in events)
    assert response.usage.input_tokens == 0


async def test_only_the_bytes_of_a_literal_change() -> None:
    response, events = await turn("in Upsert tracked entities set async to true")
    before = original(KOBO).splitlines()
    after = (response.workflow_yaml or "").splitlines()
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        (line, line.replace("async: false", "async: true")) for line in before if "async" in line
    ]
    assert [event for event in events if isinstance(event, Stitched)] == [
        Stitched("Upsert tracked entities", 1, 1)
    ]


async def test_structure_and_code_of_one_request_are_both_done() -> None:
    assert await changes("run it hourly and set limit to 50 in Get submissions") == [
        "Code of Get submissions changed (+1 −1)",
        "Schedule changed from `0 2 * * *` to `0 * * * *`",
    ]


@pytest.mark.parametrize(
    "content",
    [
        "run it hourly and make the mapping nicer",
        "skip the households that were visited twice",
        "rename Clean and map to Map households for clarity",
        "x" * 2_001,
    ],
)
async def test_what_is_not_understood_whole_is_not_done_in_part(content: str) -> None:
    response, _ = await turn(content)
    assert (response.workflow_yaml, response.meta.changes) == (None, [])
    assert response.response.endswith(NOTHING)


async def test_a_refusal_names_two_things_that_can_be_done_here() -> None:
    response, _ = await turn("make the schedule of Clean and map nicer")
    assert response.response.count("`") == 4
    for wish in response.response.split("`")[1::2]:
        done, _ = await turn(wish.replace("…", "250"))
        assert done.meta.changes or "runs" in done.response


async def test_of_several_meanings_none_is_done_and_each_is_named() -> None:
    response, _ = await turn(
        "rename the salesforce step to Create contacts", "donations-to-salesforce"
    )
    assert response.workflow_yaml is None
    for name in ("create-demo-in-sf", "create-in-SF", "update-in-SF"):
        assert f'rename "{name}" to "Create contacts"' in response.response


async def test_what_is_so_already_is_said_to_be_so() -> None:
    response, _ = await turn("turn the trigger on")
    assert response.response == f"It is like that already. {NOTHING}"


def test_the_first_interrupt_ends_a_turn_that_waits_for_nothing() -> None:
    class Interrupted(Reference):
        def adaptor_versions(self) -> Mapping[str, Collection[str]]:
            signal.raise_signal(signal.SIGINT)
            return super().adaptor_versions()

    events: list[Event] = []
    payload = Payload.model_validate({"content": "run it hourly", "workflow_yaml": original(KOBO)})
    services = Services(
        OfflineRouter(), knowledge=Interrupted(Library(None, offline=True)), backend="offline"
    )
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(take_offline_turn(payload, services, events.append))
    assert not any(isinstance(event, WorkflowChanged | TextDelta) for event in events)


# ---- kinds of fault that were seen, each with its right outcome


async def test_a_time_is_exchanged_for_the_time_that_was_said() -> None:
    document = original(KOBO).replace("0 2 * * *", "30 23 * * *")
    for said, cron in (("22:15", "15 22 * * *"), ("6am", "0 6 * * *")):
        response, _ = await turn(f"change 23:30 to {said}", document=document)
        assert f"to `{cron}`" in "".join(response.meta.changes)


async def test_what_is_denied_is_not_done() -> None:
    for state in ("true", "false"):
        document = original(KOBO).replace("enabled: true", f"enabled: {state}", 1)
        response, _ = await turn("please do not turn off the trigger", document=document)
        assert response.meta.changes == []


async def test_a_key_is_not_taken_for_its_value() -> None:
    response, _ = await turn("use importStrategy CREATE instead of CREATE_AND_UPDATE")
    assert "importStrategy: 'CREATE'" in (response.workflow_yaml or "")


async def test_a_clause_is_no_part_of_a_name() -> None:
    content = "add a gmail step called Tell data team that only runs on failure"
    assert await changes(content) == [
        "Added step Tell data team (gmail)",
        "Added path Email data team → Tell data team (on failure)",
    ]


async def test_another_part_than_the_one_named_stays() -> None:
    assert await changes("add a step Audit after Clean and map that always runs") == [
        "Added step Audit (common)",
        "Added path Clean and map → Audit (always)",
    ]


async def test_what_is_excepted_is_left_alone() -> None:
    content = "replace HmisMonth01 with HmisMonth02 in all load steps except Load Sofala"
    found = await changes(content, "national-hmis-hub")
    assert len(found) == 10
    assert not any("Sofala" in line for line in found)


async def test_a_question_that_is_not_understood_is_said_not_to_be() -> None:
    response, _ = await turn("why is our district office always so slow with this?")
    assert response.response.startswith("I did not understand this question.")


@pytest.mark.parametrize("name", ["Fetch", "Load", "Remove", "Rename", "Add", "Run", "Set", "Use"])
async def test_a_step_may_be_called_as_a_command_is(name: str) -> None:
    document = original(KOBO).replace("name: Clean and map", f"name: {name}")
    document = document.replace("Clean-and-map", name)
    assert await changes(f"rename {name} to Collect", document=document) == [
        f"Renamed step {name} to Collect"
    ]
    assert f"Removed step {name}" in await changes(f"remove {name}", document=document)


async def test_an_empty_workflow_is_said_to_be_empty() -> None:
    response, _ = await turn("what does this workflow do?", document="name: Empty\njobs: {}\n")
    assert response.response == "The workflow is empty: it has no steps yet."


async def test_documentation_is_quoted_under_its_own_title_alone() -> None:
    response, _ = await turn("is there a limit on the size of a webhook's body?", None)
    assert response.response.count("Source: ") == 1
    assert response.response.startswith("The documentation says this under “")


@pytest.mark.parametrize(
    ("log", "name", "step"),
    [
        ("commcare-openmrs-future-encounter", "commcare-referrals-openmrs", "Create encounter"),
        ("hmis-hub-sofala-shape-changed", "national-hmis-hub", "Transform Sofala"),
        ("primero-lookups-out-of-memory", "primero-case-referrals", "Get lookups"),
        ("stock-period-not-open", "stock-levels.portable", "Push data values"),
    ],
)
async def test_a_log_is_explained_in_its_own_lines(log: str, name: str, step: str) -> None:
    text = (FIXTURES / "logs" / f"{log}.log").read_text("utf-8")
    response, _ = await turn("why did this fail?", name, log=text)
    assert response.response.startswith(f"**{step}**")
    quoted = response.response.split("```")[1].strip("\n").splitlines()
    assert set(quoted) <= set(text.splitlines())
    assert response.meta.changes == []


# ---- in every form of a document

APP = """\
name: Visits
jobs:
  get-visits:
    name: Get visits
    adaptor: '@openfn/language-http@7.3.2'
    body: |
      get('/visits', { limit: 10 });
  map-rows:
    name: Map rows
    adaptor: '@openfn/language-common@3.3.4'
    body: |
      fn(state => state);
triggers:
  cron:
    type: cron
    cron_expression: 0 8 * * *
    enabled: true
edges:
  cron->get-visits:
    source_trigger: cron
    target_job: get-visits
    condition_type: always
    enabled: true
  get-visits->map-rows:
    source_job: get-visits
    target_job: map-rows
    condition_type: on_job_success
    enabled: true
"""
STEPS = """\
name: Visits
steps:
  - id: cron
    type: cron
    cron_expression: 0 8 * * *
    enabled: true
    next:
      get-visits:
        condition: always
  - id: get-visits
    name: Get visits
    adaptor: '@openfn/language-http@7.3.2'
    expression: |
      get('/visits', { limit: 10 });
    next:
      map-rows:
        condition: on_job_success
  - id: map-rows
    name: Map rows
    adaptor: '@openfn/language-common@3.3.4'
    expression: |
      fn(state => state);
"""
PROJECT = "name: All\nworkflows:\n  one:\n" + "".join(f"    {line}\n" for line in APP.splitlines())
COMMANDS = {
    "rename Map rows to Rows": "Renamed step Map rows to Rows",
    "rename the workflow to All visits": "Workflow renamed from Visits to All visits",
    "remove Map rows": "Removed step Map rows",
    'add an http step "Send" after Map rows': "Added step Send (http)",
    'add a step "Check" between Get visits and Map rows': "Added step Check (common)",
    "use http 7.2.0 in Get visits": "Adaptor of Get visits changed from http@7.3.2 to http@7.2.0",
    "run it at 9": "Schedule changed from `0 8 * * *` to `0 9 * * *`",
    "make it start from a webhook": "Trigger changed from cron to webhook",
    "turn off the trigger": "Trigger cron switched off",
    "turn off the path to Map rows": "Path Get visits → Map rows switched off",
    "run Map rows only on failure": "Path Get visits → Map rows now runs on failure",
    "remove the path to Map rows": "Removed path Get visits → Map rows",
    "limit 10 -> 20": "Code of Get visits changed (+1 −1)",
}


@pytest.mark.parametrize("content", COMMANDS)
@pytest.mark.parametrize("form", [APP, STEPS, PROJECT], ids=["app", "steps", "project"])
async def test_a_command_does_the_same_in_every_form(form: str, content: str) -> None:
    response, _ = await turn(content, "one", document=form)
    assert COMMANDS[content] in response.meta.changes
    problems = Workflow.read(response.workflow_yaml, "workflows/one").check()
    assert [problem for problem in problems if problem.severity == "error"] == []

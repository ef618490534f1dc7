"""Whole turns with the offline model in every agent's place; the chain above it is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from global_chat.agents.context import Services
from global_chat.contract.events import Event, RouteDecided
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.knowledge.library import Library
from global_chat.knowledge.reference import Reference
from global_chat.offline.model import OfflineModel
from global_chat.turn.take import take_turn
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.service

FIXTURES = Path(__file__).parents[2] / "fixtures"


def original(name: str) -> str:
    return (FIXTURES / "workflows" / f"{name}.yaml").read_bytes().decode("utf-8")


async def turn(
    content: str, name: str | None = None, page: str | None = None, log: str | None = None
) -> tuple[Response, list[Event]]:
    payload = Payload.model_validate(
        {
            "content": content,
            "workflow_yaml": original(name) if name else None,
            "page": page,
            "attachments": [{"type": "log", "content": log}] if log else [],
        }
    )
    knowledge = Reference(Library(None, offline=True))
    services = Services(OfflineModel(), knowledge=knowledge, backend="offline")
    events: list[Event] = []
    return await take_turn(payload, services, events.append), events


def changed(response: Response, name: str, page: str | None = None) -> tuple[str, ...]:
    """What changed in the workflow, one line a change."""
    if not response.attachments:
        return ()
    before = Workflow.read(original(name), page)
    return before.changes_to(Workflow.read(response.attachments[0].content, page))


KOBO = "kobo-household-to-dhis2"


async def test_a_schedule_goes_straight_to_the_workflow_agent() -> None:
    response, _ = await turn("every weekday at 7", KOBO, f"workflows/{KOBO}/settings")
    assert response.meta.agents == ["router", "workflow_agent"]
    assert changed(response, KOBO) == ("Schedule changed from `0 2 * * *` to `0 7 * * 1-5`",)
    assert "0 7 * * 1-5" in response.response


async def test_a_literal_in_a_named_step_changes_one_line_of_the_document() -> None:
    content = "in Upsert tracked entities set async to true"
    response, _ = await turn(content, KOBO, f"workflows/{KOBO}/Get-submissions")
    assert response.meta.agents == ["router", "job_code_agent"]
    before = original(KOBO).splitlines()
    after = response.attachments[0].content.splitlines()
    assert [(a, b) for a, b in zip(before, after, strict=True) if a != b] == [
        (line, line.replace("async: false", "async: true")) for line in before if "async" in line
    ]


async def test_this_step_is_found_through_the_page() -> None:
    page = f"workflows/{KOBO}/Clean-and-map"
    response, _ = await turn("rename this step to Map households", KOBO, page)
    assert changed(response, KOBO) == ("Renamed step Clean and map to Map households",)


async def test_a_key_is_renamed_in_every_step_that_uses_it_side_by_side() -> None:
    content = "rename state.trackedEntities to state.entities in every step that uses it"
    response, _ = await turn(content, KOBO, f"workflows/{KOBO}")
    assert response.meta.agents == ["router", "planner", "job_code_agent", "job_code_agent"]
    after = Workflow.read(response.attachments[0].content)
    codes = {step.key: step.code or "" for step in after.steps}
    assert "state.trackedEntities" not in "".join(codes.values())
    assert "state => ({ trackedEntities: state.data })" in codes["Upsert-tracked-entities"]


async def test_structure_and_code_of_one_request_are_both_done() -> None:
    content = "run it hourly and set limit to 50 in Get submissions"
    response, _ = await turn(content, KOBO, f"workflows/{KOBO}")
    lines = changed(response, KOBO)
    assert "Schedule changed from `0 2 * * *` to `0 * * * *`" in lines
    assert "Code of Get submissions changed (+1 −1)" in lines


async def test_half_of_a_request_is_not_done() -> None:
    content = "run it hourly and make the mapping nicer"
    response, _ = await turn(content, KOBO, f"workflows/{KOBO}")
    assert response.attachments == []


async def test_code_that_is_not_in_the_open_step_is_found_where_it_is() -> None:
    page = f"workflows/{KOBO}/Get-submissions"
    response, _ = await turn("here replace 'FEMALE' by 'F'", KOBO, page)
    after = Workflow.read(response.attachments[0].content)
    mapped = after.find_step("Clean-and-map")
    assert mapped is not None
    assert "2: 'F' }" in (mapped.code or "")
    assert changed(response, KOBO) == ("Code of Clean and map changed (+1 −1)",)


async def test_what_rules_cannot_do_is_said_and_changes_nothing() -> None:
    page = f"workflows/{KOBO}/Clean-and-map"
    response, _ = await turn("skip the households that were visited twice", KOBO, page)
    assert response.attachments == []
    assert "ANTHROPIC_API_KEY" in response.response


async def test_a_removal_by_half_a_name_is_confirmed_and_done() -> None:
    response, _ = await turn("delete the email step", KOBO, f"workflows/{KOBO}")
    assert changed(response, KOBO) == ("Removed step Email data team",)


@pytest.mark.parametrize(
    ("log", "name", "step"),
    [
        ("commcare-openmrs-future-encounter", "commcare-referrals-openmrs", "Create encounter"),
        ("hmis-hub-sofala-shape-changed", "national-hmis-hub", "Transform Sofala"),
        ("primero-lookups-out-of-memory", "primero-case-referrals", "Get lookups"),
        ("stock-period-not-open", "stock-levels.portable", "Push data values"),
    ],
)
async def test_a_log_is_read_the_same_on_every_route(log: str, name: str, step: str) -> None:
    text = (FIXTURES / "logs" / f"{log}.log").read_text("utf-8")
    for content in ("why did this fail?", "what went wrong in the run?"):
        response, _ = await turn(content, name, f"workflows/{name.split('.')[0]}", text)
        assert step in response.response
        assert any(line in text.splitlines() for line in response.response.splitlines() if line)
        assert response.attachments == []


async def test_the_documentation_is_quoted_with_its_source() -> None:
    response, _ = await turn("is there a limit on the size of a webhook's body?")
    assert response.meta.agents == ["router", "planner"]
    assert "Source: handbook/" in response.response
    assert "> " in response.response


async def test_a_new_workflow_is_built_and_its_code_started_when_asked_for() -> None:
    response, _ = await turn("build a workflow from ODK to MySQL every night, with code")
    built = Workflow.read(response.attachments[0].content)
    assert [t.type for t in built.triggers] == ["cron"]
    assert [t.enabled for t in built.triggers] == [False]
    assert [str(s.adaptor).split("@openfn/language-")[1].split("@")[0] for s in built.steps] == [
        "odk",
        "mysql",
    ]
    assert all("Starter" in (step.code or "") for step in built.steps)


async def test_a_question_on_the_whole_workflow_reads_every_step() -> None:
    response, _ = await turn("what does this workflow do?", KOBO, f"workflows/{KOBO}")
    assert response.attachments == []
    for words in ("getSubmissions", "state.trackedEntities", "sendMessage"):
        assert words in response.response


async def test_the_answer_is_in_the_language_of_the_request() -> None:
    page = f"workflows/{KOBO}/settings"
    response, _ = await turn("toutes les 15 minutes s'il te plaît", KOBO, page)
    assert response.response.startswith("Le workflow tourne maintenant")


async def test_the_decision_carries_its_confidence() -> None:
    response, events = await turn("every 3 hours", KOBO, f"workflows/{KOBO}/settings")
    decided = next(event for event in events if isinstance(event, RouteDecided))
    assert decided.confidence == response.meta.router_confidence
    assert 3 <= decided.confidence <= 5

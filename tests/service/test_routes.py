"""Who gets a request, what reached them, and what came out."""

from __future__ import annotations

from typing import Any

import pytest

from global_chat.contract.events import Changes, RouteDecided
from global_chat.contract.settings import RouterSettings, Settings
from tests.service.recorded_turns import Taken, take
from tests.service.scripts import (
    BODIES,
    PAGE,
    RENAMED,
    TO_PLANNER,
    TO_STRUCTURE,
    WORKFLOW,
    calls,
    drafted,
    edit,
    renames,
    routed,
    says,
    structure,
    to_code,
)

pytestmark = pytest.mark.service

RAISE = calls(edit("limit: 50", "limit: 80"), text="I raised the limit to 80.")
QUESTION = says("It fetches 50 visits.")
PLANS = says("Here is what I found.")


def route(taken: Taken) -> RouteDecided:
    (found,) = taken.of(RouteDecided)
    return found


# --- direct routes


async def test_a_direct_code_edit_changes_one_body_and_nothing_else() -> None:
    taken = await take({"router": to_code(), "job_code_agent": [RAISE]})
    assert taken.response.workflow_yaml == WORKFLOW.replace("limit: 50", "limit: 80")
    assert taken.response.response == "I raised the limit to 80."
    assert taken.shown == ["I raised the limit to 80."]
    assert taken.asked == ["router", "job_code_agent"]
    assert taken.response.meta.model_dump(exclude_none=True) == {
        "agents": ["router", "job_code_agent"],
        "changes": ["Code of Fetch visits changed (+1 −1)"],
        "warnings": [],
        "router_confidence": 5,
        "backend": "scripted",
    }


async def test_a_direct_structural_edit_changes_one_part_and_nothing_else() -> None:
    taken = await take({"router": TO_STRUCTURE, "workflow_agent": [renames()]})
    assert taken.response.workflow_yaml == WORKFLOW.replace("Fetch visits", RENAMED)
    assert taken.shown == [taken.response.response] == ["I renamed the first step."]
    assert taken.response.meta.agents == ["router", "workflow_agent"]
    assert taken.response.meta.planner_iterations is None


@pytest.mark.parametrize(
    "script",
    [
        {"router": to_code(), "job_code_agent": [QUESTION]},
        {"router": TO_STRUCTURE, "workflow_agent": [structure(text="It fetches 50 visits.")]},
        {"router": TO_STRUCTURE, "workflow_agent": [structure(drafted(), "It fetches 50 visits.")]},
        {"router": TO_PLANNER, "planner": [QUESTION]},
    ],
    ids=["code", "structure", "structure-given-back-unchanged", "planner"],
)
async def test_a_question_brings_an_answer_and_no_workflow(script: Any) -> None:
    taken = await take(script, "how many?")
    assert taken.response.attachments == []
    assert taken.of(Changes) == []
    assert taken.shown == [taken.response.response] == ["It fetches 50 visits."]


async def test_a_workflow_can_be_built_from_nothing() -> None:
    yaml = (
        "name: New\njobs:\n  get:\n    name: Get\n    adaptor: '@openfn/language-http@7.3.2'\n"
        "    body: '// Add operations here'\ntriggers:\n  webhook:\n    type: webhook\n"
        "    enabled: false\nedges:\n  webhook->get:\n    source_trigger: webhook\n"
        "    target_job: get\n    condition_type: always\n    enabled: true\n"
    )
    script = {"router": TO_STRUCTURE, "workflow_agent": [structure(yaml, "Here it is.")]}
    taken = await take(script, workflow=None, page=None)
    assert [step.key for step in taken.after.steps] == ["get"]
    assert "(none yet)" in repr(taken.to("router"))


# --- what the router is told


async def test_the_router_sees_the_outline_and_no_code_id_comment_or_credential() -> None:
    taken = await take({"router": to_code(), "job_code_agent": [QUESTION]}, "raise the limit")
    (request,) = taken.to("router")
    asked = str(request.messages[-1].content)
    assert 'step fetch "Fetch visits" @openfn/language-http@7.3.2 [has code]' in asked
    assert PAGE in asked
    assert "raise the limit" in asked
    assert "zq" not in repr(request).lower()


async def test_the_router_sees_which_steps_are_empty() -> None:
    empty = WORKFLOW.replace(
        "      // body-zq23\n      insert('visits', $.data);\n", "      // Add operations here\n"
    )
    taken = await take({"router": to_code(), "job_code_agent": [QUESTION]}, workflow=empty)
    outline = str(taken.to("router")[0].messages[-1].content)
    assert "language-postgresql@8.1.2 [empty]" in outline
    assert outline.count("[has code]") == 2


async def test_the_router_sees_the_last_two_turns_and_no_earlier_one() -> None:
    history = [
        {"role": "user", "content": "turn-one"},
        {"role": "assistant", "content": "turn-two"},
        {"role": "user", "content": "turn-three"},
        {"role": "assistant", "content": "turn-four"},
    ]
    taken = await take({"router": to_code(), "job_code_agent": [QUESTION]}, history=history)
    router, job = repr(taken.to("router")), repr(taken.to("job_code_agent"))
    for words, seen in (("one", False), ("two", False), ("three", True), ("four", True)):
        assert (f"turn-{words}" in router) is seen
        assert f"turn-{words}" in job


async def test_the_router_is_one_cheap_call_with_a_forced_schema() -> None:
    taken = await take({"router": to_code(), "job_code_agent": [QUESTION]})
    (request,) = taken.to("router")
    assert request.output_schema is not None
    assert "destination" in request.output_schema["properties"]
    assert request.tools == ()
    assert "haiku" in request.model


# --- which step is meant


@pytest.mark.parametrize(
    ("job_key", "page", "step"),
    [
        ("load", "fetch", "load"),  # the request may mean another step than the open one
        ("Load visits", None, "load"),  # by name
        ("LOAD-visits!", None, "load"),  # by the fold
        (None, "clean", "clean"),
        ("lode", "clean", "clean"),  # what does not resolve falls back to the page
        ("", "Clean visits", "clean"),
        ("visits", "clean", "clean"),  # a part of a name is no name
    ],
)
async def test_the_step_is_the_one_meant_else_the_open_one(
    job_key: str | None, page: str | None, step: str
) -> None:
    script = {"router": to_code(job_key), "job_code_agent": [QUESTION]}
    taken = await take(script, page=f"{PAGE}/{page}" if page else PAGE)
    (request,) = taken.to("job_code_agent")
    assert BODIES[step] in repr(request)
    others = [body for key, body in BODIES.items() if key != step]
    assert not any(body in repr(request) for body in others)


@pytest.mark.parametrize("job_key", [None, "lode", "settings"])
@pytest.mark.parametrize("page", [PAGE, f"{PAGE}/settings", f"{PAGE}/gone", None])
async def test_without_a_step_the_planner_takes_the_turn(
    job_key: str | None, page: str | None
) -> None:
    taken = await take({"router": to_code(job_key), "planner": [PLANS]}, page=page)
    assert taken.asked == ["router", "planner"]
    assert (route(taken).sent_to, route(taken).reason) == ("planner", "unresolved_step")
    assert taken.response.meta.router_confidence == 5


@pytest.mark.parametrize("named", ["job_key", "page"])
async def test_an_ambiguous_name_is_no_step(named: str) -> None:
    twins = WORKFLOW.replace("  clean:\n", "  Load-Visits:\n").replace(" clean\n", " Load-Visits\n")
    job_key, page = ("LOAD VISITS", PAGE) if named == "job_key" else (None, f"{PAGE}/LOAD VISITS")
    taken = await take({"router": to_code(job_key), "planner": [PLANS]}, workflow=twins, page=page)
    assert route(taken).reason == "unresolved_step"
    assert taken.response.attachments == []


async def test_the_step_of_a_page_may_hold_a_slash() -> None:
    slashed = WORKFLOW.replace("name: Load visits", "name: Load / visits")
    script = {"router": to_code(None), "job_code_agent": [QUESTION]}
    taken = await take(script, workflow=slashed, page=f"{PAGE}/Load / visits")
    assert "body-zq23" in repr(taken.to("job_code_agent"))


# --- confidence and unusable replies


@pytest.mark.parametrize("destination", ["job_code_agent", "workflow_agent"])
@pytest.mark.parametrize("confidence", [1, 2])
async def test_a_direct_route_below_three_goes_to_the_planner(
    destination: str, confidence: int
) -> None:
    script = {"router": [routed(destination, confidence, "fetch")], "planner": [PLANS]}
    taken = await take(script)
    assert taken.asked == ["router", "planner"]
    assert (route(taken).destination, route(taken).reason) == (destination, "low_confidence")
    assert taken.response.meta.router_confidence == confidence


async def test_three_is_enough_and_a_planner_s_route_needs_none() -> None:
    taken = await take({"router": to_code(confidence=3), "job_code_agent": [QUESTION]})
    assert route(taken).reason == "decided"
    taken = await take({"router": [routed("planner", 1)], "planner": [PLANS]})
    assert route(taken).reason == "decided"


@pytest.mark.parametrize(("least", "reason"), [(1, "decided"), (4, "low_confidence")])
async def test_the_least_confidence_is_a_setting(least: int, reason: str) -> None:
    router = RouterSettings(model="m", max_tokens=256, least_confidence=least)
    script = {"router": to_code(confidence=1), "job_code_agent": [QUESTION]}
    if reason == "low_confidence":
        script = {"router": to_code(confidence=3), "planner": [PLANS]}
    taken = await take(script, settings=Settings(router=router))
    assert route(taken).reason == reason


@pytest.mark.parametrize(
    "reply",
    [
        says("I think the sql_agent should do this."),
        says(""),
        says('{"destination": "workflow_agent"'),
        {"reply": {"destination": "sql_agent", "confidence": 5, "job_key": None}},
        {"reply": {"destination": "planner", "confidence": "high", "job_key": None}},
        {"reply": {"destination": "workflow_agent", "confidence": 9, "job_key": None}},
        {**routed("workflow_agent"), "stop_reason": "max_tokens"},
        {**routed("workflow_agent"), "stop_reason": "refusal"},
        {"content": [], "stop_reason": "pause_turn"},
    ],
    ids=["prose", "empty", "cut", "unknown", "word", "range", "max_tokens", "refusal", "pause"],
)
async def test_an_unusable_router_means_the_planner_with_confidence_one(reply: Any) -> None:
    taken = await take({"router": [reply], "planner": [PLANS]})
    assert taken.asked == ["router", "planner"]
    assert taken.response.meta.agents == ["router", "planner"]
    assert taken.response.meta.router_confidence == 1
    assert route(taken).reason == "unusable_reply"
    assert route(taken).detail


# --- what the reply says is done


@pytest.mark.parametrize("words", ["hold it until Monday please", "what is this?"])
async def test_no_word_of_the_request_decides_whether_a_change_is_made(words: str) -> None:
    off = "triggers:\n  cron:\n    enabled: false\n"
    script = {"router": TO_STRUCTURE, "workflow_agent": [structure(off, "It is off.")]}
    taken = await take(script, words)
    switched = WORKFLOW.replace("enabled: true\nedges", "enabled: false\nedges")
    assert taken.response.workflow_yaml == switched

"""Subagent mode in every turn, direct mode for who is addressed directly, and never a mix."""

from __future__ import annotations

from typing import Any

import pytest

from global_chat.model.seam import ModelRequest
from global_chat.prompts.compose import job_system, workflow_system
from tests.service.recorded_turns import Taken, ask_job, ask_workflow, particular_to, take
from tests.service.scripts import (
    BODIES,
    TO_PLANNER,
    TO_STRUCTURE,
    WORKFLOW,
    calls,
    code_call,
    hands_over,
    says,
    structure,
    structure_call,
    to_code,
    tool,
)

pytestmark = pytest.mark.service

CODE = [says("It is fine.")]
STRUCTURE = [structure(text="It is fine.")]
HANDED = [says("Done.")]

IN_A_TURN: dict[str, Any] = {
    "direct-code": {"router": to_code(), "job_code_agent": CODE},
    "direct-structure": {"router": TO_STRUCTURE, "workflow_agent": STRUCTURE},
    "planned-code": {
        "router": TO_PLANNER,
        "planner": [calls(code_call("fetch")), *HANDED],
        "job_code_agent": CODE,
    },
    "planned-structure": {
        "router": TO_PLANNER,
        "planner": [calls(structure_call()), *HANDED],
        "workflow_agent": STRUCTURE,
    },
    "handed-over-then-planned": {
        "router": TO_STRUCTURE,
        "workflow_agent": [hands_over("all of it"), *STRUCTURE],
        "planner": [calls(structure_call(), code_call("fetch")), *HANDED],
        "job_code_agent": CODE,
    },
}

GO_ELSEWHERE = ("workflow overview", "Inspector")


def subagents(taken: Taken) -> list[ModelRequest]:
    return [*taken.to("job_code_agent"), *taken.to("workflow_agent")]


@pytest.mark.parametrize("route", IN_A_TURN)
async def test_in_a_turn_every_subagent_runs_in_subagent_mode(route: str) -> None:
    taken = await take(IN_A_TURN[route])
    assert subagents(taken)
    for request in subagents(taken):
        static = request.system[0].text
        if request.agent == "job_code_agent":
            assert static == job_system("subagent")
            assert [t.name for t in request.tools] == [
                "edit_job", "search_documentation", "inspect_job_code", "edit_workflow",
            ]  # fmt: skip
            assert "<workflow_structure>" in particular_to(request)
            assert request.output_schema is None
        else:
            assert static == workflow_system("subagent", "")
            assert request.output_schema is not None
            assert list(request.output_schema["properties"]) == [
                "handover",
                "remove",
                "yaml",
                "text",
            ]
            assert request.tools == ()


@pytest.mark.parametrize("route", IN_A_TURN)
async def test_in_a_turn_nobody_reads_the_sentence_that_sends_users_elsewhere(route: str) -> None:
    taken = await take(IN_A_TURN[route])
    for words in GO_ELSEWHERE:
        assert not taken.holding(words)


@pytest.mark.parametrize("route", IN_A_TURN)
async def test_bodies_reach_only_the_agent_that_works_on_them_and_ids_nobody(route: str) -> None:
    taken = await take(IN_A_TURN[route])
    assert taken.holding(BODIES["fetch"]) <= {"job_code_agent"}
    assert taken.holding(BODIES["clean"]) == taken.holding(BODIES["load"]) == set()
    for secret in ("id-zq", "comment-zq", "credential-zq"):
        assert taken.holding(secret) == set()


async def test_the_workflow_structure_is_redacted_and_names_the_focused_step() -> None:
    taken = await take(IN_A_TURN["direct-code"])
    particular = particular_to(taken.to("job_code_agent")[0])
    structure_ = particular.split("</workflow_structure>")[0]
    assert "Focused step: fetch (Fetch visits)" in structure_
    for key in BODIES:
        assert f"step {key} " in structure_
    assert "zq" not in structure_.lower()


async def test_the_workflow_agent_reads_placeholders_for_code_and_ids() -> None:
    taken = await take(IN_A_TURN["direct-structure"])
    particular = particular_to(taken.to("workflow_agent")[0])
    assert "[code of fetch]" in particular
    assert "[id of job fetch]" in particular
    assert "zq" not in particular.lower()


async def test_addressed_directly_the_job_code_agent_knows_only_its_step() -> None:
    taken = await ask_job(
        {"job_code_agent": CODE},
        context={"expression": "fn(s => s);", "adaptor": "@openfn/language-http@7.3.2"},
    )
    (request,) = taken.requests
    assert request.system[0].text == job_system("direct")
    assert "workflow overview" in request.system[0].text
    assert [t.name for t in request.tools] == ["edit_job", "search_documentation"]
    for word in ("workflow_structure", "inspect_job_code", "edit_workflow", "handover"):
        assert word not in repr(request)


async def test_addressed_directly_the_workflow_agent_cannot_hand_over() -> None:
    script = {"workflow_agent": [{"reply": {"yaml": None, "text": "It is fine."}}]}
    taken = await ask_workflow(script, existing_yaml=WORKFLOW)
    (request,) = taken.requests
    assert request.system[0].text == workflow_system("direct", "")
    assert "Inspector" in request.system[0].text
    assert request.output_schema is not None
    assert list(request.output_schema["properties"]) == ["remove", "yaml", "text"]
    assert "handover" not in repr(request)
    assert "zq" not in repr(request).lower()


@pytest.mark.parametrize("name", ["edit_workflow", "inspect_workflow", "inspect_job_code"])
async def test_a_tool_that_direct_mode_has_not_is_refused(name: str) -> None:
    script = {"job_code_agent": [calls(tool(name, goal="all", job_keys=["load"])), *CODE]}
    taken = await ask_job(script, context={"expression": "fn(s => s);"})
    assert taken.response.response == "It is fine."
    assert "There is no tool" in repr(taken.requests[1])


async def test_a_handover_that_direct_mode_has_not_is_ignored() -> None:
    reply = {"handover": "all of it", "yaml": None, "text": "It is fine."}
    taken = await ask_workflow({"workflow_agent": [{"reply": reply}]}, existing_yaml=WORKFLOW)
    assert taken.response.response == "It is fine."

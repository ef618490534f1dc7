"""How a turn ends, well or not: one stream, one response, one kind of error for one cause."""

from __future__ import annotations

from typing import Any

import pytest

from global_chat.contract.events import (
    AgentInvoked,
    Changes,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from tests.service.recorded_turns import retrying, take
from tests.service.scripts import (
    TO_PLANNER,
    TO_STRUCTURE,
    calls,
    code_call,
    drafted,
    edit,
    hands_over,
    renames,
    says,
    structure,
    structure_call,
    to_code,
)

pytestmark = pytest.mark.service

RAISE = calls(edit("limit: 50", "limit: 80"), text="I raised the limit to 80.")
PLANS = says("Here is what I found.")


FAULTS = [
    "AUTH_ERROR", "FORBIDDEN", "NOT_FOUND", "PROMPT_TOO_LONG", "REQUEST_TOO_LARGE", "RATE_LIMIT",
    "CONNECTION_ERROR", "TIMEOUT", "OVERLOADED", "PROVIDER_ERROR", "BAD_REQUEST",
]  # fmt: skip
ROUTES: dict[str, Any] = {
    "router": [],
    "workflow_agent": TO_STRUCTURE,
    "job_code_agent": to_code(),
    "planner": TO_PLANNER,
}


@pytest.mark.parametrize("agent", ROUTES)
@pytest.mark.parametrize("fault", FAULTS)
async def test_the_same_fault_has_the_same_type_at_every_agent(agent: str, fault: str) -> None:
    script = {"router": ROUTES[agent]}
    script[agent] = [{"error": {"type": fault}, "usage": {"input_tokens": 7}}]
    taken = await take(script)
    assert taken.failure.type == fault
    assert taken.asked[-1] == agent, "a failed call is an error, never somebody else's turn"
    assert len(taken.asked) == (1 if agent == "router" else 2)
    assert isinstance(taken.events[-1], TurnFailed)
    assert taken.events[-1].usage.input_tokens >= 7


STOPS = {
    "max_tokens": "OUTPUT_TRUNCATED",
    "model_context_window_exceeded": "PROMPT_TOO_LONG",
    "refusal": "REFUSED",
    "pause_turn": "INVALID_OUTPUT",
}


@pytest.mark.parametrize("agent", ["workflow_agent", "job_code_agent", "planner"])
@pytest.mark.parametrize("stop", STOPS)
async def test_what_was_cut_off_is_never_used(agent: str, stop: str) -> None:
    answers = {
        "workflow_agent": renames("Done."),
        "job_code_agent": calls(edit("limit: 50", "limit: 80"), text="Done."),
        "planner": calls(code_call("fetch")),
    }
    answer = {**answers[agent], "stop_reason": stop, "repeat": True}
    taken = await take({"router": ROUTES[agent], agent: [answer]})
    assert taken.failure.type == STOPS[stop]
    assert taken.failure.partial_workflow is None
    assert not taken.of(Changes)


@pytest.mark.parametrize("agent", ["workflow_agent", "job_code_agent", "planner"])
async def test_an_empty_answer_is_an_error_at_every_agent(agent: str) -> None:
    taken = await take({"router": ROUTES[agent], agent: [says(" \n")]})
    assert taken.failure.type == "EMPTY_OUTPUT"
    assert taken.failure.exit_code == 5


async def test_a_document_that_does_not_parse_costs_no_model_call() -> None:
    taken = await take({}, workflow="jobs:\n  a: [\n")
    assert taken.failure.type == "INVALID_WORKFLOW"
    assert {"line", "column"} <= taken.failure.details.keys()
    assert taken.requests == []


# --- the frame of a turn


@pytest.mark.parametrize(
    "script",
    [
        {"router": to_code(), "job_code_agent": [RAISE]},
        {"router": TO_STRUCTURE, "workflow_agent": [renames()]},
        {"router": TO_STRUCTURE, "workflow_agent": [hands_over("all")], "planner": [PLANS]},
        {"router": [{"error": {"type": "AUTH_ERROR"}}]},
    ],
    ids=["code", "structure", "handover", "failure"],
)
async def test_a_turn_starts_once_and_ends_once(script: Any) -> None:
    taken = await take(script)
    assert [type(e) for e in taken.events].count(TurnStarted) == 1
    assert isinstance(taken.events[0], TurnStarted)
    ends = [e for e in taken.events if isinstance(e, TurnEnded | TurnFailed)]
    assert ends == [taken.events[-1]]


async def test_whose_turn_it_is_goes_into_the_trace_and_to_no_model() -> None:
    meta = {"session_id": "session-zq", "user": {"id": "user-zq", "persona": "persona-zq"}}
    taken = await take({"router": TO_PLANNER, "planner": [PLANS]}, meta=meta)
    (started,) = taken.of(TurnStarted)
    assert (started.session_id, started.user_id, started.persona) == (
        "session-zq", "user-zq", "persona-zq",
    )  # fmt: skip
    assert (
        taken.holding("session-zq")
        == taken.holding("user-zq")
        == taken.holding("persona-zq")
        == set()
    )
    assert "zq" not in taken.response.as_json()


async def test_the_response_has_exactly_its_keys_and_the_history_this_exchange() -> None:
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
    typed = "  raise it\n\n{x} please "
    taken = await take(
        {"router": to_code(), "job_code_agent": [RAISE]},
        typed,
        history=history,
        attachments=[{"type": "log", "content": "canary"}],
    )
    found = taken.response.model_dump()
    assert list(found) == ["response", "attachments", "history", "usage", "meta"]
    assert found["history"] == [
        *history,
        {"role": "user", "content": typed},
        {"role": "assistant", "content": "I raised the limit to 80."},
    ]
    assert [a["type"] for a in found["attachments"]] == ["workflow_yaml"]


async def test_usage_is_the_sum_of_every_call() -> None:
    counts = {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 5,
              "cache_read_input_tokens": 400}  # fmt: skip
    script = {
        "router": [{**to_code()[0], "usage": counts}],
        "job_code_agent": [{**RAISE, "usage": counts}],
    }
    taken = await take(script)
    assert taken.response.usage.as_dict() == {key: 2 * n for key, n in counts.items()}


async def test_tokens_of_attempts_that_broke_count_too() -> None:
    counts = {"input_tokens": 100, "output_tokens": 10}
    broken = {"error": {"type": "OVERLOADED"}, "usage": counts}
    script = {
        "router": [broken, {**to_code()[0], "usage": counts}],
        "job_code_agent": [broken, broken, {**RAISE, "usage": counts}],
    }
    taken = await take(script, wrap=retrying)
    assert (taken.response.usage.input_tokens, taken.response.usage.output_tokens) == (500, 50)
    assert taken.response.meta.agents == ["router", "job_code_agent"]


async def test_agents_are_listed_in_the_order_in_which_they_were_invoked() -> None:
    taken = await take({"router": to_code(), "job_code_agent": [RAISE]})
    assert [e.agent for e in taken.of(AgentInvoked)] == taken.response.meta.agents


@pytest.mark.parametrize("route", ["direct", "planned"])
async def test_what_a_change_brought_is_warned_about_once(route: str) -> None:
    yaml = drafted(
        "  load:\n",
        "  extra:\n    name: Extra\n    adaptor: '@openfn/language-common@3.3.4'\n  load:\n",
    )
    script: dict[str, Any] = {"workflow_agent": [structure(yaml, "I added it.")]}
    if route == "direct":
        script["router"] = TO_STRUCTURE
    else:
        script |= {"router": TO_PLANNER, "planner": [calls(structure_call()), PLANS]}
    taken = await take(script, "add a step called Extra")
    messages = [w.message for w in taken.of(Warned)]
    assert len([m for m in messages if "Extra" in m and "never runs" in m]) == 1

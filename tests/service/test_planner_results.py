"""What the planner hears of its tools, and what is kept and counted when it fails itself."""

from __future__ import annotations

import pytest

from global_chat.contract.events import Changes, Stitched, ToolCalled, ToolEnded
from tests.service.recorded_turns import plan, results_in
from tests.service.scripts import (
    RENAMED,
    Script,
    calls,
    code_call,
    edit,
    inspect,
    renames,
    says,
    structure,
    structure_call,
    tool,
)

pytestmark = pytest.mark.service

WRITES = calls(edit(None, "post('/new');\n"), text="I wrote it.", repeat=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (tool("delete_everything"), "no tool 'delete_everything'"),
        (tool("call_job_code_agent"), "job_key"),
        (tool("call_job_code_agent", job_key="load", message=""), "message"),
        (tool("call_workflow_agent", message=None), "message"),
        (tool("inspect_job_code", job_keys=[]), "job_keys"),
        (tool("search_documentation"), "query"),
        (code_call("lode"), "no step is called 'lode'. The steps are: fetch, clean, load."),
        (inspect("lode"), "No step is called 'lode'. The steps are: fetch, clean, load."),
    ],
)
async def test_a_tool_call_that_cannot_be_made_is_answered_with_the_reason(
    call: Script, words: str
) -> None:
    taken = await plan(calls(call), says("I could not."))
    (result,) = results_in(taken.to("planner")[1])
    assert result["is_error"] is True
    assert words in result["content"]
    assert taken.response.attachments == []
    assert taken.response.meta.agents == ["router", "planner"]


async def test_every_tool_use_has_exactly_one_result_in_order_whatever_failed() -> None:
    taken = await plan(
        calls(
            code_call("load", "fails"),
            inspect("fetch"),
            structure_call(),
            code_call("lode"),
            code_call("clean", "works"),
            tool("unknown"),
            tool("search_documentation", query="cron"),
        ),
        says("Done."),
        job_code_agent=[
            {"when": {"contains": "fails", "in": "last"}, "error": {"type": "RATE_LIMIT"}},
            {**WRITES, "when": {"contains": "works", "in": "last"}},
        ],
        workflow_agent=[renames()],
    )
    reply, answers = taken.to("planner")[1].messages[-2:]
    uses = [b["id"] for b in reply.content if b["type"] == "tool_use"]  # type: ignore[index]
    results = results_in(taken.to("planner")[1])
    assert answers.role == "user"
    assert [r["tool_use_id"] for r in results] == uses
    assert len(set(uses)) == 7
    failed = [r.get("is_error", False) for r in results]
    assert failed == [True, False, False, True, False, True, False]
    assert (
        {e.id for e in taken.of(ToolCalled)}
        == {e.id for e in taken.of(ToolEnded)}
        == set(uses) | {e.id for e in taken.of(ToolCalled) if e.agent == "job_code_agent"}
    )


@pytest.mark.parametrize(
    "fault",
    ["AUTH_ERROR", "RATE_LIMIT", "CONNECTION_ERROR", "TIMEOUT", "OVERLOADED", "PROVIDER_ERROR",
     "PROMPT_TOO_LONG", "INTERNAL"],
)  # fmt: skip
@pytest.mark.parametrize("agent", ["job_code_agent", "workflow_agent"])
async def test_a_subagent_s_failure_is_a_result_marked_as_one_with_its_type(
    agent: str, fault: str
) -> None:
    call = code_call("load") if agent == "job_code_agent" else structure_call()
    taken = await plan(calls(call), says("It failed."), **{agent: [{"error": {"type": fault}}]})
    (result,) = results_in(taken.to("planner")[1])
    assert result["is_error"] is True
    assert fault in result["content"]
    assert "nothing was changed" in result["content"]
    assert taken.response.attachments == []
    assert not taken.of(Stitched)


@pytest.mark.parametrize(
    ("turns", "type_"),
    [
        ([says("")], "EMPTY_OUTPUT"),
        ([{**WRITES, "stop_reason": "max_tokens", "repeat": 1}], "OUTPUT_TRUNCATED"),
        ([{**WRITES, "stop_reason": "refusal", "repeat": 1}], "REFUSED"),
        ([calls(edit("nowhere", "x"), text="Done.", repeat=2)], "could not apply"),
    ],
)
async def test_a_subagent_that_did_nothing_is_not_reported_as_done(
    turns: list[Script], type_: str
) -> None:
    taken = await plan(calls(code_call("load")), says("It failed."), job_code_agent=turns)
    (result,) = results_in(taken.to("planner")[1])
    assert result["is_error"] is True
    assert type_ in result["content"]
    assert taken.response.attachments == []


async def test_an_answer_without_a_change_says_so() -> None:
    taken = await plan(
        calls(code_call("load"), structure_call()),
        says("Nothing to do."),
        job_code_agent=[says("It is right already.")],
        workflow_agent=[structure(text="It is right already.")],
    )
    for result in results_in(taken.to("planner")[1]):
        assert "as it was" in result["content"]
        assert "is_error" not in result
    assert not taken.of(Changes)


# --- failures of its own


@pytest.mark.parametrize(
    "last",
    [
        {"error": {"type": "RATE_LIMIT"}},
        says("cut", stop_reason="max_tokens"),
        says("no", stop_reason="refusal"),
    ],
    ids=["rate-limit", "max-tokens", "refusal"],
)
async def test_work_that_was_done_before_a_failure_is_kept(last: Script) -> None:
    taken = await plan(
        calls(structure_call()), calls(code_call("load")), last,
        workflow_agent=[renames()], job_code_agent=[WRITES],
    )  # fmt: skip
    kept = taken.failure.partial_workflow
    assert kept is not None
    assert RENAMED in kept
    assert "post('/new');" in kept
    assert "# comment-zq91" in kept


async def test_a_failure_before_any_change_keeps_nothing() -> None:
    taken = await plan(calls(inspect("load")), {"error": {"type": "RATE_LIMIT"}})
    assert taken.failure.partial_workflow is None


async def test_usage_and_agents_cover_every_call_of_the_turn() -> None:
    counts = {"input_tokens": 10, "output_tokens": 3}
    job = {**WRITES, "usage": counts}
    taken = await plan(
        {**calls(structure_call()), "usage": counts},
        {**calls(code_call("fetch"), code_call("clean"), code_call("load")), "usage": counts},
        {**says("Done."), "usage": counts},
        workflow_agent=[{**renames(), "usage": counts}],
        job_code_agent=[job],
    )
    assert taken.response.meta.agents == [
        "router",
        "planner",
        "workflow_agent",
        *["job_code_agent"] * 3,
    ]
    assert taken.response.usage == taken.usage_of_all_calls
    assert (
        taken.response.usage.output_tokens == taken.recorder.replies[0].usage.output_tokens + 7 * 3
    )


@pytest.mark.parametrize(
    "tools",
    [[structure_call()], [code_call("load")], [code_call("load"), code_call("fetch")]],
    ids=["structure", "code", "two-side-by-side"],
)
async def test_a_call_that_no_script_answers_is_not_taken_for_a_subagent_s_failure(
    tools: list[Script],
) -> None:
    taken = await plan(calls(*tools), says("It failed."))
    assert taken.failure.type == "SCRIPT_MISMATCH"
    assert taken.asked.count("planner") == 1

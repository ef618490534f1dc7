"""What the planner hears of its tools, and what is kept and counted when it fails itself."""

from __future__ import annotations

import pytest

from global_chat.contract.events import Changes, Stitched, ToolCalled, ToolEnded
from tests.service.recorded_turns import particular_to, plan, results_in, take
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
    to_code,
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
        (code_call("lode"), "No step is called 'lode'. The steps are: fetch, clean, load."),
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
    assert result["content"].startswith(f"Nothing was changed. {fault}: ")
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
    assert result["content"].startswith("Nothing was changed. ")
    assert taken.response.attachments == []


async def test_an_answer_without_a_change_says_so() -> None:
    taken = await plan(
        calls(code_call("load"), structure_call()),
        says("Nothing to do."),
        job_code_agent=[says("It is right already.")],
        workflow_agent=[structure(text="It is right already.")],
    )
    for result in results_in(taken.to("planner")[1]):
        assert result["content"] == "Nothing was changed.\n\nIts answer: It is right already."
        assert "is_error" not in result
    assert not taken.of(Changes)


async def test_a_result_begins_with_what_was_done_and_then_says_what_was_said() -> None:
    taken = await plan(
        calls(structure_call(), code_call("fetch")),
        says("Done."),
        workflow_agent=[renames("I did it.")],
        job_code_agent=[calls(edit("limit: 50", "limit: 80"), text="I did it too.")],
    )
    structural, code = (r["content"] for r in results_in(taken.to("planner")[1]))
    assert structural.startswith(f"Done:\n- Renamed step Fetch visits to {RENAMED}\n\n")
    assert f'step fetch "{RENAMED}"' in structural
    assert structural.endswith("\n\nIts answer: I did it.")
    assert code == (
        "Done: the code of fetch changed (+1 −1 lines).\n"
        "<diff>\n@@ -1 +1 @@\n"
        "-get('/body-zq21', { query: { limit: 50 } });\n"
        "+get('/body-zq21', { query: { limit: 80 } });\n"
        "</diff>\n\nIts answer: I did it too."
    )


async def test_why_an_edit_failed_reaches_the_planner_and_not_the_user() -> None:
    fails = calls(edit("nowhere", "x"), text="Done.", repeat=2)
    taken = await plan(calls(code_call("load")), says("It failed."), job_code_agent=[fails])
    (result,) = results_in(taken.to("planner")[1])
    assert "old_code does not occur" in result["content"]
    direct = await take({"router": to_code("load"), "job_code_agent": [fails]})
    assert "could not apply" in direct.response.response
    assert "old_code" not in direct.response.response


async def test_attachments_named_as_a_bare_text_are_those_of_one_type() -> None:
    named = {**code_call("fetch"), "input": {**code_call("fetch")["input"], "attachments": "log"}}
    taken = await plan(
        calls(named),
        says("It timed out."),
        job_code_agent=[says("It timed out.")],
        attachments=[
            {"type": "log", "content": "canary-log"},
            {"type": "run_input", "content": "canary-in"},
        ],
    )
    (request,) = taken.to("job_code_agent")
    assert "<run_logs>\ncanary-log\n</run_logs>" in particular_to(request)
    assert "canary-in" not in repr(request)


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

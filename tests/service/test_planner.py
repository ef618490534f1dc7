"""The planner's loop: its budget, its rounds, and one result for every tool it asked for."""

from __future__ import annotations

from itertools import pairwise

import pytest

from global_chat.contract.errors import EmptyOutput
from tests.service.recorded_turns import budget, plan, results_in
from tests.service.scripts import (
    BODIES,
    calls,
    code_call,
    edit,
    inspect,
    renames,
    says,
    structure,
    structure_call,
)

pytestmark = pytest.mark.service

WRITES = calls(edit(None, "post('/new');\n"), text="I wrote it.", repeat=True)


# --- rounds


async def test_the_planner_sees_the_outline_and_of_the_code_only_lines_that_it_had_changed() -> (
    None
):
    taken = await plan(
        calls(structure_call(), code_call("load")),
        says("Done."),
        workflow_agent=[renames()],
        job_code_agent=[calls(edit("$.data", "$.rows"), text="Done.")],
    )
    for request in taken.to("planner"):
        assert not any(body in repr(request) for body in BODIES.values())
        assert "id-zq" not in repr(request)
    assert "+insert('visits', $.rows);" in results_in(taken.to("planner")[1])[1]["content"]
    assert "step fetch" in taken.to("planner")[0].system[1].text


async def test_it_reads_code_only_by_asking_for_it() -> None:
    taken = await plan(calls(inspect("Clean visits", "load")), says("Fine."))
    first, second = taken.to("planner")
    assert BODIES["clean"] not in repr(first)
    (result,) = results_in(second)
    assert BODIES["clean"] in result["content"]
    assert BODIES["load"] in result["content"]
    assert BODIES["fetch"] not in repr(second)
    assert taken.response.attachments == []


async def test_what_it_says_before_its_tool_calls_is_shown_first_and_is_not_the_answer() -> None:
    taken = await plan(
        calls(code_call("load"), text="I'll write it now.", chunk=5),
        says("Done.", chunk=2),
        job_code_agent=[WRITES],
    )
    assert taken.shown == ["I'll write it now.", "Done."]
    assert taken.response.response == "Done."
    assert taken.response.history[-1].content == "Done."


async def test_each_round_goes_on_from_the_one_before_word_for_word() -> None:
    taken = await plan(
        calls(inspect("load"), text="Let me look."), calls(inspect("clean")), says("Fine.")
    )
    requests = taken.to("planner")
    for earlier, later in pairwise(requests):
        assert later.system == earlier.system
        assert later.tools == earlier.tools
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert [m.role for m in later.messages[-2:]] == ["assistant", "user"]


async def test_rounds_and_tool_calls_are_counted() -> None:
    taken = await plan(
        calls(inspect("load"), inspect("clean")), calls(inspect("fetch")), says("Fine.")
    )
    meta = taken.response.meta
    assert (meta.planner_iterations, meta.total_tool_calls) == (3, 3)
    assert meta.limit_reached is None


@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_last_round_is_answered_by_what_was_done(text: str) -> None:
    taken = await plan(calls(code_call("load")), says(text), job_code_agent=[WRITES])
    assert "Load visits" in taken.response.response
    assert taken.shown == [taken.response.response]
    assert "post('/new')" in taken.code_of("load")


async def test_a_pause_is_gone_on_from_as_often_as_it_comes() -> None:
    pauses = [says(f"part {n} ", stop_reason="pause_turn") for n in ("one", "two", "three")]
    taken = await plan(*pauses, says("end."))
    assert taken.response.response == "part one part two part three end."
    assert taken.shown == [taken.response.response]
    last = taken.to("planner")[-1].messages
    assert [m.role for m in last] == ["user", "assistant"]
    assert [b["text"] for b in last[1].content] == ["part one ", "part two ", "part three "]  # type: ignore[index]
    assert taken.response.meta.planner_iterations == 1
    assert taken.response.usage == taken.usage_of_all_calls


async def test_a_removed_step_takes_its_paths_with_it() -> None:
    taken = await plan(
        calls(structure_call("Remove the step Clean visits.")),
        says("Removed."),
        content="no more cleaning",
        workflow_agent=[structure(None, "Removed.", remove=["jobs.clean"])],
    )
    assert [step.key for step in taken.after.steps] == ["fetch", "load"]
    assert [edge.key for edge in taken.after.edges] == ["cron->fetch"]


# --- the budget


async def test_when_the_budget_is_spent_one_round_without_tools_ends_on_an_answer() -> None:
    taken = await plan(calls(inspect("load"), repeat=3), says("That is all."), settings=budget(3))
    assert [r.tools_allowed for r in taken.to("planner")] == [True, True, True, False]
    assert taken.response.response == "That is all."
    meta = taken.response.meta
    assert (meta.planner_iterations, meta.total_tool_calls) == (4, 3)
    assert meta.limit_reached == "max_tool_calls"


async def test_the_default_budget_is_ten() -> None:
    taken = await plan(calls(inspect("load"), repeat=10), says("That is all."))
    assert taken.response.meta.total_tool_calls == 10
    assert taken.to("planner")[-1].tools_allowed is False


async def test_calls_beyond_the_budget_are_refused_one_by_one_and_not_made() -> None:
    keys = ("fetch", "clean", "load")
    taken = await plan(
        calls(*(code_call(key) for key in keys)),
        says("Two of three."),
        job_code_agent=[WRITES],
        settings=budget(2),
    )
    results = results_in(taken.to("planner")[1])
    assert [r.get("is_error", False) for r in results] == [False, False, True]
    assert "No tool calls are left" in results[2]["content"]
    assert len(taken.to("job_code_agent")) == 2
    assert taken.response.meta.total_tool_calls == 2
    assert BODIES["load"] in taken.code_of("load")


async def test_a_tool_call_in_the_last_round_is_not_made() -> None:
    taken = await plan(
        calls(code_call("load")),
        calls(code_call("clean"), text="I wrote one."),
        job_code_agent=[WRITES],
        settings=budget(1),
    )
    assert taken.response.response == "I wrote one."
    assert BODIES["clean"] in taken.code_of("clean")


async def test_finished_work_is_kept_when_the_limit_is_reached_in_silence() -> None:
    taken = await plan(
        calls(code_call("load")), says(""), job_code_agent=[WRITES], settings=budget(1)
    )
    assert "post('/new')" in taken.code_of("load")
    assert taken.response.response.strip()


async def test_a_limit_that_is_reached_with_nothing_done_is_named() -> None:
    taken = await plan(calls(inspect("load")), says(""), settings=budget(1))
    assert isinstance(taken.failure, EmptyOutput)
    assert "tool calls are used up" in taken.failure.message

"""The rounds of one code edit: reading other steps, one correction, and never half an edit."""

from __future__ import annotations

import pytest

from global_chat.contract.errors import InternalError
from global_chat.contract.events import (
    ModelCallEnded,
    Stitched,
    TextRestarted,
    ToolCalled,
    ToolEnded,
)
from global_chat.model.anthropic_messages import MOST_CACHE_MARKS, wire_body
from global_chat.workflow.document import Workflow
from tests.screen import screen
from tests.service.recorded_turns import Taken, plan, results_in, take
from tests.service.scripts import (
    BODIES,
    WORKFLOW,
    Script,
    calls,
    code_call,
    edit,
    inspect,
    renames,
    says,
    structure_call,
    to_code,
    tool,
)

pytestmark = pytest.mark.service

GOOD = edit("limit: 50", "limit: 80")
BAD = edit("limit: 51", "limit: 80")
RAISED = WORKFLOW.replace("limit: 50", "limit: 80")


async def rounds(*replies: Script) -> Taken:
    """A direct edit of the step `fetch` in which the model says these replies."""
    return await take({"router": to_code(), "job_code_agent": list(replies)})


async def test_other_steps_are_read_on_demand_and_then_the_edit_is_made() -> None:
    taken = await rounds(
        calls(inspect("load", "Clean visits"), text="Let me look at the other steps."),
        calls(GOOD, text="I raised the limit."),
    )
    assert taken.response.workflow_yaml == RAISED
    assert taken.shown == [taken.response.response] == ["I raised the limit."]
    (result,) = results_in(taken.to("job_code_agent")[1])
    assert BODIES["load"] in result["content"]
    assert BODIES["clean"] in result["content"]
    assert taken.response.meta.agents == ["router", "job_code_agent"]


async def test_what_is_said_before_reading_is_not_the_answer() -> None:
    taken = await rounds(calls(inspect("load"), text="Let me look."), calls(GOOD))
    assert taken.response.response == "I changed the code of Fetch visits."
    assert taken.response.workflow_yaml == RAISED


async def test_an_edit_beside_a_reading_lasts_and_the_model_goes_on_from_it() -> None:
    taken = await rounds(
        calls(GOOD, inspect("load"), text="I raised the limit."),
        calls(edit("limit: 80", "limit: 90"), text="To 90, like the other step."),
    )
    assert taken.response.workflow_yaml == WORKFLOW.replace("limit: 50", "limit: 90")
    edited, read = results_in(taken.to("job_code_agent")[1])
    assert "is_error" not in edited
    assert "is_error" not in read
    assert len(taken.of(Stitched)) == 1


async def test_a_corrected_edit_lasts_though_the_model_says_nothing_more() -> None:
    taken = await rounds(
        calls(BAD, text="I raised the limit."), calls(GOOD, inspect("load")), says("")
    )
    assert taken.response.workflow_yaml == RAISED
    assert taken.response.response == "I raised the limit."


async def test_an_edit_that_failed_after_one_that_worked_takes_both_back() -> None:
    taken = await rounds(
        calls(GOOD, inspect("load"), text="Raised."), calls(BAD), calls(BAD, text="Raised.")
    )
    assert taken.response.attachments == []
    assert "as it was" in taken.response.response
    assert not taken.of(Stitched)


async def test_there_is_one_correction_whatever_is_read_in_between() -> None:
    taken = await rounds(calls(BAD), calls(inspect("load")), calls(BAD, text="Raised."))
    assert taken.response.attachments == []
    assert "as it was" in taken.response.response
    assert len(taken.to("job_code_agent")) == 3


@pytest.mark.parametrize("blocks", [(GOOD, BAD), (BAD, GOOD)], ids=["good-first", "bad-first"])
async def test_the_edits_of_one_reply_stand_or_fall_together(blocks: tuple[Script, ...]) -> None:
    taken = await rounds(calls(*blocks, text="Raised."), says("Which limit do you mean?"))
    results = results_in(taken.to("job_code_agent")[1])
    assert [r["is_error"] for r in results] == [True, True]
    assert taken.response.attachments == []
    assert taken.response.response.startswith("Which limit do you mean?")
    assert "Nothing was changed" in taken.response.response


@pytest.mark.parametrize(
    "broken",
    [
        tool("edit_job"),
        tool("edit_job", code_edits=[]),
        tool("edit_job", code_edits=[{"action": "patch", "new_code": "x"}]),
    ],
)
async def test_an_edit_that_cannot_be_read_gets_the_same_one_round(broken: Script) -> None:
    taken = await rounds(calls(broken, text="Raised."), calls(GOOD, text="Raised."))
    assert taken.response.workflow_yaml == RAISED
    taken = await rounds(calls(broken, text="Raised."), calls(broken, text="Raised."))
    assert taken.response.attachments == []
    assert "as it was" in taken.response.response


# --- code that will not run

BROKEN = edit("limit: 50 } });", "limit: 80 }")
RUNS = edit(None, "get('/body-zq21', { query: { limit: 80 } });\n")
LEAVES_IT = edit(None, "get('/body-zq21', { query: {\n")


async def test_a_finding_goes_back_once_and_its_correction_is_what_counts() -> None:
    taken = await rounds(calls(BROKEN, text="I raised it."), calls(RUNS, text="Raised to 80."))
    assert taken.response.workflow_yaml == RAISED
    assert taken.response.response == "Raised to 80."
    assert taken.response.meta.warnings == []
    (result,) = results_in(taken.to("job_code_agent")[1])
    assert "line 1" in result["content"]


@pytest.mark.parametrize(
    ("correction", "text"),
    [
        (calls(BAD, text="I closed the call."), "I raised it."),
        (says("I closed the call."), "I raised it."),
        (calls(LEAVES_IT, text="I rewrote it."), "I rewrote it."),
    ],
    ids=["does-not-apply", "is-only-claimed", "leaves-findings"],
)
async def test_a_correction_of_a_finding_that_fails_keeps_the_edit_and_warns(
    correction: Script, text: str
) -> None:
    taken = await rounds(calls(BROKEN, text="I raised it."), correction)
    assert taken.code_of("fetch") != Workflow.read(WORKFLOW).steps[0].code
    assert taken.response.response == text
    (warning,) = taken.response.meta.warnings
    assert "Fetch visits" in warning
    assert len(taken.to("job_code_agent")) == 2


async def test_the_planner_reads_what_will_not_run_beside_what_was_done() -> None:
    taken = await plan(
        calls(code_call("fetch")),
        says("It is raised, but does not run."),
        job_code_agent=[calls(BROKEN, text="Raised."), says("Closed.")],
    )
    (result,) = results_in(taken.to("planner")[1])
    assert result["content"].startswith("Done: the code of fetch changed (+1 −1 lines).")
    assert "This will not run:\n- Fetch visits, line 1" in result["content"]


# --- what is shown while a reply arrives

LONG = "This step asks for fifty visits at a time, page by page, until none is left. " * 4


def shown_before_the_end(taken: Taken) -> str:
    """The visible text up to the end of the code agent's first call."""
    ended = next(e for e in taken.of(ModelCallEnded) if e.agent == "job_code_agent")
    return screen(taken.events[: taken.events.index(ended)])


async def test_an_answer_is_shown_while_it_arrives() -> None:
    taken = await rounds(says(LONG, chunk=10))
    assert len(shown_before_the_end(taken)) > len(LONG) / 2
    assert taken.shown == [taken.response.response] == [LONG.strip()]
    assert not taken.of(TextRestarted)


async def test_what_is_said_before_a_tool_call_is_not_shown_before_the_call_is_made() -> None:
    taken = await rounds(calls(BAD, text="I raised it.", chunk=3), calls(GOOD, text="Raised."))
    assert shown_before_the_end(taken) == ""
    assert taken.shown == ["Raised."]
    assert not taken.of(TextRestarted)


@pytest.mark.parametrize("second", [calls(BAD, text=LONG), says("Which one?")])
async def test_a_long_claim_of_an_edit_that_is_not_applied_does_not_stand(second: Script) -> None:
    taken = await rounds(calls(BAD, text=LONG, chunk=10), second)
    assert taken.shown == [taken.response.response]
    assert LONG.strip() not in screen(taken.events)
    assert taken.response.attachments == []


async def test_a_long_text_before_a_handover_is_no_part_of_the_message() -> None:
    over = calls(tool("edit_workflow", goal="Raise both."), text=LONG, chunk=10)
    script = {"router": to_code(), "job_code_agent": [over], "planner": [says("Done.")]}
    taken = await take(script)
    assert taken.shown == [taken.response.response] == ["Done."]


async def test_each_round_sends_what_the_one_before_sent_and_goes_on_from_it() -> None:
    log = {"type": "log", "content": "canary-log"}
    taken = await take(
        {"router": to_code(), "job_code_agent": [calls(inspect("load")), says("I see.")]},
        attachments=[log],
    )
    first, second = (wire_body(request) for request in taken.to("job_code_agent"))
    assert first["system"] == second["system"]
    assert first["tools"] == second["tools"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert first["cache_control"] == second["cache_control"] == {"type": "ephemeral"}
    marked = [part["text"] for part in second["system"] if "cache_control" in part]
    assert len(marked) + 1 <= MOST_CACHE_MARKS
    assert "canary-log" in marked[1]
    assert marked[-1].startswith("<adaptor>")
    assert "<user_code>" in second["system"][-1]["text"]


# --- bounds


async def test_rounds_are_bounded_and_the_last_one_is_without_tools() -> None:
    taken = await rounds(calls(inspect("load"), repeat=4), says("I read enough."))
    assert [r.tools_allowed for r in taken.to("job_code_agent")] == [True] * 4 + [False]
    assert taken.response.response == "I read enough."


async def test_a_step_that_is_not_there_is_answered_with_those_that_are() -> None:
    taken = await rounds(calls(inspect("lode")), says("I see."))
    (result,) = results_in(taken.to("job_code_agent")[1])
    assert result["is_error"] is True
    assert "fetch, clean, load" in result["content"]


async def test_every_tool_call_of_every_round_is_told_and_ends() -> None:
    taken = await rounds(calls(BAD, inspect("lode")), calls(GOOD, text="Raised."))
    called, ended = taken.of(ToolCalled), taken.of(ToolEnded)
    assert [e.tool for e in called] == ["edit_job", "inspect_job_code", "edit_job"]
    assert [e.id for e in called] == [e.id for e in ended]
    assert [e.failed for e in ended] == [True, True, False]


async def test_a_patch_that_breaks_is_no_failure_of_the_model_s_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_args: object, **_more: object) -> None:
        raise InternalError("It could not be written exactly.")

    monkeypatch.setattr(Workflow, "apply", breaks)
    taken = await plan(
        calls(structure_call(), code_call("load")),
        says("It failed."),
        workflow_agent=[renames("I renamed it.")],
        job_code_agent=[says("ok")],
    )
    result, _ = results_in(taken.to("planner")[1])
    assert "INTERNAL: It could not be written exactly." in result["content"]
    assert all(e.error_type is None and e.stop_reason for e in taken.of(ModelCallEnded))
    assert taken.response.usage == taken.usage_of_all_calls
    assert taken.shown == ["It failed."]

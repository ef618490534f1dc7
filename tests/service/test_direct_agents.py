"""The subagents on their own payloads, as `global-chat job` and `global-chat workflow` use them."""

from __future__ import annotations

from typing import Any

import pytest

from global_chat.contract.events import Changes, TextDelta
from tests.service.recorded_turns import ask_job, ask_workflow, particular_to
from tests.service.scripts import WORKFLOW, Script, calls, drafted, edit, says

pytestmark = pytest.mark.service

CODE = "get('/visits', { limit: 50 });\nget('/sites', { limit: 50 });\n"
CONTEXT = {
    "expression": CODE,
    "adaptor": "@openfn/language-http@7.3.2",
    "page_name": "Fetch visits",
    "input": {"canary-in": 1},
    "output": "canary-out",
    "log": ["canary-log", "", "  end"],
}
HISTORY = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]


def replies(yaml: str | None, text: str, **more: Any) -> Script:
    return {"reply": {"yaml": yaml, "text": text}, **more}


# --- job


async def test_the_job_code_agent_reads_code_adaptor_and_evidence_in_their_blocks() -> None:
    taken = await ask_job(
        {"job_code_agent": [says("Hm.")]}, "why?", context=CONTEXT, history=HISTORY
    )
    (request,) = taken.requests
    particular = particular_to(request)
    for block in (
        f"<user_code>\n{CODE}\n</user_code>",
        "<adaptor>\n@openfn/language-http@7.3.2\n</adaptor>",
        '<input>\n{\n  "canary-in": 1\n}\n</input>',
        "<output>\ncanary-out\n</output>",
        "<run_logs>\ncanary-log\n\n  end\n</run_logs>",
    ):
        assert block in particular
    assert [m.content for m in request.messages] == ["hi", "Hello.", "why?"]


async def test_new_code_comes_back_as_job_code() -> None:
    edits = [edit("/sites', { limit: 50", "/sites', { limit: 9"), edit("limit: 9", "limit: 10")]
    taken = await ask_job(
        {"job_code_agent": [calls(*edits, text="Lowered.")]}, context=CONTEXT, history=HISTORY
    )
    found = taken.response.model_dump(exclude_none=True)
    code = CODE.replace("/sites', { limit: 50", "/sites', { limit: 10")
    assert found["attachments"] == [{"type": "job_code", "content": code}]
    assert found["response"] == "Lowered."
    assert found["meta"] == {
        "agents": ["job_code_agent"],
        "changes": ["Code of Fetch visits changed (+1 −1)"],
        "warnings": [],
        "backend": "scripted",
    }
    assert found["history"] == [
        *HISTORY,
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": "Lowered."},
    ]
    assert taken.shown == ["Lowered."]


@pytest.mark.parametrize(
    "context", [{}, {"expression": ""}, {"expression": "// Add operations here"}]
)
async def test_an_empty_step_takes_the_new_code_whole(context: dict[str, Any]) -> None:
    taken = await ask_job(
        {"job_code_agent": [calls(edit("nothing of it", "fn(s => s);\n"))]}, context=context
    )
    assert [a.content for a in taken.response.attachments] == ["fn(s => s);\n"]
    assert taken.response.response.strip()


async def test_an_edit_that_does_not_apply_gets_one_correction() -> None:
    taken = await ask_job(
        {
            "job_code_agent": [
                calls(edit("limit: 50", "limit: 9"), text="Lowered."),
                calls(edit("/visits', { limit: 50", "/visits', { limit: 9")),
            ]
        },
        context=CONTEXT,
    )
    first, second = taken.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert "occurs 2 times" in repr(second.messages[-1])
    assert taken.response.response == "Lowered."
    assert taken.response.attachments[0].content == CODE.replace(
        "/visits', { limit: 50", "/visits', { limit: 9"
    )


@pytest.mark.parametrize(
    "second",
    [
        calls(edit("limit: 51", "limit: 9"), text="Lowered it for you!"),
        calls(edit("get", "got"), edit(None, "all new"), text="Lowered it for you!"),
        says("Lowered it for you!"),
        says(""),
    ],
    ids=["fails-again", "half-fails", "claims-it", "is-silent"],
)
async def test_after_that_nothing_is_changed_and_the_reply_says_so(second: Script) -> None:
    first = calls(edit(None, "all new\n"), edit("limit: 50", "limit: 9"), text="Lowered.")
    taken = await ask_job({"job_code_agent": [first, second]}, context=CONTEXT)
    assert taken.response.attachments == []
    assert "code is as it was" in taken.response.response or (
        "Nothing was changed" in taken.response.response
    )
    assert "Lowered." not in taken.response.response
    assert len(taken.requests) == 2


async def test_a_step_that_is_looked_for_in_vain_is_no_reason_to_go_on_for_ever() -> None:
    looping = calls({"name": "inspect_job_code", "input": {"job_keys": ["x"]}}, repeat=4)
    taken = await ask_job({"job_code_agent": [looping, says("I can't see it.")]}, context=CONTEXT)
    assert [r.tools_allowed for r in taken.requests] == [True] * 4 + [False]
    assert taken.response.response == "I can't see it."


async def test_too_much_evidence_is_refused_before_any_call() -> None:
    taken = await ask_job({}, context={**CONTEXT, "log": "x" * 250_000})
    assert taken.failure.type == "ATTACHMENT_TOO_LARGE"
    assert taken.failure.details["largest_attachment"] == {"type": "log", "characters": 250_000}
    assert taken.requests == []


# --- workflow


async def test_the_workflow_agent_edits_and_gives_the_whole_document_back() -> None:
    yaml = drafted("0 8 * * *", "0 6 * * *")
    taken = await ask_workflow(
        {"workflow_agent": [replies(yaml, "It runs at six.")]},
        "run it at six",
        existing_yaml=WORKFLOW,
        history=HISTORY,
    )
    found = taken.response.model_dump(exclude_none=True)
    assert found["attachments"] == [
        {"type": "workflow_yaml", "content": WORKFLOW.replace("0 8 * * *", "0 6 * * *")}
    ]
    assert found["meta"] == {
        "agents": ["workflow_agent"],
        "changes": ["Schedule changed from `0 8 * * *` to `0 6 * * *`"],
        "warnings": [],
        "backend": "scripted",
    }
    assert [h["content"] for h in found["history"]] == [
        "hi", "Hello.", "run it at six", "It runs at six.",
    ]  # fmt: skip
    assert len(taken.of(Changes)) == 1


@pytest.mark.parametrize("errors", ["no such adaptor {x}", ["no such adaptor {x}", "other"]])
async def test_problems_that_the_app_found_reach_the_model(errors: Any) -> None:
    taken = await ask_workflow(
        {"workflow_agent": [replies(None, "Hm.")]}, existing_yaml=WORKFLOW, errors=errors
    )
    assert "no such adaptor {x}" in particular_to(taken.requests[0])


async def test_a_workflow_open_for_reading_only_stays_as_it_is() -> None:
    taken = await ask_workflow(
        {"workflow_agent": [replies(drafted("0 8", "0 6"), "It would run at six.")]},
        existing_yaml=WORKFLOW,
        read_only=True,
    )
    assert taken.response.attachments == []
    assert taken.shown == ["It would run at six."]
    assert "reading only" in particular_to(taken.requests[0])


async def test_its_words_are_shown_while_they_come_and_once() -> None:
    words = "It runs at six now, as you asked for. Everything else is as it was."
    taken = await ask_workflow(
        {"workflow_agent": [replies(drafted("0 8", "0 6"), words, chunk=6)]}, existing_yaml=WORKFLOW
    )
    assert taken.shown == [words]
    assert len(taken.of(TextDelta)) > 3


@pytest.mark.parametrize(
    "bad",
    ["jobs: [", "nonsense", "steps: []\n", {"jobs": {}}, 5],
    ids=["no-yaml", "no-mapping", "another-form", "an-object", "a-number"],
)
async def test_a_yaml_that_cannot_be_used_gets_one_round_and_then_fails(bad: Any) -> None:
    wrong = replies(bad, "I changed it.", chunk=4)
    right = replies(drafted("0 8", "0 6"), "It runs at six.")
    taken = await ask_workflow({"workflow_agent": [wrong, right]}, existing_yaml=WORKFLOW)
    assert taken.shown == ["It runs at six."]
    assert "does not fit" in str(taken.requests[1].messages[-1].content)
    assert taken.requests[1].messages[-2].role == "assistant"

    taken = await ask_workflow({"workflow_agent": [wrong, wrong]}, existing_yaml=WORKFLOW)
    assert (taken.failure.type, taken.failure.exit_code) == ("INVALID_OUTPUT", 5)
    assert len(taken.requests) == 2
    assert taken.shown == []


async def test_a_document_that_does_not_parse_is_refused_and_not_shown_to_a_model() -> None:
    taken = await ask_workflow({}, existing_yaml="jobs:\n  a: {body: 'zq\n")
    assert taken.failure.type == "INVALID_WORKFLOW"
    assert taken.requests == []


async def test_a_change_that_makes_the_workflow_wrong_gets_one_round_too() -> None:
    no_cron = drafted("0 8 * * *", "at eight")
    script = [replies(no_cron, "Changed."), replies(drafted("0 8", "0 6"), "It runs at six.")]
    taken = await ask_workflow({"workflow_agent": script}, existing_yaml=WORKFLOW)
    assert taken.shown == ["It runs at six."]
    assert "at eight" in str(taken.requests[1].messages[-1].content)

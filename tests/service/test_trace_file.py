"""The trace that `--trace` writes: what happened in a turn, and nothing of what was said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.service.answers import Answer, json_text, text, tool_use
from tests.service.command_line import (
    ANSWERED,
    EDITED,
    PAYLOAD,
    CommandLine,
    Script,
    routed,
)
from tests.service.messages_server import MessagesServer

pytestmark = pytest.mark.service

Span = dict[str, Any]

PAYLOADS = Path(__file__).parents[2] / "payloads"
DEMO = (PAYLOADS / "emoji-banners.json", "--script", PAYLOADS / "emoji-banners.script.yaml")
USAGE = {
    "input_tokens": 20,
    "output_tokens": 1,
    "cache_read_input_tokens": 400,
    "cache_creation_input_tokens": 5,
}


def traced(command: CommandLine, script: Script | None, *arguments: str, **more: str) -> list[Span]:
    """The spans of one turn, children before their parents."""
    command.turn(script, "--trace", "trace.jsonl", *arguments, **more)
    return command.lines("trace.jsonl")


def of_kind(spans: Iterable[Span], kind: str) -> list[Span]:
    return [span for span in spans if span["kind"] == kind]


def test_a_direct_edit_is_told_span_by_span(command: CommandLine) -> None:
    spans = traced(command, EDITED)
    assert [span["kind"] for span in spans] == [
        "model_call",
        "routing",
        "model_call",
        "tool_call",
        "stitch",
        "turn",
    ]
    asked, routing, edited, called, stitched, turn = spans
    assert routing["destination"] == routing["sent_to"] == "job_code_agent"
    assert (routing["confidence"], routing["job_key"]) == (5, "fetch")
    assert (asked["agent"], edited["agent"]) == ("router", "job_code_agent")
    assert edited["model"].startswith("claude-") and edited["stop_reason"] == "tool_use"
    assert (called["tool"], called["step"]) == ("edit_job", "Fetch")
    assert (stitched["step"], stitched["added"], stitched["removed"]) == ("Fetch", 1, 1)
    assert turn["agents"] == ["router", "job_code_agent"] and turn["tags"] == []


def test_spans_belong_to_one_turn_and_nest(command: CommandLine) -> None:
    spans = traced(command, EDITED)
    by_number = {span["span"]: span for span in spans}
    turn = spans[-1]
    assert {span["turn_id"] for span in spans} == {turn["turn_id"]}
    assert "parent" not in turn
    assert all(span["parent"] in by_number for span in spans[:-1])
    assert by_number[spans[0]["parent"]]["kind"] == "routing"
    for span in spans:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", span["start"])
        assert span["ms"] >= 0


def test_each_turn_is_added_and_has_its_own_id(command: CommandLine) -> None:
    first = traced(command, EDITED)
    both = traced(command, ANSWERED)
    assert both[: len(first)] == first
    assert len({span["turn_id"] for span in both}) == 2


def test_a_handover_is_tagged_with_who_handed_over_and_told_with_its_goal(
    command: CommandLine,
) -> None:
    command.run("run", "-i", *DEMO, "--output-dir", "out", "--trace", "trace.jsonl")
    spans = command.lines("trace.jsonl")
    turn = spans[-1]
    assert (turn["tags"], turn["handover_from"]) == (["handover"], "job_code_agent")
    [handover] = of_kind(spans, "handover")
    assert handover["goal"].startswith("Remove the wave emojis")
    assert (handover["agent"], handover["to_planner"]) == ("job_code_agent", True)
    calls = [span for span in of_kind(spans, "tool_call") if span["agent"] == "planner"]
    assert len(calls) == len(of_kind(spans, "stitch")) == 3
    assert "handover" not in command.json("out/emoji-banners.response.json")["meta"]


def test_a_workflow_agents_handover_is_tagged_too(command: CommandLine) -> None:
    reply = {"handover": "Change the code of Fetch", "yaml": None, "text": ""}
    script = {
        **ANSWERED,
        "router": [routed("workflow_agent")],
        "workflow_agent": [{"reply": reply}],
    }
    turn = traced(command, script)[-1]
    assert (turn["tags"], turn["handover_from"]) == (["handover"], "workflow_agent")


def test_low_confidence_is_tagged_and_the_routers_word_is_kept(command: CommandLine) -> None:
    spans = traced(command, {**ANSWERED, "router": [routed("workflow_agent", 2)]})
    [routing] = of_kind(spans, "routing")
    assert (routing["destination"], routing["sent_to"]) == ("workflow_agent", "planner")
    assert routing["reason"] == "low_confidence"
    assert spans[-1]["tags"] == ["low_confidence_reroute"]
    assert "handover_from" not in spans[-1]


def test_a_planners_own_choice_is_no_reroute(command: CommandLine) -> None:
    for confidence in (1, 5):
        spans = traced(command, {**ANSWERED, "router": [routed("planner", confidence)]})
        assert spans[-1]["tags"] == []


def test_warnings_are_spans(command: CommandLine) -> None:
    odd = {"colour": 1, "attachments": [{"type": "heap_dump", "content": "…"}]}
    command.write("turn.json", {**PAYLOAD, **odd})
    messages = [span["message"] for span in of_kind(traced(command, ANSWERED), "warning")]
    assert any("'colour'" in message for message in messages)
    assert any("'heap_dump'" in message for message in messages)


def test_who_asks_is_carried_along(command: CommandLine) -> None:
    meta = {"session_id": "s-1", "user": {"id": "u-7", "persona": "builder"}}
    command.write("turn.json", {**PAYLOAD, "meta": meta})
    turn = traced(command, ANSWERED)[-1]
    assert (turn["session_id"], turn["user_id"], turn["persona"]) == ("s-1", "u-7", "builder")


def test_nothing_that_was_said_and_no_code_is_in_the_trace(command: CommandLine) -> None:
    said = {name: f"canary{number}" for number, name in enumerate(("ask", "log", "code", "answer"))}
    command.write(
        "turn.json",
        {
            **PAYLOAD,
            "content": said["ask"],
            "attachments": [{"type": "log", "content": said["log"]}],
            "history": [{"role": "user", "content": said["ask"]}],
        },
    )
    edit = {"code_edits": [{"action": "rewrite", "new_code": said["code"]}]}
    turn = {"text": said["answer"], "tools": [{"name": "edit_job", "input": edit}]}
    spans = traced(command, {**EDITED, "job_code_agent": [turn]})
    assert said["code"] in command.text("turn.workflow.yaml")
    assert of_kind(spans, "stitch")
    assert "canary" not in command.text("trace.jsonl")


def test_a_model_call_counts_tokens_and_cache_as_the_service_says(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    route = {"destination": "job_code_agent", "confidence": 5, "job_key": "fetch"}
    messages_server.add(
        json_text(route, usage={"input_tokens": 100}, final_usage={"output_tokens": 10}),
        text("Ok.", usage=USAGE, final_usage={**USAGE, "output_tokens": 64}),
    )
    server = messages_server.url
    spans = traced(command, None, "--base-url", server, ANTHROPIC_API_KEY="a-key")
    asked, edited = of_kind(spans, "model_call")
    assert (asked["input_tokens"], asked["output_tokens"]) == (100, 10)
    assert {name: edited[name] for name in USAGE} == {**USAGE, "output_tokens": 64}
    assert edited["first_token_ms"] <= edited["ms"]
    summed = {**USAGE, "input_tokens": 120, "output_tokens": 74}
    assert {name: spans[-1][name] for name in USAGE} == summed
    assert command.json("turn.response.json")["usage"] == summed


def test_every_attempt_of_a_call_is_a_span(command: CommandLine) -> None:
    script = {**ANSWERED, "router": [{"error": {"status": 529}}, *ANSWERED["router"]]}
    first, second, *_ = of_kind(traced(command, script), "model_call")
    assert (first["attempt"], first["error_type"]) == (1, "OVERLOADED")
    assert (second["attempt"], second["stop_reason"]) == (2, "end_turn")


def test_a_failed_turn_says_why(command: CommandLine) -> None:
    script: Script = {"router": [routed("planner")], "planner": [{"error": {"type": "REFUSED"}}]}
    spans = traced(command, script)
    assert spans[-1]["error_type"] == "REFUSED"
    assert of_kind(spans, "model_call")[-1]["error_type"] == "REFUSED"


def test_a_tool_that_fails_says_why(command: CommandLine, messages_server: MessagesServer) -> None:
    called = {"job_key": "nowhere", "message": "Look.", "attachments": []}
    route = {"destination": "planner", "confidence": 5, "job_key": None}
    messages_server.add(
        json_text(route),
        Answer(content=(tool_use("call_job_code_agent", called),)),
        text("There is no such step."),
    )
    server = messages_server.url
    spans = traced(command, None, "--base-url", server, ANTHROPIC_API_KEY="a-key")
    [tool] = of_kind(spans, "tool_call")
    assert tool["failed"] is True
    assert "No step is called 'nowhere'" in tool["reason"]


def test_the_trace_can_be_shown_as_a_tree(command: CommandLine) -> None:
    traced(command, EDITED)
    ran = command.run("trace", "trace.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert "job_code_agent" in ran.out.replace(" ", "_")

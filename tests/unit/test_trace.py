"""The trace tells what was decided, asked, called and changed, and nests it right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from global_chat.contract.errors import AuthError, BadRequest, InternalError
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    ModelCallStarted,
    RouteDecided,
    Status,
    Stitched,
    TextDelta,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.response import HistoryEntry, Response, ResponseMeta
from global_chat.trace.otel import OtelListener
from global_chat.trace.writer import TraceWriter

pytestmark = pytest.mark.unit

START = TurnStarted("t1", "session-7", "user-9", "clinic lead", "scripted")


def ended() -> TurnEnded:
    return TurnEnded(
        Response(
            response="Done.",
            history=[HistoryEntry(role="user", content="secret question")],
            usage=Usage(input_tokens=120, output_tokens=74, cache_read_input_tokens=400),
            meta=ResponseMeta(agents=["router"], router_confidence=5),
        )
    )


def call(number: int, agent: AgentName, **facts: Any) -> list[Event]:
    model = "claude-x"
    usage = facts.pop("usage", Usage(input_tokens=20, output_tokens=4))
    facts = {"first_token_ms": 80.0, "stop_reason": "end_turn", **facts}
    return [
        ModelCallStarted(number, agent, model),
        ModelCallEnded(number, agent, model, milliseconds=250.5, usage=usage, **facts),
    ]


def tool(name: str, id_: str, agent: AgentName = "planner", step: str | None = None) -> ToolCalled:
    return ToolCalled(id_, agent, name, {"message": "print the password hunter2"}, step)


def tool_end(name: str, id_: str, agent: AgentName = "planner", **facts: Any) -> ToolEnded:
    return ToolEnded(id_, agent, name, 12.0, **facts)


DIRECT: list[Event] = [
    START,
    AgentInvoked("router"),
    *call(1, "router"),
    RouteDecided("job_code_agent", 5, "fetch", "job_code_agent"),
    AgentInvoked("job_code_agent", "Fetch"),
    Status("Editing"),
    *call(2, "job_code_agent", usage=Usage(input_tokens=100, cache_read_input_tokens=400)),
    tool("edit_job", "e1", "job_code_agent", "Fetch"),
    tool_end("edit_job", "e1", "job_code_agent"),
    Stitched("Fetch", 2, 1),
    TextDelta("secret answer"),
    Warned("An adaptor is not in the catalogue."),
    ended(),
]


def clock() -> Any:
    """Ten milliseconds pass with every look."""
    ticks = count(1_800_000_000_000_000_000, 10_000_000)
    return lambda: next(ticks)


def rows(path: Path, events: Iterable[Event]) -> list[dict[str, Any]]:
    with closing(TraceWriter(path, clock())) as trace:
        for event in events:
            trace(event)
    return read(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of(kind: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in found if row["kind"] == kind]


def parents(found: list[dict[str, Any]]) -> dict[str, str | None]:
    """Each span's label and its parent's."""
    labels = {row["span"]: label(row) for row in found}
    return {label(row): labels.get(row.get("parent")) for row in found}


def label(row: dict[str, Any]) -> str:
    name = {
        "model_call": f"{row.get('agent')} {row.get('call')}",
        "tool_call": f"{row.get('tool')} {row.get('step')}",
        "stitch": row.get("step"),
        "handover": row.get("agent"),
    }.get(row["kind"], "")
    return f"{row['kind']} {name}".strip()


def test_a_direct_turn_is_told_span_by_span(tmp_path: Path) -> None:
    found = rows(tmp_path / "trace.jsonl", DIRECT)
    assert parents(found) == {
        "model_call router 1": "routing",
        "routing": "turn",
        "model_call job_code_agent 2": "turn",
        "stitch Fetch": "turn",
        "tool_call edit_job Fetch": "turn",
        "warning": "turn",
        "turn": None,
    }
    assert all(re.fullmatch(r"2027-01-15T08:00:\d\d\.\d{6}Z", row["start"]) for row in found)
    assert {row["turn_id"] for row in found} == {"t1"}


def test_each_kind_carries_its_facts(tmp_path: Path) -> None:
    found = rows(tmp_path / "trace.jsonl", DIRECT)
    (turn,) = of("turn", found)
    assert turn["session_id"] == "session-7"
    assert (turn["user_id"], turn["persona"], turn["backend"]) == (
        "user-9",
        "clinic lead",
        "scripted",
    )
    assert turn["agents"] == ["router", "job_code_agent"]
    assert turn["tags"] == []
    assert (turn["input_tokens"], turn["cache_read_input_tokens"]) == (120, 400)
    (routing,) = of("routing", found)
    assert (routing["destination"], routing["confidence"], routing["job_key"]) == (
        "job_code_agent",
        5,
        "fetch",
    )
    model = of("model_call", found)[1]
    assert (model["agent"], model["model"], model["ms"]) == ("job_code_agent", "claude-x", 250.5)
    assert (model["input_tokens"], model["cache_read_input_tokens"]) == (100, 400)
    assert (model["stop_reason"], model["attempt"], model["first_token_ms"]) == ("end_turn", 1, 80)
    assert "error_type" not in model
    (stitch,) = of("stitch", found)
    assert (stitch["step"], stitch["added"], stitch["removed"]) == ("Fetch", 2, 1)
    assert of("warning", found)[0]["message"] == "An adaptor is not in the catalogue."


def test_no_word_of_a_conversation_or_of_a_tool_s_input_is_in_the_trace(tmp_path: Path) -> None:
    rows(tmp_path / "trace.jsonl", DIRECT)
    text = (tmp_path / "trace.jsonl").read_text()
    assert "secret" not in text
    assert "hunter2" not in text
    (call_,) = of("tool_call", read(tmp_path / "trace.jsonl"))
    assert call_["input_keys"] == ["message"]
    assert call_["input_characters"] == len('{"message": "print the password hunter2"}')


def test_a_turn_that_was_handed_over_says_so_and_by_whom_and_why(tmp_path: Path) -> None:
    events: list[Event] = [
        START,
        RouteDecided("job_code_agent", 4, "fetch", "job_code_agent"),
        AgentInvoked("job_code_agent", "Fetch"),
        HandedOver("job_code_agent", "Add a step that mails the report"),
        AgentInvoked("planner"),
        ended(),
    ]
    found = rows(tmp_path / "t.jsonl", events)
    (turn,) = of("turn", found)
    assert (turn["tags"], turn["handover_from"]) == (["handover"], "job_code_agent")
    (handover,) = of("handover", found)
    assert handover["goal"] == "Add a step that mails the report"


def test_a_handover_inside_the_planner_does_not_mark_the_turn(tmp_path: Path) -> None:
    events: list[Event] = [
        START,
        tool("call_job_code_agent", "c1", step="Fetch"),
        AgentInvoked("job_code_agent", "Fetch", parent="c1"),
        HandedOver("job_code_agent", "needs structure", to_planner=False, parent="c1"),
        tool_end("call_job_code_agent", "c1", failed=True, reason="x" * 1000),
        ended(),
    ]
    found = rows(tmp_path / "t.jsonl", events)
    assert of("turn", found)[0]["tags"] == []
    assert parents(found)["handover job_code_agent"] == "tool_call call_job_code_agent Fetch"
    (failed,) = of("tool_call", found)
    assert failed["failed"] is True
    assert len(failed["reason"]) == 300


def test_a_turn_sent_to_the_planner_by_low_confidence_says_so(tmp_path: Path) -> None:
    events: list[Event] = [START]
    events += [RouteDecided("workflow_agent", 2, None, "planner", "low_confidence"), ended()]
    (turn,) = of("turn", rows(tmp_path / "t.jsonl", events))
    assert turn["tags"] == ["low_confidence_reroute"]


def test_a_failed_turn_ends_what_was_open_with_the_kind_of_failure(tmp_path: Path) -> None:
    error = AuthError("The key is not accepted.")
    events: list[Event] = [
        START,
        AgentInvoked("router"),
        *call(1, "router", stop_reason=None, error_type="AUTH_ERROR", first_token_ms=None),
        TurnFailed(error, Usage(input_tokens=3)),
    ]
    found = rows(tmp_path / "t.jsonl", events)
    assert [(row["kind"], row["error_type"]) for row in found] == [
        ("model_call", "AUTH_ERROR"),
        ("routing", "AUTH_ERROR"),
        ("turn", "AUTH_ERROR"),
    ]
    assert found[-1]["input_tokens"] == 3


def test_every_attempt_of_a_call_is_a_span_of_its_own(tmp_path: Path) -> None:
    started, failed = call(1, "planner", error_type="OVERLOADED", stop_reason=None)
    again = call(1, "planner", attempt=2)[1]
    found = rows(tmp_path / "t.jsonl", [START, started, failed, again, ended()])
    assert [(row["attempt"], row["ms"]) for row in of("model_call", found)] == [
        (1, 250.5),
        (2, 250.5),
    ]


def test_parallel_calls_nest_where_they_belong(tmp_path: Path) -> None:
    steps = {"A": 11, "B": 12, "C": 13}
    #: What happens under the tool call of one step. Ids are the model's own: two may use the same.
    works: list[list[Event]] = [
        [
            AgentInvoked("job_code_agent", name),
            *call(number, "job_code_agent"),
            tool("edit_job", "same-id", "job_code_agent", name),
            tool_end("edit_job", "same-id", "job_code_agent"),
            Stitched(name, 1, 0),
        ]
        for name, number in steps.items()
    ]
    events: list[Event] = [START, AgentInvoked("planner")]
    events += [tool("call_job_code_agent", name, step=name) for name in steps]
    for moment in zip(*works, strict=True):
        events += [replace(event, parent=name) for name, event in zip(steps, moment, strict=True)]
    events += [tool_end("call_job_code_agent", name) for name in steps]
    found = parents(rows(tmp_path / "t.jsonl", [*events, *call(20, "planner"), ended()]))
    for name, number in steps.items():
        outer = f"tool_call call_job_code_agent {name}"
        assert found[outer] == "turn"
        assert found[f"model_call job_code_agent {number}"] == outer
        assert found[f"tool_call edit_job {name}"] == outer
        assert found[f"stitch {name}"] == outer
    assert found["model_call planner 20"] == "turn"


def test_spans_are_on_the_disk_as_soon_as_they_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    trace = TraceWriter(path)
    for event in DIRECT[:4]:
        trace(event)
    assert [row["kind"] for row in read(path)] == ["model_call"]
    trace.close()
    assert [(row["kind"], row.get("unfinished")) for row in read(path)] == [
        ("model_call", None),
        ("routing", True),
        ("turn", True),
    ]


def test_a_second_turn_is_added_to_the_file(tmp_path: Path) -> None:
    rows(tmp_path / "t.jsonl", [START, ended()])
    found = rows(tmp_path / "t.jsonl", [TurnStarted("t2"), ended()])
    assert [row["turn_id"] for row in found] == ["t1", "t2"]


def test_a_path_that_cannot_be_written_is_refused_before_the_turn(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "t.jsonl", tmp_path / "a\0b"):
        with pytest.raises(BadRequest, match="trace cannot be written"):
            TraceWriter(path)


def test_a_full_disk_does_not_end_the_turn_and_is_told_when_it_is_over() -> None:
    trace = TraceWriter(Path("/dev/full"))
    for event in DIRECT:
        trace(event)
    with pytest.raises(InternalError, match="not complete: No space left on device"):
        trace.close()


def test_an_offline_turn_names_no_model_that_was_not_asked(tmp_path: Path) -> None:
    offline = [replace(event, backend="offline") if event is START else event for event in DIRECT]
    found = rows(tmp_path / "t.jsonl", offline)
    assert len(of("model_call", found)) == 2
    assert "claude" not in (tmp_path / "t.jsonl").read_text()
    assert {"chat router", "chat job_code_agent"} < set(exported(offline))


def exported(events: Iterable[Event]) -> dict[str, ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    listener = OtelListener(provider, clock())
    for event in events:
        listener(event)
    listener.close()
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_collector_receives_the_same_spans_under_the_conventions_names() -> None:
    found = exported(DIRECT)
    assert set(found) == {
        "invoke_agent global-chat",
        "routing",
        "chat claude-x",
        "execute_tool edit_job",
        "stitch",
        "warning",
    }
    chat = found["chat claude-x"]
    facts = dict(chat.attributes or {})
    assert chat.kind is SpanKind.CLIENT
    assert facts["gen_ai.operation.name"] == "chat"
    assert facts["gen_ai.request.model"] == "claude-x"
    assert facts["gen_ai.provider.name"] == "scripted"
    assert facts["gen_ai.agent.name"] == "job_code_agent"
    assert facts["gen_ai.usage.input_tokens"] == 500
    assert facts["gen_ai.usage.cache_read.input_tokens"] == 400
    assert facts["gen_ai.response.finish_reasons"] == ("end_turn",)
    assert chat.end_time is not None
    assert chat.start_time is not None
    assert chat.end_time - chat.start_time == 250_500_000
    called = dict(found["execute_tool edit_job"].attributes or {})
    assert called["gen_ai.tool.name"] == "edit_job"
    assert called["gen_ai.tool.call.id"] == "e1"
    turn = dict(found["invoke_agent global-chat"].attributes or {})
    assert turn["gen_ai.conversation.id"] == "session-7"
    assert turn["user.id"] == "user-9"
    assert turn["global_chat.persona"] == "clinic lead"
    assert "secret" not in str([dict(span.attributes or {}) for span in found.values()])


def test_a_collector_sees_the_same_nesting() -> None:
    found = exported(DIRECT)
    root = found["invoke_agent global-chat"]
    assert root.parent is None
    for name in ("routing", "chat claude-x", "execute_tool edit_job", "stitch", "warning"):
        assert found[name].parent == root.context


def test_a_collector_sees_failures_and_tags() -> None:
    handed_over = HandedOver("workflow_agent", "goal")
    error = AuthError("The key is not accepted.")
    root = exported([START, handed_over, TurnFailed(error)])["invoke_agent global-chat"]
    assert root.status.status_code is StatusCode.ERROR
    facts = dict(root.attributes or {})
    assert facts["error.type"] == "AUTH_ERROR"
    assert facts["global_chat.tags"] == ("handover",)
    assert facts["global_chat.handover_from"] == "workflow_agent"


def test_without_an_sdk_nothing_happens() -> None:
    listener = OtelListener()
    for event in DIRECT:
        listener(event)
    listener.close()

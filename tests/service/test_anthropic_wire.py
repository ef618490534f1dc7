"""What the Anthropic model sends and reads, with the real SDK over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from global_chat.contract.names import Usage
from global_chat.model.anthropic_messages import RAW_INPUT
from global_chat.model.seam import Message, ModelRequest, SystemPart, TextPiece, Tool
from tests.service.answers import Answer, json_text, text, tool_use
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import (
    KEY,
    ROUTE_SCHEMA,
    a_request,
    asked,
    events_of,
    reply_in,
    reply_of,
    shown,
)

pytestmark = pytest.mark.service

EDIT = Tool("edit_job", "Edits.", {"type": "object", "additionalProperties": False}, strict=True)
CACHED = {"type": "ephemeral"}


async def body_of(server: MessagesServer, request: ModelRequest) -> dict[str, Any]:
    """The body that arrives for a request."""
    server.add(text("ok"))
    async with asked(server.url) as model:
        await reply_of(model, request)
    return server.requests[-1].body


async def test_text_arrives_in_pieces_and_whole(messages_server: MessagesServer) -> None:
    messages_server.add(text("Grüße, 患者 🐱 and more", piece=3, split=1))
    async with asked(messages_server.url) as model:
        events = await events_of(model, a_request())
    reply = reply_in(events)
    assert shown(events) == "Grüße, 患者 🐱 and more" == reply.text
    assert len(events) > 3
    assert reply.stop_reason == "end_turn"
    assert reply.model == "served-model"


async def test_the_request_is_streamed_with_the_key_as_a_bearer_token(
    messages_server: MessagesServer,
) -> None:
    body = await body_of(messages_server, a_request())
    received = messages_server.requests[-1]
    assert received.path == "/v1/messages"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["anthropic-version"]
    assert body == {
        "model": "claude-test",
        "max_tokens": 2000,
        "stream": True,
        "messages": [{"role": "user", "content": "Where to?"}],
        "system": [
            {"type": "text", "text": "You route.", "cache_control": CACHED},
            {"type": "text", "text": "Today is Monday."},
        ],
    }


async def test_structured_output_is_asked_for_by_schema(messages_server: MessagesServer) -> None:
    messages_server.add(json_text({"destination": "planner"}))
    async with asked(messages_server.url) as model:
        reply = await reply_of(model, a_request(output_schema=ROUTE_SCHEMA))
    assert reply.text == '{"destination": "planner"}'
    assert messages_server.requests[0].agent == "router"
    assert messages_server.requests[0].body["output_config"] == {
        "format": {"type": "json_schema", "schema": ROUTE_SCHEMA}
    }


async def test_tools_travel_strict_and_can_be_forbidden(messages_server: MessagesServer) -> None:
    allowed = await body_of(messages_server, a_request(tools=(EDIT,)))
    forbidden = await body_of(messages_server, a_request(tools=(EDIT,), tools_allowed=False))
    assert allowed["tools"] == [
        {
            "name": "edit_job",
            "description": "Edits.",
            "input_schema": EDIT.input_schema,
            "strict": True,
        }
    ]
    assert "tool_choice" not in allowed
    assert forbidden["tools"] == allowed["tools"]
    assert forbidden["tool_choice"] == {"type": "none"}


async def test_a_conversation_can_be_cached_within_four_marks(
    messages_server: MessagesServer,
) -> None:
    parts = tuple(SystemPart(f"part {n}", cached=True) for n in range(5))
    body = await body_of(messages_server, a_request(system=parts, cache_conversation=True))
    assert body["cache_control"] == CACHED
    assert ["cache_control" in part for part in body["system"]] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("model", "max_tokens", "thinking"),
    [
        ("claude-haiku-5-5", 256, {"type": "disabled"}),
        ("claude-haiku-5-5", 8000, None),
        ("claude-sonnet-5-5", 256, {"type": "between_tools"}),
        ("claude-opus-5-5", 256, None),
        ("qwen3", 256, None),
    ],
)
async def test_a_short_reply_is_not_spent_on_thinking(
    messages_server: MessagesServer, model: str, max_tokens: int, thinking: object
) -> None:
    body = await body_of(messages_server, a_request(model=model, max_tokens=max_tokens))
    assert body.get("thinking") == thinking


async def test_a_blank_part_of_the_system_prompt_is_not_sent(
    messages_server: MessagesServer,
) -> None:
    body = await body_of(messages_server, a_request(system=(SystemPart("  ", cached=True),)))
    assert "system" not in body


async def test_halves_of_characters_become_sendable(messages_server: MessagesServer) -> None:
    body = await body_of(messages_server, a_request(messages=(Message("user", "why \ud83d?"),)))
    assert body["messages"][0]["content"] == "why \ufffd?"


async def test_totals_are_not_added_twice(messages_server: MessagesServer) -> None:
    totals = {"input_tokens": 20, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 5}
    messages_server.add(
        text(
            "ok", usage={**totals, "output_tokens": 1}, final_usage={**totals, "output_tokens": 64}
        ),
        text("ok", usage={"input_tokens": 20}, final_usage={"input_tokens": 0, "output_tokens": 3}),
    )
    async with asked(messages_server.url) as model:
        first = await reply_of(model, a_request())
        second = await reply_of(model, a_request())
    assert first.usage == Usage(**{**totals, "output_tokens": 64})
    assert second.usage == Usage(input_tokens=20, output_tokens=3)


async def test_blocks_go_back_as_they_came(messages_server: MessagesServer) -> None:
    content = (
        {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "novelty", "of": {"the": "future"}},
        {"type": "text", "text": "I look."},
        {**tool_use("edit_job", {"code": "get('/é');"}), "caller": {"type": "direct"}},
    )
    unheard = {"type": "content_block_delta", "index": 3, "delta": {"type": "unheard_delta"}}
    messages_server.add(Answer(content, extra_events=(unheard, {"type": "unheard_event"})))
    async with asked(messages_server.url) as model:
        events = await events_of(model, a_request(tools=(EDIT,)))
    reply = reply_in(events)
    assert reply.content == content
    assert reply.stop_reason == "tool_use"
    assert {event.block for event in events if isinstance(event, TextPiece)} == {3}
    messages = (Message("user", "go"), Message("assistant", reply.content))
    body = await body_of(messages_server, a_request(messages=messages))
    assert body["messages"][1]["content"] == list(content)


@pytest.mark.parametrize(
    ("raw", "stop_reason"),
    [
        ('{"job": "fe', "max_tokens"),
        ('{"job": "fetch"}', "max_tokens"),
        ('{"job": "fe', "tool_use"),
        ('["fetch"]', "tool_use"),
        ('{"n": NaN}', "tool_use"),
        ("[" * 100_000, "tool_use"),
    ],
)
async def test_a_cut_tool_call_is_marked_and_never_repaired(
    messages_server: MessagesServer, raw: str, stop_reason: str
) -> None:
    call = tool_use("edit_job", raw)
    messages_server.add(Answer((call,), stop_reason=stop_reason, piece=50_000))
    async with asked(messages_server.url) as model:
        reply = await reply_of(model, a_request(tools=(EDIT,)))
    assert reply.tool_uses == ({**call, "input": {}, RAW_INPUT: raw},)
    sent = await body_of(
        messages_server,
        a_request(messages=(Message("user", "go"), reply.as_message())),
    )
    assert sent["messages"][1]["content"] == [{**call, "input": {}}]


async def test_of_several_calls_only_the_last_can_be_cut(messages_server: MessagesServer) -> None:
    calls = (tool_use("edit_job", {"a": 1}, "t1"), tool_use("edit_job", '{"a', "t2"))
    messages_server.add(Answer(calls, stop_reason="max_tokens"))
    async with asked(messages_server.url) as model:
        reply = await reply_of(model, a_request())
    assert [RAW_INPUT in use for use in reply.tool_uses] == [False, True]
    assert reply.tool_uses[0]["input"] == {"a": 1}


async def test_the_environment_replaces_nothing_that_was_given(
    messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer theirs\nx-team: blue")
    await body_of(messages_server, a_request())
    headers = messages_server.requests[-1].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-team"] == "blue"
    assert capsys.readouterr().err == ""


async def test_a_token_is_used_when_there_is_no_key(messages_server: MessagesServer) -> None:
    messages_server.add(text("ok"))
    async with asked(messages_server.url, api_key=" ", auth_token="tok") as model:
        await reply_of(model, a_request())
    assert messages_server.requests[0].headers["authorization"] == "Bearer tok"

"""Servers that speak only part of the Messages API, with the real SDK over real HTTP."""

from __future__ import annotations

import pytest

from global_chat.contract.errors import BadRequest
from global_chat.model.seam import Tool
from tests.service.answers import refusal, text
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import ROUTE_SCHEMA, a_request, asked, reply_of

pytestmark = pytest.mark.service

EDIT = Tool("edit_job", "Edits.", {"type": "object", "additionalProperties": False}, strict=True)


@pytest.mark.parametrize(
    ("message", "absent"),
    [
        ("output_config: Extra inputs are not permitted", {"output_config"}),
        ("json: unknown field strict", {"strict"}),
        ("cache_control: Extra inputs are not permitted", {"cache_control"}),
        ("tool_choice none is not supported", {"tool_choice"}),
        ("thinking.type.disabled is not supported for this model", {"thinking"}),
    ],
)
async def test_a_feature_that_the_server_refuses_is_left_out_from_then_on(
    messages_server: MessagesServer, message: str, absent: set[str]
) -> None:
    messages_server.add(refusal(400, "invalid_request_error", message), text("{}"), text("{}"))
    request = a_request(
        model="claude-haiku-5-5",
        max_tokens=256,
        output_schema=ROUTE_SCHEMA,
        tools=(EDIT,),
        tools_allowed=False,
        cache_conversation=True,
    )
    async with asked(messages_server.url) as model:
        await reply_of(model, request)
        await reply_of(model, request)
    full, *later = [{*r.body, *r.body["tools"][0]} for r in messages_server.requests]
    assert len(later) == 2
    assert all(full - keys == absent for keys in later)


async def test_marks_on_parts_are_left_out_when_they_are_refused_too(
    messages_server: MessagesServer,
) -> None:
    no = refusal(422, "x", "system.0.cache_control: unexpected")
    messages_server.add(no, no, text("ok"))
    async with asked(messages_server.url) as model:
        await reply_of(model, a_request(cache_conversation=True))
    assert "cache_control" not in str(messages_server.requests[-1].body)


async def test_a_refused_schema_is_asked_for_in_words(messages_server: MessagesServer) -> None:
    messages_server.add(refusal(400, "x", "unknown field output_config"), text('{"a": 1}'))
    async with asked(messages_server.url) as model:
        reply = await reply_of(model, a_request(output_schema=ROUTE_SCHEMA))
    assert reply.text == '{"a": 1}'
    last = messages_server.requests[-1].body["system"][-1]["text"]
    assert '"destination"' in last
    assert "JSON" in last


async def test_any_other_refusal_is_an_error_at_once(messages_server: MessagesServer) -> None:
    messages_server.add(refusal(400, "invalid_request_error", "max_tokens: too large"))
    async with asked(messages_server.url) as model:
        with pytest.raises(BadRequest, match="max_tokens: too large"):
            await reply_of(model, a_request(output_schema=ROUTE_SCHEMA))
    assert len(messages_server.requests) == 1

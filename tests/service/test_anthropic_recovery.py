"""What happens around a call that breaks or is given up, with the real SDK over real HTTP."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

import pytest

from global_chat.contract import errors
from global_chat.contract.names import Usage
from global_chat.contract.settings import RetrySettings
from global_chat.model.retry import Retrying
from global_chat.model.seam import Message, Restarted
from tests.service.answers import Answer, broken, refusal, text, tool_use
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import a_request, asked, events_of, reply_in, reply_of, shown

pytestmark = pytest.mark.service

HELLO = text("Hello, this is an answer of some length.")


async def test_a_server_that_says_so_is_not_asked_again(messages_server: MessagesServer) -> None:
    answer = refusal(500, "api_error", "no use", x_should_retry="false")
    messages_server.add(answer, HELLO)
    async with asked(messages_server.url) as model:
        with pytest.raises(errors.ProviderError):
            await events_of(Retrying(model, RetrySettings(first_wait=0)), a_request())
    assert len(messages_server.requests) == 1


async def test_a_broken_answer_is_begun_again_and_both_are_counted(
    messages_server: MessagesServer,
) -> None:
    whole = text("The step calls /a. Done.", usage={"input_tokens": 30}, piece=9)
    messages_server.add(broken(whole, "error", 4, type="overloaded_error", message="busy"), whole)
    async with asked(messages_server.url) as model:
        events = await events_of(Retrying(model, RetrySettings(first_wait=0)), a_request())
    place = next(i for i, event in enumerate(events) if isinstance(event, Restarted))
    assert shown(events[:place]) == "The step "
    assert shown(events[place:]) == "The step calls /a. Done."
    assert events[place] == Restarted(Usage(input_tokens=30), "OVERLOADED", 0.0)
    assert reply_in(events).text == "The step calls /a. Done."


async def test_pieces_of_a_broken_tool_call_are_not_glued_to_the_next(
    messages_server: MessagesServer,
) -> None:
    whole = Answer((tool_use("edit_job", {"job": "fetch"}),), piece=5)
    messages_server.add(broken(whole, "cut", 6), whole)
    async with asked(messages_server.url) as model:
        reply = await reply_of(Retrying(model, RetrySettings(first_wait=0)), a_request())
    assert reply.tool_uses[0]["input"] == {"job": "fetch"}


@pytest.mark.parametrize("after", [0, 5])
async def test_a_cancelled_call_hangs_up(messages_server: MessagesServer, after: int) -> None:
    messages_server.add(broken(HELLO, "hang", after))
    async with asked(messages_server.url) as model:
        call = asyncio.create_task(events_of(model, a_request()))
        assert await asyncio.to_thread(messages_server.arrived.wait, 10)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        assert call.cancelled()
        assert await asyncio.to_thread(messages_server.client_left.wait, 10)


async def test_a_reader_who_stops_early_hangs_up(messages_server: MessagesServer) -> None:
    messages_server.add(broken(HELLO, "hang", 5))
    async with asked(messages_server.url) as model:
        async with aclosing(model.complete(a_request())) as events:
            await anext(events)
        assert await asyncio.to_thread(messages_server.client_left.wait, 10)


async def test_a_server_that_keeps_the_line_open_is_not_waited_for(
    messages_server: MessagesServer,
) -> None:
    messages_server.add(broken(HELLO, "hang", None))
    async with asked(messages_server.url, timeout_seconds=20) as model:
        reply = await reply_of(model, a_request())
    assert reply.text == HELLO.content[0]["text"]


async def test_the_next_call_uses_the_connection_again(messages_server: MessagesServer) -> None:
    messages_server.add(HELLO, HELLO, HELLO)
    async with asked(messages_server.url) as model:
        for _ in range(3):
            await reply_of(model, a_request())
    assert len({received.port for received in messages_server.requests}) == 1


async def test_calls_run_side_by_side(messages_server: MessagesServer) -> None:
    names = [f"step-{n}" for n in range(8)]
    messages_server.add(*(text(f"about {name}", contains=name) for name in names))
    async with asked(messages_server.url) as model:
        requests = [a_request(messages=(Message("user", name),)) for name in names]
        replies = await asyncio.gather(*(reply_of(model, request) for request in requests))
    assert [reply.text for reply in replies] == [f"about {name}" for name in names]

"""Every way in which a model call can fail, with the real SDK over real HTTP."""

from __future__ import annotations

import gzip
import logging
import socket
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from global_chat.contract import errors
from global_chat.contract.errors import TurnError
from global_chat.contract.names import Usage
from global_chat.model import anthropic_connection
from global_chat.model.anthropic import AnthropicModel
from global_chat.model.anthropic_connection import retry_after
from tests.service.answers import Answer, broken, refusal, text
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import (
    KEY,
    a_request,
    asked,
    events_of,
)

pytestmark = pytest.mark.service

HELLO = text("Hello, this is an answer of some length.", usage={"input_tokens": 30})


async def failure_of(server: MessagesServer, answer: Answer, **settings: Any) -> TurnError:
    """The error that a call with this answer ends in."""
    server.add(answer)
    async with asked(server.url, **settings) as model:
        with pytest.raises(TurnError) as caught:
            await events_of(model, a_request())
    return caught.value


BY_STATUS = [
    (400, "invalid_request_error", "max_tokens: must be positive", errors.BadRequest),
    (422, "unprocessable", "nope", errors.BadRequest),
    (400, "invalid_request_error", "prompt is too long: 9 tokens > 8", errors.PromptTooLong),
    (400, "exceed_context_size_error", "request exceeds it", errors.PromptTooLong),
    (400, "invalid_request_error", "Your credit balance is too low", errors.Forbidden),
    (401, "authentication_error", "invalid x-api-key", errors.AuthError),
    (402, "billing_error", "pay", errors.Forbidden),
    (403, "permission_error", "not yours", errors.Forbidden),
    (404, "not_found_error", "model: claude-test", errors.NotFound),
    (408, "timeout_error", "slow", errors.TimedOut),
    (409, "conflict_error", "again", errors.ProviderError),
    (413, "request_too_large", "big", errors.RequestTooLarge),
    (429, "rate_limit_error", "slow down", errors.RateLimited),
    (500, "api_error", "oops", errors.ProviderError),
    (503, "api_error", "oops", errors.ProviderError),
    (500, "overloaded_error", "busy", errors.Overloaded),
    (504, "timeout_error", "slow", errors.TimedOut),
    (529, "overloaded_error", "busy", errors.Overloaded),
]


@pytest.mark.parametrize(("status", "type_", "message", "expected"), BY_STATUS)
async def test_each_refusal_has_its_type(
    messages_server: MessagesServer,
    status: int,
    type_: str,
    message: str,
    expected: type[TurnError],
) -> None:
    error = await failure_of(messages_server, refusal(status, type_, message))
    assert type(error) is expected
    assert message in error.message
    assert error.details["status"] == status
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize(("status", "type_", "message", "expected"), BY_STATUS)
async def test_the_same_cause_in_a_stream_has_the_same_type(
    messages_server: MessagesServer,
    status: int,
    type_: str,
    message: str,
    expected: type[TurnError],
) -> None:
    known = type_ not in ("unprocessable", "exceed_context_size_error", "conflict_error")
    answer = broken(HELLO, "error", 5, type=type_, message=message)
    error = await failure_of(messages_server, answer)
    assert type(error) is (expected if known else errors.ProviderError)
    assert message in error.message
    assert error.usage == Usage(input_tokens=30)


async def test_an_error_event_without_its_name_is_an_error_too(
    messages_server: MessagesServer,
) -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    error = await failure_of(messages_server, replace(HELLO, extra_events=(event,)))
    assert type(error) is errors.Overloaded


@pytest.mark.parametrize(
    ("kind", "after", "expected"),
    [
        ("cut", 0, errors.ConnectionFailed),
        ("cut", 5, errors.ConnectionFailed),
        ("close", 0, errors.ConnectionFailed),
        ("close", 5, errors.ConnectionFailed),
        ("garble", 0, errors.ProviderError),
        ("garble", 5, errors.ProviderError),
        ("hang", 0, errors.TimedOut),
        ("hang", 5, errors.TimedOut),
    ],
)
async def test_a_broken_stream_is_never_an_answer(
    messages_server: MessagesServer, kind: str, after: int, expected: type[TurnError]
) -> None:
    answer = broken(HELLO, kind, after)
    error = await failure_of(messages_server, answer, timeout_seconds=0.5)
    assert type(error) is expected
    assert error.usage == Usage(input_tokens=30 if after else 0)


async def test_a_stream_that_lacks_only_its_last_event_is_not_complete(
    messages_server: MessagesServer,
) -> None:
    error = await failure_of(messages_server, broken(HELLO, "close", -1))
    assert type(error) is errors.ConnectionFailed


async def test_a_timeout_names_the_seconds_and_the_option(messages_server: MessagesServer) -> None:
    error = await failure_of(messages_server, broken(HELLO, "hang", 5), timeout_seconds=0.3)
    assert "0.3 s" in error.message
    assert "--timeout" in error.message
    assert error.details == {"timeout_seconds": 0.3}


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"<html>Log in</html>", "text/html"), (b"{}", "application/json"), (b" ", "")],
)
async def test_a_page_in_place_of_a_stream_points_at_the_address(
    messages_server: MessagesServer, body: bytes, content_type: str
) -> None:
    error = await failure_of(
        messages_server, Answer(body=body, headers={"content-type": content_type})
    )
    assert type(error) is errors.ProviderError
    assert "--base-url" in error.message
    assert not error.retryable


async def test_a_page_of_html_is_not_quoted(messages_server: MessagesServer) -> None:
    error = await failure_of(messages_server, Answer(status=502, body=b"<html>Bad gateway</html>"))
    assert type(error) is errors.ProviderError
    assert "html" not in error.message


async def test_bytes_that_are_no_text_are_garbled_not_fatal(
    messages_server: MessagesServer,
) -> None:
    answer = Answer(
        body=b"event: message_start\ndata: \xff\xfe\n\n",
        headers={"content-type": "text/event-stream"},
    )
    assert type(await failure_of(messages_server, answer)) is errors.ProviderError


async def test_no_server_is_a_connection_error_that_names_it() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    async with asked(f"http://user:hunter22@{address}") as model:
        with pytest.raises(errors.ConnectionFailed, match="connection refused") as caught:
            await events_of(model, a_request())
    assert address in caught.value.message
    assert "hunter22" not in caught.value.message


async def test_a_server_without_tls_is_a_connection_error(messages_server: MessagesServer) -> None:
    async with asked(messages_server.url.replace("http:", "https:")) as model:
        with pytest.raises(errors.ConnectionFailed):
            await events_of(model, a_request())


@pytest.mark.parametrize("address", ["localhost:11434", "ftp://x", "http://", "http://a b", "x"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(errors.BadRequest, match="--base-url"):
        AnthropicModel(api_key=KEY, base_url=address)


@pytest.mark.parametrize("key", [None, "", "  ", "“sk-ant”", "two words", "a\nb"])
async def test_without_a_usable_key_nothing_is_sent(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-this-module")
    async with asked(messages_server.url, api_key=key) as model:
        with pytest.raises(errors.AuthError, match="ANTHROPIC_API_KEY"):
            await events_of(model, a_request())
    assert messages_server.requests == []


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_the_key_is_in_no_message(messages_server: MessagesServer, status: int) -> None:
    leak = f"bad key {KEY} or sk-ant-api03-somebody-elses \x1b[31m" + "x" * 2000
    error = await failure_of(messages_server, refusal(status, "x", leak))
    said = str(error.as_dict()) + str(error) + repr(error)
    assert "canary" not in said
    assert "somebody" not in said
    assert "\x1b" not in said
    assert len(error.message) < 700
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_the_pause_that_the_server_asks_for_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


async def test_a_rate_limit_says_how_long_to_wait(messages_server: MessagesServer) -> None:
    answer = refusal(429, "rate_limit_error", "slow down", retry_after="7")
    error = await failure_of(messages_server, answer)
    assert isinstance(error, errors.RateLimited)
    assert error.retry_after == 7
    assert "7 s" in error.message
    assert error.details["retry_after"] == 7


@pytest.mark.parametrize("status", [200, 401])
async def test_an_answer_that_is_compressed_or_endless_takes_no_memory(
    messages_server: MessagesServer, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anthropic_connection, "LONGEST_ANSWER", 20_000)
    bomb = gzip.compress(b"data: " + b"x" * 100_000_000)
    plain = {"content-type": "text/event-stream"}
    for body, headers in (
        (bomb, {**plain, "content-encoding": "gzip"}),
        (b"data: " + b"x" * 2_000_000, plain),
    ):
        tracemalloc.start()
        error = await failure_of(
            messages_server, Answer(status=status, body=body, headers=headers, content=())
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20_000_000
        assert isinstance(error, errors.AuthError if status == 401 else errors.ServiceError)
        assert messages_server.requests[-1].headers["accept-encoding"] == "identity"


async def test_a_redirect_is_not_followed_and_names_the_address(
    messages_server: MessagesServer,
) -> None:
    with MessagesServer() as other:
        answer = Answer(status=307, headers={"location": f"{other.url}/v1/messages"})
        error = await failure_of(messages_server, answer)
        assert other.requests == []
    assert isinstance(error, errors.NotFound)
    assert "--base-url" in error.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "ftp://user:canary-pw@host"),
        ("HTTPS_PROXY", "http://host:port"),
        ("NO_PROXY", "[::"),
        ("SSL_CERT_FILE", __file__),
    ],
)
async def test_a_setting_of_the_environment_that_cannot_be_used_is_named(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    async with asked(messages_server.url) as model:
        with pytest.raises(errors.BadRequest, match=name) as caught:
            await events_of(model, a_request())
    assert caught.value.exit_code == 3
    assert "canary" not in caught.value.message


async def test_what_a_server_echoes_of_a_secret_is_shown_nowhere(
    messages_server: MessagesServer, caplog: pytest.LogCaptureFixture
) -> None:
    for logger in ("anthropic", "httpx2"):  # what ANTHROPIC_LOG=debug shows
        caplog.set_level(logging.DEBUG, logger)
    address = messages_server.url.replace("://", "://user:canary-pw@")
    echo = f"no {KEY} canary-pw"
    messages_server.add(
        refusal(400, "invalid_request_error", echo, request_id=KEY),
        text("Hello.", stop_reason=f"canary-pw {KEY}"),
    )
    async with asked(address) as model:
        with pytest.raises(TurnError) as caught:
            await events_of(model, a_request())
        events = await events_of(model, a_request())
    assert "canary" not in f"{caught.value.as_dict()} {events[-1]} {caplog.text}"

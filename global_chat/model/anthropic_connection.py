"""The wire to a Messages API server, through the official SDK: a request out, its events back.

Whatever the SDK or the connection below it raises becomes a `TurnError` here. Imports the
SDK, which takes over a second: whoever imports this module does so late.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import math
import os
import ssl
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import anthropic
import httpx2

from global_chat.contract.errors import (
    BadRequest,
    ConnectionFailed,
    ProviderError,
    TimedOut,
    TurnError,
)
from global_chat.contract.texts import one_line, shortened

from .anthropic_messages import refused, wire_body
from .failures import Refusal, failure
from .seam import ModelRequest
from .secrets import scrub

Event = dict[str, Any]

#: Statuses with which servers turn down what they do not know.
REFUSING = (400, 422, 501)

#: A server that does not take the connection within this time, in seconds, is not there.
CONNECT_SECONDS = 15.0

#: After the last event the stream is read to its end, so that the next call can use the connection
#: again. A server that holds it open longer than this, in seconds, is not waited for.
DRAIN_SECONDS = 0.5

#: A provider is quoted up to this many characters.
LONGEST_QUOTE = 300

#: No answer is read further than this, in bytes: it is many times what the largest one takes. Of
#: an error only the beginning is.
LONGEST_ANSWER, LONGEST_ERROR = 32_000_000, 100_000

#: A little of compressed data can become any amount of memory.
PLAIN = {"Accept-Encoding": "identity"}

#: Where the SDK logs requests, headers and all, when `ANTHROPIC_LOG` asks it to.
_LOGS = tuple(logging.getLogger(name) for name in ("anthropic._base_client", "httpx2"))

#: What the connection is made with.
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class BadEnvironment(BadRequest):
    """A variable of the environment, such as a proxy's, cannot be used: configuration, exit 3."""

    exit_code = 3


class Connection:
    """Connections to one server, with what has been learned about it."""

    def __init__(self, base_url: str, key: str, timeout_seconds: float) -> None:
        self._base_url = base_url
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._without: frozenset[str] = frozenset()
        self._secrets = tuple(filter(None, (key, unquote(urlsplit(base_url).password or ""))))
        self._client = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            http_client=_http_client(),
            # Spans are this program's to make, and only for those who opted in.
            open_telemetry=False,
        )
        for log in _LOGS:
            log.addFilter(self._without_secrets)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()
        for log in _LOGS:
            log.removeFilter(self._without_secrets)

    def _without_secrets(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = scrub(record.getMessage(), self._secrets), ()
        return True

    async def events(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """The events of the answer, as the server sent them, up to and with `message_stop`.

        Raises a `TurnError` for whatever else happens.
        """
        call = Call(request.model, self._base_url, self._timeout_seconds, self._secrets)
        deadline = asyncio.get_running_loop().time() + self._timeout_seconds
        started = False
        with _failures_of(call):
            stream = await self._open(request, deadline)
        try:
            while True:
                with _failures_of(call):
                    event = await _next(stream, deadline)
                if event is None:
                    raise no_ending(call, stream.response.headers, started)
                if event.get("type") == "error":
                    raise event_error(event, call)
                started = True
                yield event
                if event.get("type") == "message_stop":
                    await _drain(stream)
                    return
        finally:
            await stream.close()

    async def _open(self, request: ModelRequest, deadline: float) -> anthropic.AsyncStream[object]:
        """Send the request; again without a feature for as long as the server refuses one.

        What was refused is left out of every later request over this connection.
        """
        while True:
            body = wire_body(request, self._without)
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._client.post(
                        "/v1/messages",
                        # Plain objects: blocks must go back just as they came.
                        cast_to=object,
                        body=body,
                        # The SDK takes extra headers from the environment; none replaces the key.
                        options={"headers": {"Authorization": f"Bearer {self._key}", **PLAIN}},
                        stream=True,
                        stream_cls=anthropic.AsyncStream[object],
                    )
            except anthropic.APIStatusError as error:
                feature = refused(full_text(error), body)
                if feature is None or error.status_code not in REFUSING:
                    raise
                self._without |= {feature}


def _http_client() -> httpx2.AsyncClient:
    """The connections below the SDK. Redirects are not followed: the key is for one address.

    Raises `BadEnvironment` for a proxy or a certificate that cannot be used.
    """
    try:
        return anthropic.DefaultAsyncHttpxClient(
            timeout=anthropic.Timeout(None, connect=CONNECT_SECONDS),
            follow_redirects=False,
            event_hooks={"response": [_bound]},
        )
    except Exception as error:
        of_file = isinstance(error, OSError)
        kinds = _CERTIFICATE_VARIABLES if of_file else _PROXY_VARIABLES
        names = [n for n in kinds if os.environ.get(n) or os.environ.get(n.lower())]
        names = names[:1] if of_file else names  # a folder counts only without a file
        if not names:
            raise
        raise BadEnvironment(
            f"The setting {' or '.join(names)} of the environment cannot be used. Correct or unset "
            "it."
        ) from None


async def _bound(response: httpx2.Response) -> None:
    """Bound what is read of an answer; one that came compressed is not read at all."""
    compressed = response.headers.get("content-encoding", "identity").lower() != "identity"
    most = LONGEST_ANSWER if response.is_success else LONGEST_ERROR
    response.stream = _Bounded(response.stream, 0 if compressed else most)


class _Bounded(httpx2.AsyncByteStream):
    """The first `most` bytes of a stream."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream, self._left = stream, most

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        async for chunk in self._stream:
            if not self._left:
                return
            yield chunk[: self._left]
            self._left -= min(self._left, len(chunk))

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def _failures_of(call: Call) -> Iterator[None]:
    """Raise a `TurnError` for what the SDK and the layers below it raise."""
    try:
        yield
    except Exception as error:
        translated = turn_error(error, call)
        if translated is None:
            raise
        raise translated from None


async def _next(stream: anthropic.AsyncStream[object], deadline: float) -> Event | None:
    """The next event, None at the end. Raises ValueError for other data."""
    async with asyncio.timeout_at(deadline):
        event = await anext(stream, None)
    if event is not None and not isinstance(event, dict):
        raise ValueError("an event that is not an object")
    return event


async def _drain(stream: anthropic.AsyncStream[object]) -> None:
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in stream:
                pass


@dataclass(frozen=True, slots=True)
class Call:
    """What an error message may name. `secrets` is what it may not."""

    model: str
    base_url: str
    timeout_seconds: float
    secrets: tuple[str, ...]

    @property
    def host(self) -> str:
        """Host and port of the server, without a password that the address may hold."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


def turn_error(error: Exception, call: Call) -> TurnError | None:
    """The `TurnError` for whatever a call can end in; None for a bug in this program."""
    match error:
        case TimeoutError():
            return _timed_out(call)
        case anthropic.APIStatusError():
            return failure(_refusal(error, call))
        case anthropic.APIConnectionError():
            return _not_connected(error, call)
        case httpx2.HTTPError() | httpx2.StreamError():
            return ConnectionFailed(
                f"The connection to {call.host} broke off in the middle of the answer. Try again."
            )
        case UnicodeEncodeError():
            return BadRequest(
                "The request cannot be sent: a header holds a character that headers cannot hold. "
                "Correct ANTHROPIC_CUSTOM_HEADERS."
            )
        case ValueError() | RecursionError() | anthropic.APIResponseValidationError():
            return ProviderError(
                f"{call.host} sent an answer that is garbled. Try again; if it goes on, check "
                "--base-url and any proxy in between."
            )
        case _:
            return None


def _refusal(error: anthropic.APIStatusError, call: Call) -> Refusal:
    """The server's refusal. A status below 400 means that it came inside a stream."""
    headers = error.response.headers
    in_stream = error.status_code < 300
    return Refusal(
        model=call.model,
        status=None if in_stream else error.status_code,
        type=error.type if isinstance(error.type, str) else None,
        message=_message(error, call),
        retry_after=None if in_stream else retry_after(headers),
        retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
        request_id=_quote(error.request_id, call) if error.request_id else None,
    )


def event_error(event: Mapping[str, Any], call: Call) -> TurnError:
    """The error for an `error` event that came without its event name."""
    body = event.get("error")
    body = body if isinstance(body, dict) else {}
    type_, message = body.get("type"), body.get("message")
    return failure(
        Refusal(
            model=call.model,
            type=type_ if isinstance(type_, str) else None,
            message=_quote(message, call) if isinstance(message, str) else "",
        )
    )


def no_ending(call: Call, headers: Mapping[str, str], started: bool) -> TurnError:
    """The error for a stream that closed without the event that ends a message."""
    content_type = headers.get("content-type", "")
    if started or content_type.startswith("text/event-stream"):
        return ConnectionFailed(
            f"{call.host} closed the connection before the answer was complete. Try again."
        )
    kind = scrub(content_type.partition(";")[0].strip(), call.secrets) or "nothing readable"
    return ProviderError(
        f"{call.host} answered with {kind} instead of a stream of events. Check that --base-url "
        "names a server that speaks the Messages API.",
        retryable=False,
    )


def full_text(error: anthropic.APIStatusError) -> str:
    """The server's whole answer, for looking up what it is about; not for showing."""
    return error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, as `retry-after-ms` or `retry-after` (a number or a date) asks."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(given).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, round(moment - time.time(), 1))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _timed_out(call: Call) -> TurnError:
    seconds = call.timeout_seconds
    return TimedOut(
        f"The model {call.model!r} did not finish its answer within {seconds:g} s. Try again, or "
        "allow more time with --timeout.",
        details={"timeout_seconds": seconds},
    )


def _not_connected(error: anthropic.APIConnectionError, call: Call) -> TurnError:
    text = _cause(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return ConnectionFailed(
            f"The certificate of {call.host} is not trusted. Check the address, or name your "
            "organization's certificates in SSL_CERT_FILE.",
            retryable=False,
        )
    return ConnectionFailed(
        f"Could not get an answer from {call.host} ({scrub(text, call.secrets)}). Check that the "
        "server is running, --base-url, and the network or its proxy."
    )


def _cause(error: BaseException | None) -> str:
    """The plainest words in the chain of causes: the operating system's, or else the last."""
    words, seen = "", error
    while seen is not None:
        words = str(seen).strip() or words
        if isinstance(seen, OSError) and seen.errno and not isinstance(seen, ssl.SSLError):
            # Failed name look-ups have negative numbers, which only they can name.
            system = os.strerror(seen.errno) if seen.errno > 0 else str(seen.strerror)
            return system.lower()
        seen = seen.__cause__ or seen.__context__
    return words.rstrip(".") or "no connection"


def _message(error: anthropic.APIStatusError, call: Call) -> str:
    if isinstance(error.api_message, str):
        return _quote(error.api_message, call)
    text = full_text(error) if error.body else ""
    # A page of HTML comes from something in between and says nothing to a person.
    return "" if text.lstrip().startswith("<") else _quote(text, call)


def _quote(text: str, call: Call) -> str:
    """One printable line without secrets, at most `LONGEST_QUOTE` characters."""
    shown = "".join(c if c.isprintable() else " " for c in scrub(text, call.secrets))
    return shortened(one_line(shown), LONGEST_QUOTE - 1)

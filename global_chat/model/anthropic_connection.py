"""The wire to a Messages API server, through the official SDK: a request out, its events back.

Imports the SDK: only `anthropic.py` imports this module, and late.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anthropic

from .anthropic_errors import Call, event_error, full_text, no_ending, turn_error
from .anthropic_request import refused, wire_body
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

#: Where the SDK logs requests, headers and all, when `ANTHROPIC_LOG` asks it to.
_SDK_LOG = logging.getLogger("anthropic._base_client")


class Connection:
    """Connections to one server, with what has been learned about it."""

    def __init__(self, base_url: str, key: str, timeout_seconds: float) -> None:
        self._base_url = base_url
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._without: frozenset[str] = frozenset()
        self._client = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=anthropic.Timeout(None, connect=CONNECT_SECONDS),
            # Spans are this program's to make, and only for those who opted in.
            open_telemetry=False,
        )
        _SDK_LOG.addFilter(self._without_key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()
        _SDK_LOG.removeFilter(self._without_key)

    def _without_key(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = scrub(record.getMessage(), (self._key,)), ()
        return True

    async def events(self, request: ModelRequest) -> AsyncGenerator[Event, None]:
        """The events of the answer, as the server sent them, up to and with `message_stop`.

        Raises a `TurnError` for whatever else happens.
        """
        call = Call(request.model, self._base_url, self._timeout_seconds, (self._key,))
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
                        options={"headers": {"Authorization": f"Bearer {self._key}"}},
                        stream=True,
                        stream_cls=anthropic.AsyncStream[object],
                    )
            except anthropic.APIStatusError as error:
                feature = refused(full_text(error), body)
                if feature is None or error.status_code not in REFUSING:
                    raise
                self._without |= {feature}


@contextmanager
def _failures_of(call: Call) -> Iterator[None]:
    """Turn what the SDK and the layers below raise into our errors."""
    try:
        yield
    except Exception as error:
        translated = turn_error(error, call)
        if translated is None:
            raise
        raise translated from None


async def _next(stream: anthropic.AsyncStream[object], deadline: float) -> Event | None:
    """The next event, None at the end. Raises ValueError for data that is no event."""
    async with asyncio.timeout_at(deadline):
        event = await anext(stream, None)
    if event is not None and not isinstance(event, dict):
        raise ValueError("an event that is no object")
    return event


async def _drain(stream: anthropic.AsyncStream[object]) -> None:
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in stream:
                pass

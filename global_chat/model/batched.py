"""The Message Batches API behind the seam: calls wait for each other and travel together.

Half the price, and the provider does the fan-out; an answer may take minutes. Only for calls that
do not depend on each other, such as the router's of many turns. Imports the SDK, which takes over
a second: import this module late.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anthropic

from global_chat.contract.errors import InvalidOutput, ProviderError
from global_chat.contract.names import Usage

from .anthropic_connection import Call, turn_error
from .anthropic_messages import wire_body
from .failures import Refusal, failure
from .seam import ModelEvent, ModelRequest, Reply

#: The API takes a hundred thousand requests in a batch; smaller batches end sooner.
MOST_IN_A_BATCH = 10_000

#: A batch leaves when no further call has come for this long, in seconds.
QUIET_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: ModelRequest
    reply: asyncio.Future[Reply]


class BatchedModel:
    """A model that collects calls and sends them as batches. It never streams text.

    `poll_seconds` is how often the state of a batch is asked for.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        poll_seconds: float = 10.0,
    ) -> None:
        self._key, self._base_url = api_key, base_url
        self._poll_seconds = poll_seconds
        self._waiting: list[_Waiting] = []
        self._sending: set[asyncio.Task[None]] = set()
        self._leaving: asyncio.TimerHandle | None = None
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, open_telemetry=False
        )

    async def aclose(self) -> None:
        """Cancel what is under way, batches at the provider included, and close connections."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        await self._client.close()

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply, when the batch that the call travels in has ended. Raises a `TurnError`."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(request, loop.create_future())
        self._waiting.append(waiting)
        if self._leaving is not None:
            self._leaving.cancel()
        self._leaving = loop.call_later(QUIET_SECONDS, self._leave)
        yield await waiting.reply

    def _leave(self) -> None:
        """Send what has come together."""
        gathered, self._waiting, self._leaving = self._waiting, [], None
        for start in range(0, len(gathered), MOST_IN_A_BATCH):
            task = asyncio.create_task(self._carry(gathered[start : start + MOST_IN_A_BATCH]))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _carry(self, calls: Sequence[_Waiting]) -> None:
        """One batch, from its making to its results. Every call gets a reply or an error."""
        try:
            await self._send(calls)
        except Exception as error:
            call = Call(calls[0].request.model, self._base_url, 0, (self._key,))
            _give_up(calls, turn_error(error, call) or error)
        finally:
            lost = "The batch ended without an answer to this call. Run it again."
            _give_up(calls, ProviderError(lost))

    async def _send(self, calls: Sequence[_Waiting]) -> None:
        batches = self._client.messages.batches
        requests: list[Any] = [
            {"custom_id": f"call-{number}", "params": _params(call.request)}
            for number, call in enumerate(calls)
        ]
        batch = await batches.create(requests=requests)
        try:
            while batch.processing_status != "ended":
                await asyncio.sleep(self._poll_seconds)
                batch = await batches.retrieve(batch.id)
        except asyncio.CancelledError:
            # Nobody waits for it any more, so nobody should pay for it.
            with suppress(Exception):
                await asyncio.shield(batches.cancel(batch.id))
            raise
        async for line in await batches.results(batch.id):
            number = int(line.custom_id.removeprefix("call-"))
            _answer(calls[number], line.result)


def _params(request: ModelRequest) -> dict[str, Any]:
    body = wire_body(request)
    del body["stream"]
    return body


def _answer(call: _Waiting, result: Any) -> None:
    """Set the result of one call: a reply or an error."""
    if call.reply.done():
        return
    if result.type == "succeeded":
        message = result.message
        content = tuple(block.to_dict() for block in message.content)
        usage = _usage(message.usage)
        try:
            call.reply.set_result(Reply(content, message.stop_reason, usage, message.model))
        except InvalidOutput as unusable:
            call.reply.set_exception(unusable)
    elif result.type == "errored":
        error = result.error.error
        refusal = Refusal(call.request.model, type=error.type, message=error.message)
        call.reply.set_exception(failure(refusal))
    else:
        why = f"The batch was {result.type} before this call was answered. Run it again."
        call.reply.set_exception(ProviderError(why))


def _usage(counts: Any) -> Usage:
    return Usage(**{name: getattr(counts, name, None) or 0 for name in Usage().as_dict()})


def _give_up(calls: Sequence[_Waiting], error: Exception) -> None:
    for call in calls:
        if not call.reply.done():
            # An exception object belongs to one call: a traceback grows on it.
            call.reply.set_exception(copy.copy(error))

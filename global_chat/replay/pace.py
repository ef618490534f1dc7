"""One pace for all calls of a run: a rate limit that one of them meets slows every one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from global_chat.contract.errors import RateLimited
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Restarted

#: How often a call that is turned away for the rate limit is sent again.
MOST_TRIES = 8

#: The pause, in seconds, when the provider names none.
USUAL_PAUSE = 5.0


class Paced:
    """Any model, asked by at most `width` calls at a time, and not at all during a pause.

    A rate limit pauses every call for as long as the provider says and halves the width; each
    answer widens it a little again. `sleep` and `clock` (seconds) are for tests.
    """

    def __init__(
        self,
        model: Model,
        width: int,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._most = self._width = float(width)
        self._sleep, self._clock = sleep, clock
        self._open_at = 0.0
        self._running = 0
        self._left = asyncio.Condition()

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply; a call that is turned away waits its turn and is sent again.

        Raises `RateLimited` when it is turned away `MOST_TRIES` times.
        """
        async with self._place():
            for last in (*[False] * (MOST_TRIES - 1), True):
                await self._wait()
                try:
                    async with aclosing(self._model.complete(request)) as events:
                        async for event in events:
                            self._listen(event)
                            yield event
                    self._width = min(self._most, self._width + 1 / self._most)
                    return
                except RateLimited as error:
                    pause = self._slow_down(error.retry_after)
                    if last:
                        raise
                    again = Restarted(error.usage, error.type, pause)
                yield again

    def _listen(self, event: ModelEvent) -> None:
        if isinstance(event, Restarted) and event.error_type == RateLimited.type:
            self._slow_down(event.wait_seconds)

    def _slow_down(self, seconds: float | None) -> float:
        pause = USUAL_PAUSE if seconds is None else seconds
        self._open_at = max(self._open_at, self._clock() + pause)
        self._width = max(1.0, self._width / 2)
        return pause

    async def _wait(self) -> None:
        while (pause := self._open_at - self._clock()) > 0:
            await self._sleep(pause)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        async with self._left:
            await self._left.wait_for(lambda: self._running < int(self._width))
            self._running += 1
        try:
            yield
        finally:
            async with self._left:
                self._running -= 1
                self._left.notify_all()

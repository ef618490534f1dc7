"""Tries a model call again when the service failed and may recover."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from global_chat.contract.errors import InvalidOutput, ServiceError, TimedOut, TurnError
from global_chat.contract.settings import RetrySettings

from .seam import Model, ModelEvent, ModelRequest, Restarted


class Retrying:
    """Any model, with its failed calls repeated as `settings` allow.

    Repeated are unusable replies and what the service calls temporary, apart from a timeout:
    whoever waited that long once should not wait again unasked. A pause that the service asks for
    is kept; one longer than `settings.longest_wait` ends the call at once with an error that names
    it. `sleep` and `chance` (a number from 0 to 1) are for tests.
    """

    def __init__(
        self,
        model: Model,
        settings: RetrySettings,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._settings = settings
        self._sleep = sleep
        self._chance = chance

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply; `Restarted` says that the pieces before it belong to a broken attempt.

        Raises the last attempt's error, with that attempt's tokens only: those of the attempts
        before it are in their `Restarted`.
        """
        attempt = 1
        while True:
            try:
                async with aclosing(self._model.complete(request)) as events:
                    async for event in events:
                        yield event
                return
            except (ServiceError, InvalidOutput) as error:
                pause = self._pause(error, attempt)
                if pause is None:
                    raise
                restarted = Restarted(error.usage, error.type, pause)
            yield restarted
            await self._sleep(pause)
            attempt += 1

    def _pause(self, error: TurnError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None when there is to be none."""
        if attempt >= self._settings.attempts or isinstance(error, TimedOut):
            return None
        asked = error.retry_after or 0 if isinstance(error, ServiceError) else 0
        if not error.retryable or asked > self._settings.longest_wait:
            return None
        grown = self._settings.first_wait * 2.0 ** min(attempt - 1, 30)
        # Up to a quarter less, so that calls which failed together do not come back together.
        own = min(grown, self._settings.longest_wait) * (1 - self._chance() / 4)
        return max(own, asked)

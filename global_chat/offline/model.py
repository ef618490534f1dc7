"""The offline model: one more implementation of the model seam."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from global_chat.model.seam import ModelEvent, ModelRequest

from .agents import answer
from .replying import events


class OfflineModel:
    """Answers by rule and by a small classifier, the same for the same request.

    It needs no key and no network, reads nothing but the request, and changes nothing when it is
    not sure. It is no language model, and says so where that matters.
    """

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply to `request`."""
        for event in events(request, answer(request)):
            yield event

"""The offline router in front of a live model: it saves a call a turn when it is sure."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from global_chat.model.seam import Model, ModelEvent, ModelRequest

from .replying import Said, events
from .routing.answer import as_json, decide

#: The chance of being right under which the live model is asked after all.
LEAST_CHANCE = 0.8


class OfflineRouter:
    """Answers the router's requests itself when it is sure enough; everything else goes to `model`.

    `fallback` is asked for a routing decision whose chance of being right is under `threshold`
    (0 to 1); it is usually `model` itself.
    """

    def __init__(
        self, model: Model, fallback: Model | None = None, threshold: float = LEAST_CHANCE
    ) -> None:
        self._model, self._fallback = model, fallback or model
        self._threshold = threshold

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply to `request`. Raises what the model behind raises."""
        if request.agent != "router":
            async with aclosing(self._model.complete(request)) as behind:
                async for event in behind:
                    yield event
            return
        said = decide(request)
        if said.chance >= self._threshold:
            for event in events(request, Said(as_json(said))):
                yield event
            return
        async with aclosing(self._fallback.complete(request)) as behind:
            async for event in behind:
                yield event

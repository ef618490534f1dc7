"""The model of a live run: what is asked, within which budget, at which pace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from global_chat.contract.errors import AuthError, BadRequest
from global_chat.model.anthropic import DEFAULT_BASE_URL
from global_chat.model.seam import Model
from global_chat.replay.budget import Budgeted, Ledger, check_prices
from global_chat.replay.live import Live, live_play
from global_chat.replay.pace import Paced
from global_chat.replay.prices import read_prices
from global_chat.replay.run import Tell, Work, run_here

from .options import ModelOptions
from .replay_options import LiveOptions
from .wiring import wire

if TYPE_CHECKING:
    from global_chat.model.batched import BatchedModel

#: How many turns at a time when the options do not say.
USUAL_JOBS = 4


def is_live(options: LiveOptions) -> bool:
    """Whether a model is asked instead of scripts. Raises `BadRequest` for options that clash."""
    asked = options.live or options.backend in ("anthropic", "offline")
    if options.live and options.backend == "scripted":
        raise BadRequest("--live asks a model; it does not go with --backend scripted.")
    needing = {
        "--routes-only": options.routes_only,
        "--batches": options.batches,
        "--record": options.record is not None,
        "--budget": options.budget is not None,
    }
    for name, given in needing.items():
        if given and not asked:
            raise BadRequest(f"{name} is for live runs: add --live.")
    if options.batches and options.backend == "offline":
        raise BadRequest("--batches is the provider's; it does not go with --backend offline.")
    return asked


class LiveRun:
    """One live run. Making it asks nobody and raises a `TurnError` for options that cannot work."""

    def __init__(self, options: LiveOptions) -> None:
        self._options = options
        self._key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")
        self._wired = wire(
            ModelOptions(
                backend=options.backend or "anthropic",
                base_url=options.base_url,
                timeout=options.timeout,
                config=options.config,
            ),
            None,
        )
        self._prices = read_prices(options.prices)
        if options.backend != "offline" and not self._key:
            raise AuthError(
                "There is no API key. Set ANTHROPIC_API_KEY; a local server behind --base-url "
                "takes any value."
            )
        if options.budget is not None:
            check_prices(self._prices, self._wired.services.settings)

    async def run(self, work: Sequence[Work], jobs: int | None, tell: Tell) -> None:
        """Take every turn."""
        options, wired, prices = self._options, self._wired, self._prices
        async with AsyncExitStack() as stack:
            if wired.live is not None:
                stack.push_async_callback(wired.live.aclose)
            width = jobs or USUAL_JOBS
            model: Model = Paced(wired.services.model, width)
            if options.batches:
                # Calls of one batch wait for each other, so all turns have to be under way.
                width = max(len(work), 1)
                model = batched = self._batched()
                stack.push_async_callback(batched.aclose)
            if options.budget is not None:
                factor = prices.batch_factor if options.batches else 1
                model = Budgeted(model, Ledger(options.budget), prices, factor=factor)
            live = Live(
                services=replace(wired.services, model=model),
                prices=prices,
                routes_only=options.routes_only or options.batches or options.backend == "offline",
                batch=options.batches,
                record=options.record,
                secrets=tuple(filter(None, [self._key])),
            )
            await run_here(work, live_play(live), width, tell)

    def _batched(self) -> BatchedModel:
        # The SDK takes over a second to import, and only this needs it here.
        from global_chat.model.batched import BatchedModel  # noqa: PLC0415

        base_url = self._options.base_url or os.environ.get("ANTHROPIC_BASE_URL")
        return BatchedModel(
            api_key=self._key or "",
            base_url=base_url or DEFAULT_BASE_URL,
            poll_seconds=self._options.poll_seconds,
        )

"""Running scripted cases. A script waits for nothing and keeps a core busy, so cores help."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .prices import Prices
from .processes import run_in_processes
from .run import Tell, Work, run_here, scripted_play

#: From this many cases on processes pay; fewer are done before the first one has started.
WORTH_PROCESSES = 800


def run_scripted(work: Sequence[Work], prices: Prices, jobs: int, tell: Tell) -> None:
    """Run the cases with their own scripts, in up to `jobs` processes when there are many."""
    if jobs > 1 and len(work) >= WORTH_PROCESSES:
        run_in_processes(work, prices, jobs, tell)
    else:
        asyncio.run(run_here(work, scripted_play(prices), 1, tell))

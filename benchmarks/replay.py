"""How fast cases replay, whether memory stays flat, and how much of a turn is ours.

Run it as `python -m benchmarks.replay`. The cases are those of `fixtures/cases`, over and over,
with models that answer at once, so every millisecond is the program's own or the script's.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from global_chat.agents.context import Services
from global_chat.contract.payload import Payload, read
from global_chat.model.prices import parse_prices
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import Model, ModelEvent, ModelRequest
from global_chat.replay.cases import Case, collect
from global_chat.replay.result import Result
from global_chat.replay.run import run_all, scripted
from global_chat.turn.take import take_turn

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
MEASURED = 3_000
MANY = 10_000
TURNS = 300


class Timed:
    """A model that knows how long it was at work, the script and not the program."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.seconds = 0.0

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        began = time.perf_counter()
        async with aclosing(self._model.complete(request)) as events:
            async for event in events:
                self.seconds += time.perf_counter() - began
                yield event
                began = time.perf_counter()
        self.seconds += time.perf_counter() - began


def work(cases: Sequence[Case], total: int) -> list[tuple[Case, int]]:
    """So many runs of cases, round by round."""
    return [(cases[i % len(cases)], i // len(cases) + 1) for i in range(total)]


def show(line: str) -> None:
    sys.stdout.write(line + "\n")


def run(cases: Sequence[Case], total: int, receive: Callable[[Result], None]) -> None:
    asyncio.run(run_all(work(cases, total), scripted(parse_prices()), 1, receive))


def speed(cases: Sequence[Case]) -> None:
    """Cases per second."""
    began = time.perf_counter()
    run(cases, MEASURED, lambda _result: None)
    show(f"  {MEASURED / (time.perf_counter() - began):7,.0f} cases/s")


def memory(cases: Sequence[Case]) -> None:
    """The memory of the process while it runs many cases."""
    seen = 0

    def receive(_result: Result) -> None:
        nonlocal seen
        seen += 1
        if seen in (1_000, MANY // 2, MANY):
            show(f"  after {seen:6,} cases  {resident():6.1f} MB")

    show(f"  before              {resident():6.1f} MB")
    run(cases, MANY, receive)


async def no_wait(_seconds: float) -> None:
    """Scripts have nothing to wait for."""


def resident() -> float:
    """Megabytes of this process that are in memory now, on Linux."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1_000_000


async def share(cases: Sequence[Case]) -> None:
    """What one turn takes, and how much of it is the program's rather than the model's."""
    total = models = 0.0
    turns = [case for case in cases if case.expect.error is None]
    for i in range(TURNS):
        case = turns[i % len(turns)]
        assert case.script is not None
        timed = Timed(ScriptedModel(case.script))
        payload = read(Payload, case.given)
        model = Retrying(timed, case.settings.retry, sleep=no_wait)
        services = Services(model, case.settings, backend="scripted")
        began = time.perf_counter()
        await take_turn(payload, services, lambda _event: None)
        total += time.perf_counter() - began
        models += timed.seconds
    ours = total - models
    each = ours / TURNS
    show(f"  {total / TURNS * 1000:5.1f} ms a turn, of which {each * 1000:.1f} ms are ours")
    for seconds in (2, 10):
        part = each / (seconds + each)
        show(f"  {part:6.2%} of a turn whose models take {seconds} s")


def main() -> None:
    began = time.perf_counter()
    cases = collect([CASES])
    show(f"Collecting {len(cases)} cases  {time.perf_counter() - began:.2f} s")
    show("Replaying scripted cases")
    speed(cases)
    show(f"Memory over {MANY:,} cases")
    memory(cases)
    show("A turn with models that answer at once")
    asyncio.run(share(cases))


if __name__ == "__main__":
    main()

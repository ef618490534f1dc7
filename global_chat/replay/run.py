"""Running many cases: side by side where that pays, each for itself, told of as they end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from .case import Case
from .judge import judge
from .play import play_script
from .prices import Prices
from .result import Evidence, Result


@dataclass(frozen=True, slots=True)
class Work:
    """One case to be run, for the `number`th time."""

    case: Case
    number: int = 1


Judged = tuple[Result, Evidence | None]
Play = Callable[[Work], Awaitable[Judged]]

#: Told of each result as soon as it is there. It may raise `Enough`.
Tell = Callable[[Result, Evidence | None], None]


class Enough(Exception):
    """Whoever is told of results wants no more of them."""


def work_of(cases: Sequence[Case], repeat: int, done: set[tuple[str, int, str]]) -> list[Work]:
    """What is left to do, a whole round of cases before the next repetition."""
    return [
        Work(case, number)
        for number, case in itertools.product(range(1, repeat + 1), cases)
        if (case.id, number, case.fingerprint) not in done
    ]


async def run_here(work: Iterable[Work], play: Play, jobs: int, tell: Tell) -> None:
    """Run `jobs` at a time on this event loop. Ends early, without raising, on `Enough`."""
    waiting = iter(work)

    async def worker() -> None:
        for one in waiting:
            tell(*await guarded(one, play))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(worker())
    except* Enough:
        pass


async def guarded(work: Work, play: Play) -> Judged:
    """The result of one case. Whatever is raised costs this case and no other."""
    try:
        return await play(work)
    except Exception as error:
        return crashed(work, f"{type(error).__name__}: {error}"), None


def crashed(work: Work, why: str) -> Result:
    """The result of a case that could not be brought to its end."""
    case = work.case
    return Result(
        case=case.id,
        title=case.title,
        status="crashed",
        number=work.number,
        fingerprint=case.fingerprint,
        scripted=case.script is not None,
        differences=(why,),
        kind=case.kind,
    )


def scripted_play(prices: Prices) -> Play:
    """Plays a case with its own script and judges what came."""

    async def play(work: Work) -> Judged:
        return judge(work.case, await play_script(work.case), prices, number=work.number)

    return play

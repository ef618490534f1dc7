"""Running many cases: each for itself, whatever one of them does to its process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from global_chat.replay.case import Case
from global_chat.replay.prices import read_prices
from global_chat.replay.processes import run_in_processes
from global_chat.replay.result import Evidence, Result
from global_chat.replay.run import Enough, Judged, Work, run_here, scripted_play, work_of
from global_chat.replay.scripted_runs import run_scripted
from tests.replay_cases import CASE, a_case, a_result

pytestmark = pytest.mark.unit

PRICES = read_prices()


class Told:
    """Remembers what it is told; `enough` says after how many it wants no more."""

    def __init__(self, enough: int | None = None) -> None:
        self.results: list[Result] = []
        self.evidence: list[Evidence | None] = []
        self._enough = enough

    def __call__(self, result: Result, evidence: Evidence | None) -> None:
        self.results.append(result)
        self.evidence.append(evidence)
        if len(self.results) == self._enough:
            raise Enough

    @property
    def statuses(self) -> dict[str, str]:
        return {f"{r.case}#{r.number}": r.status for r in self.results}


def cases(tmp_path: Path, *names: str) -> list[Case]:
    return [a_case(tmp_path, name) for name in names]


def work(tmp_path: Path, *names: str) -> list[Work]:
    return [Work(case) for case in cases(tmp_path, *names)]


def test_a_failed_case_comes_with_its_conversation_and_its_diff(tmp_path: Path) -> None:
    told = Told()
    case = a_case(tmp_path, case=CASE.replace("says: Done", "says: Never"))
    run_scripted([Work(case)], PRICES, 1, told)
    assert told.statuses == {"edit#1": "failed"}
    (evidence,) = told.evidence
    assert evidence is not None
    assert [said.who for said in evidence.conversation] == [
        *("user", "to router", "router", "to job_code_agent", "job_code_agent", "answer")
    ]
    assert "+    body: get('/z');" in evidence.workflow_diff


def test_a_result_says_where_the_turn_went_and_what_it_took(tmp_path: Path) -> None:
    told = Told()
    run_scripted(work(tmp_path, "edit"), PRICES, 1, told)
    (result,) = told.results
    assert (result.expected, result.taken, result.right) == ("job_code_agent",) * 2 + (True,)
    assert (result.step, result.confidence, result.scripted) == ("get", 5, True)
    assert [s.agent for s in result.spent] == ["router", "job_code_agent"]
    assert result.cost and result.cost > 0
    assert told.evidence == [None]


def test_repetitions_come_round_by_round_and_what_is_done_is_left_out(tmp_path: Path) -> None:
    one, two = cases(tmp_path, "one", "two")
    done = {("one", 1, one.fingerprint), ("two", 2, "of another text")}
    left = [(w.case.id, w.number) for w in work_of([one, two], 2, done)]
    assert left == [("two", 1), ("one", 2), ("two", 2)]


async def test_a_case_that_raises_costs_itself_and_no_other(tmp_path: Path) -> None:
    usual = scripted_play(PRICES)

    async def play(one: Work) -> Judged:
        if one.case.id == "b":
            raise ZeroDivisionError("of all things")
        return await usual(one)

    told = Told()
    await run_here(work(tmp_path, "a", "b", "c"), play, 1, told)
    assert told.statuses == {"a#1": "passed", "b#1": "crashed", "c#1": "passed"}
    assert told.results[1].differences == ("ZeroDivisionError: of all things",)


async def test_no_case_starts_after_enough(tmp_path: Path) -> None:
    started: list[str] = []

    async def play(one: Work) -> Judged:
        started.append(one.case.id)
        return a_result(one.case.id), None

    told = Told(enough=2)
    await run_here(work(tmp_path, *"abcd"), play, 1, told)
    assert (started, len(told.results)) == (["a", "b"], 2)


async def test_as_many_run_at_a_time_as_there_are_jobs(tmp_path: Path) -> None:
    running = most = 0

    async def play(one: Work) -> Judged:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return a_result(one.case.id), None

    await run_here(work(tmp_path, *"abcdef"), play, 3, Told())
    assert most == 3


def test_processes_give_the_same_results_as_one_loop(tmp_path: Path) -> None:
    given = work(tmp_path, *"abcd")
    here, there = Told(), Told()
    run_scripted(given, PRICES, 1, here)
    run_in_processes(given, PRICES, 2, there)
    assert there.statuses == here.statuses
    assert {r.case: r.spent for r in there.results} == {r.case: r.spent for r in here.results}


class Deadly(dict[str, object]):
    """A payload that kills the process which unpacks it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.kill, (_Self(), signal.SIGKILL)


class _Self:
    """The process that unpacks it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.getpid, ()


def test_a_case_that_kills_its_process_costs_itself_and_no_other(tmp_path: Path) -> None:
    given: Sequence[Work] = work(tmp_path, *"abcd")
    object.__setattr__(given[1].case, "given", Deadly(given[1].case.given))
    told = Told()
    run_in_processes(given, PRICES, 2, told)
    assert told.statuses == {"a#1": "passed", "b#1": "crashed", "c#1": "passed", "d#1": "passed"}
    (why,) = next(r.differences for r in told.results if r.case == "b")
    assert "SIGKILL" in why


def test_processes_stop_after_enough(tmp_path: Path) -> None:
    told = Told(enough=1)
    run_in_processes(work(tmp_path, *"abcdefgh"), PRICES, 2, told)
    assert len(told.results) == 1

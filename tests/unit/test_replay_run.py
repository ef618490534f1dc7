"""Running many cases: each for itself, several at a time, and no more of them when one says so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from global_chat.model.prices import parse_prices
from global_chat.replay.cases import Case
from global_chat.replay.result import Result
from global_chat.replay.run import Play, StopRun, run_all, scripted
from tests.replay_cases import CASE, a_case, a_result

pytestmark = pytest.mark.unit

PRICES = parse_prices()


async def results_of(
    cases: list[Case], play: Play, *, jobs: int = 1, enough: int = 99
) -> list[Result]:
    """What came until there was `enough`."""
    results: list[Result] = []

    def receive(result: Result) -> None:
        results.append(result)
        if len(results) == enough:
            raise StopRun

    await run_all([(case, 1) for case in cases], play, jobs, receive)
    return results


async def test_a_failed_case_comes_with_its_conversation_and_its_diff(tmp_path: Path) -> None:
    case = a_case(tmp_path, case=CASE.replace("says: Done", "says: Never"))
    (result,) = await results_of([case], scripted(PRICES))
    assert result.status == "failed"
    assert [who for who, _ in result.conversation] == [
        *("payload", "workflow", "to router", "router", "to job_code_agent", "job_code_agent"),
        *("job_code_agent", "answer"),
    ]
    assert "+    body: get('/z');" in result.workflow_diff


async def test_a_result_says_where_the_turn_went_and_what_it_took(tmp_path: Path) -> None:
    (result,) = await results_of([a_case(tmp_path)], scripted(PRICES))
    assert (result.expected, result.taken, result.right) == ("job_code_agent",) * 2 + (True,)
    assert (result.step, result.confidence, result.scripted) == ("get", 5, True)
    assert [s.agent for s in result.spent] == ["router", "job_code_agent"]
    assert [s.cost for s in result.spent] == [None, None]  # no model was asked
    assert result.workflow_diff and '"content": "ask for /z"' in result.conversation[0][1]


async def test_a_case_that_raises_costs_itself_and_no_other(tmp_path: Path) -> None:
    usual = scripted(PRICES)

    async def play(case: Case, number: int) -> Result:
        if case.id == "b":
            raise ZeroDivisionError("of all things")
        return await usual(case, number)

    results = await results_of([a_case(tmp_path, name) for name in "abc"], play)
    assert [r.status for r in results] == ["passed", "crashed", "passed"]
    assert results[1].differences == ("ZeroDivisionError: of all things",)


async def test_no_case_starts_after_the_run_was_stopped(tmp_path: Path) -> None:
    started: list[str] = []

    async def play(case: Case, _number: int) -> Result:
        started.append(case.id)
        return a_result(case.id)

    cases = [a_case(tmp_path, name) for name in "abcd"]
    assert len(await results_of(cases, play, enough=2)) == 2
    assert started == ["a", "b"]


async def test_as_many_run_at_a_time_as_there_are_jobs(tmp_path: Path) -> None:
    running = most = 0

    async def play(case: Case, _number: int) -> Result:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return a_result(case.id)

    await results_of([a_case(tmp_path, name) for name in "abcdef"], play, jobs=3)
    assert most == 3

"""The history: nothing that ended is lost, a run goes on where it stopped, two can be compared."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from global_chat.contract.errors import BadRequest
from global_chat.replay.history import History
from global_chat.replay.summary import compare_runs
from tests.replay_cases import a_result

pytestmark = pytest.mark.unit


def test_results_come_back_as_they_were_in_the_order_of_cases(tmp_path: Path) -> None:
    said = [("user", "hé 🐱")]
    spent = [{"agent": "router", "model": "m", "usage": {"input_tokens": 5}}]
    results = [
        a_result("b", status="failed", differences=["x"], conversation=said),
        a_result("a", number=2, spent=spent),
        a_result("a", seconds=0.25),
    ]
    with History(tmp_path / "new" / "h.sqlite") as history:
        run = history.begin("scripted", "all")
        for result in results:
            history.add(run, result)
    with History(tmp_path / "new" / "h.sqlite") as history:
        again = history.run("last")
        assert again == run
        assert history.results(again) == [results[2], results[1], results[0]]


def test_evidence_of_what_passed_is_kept_for_the_last_run_and_its_figures_for_all(
    tmp_path: Path,
) -> None:
    said = [("user", "hello")]
    with History(tmp_path / "h.sqlite") as history:
        runs = [history.begin("scripted", "all")]
        history.add(runs[0], a_result("a", conversation=said, seconds=2.5))
        history.add(runs[0], a_result("b", status="failed", conversation=said))
        runs += [history.begin("scripted", "some"), history.begin("scripted", "all")]
        [(run, (passed, failed))] = history.earlier(runs[2], 5)
        assert run == runs[0] and history.earlier(runs[0], 5) == []
    assert (passed.conversation, passed.seconds) == ((), 2.5)
    assert failed.conversation == (("user", "hello"),)


def test_a_run_is_resumed_by_what_it_was_about(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        first = history.begin("scripted", "all")
        history.begin("anthropic", "all")
        assert history.resume("scripted", "all").id == first.id
        assert history.resume("scripted", "some").id not in (first.id, 2)


def test_what_nobody_answered_or_the_budget_stopped_is_not_final() -> None:
    assert a_result("a").is_final
    assert a_result("a", status="failed", error="AUTH_ERROR").is_final
    assert not a_result("a", status="failed", error="AUTH_ERROR", scripted=False).is_final
    assert not a_result("a", status="failed", error="RATE_LIMIT", scripted=False).is_final
    assert a_result("a", status="failed", error="REFUSED", scripted=False).is_final
    assert not a_result("a", status="stopped").is_final


def test_runs_are_named_by_number_or_counted_back_from_the_last(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        for _ in range(3):
            history.end(history.begin("scripted", "all"))
        names = {name: history.run(name).id for name in ("1", "last", "last~2")}
        assert names == {"1": 1, "last": 3, "last~2": 1}
        assert [run.id for run in history.runs()] == [3, 2, 1]
        for name in ("4", "last~3", "0", "-1", "one", ""):
            with pytest.raises(BadRequest, match="no run"):
                history.run(name)


def test_a_file_that_is_no_history_is_told_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary, " * 100)
    with pytest.raises(BadRequest, match="cannot be used"):
        History(file)
    assert file.read_text().startswith("dear diary")


def test_results_of_another_version_and_damage_are_told(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with History(path) as history:
        run = history.begin("scripted", "all")
        history.add(run, a_result("a"))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE case_results SET result = '{\"of\": 2031}'")
    file.close()
    with (
        History(path) as history,
        pytest.raises(BadRequest, match=r"another version.*Name another file with --history"),
    ):
        history.results(run)


def test_two_runs_differ_in_what_broke_what_was_fixed_and_what_went_elsewhere() -> None:
    before = [
        a_result("breaks"),
        a_result("fixed", status="failed", differences=("agents: no",)),
        a_result("same"),
        a_result("wanders", agents=["router", "planner"]),
        a_result("gone"),
        a_result("rate", number=1),
        a_result("rate", number=2, status="failed"),
    ]
    after = [
        a_result("breaks", status="failed", differences=("says: no\nmore",)),
        a_result("fixed"),
        a_result("same"),
        a_result("wanders", agents=["router", "job_code_agent"]),
        a_result("new"),
        a_result("rate", number=1, status="failed"),
        a_result("rate", number=2, status="failed"),
    ]
    found = {c.case: (c.kind, c.before, c.after) for c in compare_runs(before, after)}
    assert found == {
        "breaks": ("broken", "passed", "failed: says: no"),
        "fixed": ("fixed", "failed: agents: no", "passed"),
        "gone": ("only in A", "passed", ""),
        "new": ("only in B", "", "passed"),
        "rate": ("broken", "1/2 passed", "0/2 passed"),
        "wanders": ("other way", "router → planner", "router → job code agent"),
    }

"""Numbers about many results: how sure a rate is, where turns went, what they cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.contract.errors import BadRequest
from global_chat.contract.names import Usage
from global_chat.model.prices import parse_prices
from global_chat.replay.summary import Rate, Summary
from tests.replay_cases import a_result

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (7, 10, 0.3968, 0.8922),
        (90, 100, 0.8256, 0.9448),
    ],
)
def test_the_interval_is_wilsons(passed: int, total: int, low: float, high: float) -> None:
    expected = (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    assert Rate(passed, total).interval() == expected


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate_and_narrows_with_more_runs(counts: tuple[int, int]) -> None:
    passed, total = counts
    low, high = Rate(passed, total).interval()
    assert 0 <= low <= passed / total <= high <= 1
    more_low, more_high = Rate(passed * 4, total * 4).interval()
    assert more_high - more_low < high - low


def test_without_runs_nothing_is_known() -> None:
    assert Rate(0, 0).interval() == (0.0, 1.0)


def test_every_routed_turn_is_counted_once_in_the_matrix_and_once_in_the_sentence() -> None:
    by_handover = {"taken": "job_code_agent", "handover": "job_code_agent"}
    summary = Summary(
        [
            a_result("a", expected="planner", right=False, **by_handover),
            a_result("b", expected="planner", taken="job_code_agent", right=False, confidence=4),
            a_result("c", expected="planner", taken="planner", right=True, confidence=5),
            a_result("d", expected="planner", error="AUTH_ERROR", status="failed"),
            a_result("e", taken="workflow_agent", confidence=2),
        ]
    )
    assert summary.matrix == {
        ("planner", "job_code_agent", False): 2,
        ("planner", "planner", True): 1,
        (None, "workflow_agent", None): 1,
    }
    assert (summary.handovers, summary.routed, summary.labelled) == (1, 4, 3)
    assert summary.routes == {True: 1, False: 2, None: 1}
    assert summary.routes_told == (
        "of 4 routed turns, 1 went right, 2 wrong and 1 without a label; 1 handed over"
    )
    assert summary.confidence == {(4, False): 1, (5, True): 1, (2, None): 1}
    assert (summary.counts["passed"], summary.failed) == (4, 1)


def test_rates_count_repetitions_and_leave_out_what_the_budget_stopped() -> None:
    summary = Summary(
        [
            a_result("a", kind="k"),
            a_result("a", kind="k", number=2, status="failed"),
            a_result("a", kind="k", number=3, status="stopped"),
        ]
    )
    assert (summary.rates["a"].passed, summary.rates["a"].total) == (1, 2)
    assert str(summary.kinds["k"]).startswith("1/2 (")


def test_one_unknown_price_makes_the_whole_sum_unknown() -> None:
    known = {"agent": "router", "model": "m", "usage": {"input_tokens": 5}, "cost": 0.5}
    results = [a_result(name, spent=[known], scripted=False) for name in "ab"]
    summary = Summary(results)
    assert summary.cost == 1.0
    assert summary.agents["router"].usage.input_tokens == summary.tokens == 10
    assert (
        Summary([*results, a_result("c", spent=[{**known, "cost": None}], scripted=False)]).cost
        is None
    )


def test_a_price_is_for_a_million_tokens_of_each_kind() -> None:
    prices = parse_prices(
        "batch_factor = 0.5\n[models.big]\ninput = 2\noutput = 8\ncache_write = 4\ncache_read = 1\n"
        "[models.big-two]\ninput = 20\noutput = 0\n"
    )
    usage = Usage(
        input_tokens=1_000_000,
        output_tokens=500_000,
        cache_creation_input_tokens=250_000,
        cache_read_input_tokens=1_000_000,
    )
    assert prices.cost("big-20260101", usage) == 2 + 4 + 1 + 1
    assert prices.cost("big-20260101", usage, batch=True) == 4
    assert prices.cost("big-two-1", usage) == 20  # the longest name wins
    assert prices.cost("small", usage) is None


@pytest.mark.parametrize(
    "text",
    ["[models.m", "[models.m]\ninput = -1\noutput = 1\n", "[models.m]\ninput = 1\n", "x = 1\n"],
)
def test_a_price_file_that_is_wrong_is_told_by_name(text: str) -> None:
    with pytest.raises(BadRequest, match=r"mine\.toml"):
        parse_prices(text, "mine.toml")

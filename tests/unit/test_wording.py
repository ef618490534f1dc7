"""What is said about a turn in one line: tokens, times, who answered, why it was sent elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from global_chat.contract.errors import RateLimited
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    RouteDecided,
    ToolCalled,
    TurnEnded,
    TurnFailed,
    TurnStarted,
)
from global_chat.contract.names import Usage
from global_chat.contract.response import Response, ResponseMeta
from global_chat.model.prices import Prices, parse_prices
from global_chat.render.text import counted, diff_lines
from global_chat.render.wording import LONGEST_INPUT, Closing, LogLines, dollars, duration, tokens

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), ""),
        (Usage(1, 2), "1 token in, 2 out"),
        (Usage(0, 3), "0 tokens in, 3 out"),
        (Usage(1_000, 2_000, 0, 30_000), "31,000 tokens in (30,000 cached), 2,000 out"),
        (Usage(1, 2, 40, 0), "41 tokens in (40 written to the cache), 2 out"),
        (Usage(1, 2, 40, 500), "541 tokens in (500 cached, 40 written to the cache), 2 out"),
    ],
)
def test_all_that_was_read_is_counted_and_what_the_cache_had_of_it(
    usage: Usage, words: str
) -> None:
    assert tokens(usage) == words


def closing(*events: Event) -> str:
    said = Closing()
    for event in events:
        said(event)
    return said.text([], 0.3)


def test_the_last_line_has_the_tokens_of_the_whole_turn_however_it_ended() -> None:
    usage = Usage(1_000, 77, 200, 3_000)
    counts = "4,200 tokens in (3,000 cached, 200 written to the cache), 77 out"
    meta = ResponseMeta(agents=["router", "planner"])
    answered = TurnEnded(Response(response="Ok.", history=[], usage=usage, meta=meta))
    one_call = ModelCallEnded(1, "router", "m", 5, None, Usage(9, 9, 9, 9), "end_turn")
    begun = TurnStarted("t"), AgentInvoked("router"), one_call
    assert closing(*begun, answered) == f"router → planner · nothing changed · {counts} · 0.3 s"
    failed = TurnFailed(RateLimited("Wait."), usage)
    assert closing(*begun, failed) == f"router · {counts} · 0.3 s"


def line(event: Event, backend: str = "anthropic") -> str | None:
    log_line = LogLines()
    log_line(TurnStarted("t", backend=backend))
    return log_line(event)


def test_a_log_line_of_a_model_call_says_what_was_asked_how_long_it_took_and_its_tokens() -> None:
    call = ModelCallEnded(3, "planner", "big", 1_500, 30, Usage(5, 6, 0, 100), "end_turn", 2)
    words = "call 3.2 end_turn in 1.5 s, first token after 30 ms; 105 tokens in (100 cached), 6 out"
    assert line(call) == f"INFO planner: big {words}"
    assert line(call, "offline") == f"INFO planner: no model was asked; {words}"
    failed = ModelCallEnded(1, "router", "small", 40, None, Usage(), None, error_type="TIMEOUT")
    assert line(failed) == "WARNING router: small call 1.1 TIMEOUT in 40 ms"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            RouteDecided("job_code_agent", 4, None, "planner", "unresolved_step"),
            "WARNING router: decided job_code_agent (confidence 4, job_key none); sent to planner "
            "because of an unresolved step",
        ),
        (
            RouteDecided("planner", 1, None, "planner", "unusable_reply", "not JSON"),
            "WARNING router: decided planner (confidence 1, job_key none); sent to planner because "
            "of an unusable reply: not JSON",
        ),
        (
            HandedOver("workflow_agent", "Edit the code", to_planner=False),
            "WARNING workflow_agent: could not finish: Edit the code",
        ),
    ],
)
def test_log_lines_warn_of_what_did_not_go_as_decided(event: Event, words: str) -> None:
    assert line(event) == words


def test_a_long_input_of_a_tool_is_shortened_in_the_log() -> None:
    found = line(ToolCalled("1", "planner", "search_documentation", {"query": "x" * 500}))
    assert found is not None and found.endswith("xxx…")
    assert len(found) == len("INFO planner: calls search_documentation ") + LONGEST_INPUT + 1


def test_numbers_times_and_costs_are_worded_the_same_everywhere() -> None:
    assert [counted(n, "page") for n in (0, 1, 1_204)] == ["0 pages", "1 page", "1,204 pages"]
    assert [duration(ms) for ms in (0, 999, 1_000, 61_250)] == ["0 ms", "999 ms", "1.0 s", "61.2 s"]
    assert [dollars(cost) for cost in (None, 0, 1.25)] == ["not known", "$0.0000", "$1.2500"]


def test_a_diff_has_the_lines_and_not_the_names_of_files() -> None:
    assert list(diff_lines("a\nb\n", "a\nc")) == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert list(diff_lines("", "\n")) == ["@@ -0,0 +1 @@", "+"]
    assert not list(diff_lines("a\n", "a"))


def test_the_last_line_names_the_cost_of_a_turn_whose_prices_are_known() -> None:
    def cost(prices: Prices | None, *models: str) -> str:
        said = Closing()
        said.prices = prices
        for number, model in enumerate(models):
            used = Usage(1_000_000, 100_000)
            said(ModelCallEnded(number, "router", model, 5, None, used, "end_turn"))
        return said.text([], 0.3).removesuffix("0.3 s")

    prices = parse_prices()
    told = f"about $3.0000 (prices of {prices.date}) · "
    assert cost(prices, "claude-haiku-5-5", "claude-haiku-5-5") == told
    assert cost(prices, "claude-haiku-5-5", "another") == cost(prices) == ""
    assert cost(None, "claude-haiku-5-5") == ""


def test_files_are_named_at_the_very_end() -> None:
    said = Closing()
    assert said.text([Path("a.json"), Path("b\n.yaml")], 1).endswith(" · wrote a.json, b .yaml")

"""The router's reply: what is a decision, and that everything else is the planner's turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.agents.router import SCHEMA, Route, read_decision
from global_chat.contract.names import DESTINATIONS

pytestmark = pytest.mark.unit

GOOD = {"destination": "job_code_agent", "confidence": 4, "job_key": "fetch"}


def decision(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


@pytest.mark.parametrize("destination", DESTINATIONS)
@pytest.mark.parametrize("confidence", [1, 2, 3, 4, 5])
def test_every_decision_of_the_schema_is_taken_as_it_is(destination: Any, confidence: int) -> None:
    reply = decision(destination=destination, confidence=confidence)
    assert read_decision(reply) == Route(destination, confidence, "fetch")


def test_a_missing_or_null_job_key_names_no_step() -> None:
    assert read_decision(decision(job_key=None)).job_key is None
    assert read_decision('{"destination": "planner", "confidence": 5}') == Route("planner", 5)


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "```\n{}\n```\n", " \n{}\n"])
def test_a_fence_that_nobody_asked_for_is_no_obstacle(around: str) -> None:
    assert read_decision(around.replace("{}", decision())) == Route("job_code_agent", 4, "fetch")


def test_keys_beyond_the_schema_are_ignored() -> None:
    assert read_decision(decision(reasoning="because")) == Route("job_code_agent", 4, "fetch")


UNUSABLE = {
    "nothing": "",
    "blank": " \n",
    "prose": "I think the job code agent should do this.",
    "prose around": f"Sure: {decision()}",
    "cut": decision()[:-5],
    "a list": f"[{decision()}]",
    "a word": '"planner"',
    "null": "null",
    "no keys": "{}",
    "no destination": '{"confidence": 5, "job_key": null}',
    "unknown destination": decision(destination="sql_agent"),
    "the router itself": decision(destination="router"),
    "destination in another case": decision(destination="Planner"),
    "destination null": decision(destination=None),
    "no confidence": '{"destination": "workflow_agent", "job_key": null}',
    "confidence too low": decision(confidence=0),
    "confidence too high": decision(confidence=6),
    "confidence negative": decision(confidence=-3),
    "confidence enormous": decision(confidence=10**30),
    "confidence a fraction": decision(confidence=3.5),
    "confidence text": decision(confidence="5"),
    "confidence a word": decision(confidence="high"),
    "confidence true": decision(confidence=True),
    "confidence null": decision(confidence=None),
    "confidence NaN": decision(confidence=float("nan")),
    "job_key a number": decision(job_key=3),
    "job_key a list": decision(job_key=["fetch", "load"]),
    "two objects": decision() + decision(),
}


@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_reply_is_the_planner_with_confidence_one_and_the_reason(text: str) -> None:
    route = read_decision(text)
    assert (route.destination, route.confidence, route.job_key) == ("planner", 1, None)
    assert route.problem


@settings(max_examples=50)
@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_reply_at_all_breaks_the_router(text: str) -> None:
    assert read_decision(text).destination in DESTINATIONS


def test_the_reason_does_not_repeat_what_the_model_said() -> None:
    assert "s3cret" not in (read_decision(decision(destination="s3cret")).problem or "")


def test_the_schema_is_forced_closed_and_within_range() -> None:
    assert SCHEMA["properties"]["confidence"]["enum"] == [1, 2, 3, 4, 5]
    assert SCHEMA["properties"]["destination"]["enum"] == list(DESTINATIONS)
    assert SCHEMA["required"] == list(SCHEMA["properties"])
    assert SCHEMA["additionalProperties"] is False

"""The stream for programs: strict JSON, one object a line, one beginning and one end."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from global_chat.contract.errors import AuthError, BadRequest, RateLimited
from global_chat.contract.events import (
    Event,
    Status,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.render.renderers import JsonLines
from tests.turns import ANSWER, CHANGES, ended, failed, pieces, planned

pytestmark = pytest.mark.unit

STARTED = TurnStarted("turn_1")


def strict(line: str) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found: dict[str, Any] = json.loads(line, parse_constant=refuse)
    return found


def rows(out: io.StringIO) -> list[dict[str, Any]]:
    text = out.getvalue()
    assert text.isascii()
    assert not text or text.endswith("\n")
    return [strict(line) for line in text.splitlines()]


def streamed(events: Iterable[Event]) -> list[dict[str, Any]]:
    out = io.StringIO()
    view = JsonLines(out, io.StringIO())
    with view:
        for event in events:
            view(event)
    return rows(out)


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [row["type"] for row in found]


def texts(found: list[dict[str, Any]]) -> dict[int, str]:
    """What a client has in each block at the end, by the stream's own rules."""
    blocks: dict[int, str] = {}
    for row in found:
        if row["type"] in ("content_block_start", "content_block_restart"):
            blocks[row["index"]] = ""
        elif row["type"] == "content_block_delta":
            assert row["delta"]["type"] == "text_delta"
            blocks[row["index"]] += row["delta"]["text"]
    return blocks


def test_a_whole_turn(snapshot: SnapshotAssertion) -> None:
    assert streamed(planned("All **done**.")) == snapshot


def test_blocks_are_numbered_and_hold_the_text_exactly() -> None:
    found = streamed(planned())
    assert texts(found) == {0: "I'll write it now.", 1: ANSWER}
    for index in (0, 1):
        of_block = [row["type"] for row in found if row.get("index") == index]
        assert of_block[0] == "content_block_start"
        assert of_block[-1] == "content_block_stop"
        assert set(of_block[1:-1]) == {"content_block_delta"}


def test_a_turn_ends_with_its_usage() -> None:
    *_, delta, stop = streamed(planned())
    assert delta["delta"]["stop_reason"] == "end_turn"
    assert delta["usage"]["input_tokens"] == 1204
    assert delta["usage"]["cache_read_input_tokens"] == 4000
    assert stop == {"type": "message_stop"}


def test_changes_carry_the_workflow_and_each_step() -> None:
    (changes,) = [row for row in streamed(planned()) if row["type"] == "changes"]
    assert changes["workflow_yaml"] == CHANGES.workflow_yaml
    assert [step["key"] for step in changes["steps"]] == ["fetch", "load"]
    assert changes["steps"][0]["after"] == CHANGES.steps[0].after
    assert changes["summary"] == list(CHANGES.summary)


def test_an_answer_that_nobody_streamed_is_a_block_too() -> None:
    assert texts(streamed([STARTED, ended("Done.")])) == {0: "Done."}


def test_a_block_that_starts_again_says_that_its_text_is_void() -> None:
    events = [STARTED, *pieces("Half an ans"), TextRestarted(), *pieces("An answer."), TextEnded()]
    assert texts(streamed([*events, ended()])) == {0: "An answer."}


def test_a_failure_in_the_middle_ends_the_block_and_the_stream() -> None:
    found = streamed(failed())
    assert kinds(found)[-4:] == [
        "content_block_delta",
        "content_block_stop",
        "error",
        "message_stop",
    ]
    error = found[-2]["error"]
    assert (error["code"], error["type"]) == (429, "RATE_LIMIT")
    assert error["details"] == {"retry_after": 20}
    assert error["usage"]["input_tokens"] == 100


def test_a_failure_is_told_once_although_two_parties_report_it() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = JsonLines(out, err)
    error = RateLimited("busy")
    with view:
        view(STARTED)
        view(TurnFailed(error))
    view.failed(error)
    assert kinds(rows(out)) == ["message_start", "error", "message_stop"]
    assert err.getvalue() == "Error (RATE_LIMIT): busy\n"


def test_a_failure_before_the_turn_is_a_stream_too() -> None:
    out = io.StringIO()
    view = JsonLines(out, io.StringIO())
    view.failed(BadRequest("payload.json does not exist; check the path."))
    assert kinds(rows(out)) == ["message_start", "error", "message_stop"]
    assert rows(out)[1]["error"]["type"] == "BAD_REQUEST"


def test_a_failure_after_the_answer_does_not_end_the_stream_twice() -> None:
    out = io.StringIO()
    view = JsonLines(out, io.StringIO())
    with view:
        for event in planned():
            view(event)
    view.failed(AuthError("late"))
    assert kinds(rows(out)).count("message_stop") == 1
    assert kinds(rows(out))[-1] == "message_stop"


def test_an_interrupted_turn_ends_its_stream() -> None:
    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt), JsonLines(out, io.StringIO()) as view:
        view(STARTED)
        view(TextDelta("half"))
        raise KeyboardInterrupt
    assert kinds(rows(out))[-3:] == ["content_block_stop", "error", "message_stop"]
    assert rows(out)[-2]["error"]["type"] == "INTERRUPTED"


def test_every_line_is_out_before_the_next_event() -> None:
    class Counting(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed += 1

    out = Counting()
    view = JsonLines(out, io.StringIO())
    view(STARTED)
    view(Status("Planning"))
    assert (len(rows(out)), out.flushed) == (2, 2)


SOME_EVENTS = st.lists(
    st.one_of(
        st.text().map(TextDelta),
        st.just(TextEnded()),
        st.just(TextRestarted()),
        st.text().map(Status),
        st.text().map(Warned),
    )
)
ENDS = st.sampled_from([ended("x"), TurnFailed(AuthError("no")), None])


@given(SOME_EVENTS, ENDS)
def test_whatever_happens_there_is_one_beginning_and_one_end(
    events: list[Event], end: Event | None
) -> None:
    out = io.StringIO()
    view = JsonLines(out, io.StringIO())
    try:
        with view:
            for event in [STARTED, *events, *([end] if end else [])]:
                view(event)
            if end is None:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    found = kinds(rows(out))
    assert found[0] == "message_start"
    assert found[-1] == "message_stop"
    assert found.count("message_start") == found.count("message_stop") == 1
    assert found.count("content_block_start") == found.count("content_block_stop")

"""A log's failing step is named, and the lines that prove the cause are quoted as they stand."""

from __future__ import annotations

import json
import re
import sys

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from global_chat.offline.logs import explain
from global_chat.offline.scene import Scene
from global_chat.workflow.parts import Step

pytestmark = pytest.mark.unit

SCENE = Scene("", [Step("get-visits", "Get visits"), Step("save-visits", "Save visits")], [], [])
REFUSED = """\
[R/T] ♦ Starting step Get visits
[ADA] ⚠ GET https://a.example.org/visits - 503, trying again
[ADA] ℹ GET https://a.example.org/visits - 200 in 300ms
[R/T] ✔ Completed step Get visits in 0.5s
[R/T] ♦ Starting step Save visits
[ADA] ℹ POST https://b.example.org/visits - 422 in 120ms
[ADA] ❯ request body:
    { "value": "fever, refused feeding" }
[ADA] ❯ response body:
    { "errors": [ { "message": "visitDate: 31/12/2025 is not a date" } ] }
[R/T] ✘ AdaptorError: Request failed with status code 422
    at handle (/x/node_modules/@openfn/language-http_7.3.2/dist/index.cjs:4:1)
[R/T] ✘ Failed step Save visits after 611ms
[R/T] ✔ Run complete with status: fail
"""


def test_the_failing_step_is_named_with_what_the_service_said_and_not_what_was_sent() -> None:
    told = explain(REFUSED, SCENE) or ""
    assert told.splitlines()[0] == (
        "**Save visits** (`save-visits`) failed: visitDate: 31/12/2025 is not a date"
    )
    assert "503" not in told
    assert "refused feeding" not in told


def test_the_error_that_stands_after_the_failed_step_is_its_cause() -> None:
    log = "[R/T] ✘ Failed step Save visits after 0.1s\n[R/T] ✘ TypeError: h.head is not a function"
    assert (explain(log, SCENE) or "").startswith(
        "**Save visits** (`save-visits`) failed: TypeError: h.head is not a function"
    )


def test_json_lines_are_read_as_text_lines_are() -> None:
    rows = [
        {"level": "info", "message": ["Starting step Save visits"]},
        {"level": "error", "message": ["TypeError: rows is undefined"]},
        {"level": "error", "message": ["Failed step Save visits after 3ms"]},
    ]
    told = explain("\n".join(json.dumps(row) for row in rows), SCENE) or ""
    assert told.startswith("**Save visits** (`save-visits`) failed: TypeError: rows is undefined")


def test_a_log_without_lines_about_steps_still_tells_its_error() -> None:
    told = explain("connecting\nError: connect ECONNREFUSED 10.0.0.1:5432\n", SCENE) or ""
    assert told.startswith("The run failed: Error: connect ECONNREFUSED 10.0.0.1:5432")


@pytest.mark.parametrize(
    "log",
    [
        "[R/T] ✘ Error in step save-visits\n[R/T] ✘ TypeError: bad thing\n[R/T] ✘ at line 4:13",
        "[R/T] ✘ TypeError: bad thing\n[R/T] ✘ Check state.errors.save-visits for details",
        "[R/T] ♦ Starting step Save visits "
        + "[JOB] ℹ saved " * 300
        + "[R/T] ✘ TypeError: bad thing",
        "[JOB] ✘ Error: no cache\n[R/T] ✘ Failed step Save visits\n[R/T] ✘ TypeError: bad thing",
        '[{"level": "error", "message": [{"name": "TypeError", "message": "bad thing"}]}, '
        '{"level": "error", "message": "[\\"Failed step Save visits after 3ms\\"]"}]',
    ],
)
def test_the_runtimes_own_error_is_the_cause_however_it_is_written(log: str) -> None:
    told = explain(log, SCENE) or ""
    assert told.startswith("**Save visits** (`save-visits`) failed: TypeError: bad thing")


@pytest.mark.parametrize(
    "piece",
    ["Failed step x ", " ", "✘ TypeError: \n", "Starting step a\nFailed step a\n", '"message" '],
)
def test_twice_the_log_takes_twice_the_work(piece: str) -> None:
    def work(times: int) -> int:
        calls = 0

        def count(_: object, event: str, __: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            explain(piece * times, SCENE)
        finally:
            sys.setprofile(None)
        return calls

    assert work(2_000) < 2.5 * work(1_000)


def test_a_log_without_a_failure_is_not_made_to_have_one() -> None:
    log = "[R/T] ♦ Starting step Get visits\n[R/T] ✔ Completed step Get visits in 1s"
    assert "no failure" in (explain(log, SCENE) or "")
    assert explain("hello", SCENE) is None


@given(st.text(max_size=300) | st.lists(st.sampled_from(REFUSED.splitlines())).map("\n".join))
@settings(max_examples=100, deadline=None)
def test_every_line_that_is_quoted_is_a_line_of_the_log(text: str) -> None:
    assume("```" not in text)
    told = explain(text, SCENE) or ""
    blocks = re.findall(r"^```\n(.*?)\n```$", told, re.DOTALL | re.MULTILINE)
    assert told.count("```") == 2 * len(blocks)  # one for each run that failed
    for block in blocks:
        assert set(block.splitlines()) <= set(text.splitlines())

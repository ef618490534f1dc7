"""A log's failing step is named, and the lines that prove the cause are quoted as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.offline.language.mentions import Named
from global_chat.offline.language.saying import Voice
from global_chat.offline.logs.diagnosis import diagnose
from global_chat.offline.logs.lines import read_log
from global_chat.offline.logs.telling import failing_steps, tell
from global_chat.offline.request.outline import OutlineStep

pytestmark = pytest.mark.unit

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
STEPS: list[Named] = [
    OutlineStep("get-visits", "Get visits"),
    OutlineStep("save-visits", "Save visits"),
    OutlineStep("tell-team", "Tell team"),
]
REFUSED = """\
[R/T] ♦ Starting step Get visits
[ADA] ⚠ GET https://a.example.org/visits - 503, trying again
[ADA] ℹ GET https://a.example.org/visits - 200 in 300ms
[R/T] ✔ Completed step Get visits in 0.5s
[R/T] ♦ Starting step Save visits
[ADA] ✘ POST https://b.example.org/visits - 422 Unprocessable Entity
[ADA] ❯ response body:
    { "errors": [ { "message": "visitDate: '31/12/2025' is not a date" } ] }
[R/T] ✘ AdaptorError: Request failed with status code 422
    at handle (/x/node_modules/@openfn/language-http_7.3.2/dist/index.cjs:4:1)
[R/T] ✘ Failed step Save visits after 611ms
[R/T] ♦ Starting step Tell team
[R/T] ✔ Completed step Tell team in 0.1s
[R/T] ✔ Run complete with status: fail
"""


def test_the_step_that_failed_is_named_and_not_the_one_that_was_tried_again() -> None:
    found = diagnose(read_log(REFUSED))
    assert [d.step for d in found] == ["Save visits"]
    assert failing_steps(REFUSED, STEPS) == ["save-visits"]


def test_the_cause_is_what_the_other_system_said_and_not_that_it_said_no() -> None:
    found = diagnose(read_log(REFUSED))[0]
    assert found.error == "visitDate: '31/12/2025' is not a date"
    assert found.kind == "rejected"


def test_every_proving_line_is_a_line_of_the_log() -> None:
    found = diagnose(read_log(REFUSED))[0]
    assert set(found.proof) <= set(REFUSED.splitlines())
    assert "[R/T] ✘ Failed step Save visits after 611ms" in found.proof
    assert (
        '    { "errors": [ { "message": "visitDate: \'31/12/2025\' is not a date" } ] }'
        in found.proof
    )


def test_what_was_tried_again_is_told_to_be_harmless() -> None:
    assert "503, trying again" in diagnose(read_log(REFUSED))[0].harmless[0]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["[R/T] ✘ OOMError: Run exceeded maximum memory usage (512mb)"], "memory"),
        (["[R/T] ✘ TypeError: Cannot read properties of undefined (reading 'map')"], "undefined"),
        (["[ADA] ✘ GET https://a.example.org/x - 401 Unauthorized"], "credentials"),
        (["[ADA] ✘ GET https://a.example.org/x - 404 Not Found"], "not_found"),
        (["[ADA] ✘ GET https://a.example.org/x - 429 Too Many Requests"], "rate"),
        (["[ADA] ✘ GET https://a.example.org/x - ETIMEDOUT after 60000ms"], "server"),
        (["[ADA] ✘ POST https://a.example.org/x - 502 Bad Gateway"], "server"),
        (["[R/T] ✘ error: duplicate key value violates unique constraint"], "rejected"),
        (["[R/T] ✘ Error: no doses"], "code"),
    ],
)
def test_the_kind_of_failure_is_told_apart(lines: list[str], kind: str) -> None:
    log = ["[R/T] ♦ Starting step Get visits", *lines, "[R/T] ✘ Failed step Get visits after 3ms"]
    assert diagnose(read_log("\n".join(log)))[0].kind == kind


def test_two_failures_are_both_told() -> None:
    more = REFUSED.replace(
        "✔ Completed step Tell team in 0.1s", "✘ Failed step Tell team after 2ms"
    )
    told = tell(more, STEPS, Voice("why did two steps fail?"))
    assert told is not None
    assert "Save visits (`save-visits`)" in told
    assert "Tell team (`tell-team`)" in told


def test_the_step_that_was_asked_about_comes_first_and_alone() -> None:
    more = REFUSED.replace(
        "✔ Completed step Tell team in 0.1s", "✘ Failed step Tell team after 2ms"
    )
    told = tell(more, STEPS, Voice("why?"), only="tell-team")
    assert told is not None
    assert "save-visits" not in told


def test_a_log_without_a_failure_is_not_made_to_have_one() -> None:
    log = "[R/T] ♦ Starting step Get visits\n[R/T] ✔ Completed step Get visits in 1s"
    assert tell(log, STEPS, Voice("all good?")) is None


@pytest.mark.parametrize("name", sorted(path.name for path in LOGS.glob("*.log")))
def test_of_a_long_log_only_a_few_lines_are_quoted_and_all_are_its_own(name: str) -> None:
    text = (LOGS / name).read_text("utf-8")
    for found in diagnose(read_log(text)):
        assert 2 <= len(found.proof) <= 9
        assert set(found.proof) <= set(text.splitlines())


@given(st.text(max_size=300) | st.lists(st.sampled_from(REFUSED.splitlines())).map("\n".join))
@settings(max_examples=150)
def test_any_text_can_be_read_as_a_log(text: str) -> None:
    for found in diagnose(read_log(text)):
        assert set(found.proof) <= set(text.splitlines())

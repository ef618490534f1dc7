"""`--update` changes what was observed, and not one other character of a case file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from global_chat.disk.reading import number_of
from global_chat.replay.cases import Case, read_case
from global_chat.replay.compare import differences
from global_chat.replay.play import play_script
from global_chat.replay.update import Update, update_of, with_expectations
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import data_of
from global_chat.yaml.source import Source
from tests.replay_cases import CASE, SCRIPT, a_case

pytestmark = pytest.mark.unit


async def updated(case: Case) -> Update:
    found = update_of(await play_script(case))
    assert found is not None
    return found


async def test_a_case_that_is_met_needs_no_update(tmp_path: Path) -> None:
    case = a_case(tmp_path)
    assert update_of(await play_script(case)) is None


@pytest.mark.parametrize(
    ("old", "wrong"),
    [
        ("agents: [router, job_code_agent]", "agents: [router]"),
        ("agents: [router, job_code_agent]", "agents:\n    - router\n    # a comment below"),
        ("  says: Done", "  handover: job_code_agent\n  says: Done"),
        ("  says: Done", "  warnings: [never]\n\n  # what it says\n  says: Done"),
        ("  says: Done", "  error: REFUSED\n  says: Done"),
        ("    jobs.get.body: { contains: /z }", "    jobs.save.body:"),
        ("    jobs.get.body: { contains: /z }", "    jobs.get.body: get('/y');"),
        ("  changed:\n    jobs.get.body: { contains: /z }\n", ""),
    ],
)
async def test_an_update_makes_the_case_pass_and_keeps_all_other_lines(
    tmp_path: Path, old: str, wrong: str
) -> None:
    assert old in CASE
    case = a_case(tmp_path, case="# first\n" + CASE.replace(old, wrong) + "\n# last\n")
    update = await updated(case)
    assert update.left == ()
    assert {"# first", "# last", "  says: Done"} <= set(update.after.splitlines())
    assert update.after.split("expect:")[0] == update.before.split("expect:")[0]
    assert case.path is not None
    case.path.write_text(update.after, "utf-8")
    again = read_case(case.path)
    assert differences(await play_script(again)) == ()


async def test_an_expectation_in_braces_is_written_anew(tmp_path: Path) -> None:
    text = (
        CASE.split("expect:")[0]
        + "expect: { agents: [router], says: Done, never_says: [1.10] }\n# last\n"
    )
    case = a_case(tmp_path, case=text)
    update = await updated(case)
    assert case.path is not None
    case.path.write_text(update.after, "utf-8")
    again = read_case(case.path)
    assert differences(await play_script(again)) == ()
    assert update.after.endswith("# last\n")
    assert again.expect.never_says == ("1.10",)


@pytest.mark.parametrize("expect", ["expect: {}\n", ""])
async def test_expectations_can_begin_from_nothing(tmp_path: Path, expect: str) -> None:
    case = a_case(tmp_path, case=CASE.split("expect:")[0] + expect)
    update = await updated(case)
    assert case.path is not None
    case.path.write_text(update.after, "utf-8")
    again = read_case(case.path)
    assert differences(await play_script(again)) == ()


async def test_what_only_a_person_can_promise_is_left_and_told(tmp_path: Path) -> None:
    case = a_case(tmp_path, case=CASE.replace("says: Done", "says: Never"))
    update = await updated(case)
    assert update.after == update.before
    assert update.left == ("says: 'Never' is not in 'Done.'",)


async def test_a_turn_that_goes_elsewhere_is_followed(tmp_path: Path) -> None:
    script = SCRIPT.replace("edit_job", "edit_workflow") + "planner: [{ text: Done. }]\n"
    script = script.replace(
        "code_edits: [{ action: replace, old_code: /a, new_code: /z }]", "goal: x"
    )
    case = a_case(tmp_path, script=script)
    update = await updated(case)
    assert "handover: job_code_agent" in update.after
    assert "changed" not in update.after
    assert update.left == ()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(_VALUES)
@example("0E0")
@example(["1e5", "~", "null", "-0", "0o14", ".5", "+1"])
def test_whatever_is_written_reads_back(value: Any) -> None:
    root = read(with_expectations(CASE, {"says": value}))
    expected = value if value not in (None, [], {}) else None
    assert root["expect"].get("says") == expected
    before = read(CASE)
    assert {**root, "expect": None} == {**before, "expect": None}


def read(text: str) -> dict[str, Any]:
    root = compose(Source(text))
    assert root is not None
    found: dict[str, Any] = data_of(root, number_of)
    return found

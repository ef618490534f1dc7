"""What each agent is told in each mode: pinned whole, and true whatever texts go into it."""

from __future__ import annotations

import itertools
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from global_chat.agents.tools import JOB_TOOLS
from global_chat.agents.workflow_chat import schema
from global_chat.contract.attachments import Attachment, render
from global_chat.prompts import compose
from global_chat.prompts.compose import Mode, Part, PromptError, join

pytestmark = pytest.mark.unit

MODES: tuple[Mode, ...] = ("subagent", "direct")
ADAPTORS = "http 7.3.2\npostgresql 8.1.2"
EVIDENCE = render([Attachment("log", "R/T started\nError: no such table")])

#: Texts in which something that fills templates could find a field.
SIGNS = ("{", "}", "{{", "}}", "{{code}}", "{{problem}}", "{0.__class__}", "%s", "%(key)s", "${z}")
hostile = st.lists(st.one_of(st.sampled_from(SIGNS), st.text(max_size=8)), max_size=6).map("".join)


# --- the compositions, pinned


def test_the_router_is_told(snapshot: SnapshotAssertion) -> None:
    assert compose.router_system() == snapshot


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("adaptors", ["", ADAPTORS], ids=["no-adaptors", "adaptors"])
def test_the_workflow_agent_is_told(mode: Mode, adaptors: str, snapshot: SnapshotAssertion) -> None:
    assert compose.workflow_system(mode, adaptors) == snapshot


@pytest.mark.parametrize("mode", MODES)
def test_the_job_code_agent_is_told(mode: Mode, snapshot: SnapshotAssertion) -> None:
    assert compose.job_system(mode) == snapshot


def test_the_planner_is_told(snapshot: SnapshotAssertion) -> None:
    assert compose.planner_system() == snapshot


def test_what_is_particular_to_a_call(snapshot: SnapshotAssertion) -> None:
    assert {
        "workflow agent, everything": compose.workflow_context(
            "name: Visits\n", evidence=EVIDENCE, read_only=True, errors="- no trigger"
        ),
        "workflow agent, from scratch": compose.workflow_context(
            "", evidence="", read_only=False, errors=""
        ),
        "workflow agent, correction": compose.workflow_correction(["Two steps have one name."]),
        "job code agent, subagent": join(
            *compose.job_context(
                outline='workflow "Visits"',
                step="fetch (Fetch visits)",
                adaptor="@openfn/language-http@7.3.2",
                documentation="# Paging (handbook/http-paging)",
                code="get('/visits');\n",
                evidence=EVIDENCE,
            )
        ),
        "job code agent, direct": join(
            *compose.job_context(
                outline="", step="fetch", adaptor="", documentation="", code="", evidence=""
            )
        ),
        "job code agent, correction": compose.job_correction("The edit fits nowhere."),
        "planner, everything": compose.planner_context(
            "workflows/visits/fetch", 'workflow "Visits"', EVIDENCE, ("log",)
        ),
        "planner, after a handover": compose.planner_context(
            None, 'workflow "Visits"', "", (), "The filter is in another step."
        ),
        "planner, from scratch": compose.planner_context(None, "", "", ()),
    } == snapshot


# --- modes


GO_ELSEWHERE = ("Inspector", "workflow overview", "other page", "navigate", "open the step")
HANDING_OVER = ("handover", "hand over", "edit_workflow", "inspect_job_code", "workflow_structure")


@pytest.mark.parametrize("mode", MODES)
def test_only_direct_mode_sends_the_user_to_another_page(mode: Mode) -> None:
    for prompt in (compose.job_system(mode), compose.workflow_system(mode, ADAPTORS)):
        found = [words for words in GO_ELSEWHERE if words.lower() in prompt.lower()]
        assert bool(found) == (mode == "direct"), found


def test_direct_mode_knows_no_handover() -> None:
    told = [
        compose.job_system("direct"),
        compose.workflow_system("direct", ADAPTORS),
        str(JOB_TOOLS["direct"]),
        str(schema("direct")),
        *compose.job_context(
            outline="", step="fetch", adaptor="a", documentation="d", code="b", evidence=EVIDENCE
        ),
    ]
    for text, words in itertools.product(told, HANDING_OVER):
        assert words not in text.lower()


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_changes_only_its_own_part(mode: Mode) -> None:
    for agent, whole in (
        ("job", compose.job_system(mode)),
        ("workflow", compose.workflow_system(mode, "")),
    ):
        scope = {m: Part(f"{agent}_scope_{m}").fill() for m in MODES}
        other = next(m for m in MODES if m != mode)
        assert scope[mode] in whole
        assert scope[other] not in whole


def test_without_evidence_the_workflow_agent_reads_not_one_byte_more() -> None:
    draft = "name: Visits\njobs: {}\n"
    bare = compose.workflow_context(draft, evidence="", read_only=False, errors="")
    full = compose.workflow_context(draft, evidence=EVIDENCE, read_only=False, errors="")
    assert bare == f"<existing_workflow>\n{draft}\n</existing_workflow>"
    assert full.startswith(bare)
    assert full.endswith(EVIDENCE)


# --- strict holes


def test_every_part_is_used_by_exactly_one_name() -> None:
    in_folder = {
        f.name.removesuffix(".md") for f in (files(compose.__package__) / "parts").iterdir()
    }
    known = [part for value in vars(compose).values() for part in _parts(value)]
    assert sorted(part.name for part in known) == sorted(in_folder)


def _parts(value: object) -> list[Part]:
    values = value.values() if isinstance(value, dict) else [value]
    return [part for part in values if isinstance(part, Part)]


def test_a_part_with_a_hole_that_its_user_does_not_know_stops_the_start() -> None:
    with pytest.raises(PromptError, match=r"workflow_adaptors.*adaptors"):
        Part("workflow_adaptors")


def test_a_part_without_a_hole_that_its_user_knows_stops_the_start() -> None:
    with pytest.raises(PromptError, match=r"voice.*tone"):
        Part("voice", "tone")


@pytest.mark.parametrize("values", [{}, {"problem": "a", "extra": "b"}, {"problems": "a"}])
def test_a_missing_and_an_unused_value_are_errors(values: dict[str, str]) -> None:
    with pytest.raises(PromptError, match=r"job_correction.*problem"):
        Part("job_correction", "problem").fill(**values)


@settings(max_examples=60, deadline=None)
@given(hostile)
def test_whatever_fills_a_hole_travels_unchanged(text: str) -> None:
    if text:
        before, after = compose.workflow_system("subagent", "\0").split("\0")
        assert compose.workflow_system("subagent", text) == before + text + after


@settings(max_examples=60, deadline=None)
@given(hostile, hostile, hostile)
def test_texts_of_a_call_travel_unchanged(first: str, second: str, third: str) -> None:
    job = join(
        *compose.job_context(
            outline="o" + first,
            step=second,
            adaptor="a" + third,
            documentation="d" + first,
            code=first,
            evidence="e" + second,
        )
    )
    workflow = compose.workflow_context(
        "d" + first, evidence="e" + second, read_only=False, errors="x" + third
    )
    planner = compose.planner_context("p" + first, "o" + second, "e" + third, (), "f" + first)
    for text in ("o" + first, second, "a" + third, f"\n{first}\n", "e" + second):
        assert text in job
    for text in ("d" + first, "e" + second, "x" + third):
        assert text in workflow
    for text in ("p" + first, "o" + second, "e" + third, "f" + first):
        assert text in planner


def test_parts_are_joined_by_one_blank_line_and_empty_ones_leave_no_trace() -> None:
    assert join("one", "", "two", "") == "one\n\ntwo"
    assert join() == ""

"""Changes are told in the words of whoever draws workflows, one line a change."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_documents import JOBS, STEPS
from workflow_strategies import Drawn, documents

from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit


def told(old: str, new: str) -> list[str]:
    return list(Workflow.read(old).changes_to(Workflow.read(new)))


PING = "  ping:\n    name: Ping monitor\n    adaptor: '@openfn/language-http@7.3.2'\n"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("name: Clinic sync", "name: Clinics", "Workflow renamed from Clinic sync to Clinics"),
        ("name: Clean", "name: Tidy", "Renamed step Clean to Tidy"),
        ("triggers:", PING + "triggers:", "Added step Ping monitor (http)"),
        (
            "common@3.3.4",
            "common@latest",
            "Adaptor of Clean changed from common@3.3.4 to common@latest",
        ),
        ("get('/clinics');", "get('/a');\n      b();", "Code of Read changed (+2 −1)"),
        ("'0 5 * * *'", "0 7 * * 1", "Schedule changed from `0 5 * * *` to `0 7 * * 1`"),
        ("enabled: true\nedges", "enabled: false\nedges", "Trigger cron switched off"),
        ("type: on_job_success", "type: on_job_failure", "Path Clean → Store now runs on failure"),
        ("length > 0", "length > 9", "Path Read → Clean now runs if `state.data.length > 9`"),
        ("some clinics", "any", "Path Read → Clean is now labelled any"),
    ],
)
def test_each_change_is_one_line(old: str, new: str, line: str) -> None:
    assert told(JOBS, JOBS.replace(old, new, 1)) == [line]


def test_what_went_is_told_by_its_name_and_its_paths_go_without_saying() -> None:
    start, end = JOBS.index("  store:"), JOBS.index("triggers:")
    bare = JOBS[:start] + JOBS[end : JOBS.index("  clean->store")]
    assert told(JOBS, bare) == ["Removed step Store"]
    assert told(bare, JOBS) == [
        "Added step Store (postgresql)",
        "Code of Store changed (+1 −0)",
        "Added path Clean → Store (on success)",
    ]


def test_a_trigger_that_came_or_went_or_changed() -> None:
    start, end = JOBS.index("triggers:"), JOBS.index("edges:")
    bare = JOBS[:start] + JOBS[JOBS.index("edges:") :].replace("source_trigger: cron", "x: y")
    assert told(JOBS, JOBS[:start] + JOBS[end:])[0] == "Removed trigger cron"
    assert told(bare, JOBS)[0] == "Added trigger cron (cron `0 5 * * *`, on)"
    hook = JOBS.replace("type: cron\n    cron_expression: '0 5 * * *'", "type: webhook")
    assert told(JOBS, hook) == ["Trigger changed from cron to webhook"]


def test_a_renamed_step_is_known_by_its_id_or_its_code() -> None:
    renamed = JOBS.replace("  clean:", "  tidy:").replace("name: Clean", "name: Tidy")
    renamed = renamed.replace("job: clean", "job: tidy")
    assert told(JOBS, renamed) == ["Renamed step Clean to Tidy"]
    bare = [t.replace("    id: aa02\n", "") for t in (JOBS, renamed)]
    assert told(*bare) == ["Renamed step Clean to Tidy"]


def test_the_form_of_a_document_is_no_change() -> None:
    assert told(JOBS, STEPS) == []


def test_from_nothing_everything_is_new() -> None:
    lines = Workflow.read(None).changes_to(Workflow.read(JOBS))
    assert lines[0] == "Added step Read (http)"
    assert "Added path Read → Clean (if `state.data.length > 0`)" in lines


@given(documents())
@settings(max_examples=40, deadline=None)
def test_nothing_changed_is_nothing_told(drawn: Drawn) -> None:
    one = Workflow.read(drawn.text, drawn.page)
    assert one.changes_to(Workflow.read(drawn.text, drawn.page)) == ()


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
@settings(max_examples=100, deadline=None)
def test_lines_add_up(before: list[str], after: list[str]) -> None:
    added, removed = changed_lines("\n".join(before), "\n".join(after))
    assert len(before) - removed == len(after) - added >= 0

"""Comments, quotes, anchors, flow style and gaps of a document survive a structural edit."""

from __future__ import annotations

from typing import Any

import pytest
from global_chat.workflow.merging.merge import Merge
from workflow_documents import JOBS, edge, new_step, reply

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

SHARED = """\
name: Shared
x-http: &http
  adaptor: '@openfn/language-http@6.5.4'
  credential: demo
jobs:
  a:
    <<: *http
    name: A
    body: &noop |
      fn(s => s);
  b:
    <<: *http
    name: B
    body: *noop
  c: &c
    name: C
    adaptor: &common '@openfn/language-common@3.3.4'   # keep the anchor
    body: "x();"
  d:
    name: D
    adaptor: *common
    body: 'y();'
  e: *c
"""

FLOW = """\
{name: Flow, jobs: {a: {name: A, body: 'x();'}, b: {name: B, body: 'y();'}},
 triggers: {t: {type: webhook, enabled: true}},
 edges: {t->a: {source_trigger: t, target_job: a, condition_type: always, enabled: true},
         a->b: {source_job: a, target_job: b, condition_type: on_job_success, enabled: true}}}
"""

JSON = """\
{
  "name": "Json",
  "jobs": {
    "a": {"name": "A", "body": "x();"}
  },
  "triggers": {"t": {"type": "webhook", "enabled": true}},
  "edges": {
    "t->a": {"source_trigger": "t", "target_job": "a", "condition_type": "always"}
  }
}
"""


def merged(text: str, change: Any, request: str = "remove what I name: step a, step e") -> Merge:
    before = Workflow.read(text)
    return before.merge(reply(before, change), request=request, confirmed=True)


def step(text: str, key: str) -> Any:
    found = Workflow.read(text).find_step(key)
    assert found is not None
    return found


def test_a_value_under_an_anchor_changes_for_its_own_step_only() -> None:
    def newer(whole: dict[str, Any]) -> None:
        whole["jobs"]["d"]["adaptor"] = "@openfn/language-common@latest"

    text = merged(SHARED, newer).workflow.text
    assert text == SHARED.replace("adaptor: *common", "adaptor: '@openfn/language-common@latest'")


def test_an_anchor_moves_on_when_its_own_value_changes() -> None:
    def newer(whole: dict[str, Any]) -> None:
        whole["jobs"]["c"]["adaptor"] = "@openfn/language-common@latest"
        whole["jobs"]["e"]["adaptor"] = "@openfn/language-common@latest"
        del whole["jobs"]["e"]

    after = merged(SHARED, newer).workflow
    assert step(after.text, "c").adaptor == "@openfn/language-common@latest"
    assert step(after.text, "d").adaptor == "@openfn/language-common@3.3.4"
    assert "adaptor: &common '@openfn/language-common@3.3.4'\n" in after.text
    assert "# keep the anchor" in after.text


def test_a_merged_value_gets_a_key_of_its_own() -> None:
    def newer(whole: dict[str, Any]) -> None:
        whole["jobs"]["a"]["adaptor"] = "@openfn/language-http@latest"

    after = merged(SHARED, newer).workflow
    assert step(after.text, "a").adaptor == "@openfn/language-http@latest"
    assert step(after.text, "b").adaptor == "@openfn/language-http@6.5.4"
    assert after.text.count("<<: *http") == 2


@pytest.mark.parametrize("key", ["a", "e"])
def test_what_shares_more_than_a_word_is_refused_and_not_mangled(key: str) -> None:
    def change(whole: dict[str, Any]) -> None:
        if key == "a":
            del whole["jobs"]["a"]  # holds the anchor of b's code
        else:
            whole["jobs"]["e"]["name"] = "E"  # is c under another key

    with pytest.raises(InvalidWorkflow, match=r"line \d+"):
        merged(SHARED, change)


def test_an_alias_can_be_removed() -> None:
    def drop(whole: dict[str, Any]) -> None:
        del whole["jobs"]["e"]

    assert merged(SHARED, drop).workflow.text == SHARED.replace("  e: *c\n", "")


def test_flow_style_stays_flow_style() -> None:
    def change(whole: dict[str, Any]) -> None:
        whole["jobs"]["a"]["name"] = "Another, name"
        whole["jobs"] |= new_step("c", "C")
        whole["edges"] |= edge("b", "c")

    text = merged(FLOW, change).workflow.text
    assert text.startswith("{name: Flow, jobs: {a: {name: 'Another, name', body: 'x();'}, b: {")
    assert text.count("\n") == FLOW.count("\n")
    assert step(text, "c").name == "C"


def test_a_step_goes_from_flow_style() -> None:
    def drop(whole: dict[str, Any]) -> None:
        del whole["jobs"]["b"], whole["edges"]["a->b"]

    text = merged(FLOW, drop).workflow.text
    assert "b" not in Workflow.read(text).draft().split("jobs:")[1].split("triggers")[0].split()
    assert "jobs: {a: {name: A, body: 'x();'}}" in text


def test_json_stays_json() -> None:
    import json

    def change(whole: dict[str, Any]) -> None:
        whole["jobs"]["a"]["name"] = 'The "first"'
        whole["jobs"] |= new_step("b", "B")
        whole["edges"] |= edge("a", "b")

    data = json.loads(merged(JSON, change).workflow.text)
    assert data["jobs"]["a"] == {"name": 'The "first"', "body": "x();"}
    assert data["edges"]["a->b"]["target_job"] == "b"


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "triggers:\nedges:\n",
        "triggers: {}\nedges: {}\n",
        "triggers: null   # none\nedges: []\n",
    ],
)
def test_sections_that_are_not_there_are_begun(ending: str) -> None:
    before = "name: Bare\njobs:\n  a:\n    name: A\n    body: x\n" + ending

    def connect(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("b", "B")
        whole["triggers"] = {"hook": {"type": "webhook"}}
        ends = {"source_trigger": "hook", "target_job": "a", "condition_type": "always"}
        whole["edges"] = {"hook->a": ends, **edge("a", "b")}

    after = merged(before, connect).workflow
    assert [(e.source_trigger, e.source_step, e.target) for e in after.edges] == [
        ("hook", None, "a"),
        (None, "a", "b"),
    ]
    assert after.text.startswith("name: Bare\njobs:\n  a:\n    name: A\n    body: x\n  b:\n")
    assert "  hook:\n    type: webhook\n    enabled: false\n" in after.text


def test_the_last_path_leaves_an_empty_section() -> None:
    text = JOBS[: JOBS.index("  # nothing to clean")]

    def drop(whole: dict[str, Any]) -> None:
        del whole["edges"], whole["triggers"]

    after = merged(text, drop, "remove the trigger").workflow
    assert after.text == text[: text.index("triggers:")] + "triggers: {}\nedges: {}\n"


def test_a_null_step_becomes_one_with_keys() -> None:
    before = "name: N\njobs:\n  a:\n  b:\n    name: B\n"

    def change(whole: dict[str, Any]) -> None:
        whole["jobs"]["a"]["adaptor"] = "@openfn/language-http@latest"

    after = merged(before, change).workflow
    assert after.text == before.replace(
        "  a:\n", "  a:\n    adaptor: '@openfn/language-http@latest'\n"
    )


def test_indentation_and_gaps_are_those_of_the_neighbours() -> None:
    before = (
        'name: Wide\njobs:\n    a:\n        name: "A"\n        body: x\n\n\n'
        '    b:\n        name: "B"\n        body: |+\n            y\n\n# end\n'
    )

    def add(whole: dict[str, Any]) -> None:
        whole["jobs"] |= new_step("c", "C")

    after = merged(before, add).workflow
    new = (
        '    c:\n        name: C\n        adaptor: "@openfn/language-http@latest"\n'
        "        body: |\n            // Add operations here\n"
    )
    assert after.text == before.replace("# end", new + "# end")


def test_a_workflow_is_renamed_in_its_place() -> None:
    def rename(whole: dict[str, Any]) -> None:
        whole["name"] = "Clinics: every day"

    after = merged(JOBS, rename).workflow
    assert after.text == JOBS.replace("name: Clinic sync", "name: 'Clinics: every day'")
    assert merged(JOBS, lambda whole: whole.update(name="clinic-sync")).workflow.text == JOBS


def test_conditions_on_several_lines_stay_blocks() -> None:
    before = JOBS.replace(
        "condition_expression: state.data.length > 0",
        "condition_expression: |\n      state.data.length > 0",
    )

    def stricter(whole: dict[str, Any]) -> None:
        whole["edges"]["read->clean"]["condition_expression"] = "state.data.length > 9"

    after = merged(before, stricter).workflow
    assert after.text == before.replace("length > 0", "length > 9")


def test_markers_and_comments_around_parts_stay_where_they_belong() -> None:
    before = (
        "%YAML 1.2\n---\n# head\nname: Marked\njobs:\n  a:\n    name: A\n    body: x\n"
        "    # still about a\n  # about what follows\n\n  b:   # second\n    name: B\n...\n"
    )

    def add(whole: dict[str, Any]) -> None:
        first, second = whole["jobs"].items()
        whole["jobs"] = dict([first, *new_step("c", "C").items(), second])

    new = (
        "\n  c:\n    name: C\n    adaptor: '@openfn/language-http@latest'\n    body: |\n"
        "      // Add operations here\n"
    )
    after = merged(before, add).workflow
    assert after.text == before.replace("    # still about a\n", "    # still about a\n" + new)


def test_paths_that_point_at_nothing_are_left_alone() -> None:
    before = JOBS.replace("target_job: store", "target_job: gone")
    assert merged(before, lambda whole: None).workflow.text == before

    def rename(whole: dict[str, Any]) -> None:
        whole["jobs"]["read"]["name"] = "Get"
        del whole["edges"]["clean->store"]

    after = merged(before, rename).workflow
    assert after.text == before.replace("name: Read", "name: Get")

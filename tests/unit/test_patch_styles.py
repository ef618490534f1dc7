"""Comments, quotes, anchors, flow style, gaps and dialects of a document survive a patch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from workflow_documents import APP, CLI, FLOW, JOBS, PING, STEPS, edge, patched

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
LATEST = "@openfn/language-common@latest"


def after(text: str, yaml_text: str | None = None, *remove: str) -> str:
    return patched(Workflow.read(text), yaml_text, *remove).workflow.text


def step(text: str, key: str) -> Any:
    found = Workflow.read(text).find_step(key)
    assert found is not None
    return found


def test_a_value_under_an_anchor_changes_for_its_own_step_only() -> None:
    text = after(SHARED, f"jobs: {{d: {{adaptor: '{LATEST}'}}}}")
    assert text == SHARED.replace("adaptor: *common", f"adaptor: '{LATEST}'")


def test_an_anchor_moves_on_when_its_own_value_changes() -> None:
    text = after(SHARED, f"jobs: {{c: {{adaptor: '{LATEST}'}}}}", "jobs.e")
    assert step(text, "c").adaptor == LATEST
    assert step(text, "d").adaptor == "@openfn/language-common@3.3.4"
    assert "adaptor: &common '@openfn/language-common@3.3.4'\n" in text
    assert "# keep the anchor" in text


def test_a_merged_value_gets_a_key_of_its_own() -> None:
    text = after(SHARED, "jobs: {a: {adaptor: http@latest}}")
    assert step(text, "a").adaptor == "@openfn/language-http@latest"
    assert step(text, "b").adaptor == "@openfn/language-http@6.5.4"
    assert text.count("<<: *http") == 2


@pytest.mark.parametrize(
    ("yaml_text", "remove"),
    [
        (None, ["jobs.a"]),  # holds the anchor of b's code
        (None, ["jobs.c"]),  # is what e stands for
        ("jobs: {e: {name: E}}", []),  # is c under another key
        (f"jobs: {{c: {{adaptor: '{LATEST}'}}}}", []),  # would change e as well
    ],
)
def test_what_shares_more_than_a_word_is_refused_and_not_mangled(
    yaml_text: str | None, remove: list[str]
) -> None:
    with pytest.raises(InvalidWorkflow, match=r"line \d+|shares text"):
        after(SHARED, yaml_text, *remove)


def test_an_alias_can_be_removed() -> None:
    assert after(SHARED, None, "jobs.e") == SHARED.replace("  e: *c\n", "")


def test_flow_style_stays_flow_style() -> None:
    new = "jobs: {a: {name: Another one}, c: {name: C, adaptor: http}}\nedges:\n" + edge("b", "c")
    text = after(FLOW, new)
    assert text.startswith("{name: Flow, jobs: {a: {name: Another one, body: 'x();'}, b: {")
    assert text.count("\n") == FLOW.count("\n")
    assert step(text, "c").name == "C"
    gone = after(FLOW, None, "jobs.b")
    assert "jobs: {a: {name: A, body: 'x();'}}" in gone
    assert "a->b" not in gone


def test_json_stays_json() -> None:
    label = 'The "first"'
    given = {"ping": {"name": "Ping", "adaptor": "http"}}
    paths = {"a->ping": {"source_job": "a", "target_job": "ping", "condition_label": label}}
    data = json.loads(after(JSON, json.dumps({"name": label, "jobs": given, "edges": paths})))
    assert data["name"] == data["edges"]["a->ping"]["condition_label"] == label
    assert data["jobs"]["a"] == {"name": "A", "body": "x();"}


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
    lead = "  hook->a: {source_trigger: hook, target_job: a}\n"
    new = PING + "triggers: {hook: {type: webhook}}\nedges:\n" + lead + edge("a", "ping")
    text = after(before, new)
    assert [(e.source_trigger, e.source_step, e.target) for e in Workflow.read(text).edges] == [
        ("hook", None, "a"),
        (None, "a", "ping"),
    ]
    assert text.startswith("name: Bare\njobs:\n  a:\n    name: A\n    body: x\n  ping:\n")
    assert "  hook:\n    type: webhook\n    enabled: false\n" in text


def test_the_last_path_leaves_an_empty_section() -> None:
    text = JOBS[: JOBS.index("  # nothing to clean")]
    start = text[: text.index("triggers:")]
    assert after(text, None, "triggers.cron") == start + "triggers: {}\nedges: {}\n"


def test_a_null_step_becomes_one_with_keys() -> None:
    before = "name: N\njobs:\n  a:\n  b:\n    name: B\n"
    new = "  a:\n    adaptor: '@openfn/language-http@latest'\n"
    assert after(before, "jobs: {a: {adaptor: http}}") == before.replace("  a:\n", new)


def test_indentation_and_gaps_are_those_of_the_neighbours() -> None:
    before = (
        'name: Wide\njobs:\n    a:\n        name: "A"\n        body: x\n\n\n'
        '    b:\n        name: "B"\n        body: |+\n            y\n\n# end\n'
    )
    new = (
        '    ping:\n        name: Ping\n        adaptor: "@openfn/language-http@latest"\n'
        "        body: |\n            // Add operations here\n"
    )
    assert after(before, PING) == before.replace("# end", new + "# end")


def test_a_workflow_is_renamed_in_its_place() -> None:
    new = JOBS.replace("name: Clinic sync", "name: 'Clinics: every day'")
    assert after(JOBS, "name: 'Clinics: every day'") == new


def test_conditions_on_several_lines_stay_blocks() -> None:
    before = JOBS.replace(
        "condition_expression: state.data.length > 0",
        "condition_expression: |\n      state.data.length > 0",
    )
    text = after(before, "edges: {read->clean: {condition_expression: state.data.length > 9}}")
    assert text == before.replace("length > 0", "length > 9")


def test_markers_and_comments_around_parts_stay_where_they_belong() -> None:
    before = (
        "%YAML 1.2\n---\n# head\nname: Marked\njobs:\n  a:\n    name: A\n    body: x\n"
        "    # still about a\n  # about what follows\n\n  b:   # second\n    name: B\n...\n"
    )
    new = (
        "\n  ping:\n    name: Ping\n    adaptor: '@openfn/language-http@latest'\n    body: |\n"
        "      // Add operations here\n"
    )
    text = after(before, PING + "edges:\n" + edge("a", "ping"))
    paths = text[text.index("edges:") : text.index("...")]
    assert text.replace(paths, "") == before.replace("about a\n", "about a\n" + new)


def test_paths_that_point_at_nothing_are_left_alone() -> None:
    before = JOBS.replace("target_job: store", "target_job: gone")
    assert after(before, "jobs: {read: {name: Get}}") == before.replace("name: Read", "name: Get")
    mended = after(before, "edges: {clean->store: {target_job: store}}")
    assert mended == JOBS


BESIDE = """\
name: Beside
steps:
  - id: a
    expression: fn(s => s);
    next:
      b:
        condition: js_expression
        expression: state.data.ok  # who said so
  - id: b
    expression: fn(s => s);
"""


def test_an_expression_beside_its_condition_is_changed_where_it_stands() -> None:
    fine = after(BESIDE, "edges: {a->b: {condition_expression: state.data.fine}}")
    assert fine == BESIDE.replace("state.data.ok", "state.data.fine")
    always = after(BESIDE, "edges: {a->b: {condition_type: always}}")
    assert always.count("expression:") == BESIDE.count("expression:") - 1


STEP = "    name: Ping\n    adaptor: '@openfn/language-http@latest'\n"
BODY = "    expression: |\n      // Add operations here\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_stay(newline: str, bom: str) -> None:
    for text in (JOBS, STEPS, APP):
        before = bom + text.replace("\n", newline)
        new = after(before, PING + "edges:\n" + edge("store", "ping"))
        assert new.startswith(bom + "name" if text is JOBS else bom + "id")
        assert new.count("\n") == new.count(newline)
        assert after(text, None, "jobs.clean").replace("\n", newline) == after(
            before, None, "jobs.clean"
        ).removeprefix(bom)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (APP, "      ping:\n        condition: on_job_success\n"),
        (CLI, "      ping:\n        disabled: false\n        condition: on_job_success\n"),
        (STEPS, "      ping:\n        condition: on_job_success\n"),
    ],
)
def test_a_new_path_and_step_are_written_as_their_neighbours_are(document: str, path: str) -> None:
    text = after(document, PING + "edges:\n" + edge("store", "ping"))
    assert f"    next:\n{path}\n  - id: ping\n{STEP}" in text
    assert BODY in text


LISTED = """\
name: Listed
steps:
  - id: a
    adaptors:
      - '@openfn/language-http@6.5.4'
    expression: fn(s => s);
    next: b
  - id: b
    adaptors: ["@openfn/language-common@3.3.4"]
    expression: fn(s => s);
"""


def test_adaptors_in_lists_stay_lists() -> None:
    newer = "jobs: {a: {adaptor: http@7.3.2}, b: {adaptor: common@latest}}"
    wanted = LISTED.replace("6.5.4", "7.3.2").replace("3.3.4", "latest")
    assert after(LISTED, newer) == wanted
    added = after(LISTED, PING + "edges: {x: {source_job: b, target_job: ping}}")
    assert "    adaptors: ['@openfn/language-http@latest']\n" in added.replace('"', "'")


def test_words_lists_and_mappings_after_next_grow_into_each_other() -> None:
    failing = edge("a", "ping", condition_type="on_job_failure")
    two = after(LISTED, PING + "edges:\n" + failing)
    ways = {(e.source_step, e.target): e.condition_type for e in Workflow.read(two).edges}
    assert ways == {("a", "b"): "always", ("a", "ping"): "on_job_failure"}
    listed = LISTED.replace("next: b", "next:\n      - b")
    assert after(listed, None, "edges.a->b") == LISTED.replace("    next: b\n", "")
    assert "disabled: true" in after(listed, "edges: {a->b: {enabled: false}}")

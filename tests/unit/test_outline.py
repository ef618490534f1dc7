"""Outline and draft: what models see of a workflow; no code, ids or comments, from any place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.workflow.document import Workflow
from global_chat.workflow.drafting import Owner, placeholder, placeholder_owner
from tests.documents import Document, documents, loaded

pytestmark = pytest.mark.unit

FILES = sorted((Path(__file__).parents[2] / "fixtures/workflows").glob("*.yaml"))

HIDING_PLACES = """
# CANARY in a comment
id: CANARY-0
name: Hidden
x-code: &code |
  CANARY();
x-job: &job
  body: "CANARY(1)"
  credential: CANARY-credential
jobs:
  plain: {id: CANARY-1, name: Plain, body: 'CANARY', project_credential_id: CANARY}
  aliased: {name: Aliased, body: *code}
  merged: {<<: *job, name: Merged}
  nested: {name: Nested, body: {path: CANARY.js}, more: {deep: [CANARY, {body: CANARY}]}}
  listed: {name: Listed, body: [CANARY, CANARY]}
  other: {name: Other, expression: CANARY, notes: "CANARY\\nCANARY"}
triggers:
  kafka: {id: CANARY-2, type: kafka, kafka_configuration: {password: CANARY}, custom_path: visits}
edges:
  kafka->plain: {id: CANARY-3, source_trigger: kafka, target_job: plain, condition_type: always}
"""

PORTABLE_HIDING_PLACES = """
id: CANARY-0
name: Hidden
steps:
  - id: cron
    type: cron
    openfn: {uuid: CANARY-1, cron: 0 0 * * *}
    next: {load: {condition: always, openfn: {uuid: CANARY-2}}}
  - id: load
    expression: &x CANARY()
    body: CANARY
    state: {data: CANARY}
    configuration: CANARY-credential
    openfn: {uuid: CANARY-3}
  - {id: again, expression: *x}
"""


@pytest.mark.parametrize("text", [HIDING_PLACES, PORTABLE_HIDING_PLACES])
@pytest.mark.parametrize("project", [False, True])
def test_neither_code_nor_ids_nor_comments_get_out(text: str, project: bool) -> None:
    if project:
        inner = text.strip().replace("\n", "\n    ")
        text = f"workflows:\n  one:\n    {inner}\n  two: {{name: CANARY, jobs: {{}}}}\n"
    workflow = Workflow.read(text, "workflows/one")
    for shown in (workflow.outline(), workflow.draft()):
        assert "CANARY" not in shown
        assert "Hidden" in shown
        assert all(step.key in shown for step in workflow.steps)


def test_the_outline_says_which_steps_have_code() -> None:
    workflow = Workflow.read(
        "jobs:\n  a: {body: get()}\n  b: {body: '// Add operations here'}\n  c: {body: }\n  d:\n"
        "  e: {body: {path: ./e.js}}\n"
    )
    lines = workflow.outline().splitlines()
    assert ["[has code]" in line for line in lines] == [True, False, False, False, True]
    assert ["[empty]" in line for line in lines] == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("trigger", "shown"),
    [
        ("type: webhook, enabled: true, webhook_reply: before_start", "webhook, on"),
        ("type: webhook, webhook_reply: after_completion", "webhook, replies after_completion"),
        (
            "type: webhook, webhook_reply: after_completion, custom_path: 'a]b', enabled: false, "
            "webhook_response_config: {success_code: 201, error_code: null}",
            "webhook, replies after_completion, success_code 201, path a)b, off",
        ),
        (
            "type: cron, cron_expression: 0 8 * * *, cron_cursor_job: take, enabled: true",
            "cron 0 8 * * *, cursor take, on",
        ),
        ("type: cron, cron_cursor_job_id: '17'", "cron, cursor take"),
        ("type: cron, cron_cursor_job_id: 3f0c-an-id", "cron"),
        ("type: cron, webhook_reply: custom, custom_path: a", "cron"),
        (
            "type: kafka, kafka_configuration: {hosts: [h], topics: [a, b], password: CANARY}",
            "kafka, topics a b",
        ),
    ],
)
def test_settings_that_say_what_a_trigger_does_are_in_the_outline(trigger: str, shown: str) -> None:
    workflow = Workflow.read(
        f"name: W\njobs: {{take: {{id: '17', name: Take}}}}\ntriggers: {{t: {{{trigger}}}}}\n"
        "edges: {t->take: {source_trigger: t, target_job: take, condition_type: always}}"
    )
    assert f"trigger t [{shown}] -> take" in workflow.outline().splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_outline_names_every_part_and_shows_no_line_of_code(path: Path) -> None:
    text = path.read_bytes().decode()
    workflow = Workflow.read(text, "workflows/immunization-reminders")
    outline, draft = workflow.outline(), workflow.draft()
    for step in workflow.steps:
        assert step.key in outline and step.key in draft
        assert (step.adaptor or "") in outline and (step.adaptor or "") in draft
        lines = {line.strip() for line in (step.code or "").splitlines() if len(line.strip()) > 12}
        lines -= {(edge.condition_expression or "").strip() for edge in workflow.edges}
        assert not [line for line in lines if line in outline or line in draft]
        assert (step.id or "no id") not in outline + draft


def test_a_draft_is_the_exported_form_with_an_owner_in_every_hole() -> None:
    workflow = Workflow.read(PORTABLE_HIDING_PLACES)
    data = loaded(workflow.draft())
    assert list(data) == ["name", "jobs", "triggers", "edges"]
    assert data["jobs"]["load"] == {
        "id": "[id of job load]",
        "name": "load",
        "body": "[code of load]",
    }
    assert "id" not in data["jobs"]["again"]
    assert data["triggers"]["cron"]["id"] == "[id of trigger cron]"
    edge = data["edges"]["cron->load"]
    assert (edge["id"], edge["source_trigger"], edge["target_job"]) == (
        "[id of edge cron->load]",
        "cron",
        "load",
    )


@settings(max_examples=60, deadline=None)
@given(documents())
def test_a_draft_reads_back_as_the_same_structure(document: Document) -> None:
    workflow = Workflow.read(document.text, document.page)
    again = Workflow.read(workflow.draft())
    assert [(s.key, s.name, s.adaptor) for s in again.steps] == [
        (s.key, s.name, s.adaptor) for s in workflow.steps
    ]
    owners = [placeholder_owner(step.code or "") for step in again.steps]
    assert owners == [Owner("code", step.key) for step in workflow.steps]
    assert again.draft() == workflow.draft()


@given(st.sampled_from(("code", "job", "trigger", "edge")), st.text(max_size=8))
def test_a_placeholder_names_its_owner_whatever_the_key(kind: str, key: str) -> None:
    assert placeholder_owner(f" {placeholder(kind, key)}\n") == (kind, key)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "get('/a');", "[code of x", "code of x]", "[has code]"])
def test_other_texts_are_no_placeholders(text: str) -> None:
    assert placeholder_owner(text) is None


@pytest.mark.parametrize(
    "name", ['a\n\nstep b "B" [has code]', "x\u2028y: z", "\x1b[31m", '"', "a\tb"]
)
def test_a_name_cannot_break_out_of_its_line(name: str) -> None:
    quoted = "".join(f"\\u{ord(c):04x}" for c in name)
    workflow = Workflow.read(f'name: W\njobs: {{"{quoted}": {{name: "{quoted}", body: x}}}}')
    assert workflow.steps[0].name == name
    assert len(workflow.outline().splitlines()) == 2
    assert Workflow.read(workflow.draft()).steps[0].name == name


def test_an_outline_is_a_fraction_of_its_document() -> None:
    path = next(path for path in FILES if path.stem == "national-hmis-hub")
    text = path.read_bytes().decode()
    assert len(Workflow.read(text).outline()) < len(text) / 5


def test_the_empty_workflow_has_nothing_to_show() -> None:
    assert Workflow.read(None).outline().strip() == ""

"""What the app would refuse is an error, what a person should look at a warning, with a place."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_documents import FORMS, JOBS, STEPS, workflow
from workflow_strategies import Drawn, documents

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.checking.part_rules import cron_problem
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Problem

pytestmark = pytest.mark.unit

CATALOGUE = {
    "@openfn/language-http": ("7.3.2", "7.2.0"),
    "@openfn/language-common": ("3.3.4",),
    "@openfn/language-postgresql": ("8.1.2",),
}


def problems(text: str, page: str | None = None) -> list[Problem]:
    return list(Workflow.read(text, page).check(CATALOGUE))


def only(text: str) -> Problem:
    (found,) = problems(text)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_good_workflow_has_no_problems(form: str) -> None:
    assert workflow(form).check(CATALOGUE) == ()


def test_an_empty_workflow_has_no_problems() -> None:
    assert Workflow.read("").check() == ()


@pytest.mark.parametrize(
    ("old", "new", "severity", "rule", "at", "suggestion"),
    [
        ("type: cron", "type: crom", "error", "trigger-type", "crom", "`cron`"),
        ("0 5 * * *", "0 25 * * *", "error", "cron-expression", "'0 25", "Five fields"),
        ("'0 5 * * *'", "0 5 * *", "error", "cron-expression", "0 5 * *", "Five fields"),
        ("target_job: store", "target_job: stor", "error", "edge-dangling", "stor\n", "`store`"),
        ("source_job: read", "source_job: raed", "error", "edge-dangling", "raed", "`read`"),
        ("    target_job: read\n", "", "error", "edge-target", "cron->read", None),
        ("    source_job: clean\n", "", "error", "edge-source", "clean->store", "source_job"),
        ("on_job_success", "on_succes", "error", "condition-type", "on_succes", "on_job_success"),
        ("type: always", "type: on_job_failure", "error", "condition-source", "on_job_f", "always"),
        (
            "type: js_expression",
            "type: always",
            "error",
            "condition-expression",
            "state.data.length",
            "js_",
        ),
        ("name: Clean", f"name: {'n' * 101}", "warning", "name-length", "nnn", None),
        ("name: Clean", "name: Vérifier l'état", "warning", "name-characters", "Vér", None),
        ("name: Clean", "name: Clean (all)", "warning", "name-characters", "Clean (all)", None),
        (
            "before_start",
            "before_strt",
            "warning",
            "webhook-reply",
            "before_strt",
            "`before_start`",
        ),
        ("before_start", "later", "warning", "webhook-reply", "later", "after_completion"),
        ("name: Store", "name: Clean", "error", "name-unique", "Clean\n    adaptor: '", "its own"),
        ("enabled: true\nedges", "enabled: 'true'\nedges", "error", "boolean", "'true'", None),
        ("x-owner", "owner", "warning", "unknown-key", "owner", None),
        ("condition_label", "lable", "warning", "unknown-key", "lable", None),
        ("cron_expression", "cron_expresion", "warning", "cron-expression", "cron:", "Five fields"),
        ("http@", "htpp@", "warning", "adaptor-unknown", "'@openfn/language-htpp", "-http?"),
        ("http@7.3.2", "http@9.0.0", "warning", "adaptor-version", "'@openfn", "7.3.2"),
        ("'@openfn/language-http@7.3.2'", "httq", "warning", "adaptor-format", "httq", "-http?"),
        ("get('/clinics');", "get('/clinics';", "warning", "code-syntax", ";\n\n  # trims", None),
        ("get('/clinics');", "import x from 'y';", "warning", "code-import", "import", None),
        ("type: cron\n", "type: webhook\n", "warning", "trigger-schedule", "'0 5", "Remove"),
    ],
)
def test_a_problem_has_a_place_and_says_what_to_do(
    old: str, new: str, severity: str, rule: str, at: str, suggestion: str | None
) -> None:
    assert old in JOBS
    changed = JOBS.replace(old, new, 1)
    above = changed[: changed.index(at)].splitlines()
    place = (len(above), len(above[-1]) + 1)
    consequences = {"flow-unreachable", "trigger-targets"}
    consequences |= {"unknown-key"} if rule == "cron-expression" else set()
    found = [p for p in problems(changed) if p.rule not in consequences]
    assert [(p.severity, p.rule, (p.line, p.column)) for p in found] == [(severity, rule, place)]
    assert (suggestion or "") in (found[0].suggestion or "")
    assert str(found[0]).startswith(f"line {place[0]}, column {place[1]}: ")


@pytest.mark.parametrize(
    "condition",
    ["state.data.action === 'import'", "state.require && state.process", "!state.eval || await_"],
)
def test_no_word_in_a_condition_is_a_problem(condition: str) -> None:
    """The app no longer refuses `import`, `require`, `process`, `await` and `eval` there."""
    assert problems(JOBS.replace("state.data.length > 0", condition)) == []


TODAY = """\
id: clinic-feed
name: clinic feed
schema_version: '4.0'
start: cron
history: []
steps:
  - id: cron
    name: cron
    enabled: true
    type: cron
    cron_expression: '0 6 * * *'
    cron_cursor: take
    pos: {x: 1, y: 2}
    next:
      take:
        condition: always
  - id: take
    name: take
    adaptor: '@openfn/language-http@7.3.2'
    pos: {x: 1, y: 2}
    expression: |
      get('/visits');
"""
WEBHOOK = "type: webhook\n    webhook_reply: after_completion\n    custom_path: visits"
WEBHOOK += "\n    webhook_response_config: {success_code: 201, error_code: 500}"
KAFKA = "type: kafka\n    hosts: ['a:9092']\n    topics: [b]\n    connect_timeout: 30"
KAFKA += "\n    initial_offset_reset_policy: earliest\n    ssl: true\n    sasl: plain"
CRON = "type: cron\n    cron_expression: '0 6 * * *'\n    cron_cursor: take"


@pytest.mark.parametrize(
    "trigger",
    [
        CRON,
        CRON.replace("cron_cursor", "cron_cursor_job"),
        CRON.replace("cron_cursor", "cron_cursor_job_id"),
        CRON.replace("take", "3f0c7c10-1111-4222-8333-000000000001").replace("sor:", "sor_job_id:"),
        "type: cron\n    openfn: {cron: 0 6 * * *, cron_cursor: take}",
        WEBHOOK,
        KAFKA,
        "type: kafka\n    openfn: {kafka: {hosts: [a], topics: [b]}}",
        "type: kafka\n    kafka_configuration: {hosts: [a], topics: [b]}",
    ],
)
def test_what_the_app_and_its_command_line_write_today_is_known(trigger: str) -> None:
    assert problems(TODAY.replace(CRON, trigger)) == []


def test_positions_in_the_export_are_known() -> None:
    text = JOBS.replace("    name: Clean", "    pos: {x: 1, y: 2}\n    name: Clean")
    assert problems(text.replace("    type: cron", "    pos: {x: 1, y: 2}\n    type: cron")) == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "severity", "at"),
    [
        ("start: cron", "start: corn", "start-dangling", "error", "corn"),
        ("start: cron", "start: tak", "start-dangling", "error", "tak"),
        ("cursor: take", "cursor: tak", "cursor-dangling", "warning", "tak\n"),
        ("cursor: take", "cursor_job: cron", "cursor-dangling", "warning", "cron\n    pos"),
        ("cron_cursor: take", "openfn: {cron_cursor: tak}", "cursor-dangling", "warning", "tak}"),
    ],
)
def test_a_reference_to_what_does_not_exist_is_named(
    old: str, new: str, rule: str, severity: str, at: str
) -> None:
    text = TODAY.replace(old, new)
    above = text[: text.index(at)].splitlines()
    found = only(text)
    assert (found.rule, found.severity) == (rule, severity)
    assert (found.line, found.column) == (len(above), len(above[-1]) + 1)


def test_a_dangling_cursor_of_the_export_is_named_and_start_may_name_a_step() -> None:
    text = JOBS.replace("webhook_reply: before_start", "cron_cursor_job: raed")
    assert (only(text).rule, only(text).suggestion) == ("cursor-dangling", "Did you mean `read`?")
    assert problems(TODAY.replace("start: cron", "start: take")) == []


def test_an_unknown_key_is_named_in_plain_words() -> None:
    assert only(JOBS.replace("x-owner", "owner")).message == "`owner` is not a known key of a step."
    edge = only(JOBS.replace("condition_label", "lable"))
    assert edge.message == "`lable` is not a known key of a path."


def test_versions_that_the_catalogue_cannot_know_are_believed() -> None:
    for version in ("latest", "next", "6.5.4", "7.2.0"):
        assert problems(JOBS.replace("http@7.3.2", f"http@{version}")) == []
    assert [p.rule for p in problems(JOBS.replace("http@7.3.2", "http"))] == ["adaptor-format"]


def test_two_targets_of_a_trigger_are_named() -> None:
    found = only(
        JOBS.replace("    source_job: clean", "    source_trigger: cron").replace(
            "condition_type: on_job_success", "condition_type: always"
        )
    )
    assert (found.severity, found.rule, found.line) == ("error", "trigger-targets", 29)
    assert "`read`, `store`" in found.message


def test_a_circle_is_an_error_that_names_its_steps() -> None:
    back = "  store->clean:\n    source_job: store\n    target_job: clean\n"
    found = only(JOBS + back + "    condition_type: always\n")
    assert (found.severity, found.rule) == ("error", "flow-circle")
    assert "Clean → Store → Clean" in found.message


def test_a_step_that_nothing_leads_to_is_a_warning() -> None:
    found = only(JOBS[: JOBS.index("  clean->store")])
    assert (found.severity, found.rule, found.line) == ("warning", "flow-unreachable", 21)


def test_a_path_drawn_twice_is_a_warning() -> None:
    again = JOBS[JOBS.index("  clean->store") :].replace("clean->store", "again")
    assert [p.rule for p in problems(JOBS + again)] == ["edge-double"]


def test_the_portability_form_has_its_own_keys_and_places() -> None:
    assert only(STEPS.replace("label:", "lable:")).suggestion == "Did you mean `label`?"
    found = problems(STEPS.replace("next: read", "next: raed"))[0]
    assert (found.rule, found.suggestion) == ("edge-dangling", "Did you mean `read`?")
    assert only(STEPS.replace("cron: '0 5 * * *'", "cron: 5 * *")).rule == "cron-expression"
    wrong = only(STEPS.replace("get('/clinics');", "get("))
    assert (wrong.rule, wrong.line, wrong.column) == ("code-syntax", 21, 10)


def test_code_in_quotes_is_placed_at_its_body() -> None:
    text = JOBS.replace("|-\n      fn(state => state);", '"x(;"')
    found = only(text)
    line = text[: text.index('"x(;"')].count("\n") + 1
    assert (found.rule, found.line, found.column) == ("code-syntax", line, 11)


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("0 8 * * *", None),
        ("*/15 8-17 * * MON-FRI", None),
        ("0 0 1 1 *", None),
        ("60 8 * * *", "bad minute"),
        ("", "it has 0 fields"),
        ("@daily", "it has 1 field"),
        ("0 0 8 * * *", "it has 6 fields"),
        ("0 0 31 2 *", "bad day"),
    ],
)
def test_a_schedule_has_five_fields_that_make_sense(expression: str, wrong: str | None) -> None:
    found = cron_problem(expression)
    assert found is None if wrong is None else wrong in str(found)


@given(documents())
@settings(max_examples=60, deadline=None)
def test_generated_workflows_have_no_errors(drawn: Drawn) -> None:
    found = Workflow.read(drawn.text, drawn.page).check()
    assert [p for p in found if p.severity == "error"] == []


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_code_is_checked_and_placed_inside_the_document(code: str) -> None:
    before = Workflow.read("name: C\njobs:\n  a:\n    name: A\n    body: |\n      x();\n")
    try:
        after = before.with_code("a", code)
    except InvalidWorkflow:
        return
    for problem in after.check():
        assert 1 <= (problem.line or 0) <= after.text.count("\n") + 2


def test_reading_a_document_loads_no_javascript_grammar() -> None:
    script = (
        "import sys; from global_chat.workflow.document import Workflow;"
        "Workflow.read('name: A\\njobs: {}\\n').check();"
        "sys.exit('tree_sitter' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

"""What a trigger holds besides its schedule: one name for each setting, whatever the form."""

from __future__ import annotations

import math

import pytest

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Trigger
from global_chat.yaml.nodes import Value

pytestmark = pytest.mark.unit

JOBS = """\
name: W
jobs:
  take: {{id: '17', name: Take, adaptor: '@openfn/language-common@latest', body: fn()}}
triggers:
  t:
    id: t1
    type: {type}
    enabled: true
    webhook_auth_methods: [basic]
    comment: for the clinic
    pos: {{x: 1, y: 2}}
    {settings}
edges: {{}}
"""
STEPS = """\
name: W
start: t
steps:
  - id: t
    type: {type}
    enabled: true
    {settings}
    next: take
  - {{id: take, name: Take, adaptor: '@openfn/language-common@latest', openfn: {{uuid: '17'}}}}
"""
FORMS = {
    "export": (JOBS, "{0}"),
    "openfn block": (STEPS, "openfn: {{uuid: t1, cron: 0 6 * * *, {0}}}"),
    "on the trigger": (STEPS, "{0}"),
}


def _settings(form: str, text: str, type_: str = "webhook") -> dict[str, Value]:
    document, holder = FORMS[form]
    if holder != "{0}":
        text = holder.format(text.replace("\n    ", ", "))
    workflow = Workflow.read(document.format(type=type_, settings=text))
    return dict(workflow.triggers[0].settings)


@pytest.mark.parametrize("form", FORMS)
def test_settings_of_a_webhook_are_read_in_every_form(form: str) -> None:
    text = "webhook_reply: after_completion\n    custom_path: visits\n    "
    text += "webhook_response_config: {success_code: 201, error_code: '500'}"
    assert _settings(form, text) == {
        "webhook_reply": "after_completion",
        "custom_path": "visits",
        "webhook_response_config": {"success_code": 201, "error_code": "500"},
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["cron_cursor", "cron_cursor_job", "cron_cursor_job_id"])
@pytest.mark.parametrize("step", ["take", "'17'"])
def test_a_cursor_has_one_name_and_is_the_key_of_a_step(form: str, name: str, step: str) -> None:
    assert _settings(form, f"{name}: {step}", "cron") == {"cron_cursor_job": "take"}


def test_a_cursor_is_the_text_that_stands_there() -> None:
    assert _settings("export", "cron_cursor_job: 0123", "cron") == {"cron_cursor_job": "0123"}


FIELDS = "hosts: ['localhost:9092'], topics: [visits], connect_timeout: 30, ssl: true, sasl: plain"
SECRETS = "username: ana, password: hunter2, my_api_key: k, access_token: t, client_secret: s"
OPEN = {
    "hosts": ["localhost:9092"],
    "topics": ["visits"],
    "connect_timeout": 30,
    "ssl": True,
    "sasl": "plain",
}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("export", f"kafka_configuration: {{{FIELDS}, {SECRETS}}}"),
        ("openfn block", f"kafka: {{{FIELDS}, {SECRETS}}}"),
        ("on the trigger", f"kafka: {{{FIELDS}, {SECRETS}}}"),
        (
            "on the trigger",
            "hosts: ['localhost:9092']\n    topics: [visits]\n    connect_timeout: 30\n    "
            "ssl: true\n    sasl: plain\n    username: ana\n    password: hunter2",
        ),
    ],
)
def test_kafka_settings_are_one_mapping_without_what_is_secret(form: str, text: str) -> None:
    assert _settings(form, text, "kafka") == {"kafka_configuration": OPEN}


def test_user_and_password_in_place_of_a_mechanism_are_secret() -> None:
    text = "kafka_configuration: {topics: [a], sasl: [plain, ana, hunter2]}"
    assert _settings("export", text, "kafka") == {"kafka_configuration": {"topics": ["a"]}}


def test_what_is_no_setting_and_what_is_null_is_left_out() -> None:
    assert _settings("export", "webhook_reply: null\n    x-note: keep") == {}


def test_triggers_with_settings_can_be_in_a_set() -> None:
    assert len({Trigger("a", settings={"custom_path": ["x"]}), Trigger("b")}) == 2


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("true", True), ("False", False), ("201", 201), ("-7", -7), ("0o17", 15), ("0x1F", 31)),
        *(("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), (".inf", math.inf), ("-.inf", -math.inf)),
        *(("'201'", "201"), ('"true"', "true"), ("!!str 5", "5"), ("yes", "yes"), ("010", 10)),
        *(("1_000", "1_000"), ("0b1", "0b1"), ("2024-01-31", "2024-01-31"), ("1:30", "1:30")),
        *(("[1, null, {a: ~}]", [1, None, {"a": None}]), ("9" * 5000, "9" * 5000)),
    ],
)
def test_values_are_what_yaml_1_2_says(written: str, value: Value) -> None:
    read = _settings("export", f"custom_path: {written}")["custom_path"]
    assert (read, type(read)) == (value, type(value))


def test_aliases_and_merged_settings_are_followed() -> None:
    text = "custom_path: &path a\n    kafka_configuration: {<<: {topics: [*path]}, ssl: false}"
    kafka: dict[str, Value] = {"ssl": False, "topics": ["a"]}
    expected: dict[str, Value] = {"custom_path": "a", "kafka_configuration": kafka}
    assert _settings("export", text) == expected


def test_a_setting_that_holds_itself_is_refused() -> None:
    with pytest.raises(InvalidWorkflow, match="inside its own anchor"):
        _settings("export", "custom_path: &a [*a]")


def test_a_workflow_knows_where_it_starts() -> None:
    assert Workflow.read(STEPS.format(type="cron", settings="")).start == "t"
    assert Workflow.read(JOBS.format(type="cron", settings="")).start is None

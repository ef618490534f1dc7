"""Changes are told in the words of whoever draws workflows, one line a change."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from workflow_documents import JOBS, STEPS
from workflow_strategies import Drawn, documents

from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from tests.documents import loaded

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
        ("some clinics", "any", "Label of path Read → Clean changed from some clinics to any"),
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
        "Credential of Store set to warehouse",
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


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("clinic-api", "other", ["Credential of Read changed from clinic-api to other"]),
        ("    credential: clinic-api\n", "", ["Credential of Read removed"]),
        (
            "credential: clinic-api",
            "project_credential_id: 3f0c",
            ["Credential of Read removed", "Credential of Read set"],
        ),
        (
            "credential: clinic-api",
            "credential: {url: https://x, password: hunter2}",
            [
                "Credential of Read removed",
                "`credential.url` of Read set",
                "`credential.password` of Read set",
            ],
        ),
        ("x-owner: data", "x-owner: ops", ["`x-owner` of Clean changed from data to ops"]),
        (
            "x-owner: data",
            "enabled: false",
            ["`x-owner` of Clean removed", "Step Clean switched off"],
        ),
        (
            "x-owner: data",
            "keychain_credential: per-clinic\n    globals: ./g.js",
            [
                "`x-owner` of Clean removed",
                "Keychain credential of Clean set to per-clinic",
                "`globals` of Clean set to ./g.js",
            ],
        ),
        (
            "before_start",
            "after_completion",
            ["Reply mode of trigger cron changed from before_start to after_completion"],
        ),
        (
            "webhook_reply: before_start",
            "webhook_reply: before_start\n    webhook_response_config: {success_code: 201}\n"
            "    cron_cursor_job: clean",
            [
                "Cursor of trigger cron set to Clean",
                "`webhook_response_config.success_code` of trigger cron set to 201",
            ],
        ),
        (
            "webhook_reply: before_start",
            "webhook_reply: before_start\n    kafka_configuration:\n      topics: [a, b]\n"
            "      password: hunter2",
            ["Kafka topics of trigger cron set to a, b", "Kafka password of trigger cron set"],
        ),
        (
            "name: Clinic sync",
            "name: Clinic sync\nconcurrency: 1\nenable_job_logs: false\noptions: {timeout: 60}",
            [
                "`concurrency` of the workflow set to 1",
                "`enable_job_logs` of the workflow set to false",
                "`options.timeout` of the workflow set to 60",
            ],
        ),
        ("    condition_label: some clinics\n", "", ["Label of path Read → Clean removed"]),
        ("    cron_expression: '0 5 * * *'", "", ["Schedule removed"]),
        ("name: Clinic sync\n", "", ["Name of the workflow removed"]),
        (
            "enabled: true\n  # n",
            "enabled: true\n    x-y: 1\n  # n",
            ["`x-y` of path cron → Read set to 1"],
        ),
        ("get('/clinics');\n", "get('/clinics');", []),
    ],
)
def test_every_change_in_what_a_run_does_is_named(old: str, new: str, lines: list[str]) -> None:
    assert old in JOBS
    assert told(JOBS, JOBS.replace(old, new, 1)) == lines


def test_a_schedule_that_is_new_is_set() -> None:
    assert told(JOBS.replace("    cron_expression: '0 5 * * *'", ""), JOBS) == [
        "Schedule set to `0 5 * * *`"
    ]


def test_of_several_triggers_the_one_that_changed_is_named() -> None:
    two = JOBS.replace("edges:", "  night:\n    type: cron\n    cron_expression: 0 1 * * *\nedges:")
    assert told(two, two.replace("0 1 *", "0 2 *")) == [
        "Schedule of trigger night changed from `0 1 * * *` to `0 2 * * *`"
    ]
    assert told(
        two, two.replace("type: cron\n    cron_expression: 0 1 * * *", "type: webhook")
    ) == ["Trigger night changed from cron to webhook"]


@pytest.mark.parametrize("secret", ["password", "username", "ssl_secret", "access_token"])
def test_a_secret_is_told_by_its_name_only(secret: str) -> None:
    kafka = f"kafka_configuration: {{topics: [a], {secret}: hunter1}}"
    old = JOBS.replace("webhook_reply: before_start", kafka)
    (line,) = told(old, old.replace("hunter1", "hunter2"))
    assert line == f"Kafka {secret.replace('_', ' ')} of trigger cron changed"


def test_where_the_workflow_starts_and_continues_is_named_and_follows_a_rename() -> None:
    cursor = STEPS.replace("webhook_reply: before_start", "cron_cursor: read")
    assert told(STEPS, STEPS.replace("start: cron", "start: clean")) == [
        "Start of the workflow changed from cron to Clean"
    ]
    assert told(cursor, cursor.replace("cron_cursor: read", "cron_cursor: clean")) == [
        "Cursor of trigger cron changed from Read to Clean"
    ]
    renamed = cursor.replace("id: read", "id: take").replace("next: read", "next: take")
    renamed = renamed.replace("name: Read", "name: Take")
    assert told(cursor, renamed.replace("cursor: read", "cursor: take")) == [
        "Renamed step Read to Take"
    ]
    assert told(cursor, renamed) == [
        "Renamed step Read to Take",
        "Cursor of trigger cron changed from Read to read",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pos", "{x: 1, y: 2}"),
        ("position", "3"),
        ("id", "zz"),
        ("comment", "hi"),
        ("updated_at", "1"),
    ],
)
def test_layout_and_ids_are_no_change(key: str, value: str) -> None:
    bare = JOBS.replace("    id: aa02\n", "")
    assert told(bare, bare.replace("    name: Clean", f"    {key}: {value}\n    name: Clean")) == []


def test_an_edge_under_another_key_is_no_change() -> None:
    assert told(JOBS, JOBS.replace("  clean->store:", "  last:")) == []


def test_a_replaced_path_that_was_off_says_so() -> None:
    off = JOBS[: JOBS.rindex("enabled: true")] + "enabled: false\n"
    on = off.replace("source_job: clean", "source_job: read").replace(
        "enabled: false", "enabled: true"
    )
    assert told(off, on) == [
        "Added path Read → Store (on success)",
        "Removed path Clean → Store (switched off)",
    ]
    assert told(on, off) == [
        "Added path Clean → Store (on success, switched off)",
        "Removed path Read → Store",
    ]


def test_blanks_in_a_condition_count() -> None:
    old = JOBS.replace("state.data.length > 0", "state.a === 'b c'")
    assert told(old, old.replace("'b c'", "'b  c'")) == [
        "Path Read → Clean now runs if `state.a === 'b c'`"
    ]


#: Values of parts and of the workflow that no field of a part holds: whose, old, new.
_OTHERS = st.sampled_from(
    [
        (place, f"{key}: {old}", f"{key}: {new}")
        for place, key, old, new in [
            ("step", "keychain_credential", "a", "b"),
            ("step", "enabled", "true", "false"),
            ("step", "globals", "[a]", "[a, b]"),
            ("trigger", "webhook_reply", "before_start", "after_completion"),
            ("trigger", "webhook_response_config", "{success_code: 201}", "{success_code: '201'}"),
            ("trigger", "custom_path", "a", "b"),
            ("trigger", "kafka_configuration", "{password: a}", "{password: b}"),
            ("trigger", "kafka_configuration", "{topics: [a]}", "{topics: [1]}"),
            ("trigger", "cron_cursor", "a", "b"),
            ("workflow", "concurrency", "1", "null"),
            ("workflow", "enable_job_logs", "true", "false"),
            ("workflow", "options", "{timeout: {a: 1}}", "{timeout: {a: 2}}"),
        ]
    ]
)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of what a document says, but for ids of the app."""
    if isinstance(value, dict):
        pairs = [(k, v) for k, v in value.items() if k != "uuid" and not str(v).startswith("job-")]
        found = [leaf for k, v in pairs for leaf in _leaves(v, (*path, k))]
        return [leaf for leaf in found if leaf[-1] != "id" or "steps" in leaf]
    if isinstance(value, list):
        return [leaf for n, item in enumerate(value) for leaf in _leaves(item, (*path, n))]
    return [path]


@given(documents(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_change_of_any_one_value_is_told(drawn: Drawn, data: st.DataObject) -> None:
    whole = loaded(drawn.text)
    scope = whole["workflows"]["mine"] if drawn.page else whole
    leaf = data.draw(st.sampled_from(_leaves(scope)))
    assume(leaf != ("schema_version",))  # says how the file is written, not what a run does
    before = yaml.safe_dump(whole, sort_keys=False)
    holder = scope
    for key in leaf[:-1]:
        holder = holder[key]
    value = holder[leaf[-1]]
    holder[leaf[-1]] = not value if isinstance(value, bool) else f"{value or ''}x"
    after = yaml.safe_dump(whole, sort_keys=False)
    old, new = Workflow.read(before, drawn.page), Workflow.read(after, drawn.page)
    assert old.changes_to(new), f"nothing is told of {leaf}"
    assert new.changes_to(old), f"nothing is told of {leaf}, the other way round"


@given(documents(settings=False), _OTHERS)
@settings(max_examples=40, deadline=None)
def test_a_change_of_any_other_setting_is_told(drawn: Drawn, other: tuple[str, str, str]) -> None:
    place, was, now = other
    whole = loaded(drawn.text)
    scope = whole["workflows"]["mine"] if drawn.page else whole
    parts = {
        "workflow": [scope],
        "step": [p for p in scope.get("steps", ()) if "type" not in p]
        or [*scope.get("jobs", {}).values()],
        "trigger": [p for p in scope.get("steps", ()) if "type" in p]
        or [*scope.get("triggers", {}).values()],
    }[place]
    texts = []
    for value in (was, now):
        parts[0].update(yaml.safe_load(value))
        texts.append(yaml.safe_dump(whole, sort_keys=False))
    old, new = (Workflow.read(text, drawn.page) for text in texts)
    assert len(old.changes_to(new)) == len(new.changes_to(old)) == 1


@given(documents())
@settings(max_examples=25, deadline=None)
def test_nothing_changed_is_nothing_told(drawn: Drawn) -> None:
    one = Workflow.read(drawn.text, drawn.page)
    assert one.changes_to(Workflow.read(drawn.text, drawn.page)) == ()


def test_another_end_of_a_line_is_a_change_when_it_is_the_only_one() -> None:
    assert changed_lines("a\nb\n", "a\nb") == (1, 1)
    assert changed_lines("a\nb", "a\nb\nc\n") == (1, 0)
    old = JOBS.replace("body: |-", "body: |")
    assert told(old, JOBS) == ["Code of Clean changed (+1 −1)"]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
@settings(max_examples=100, deadline=None)
def test_lines_add_up(before: list[str], after: list[str]) -> None:
    added, removed = changed_lines("\n".join(before), "\n".join(after))
    assert len(before) - removed == len(after) - added >= 0

"""Faults seen in the program, by their kind: each has the case that was seen and siblings of it."""

from __future__ import annotations

import pytest
import yaml
from workflow_documents import APP, CLI, JOBS, STEPS, edge, joined, patched, path, rejected

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

KNOWN = {
    "@openfn/language-http": ["6.5.4", "7.3.2"],
    "@openfn/language-common": ["3.3.4"],
    "@openfn/language-dhis2": ["8.2.1"],
}
VISITS = """\
name: Visits
jobs:
  fetch:
    id: j1
    name: Fetch
    adaptor: '@openfn/language-http@7.3.2'
    body: |
      get('/visits');

  # owned by the data team
  load:
    id: j2
    name: Load
    adaptor: '@openfn/language-common@3.3.4'
    body: |
      fn(state => state);
triggers:
  webhook:
    id: t1
    type: webhook
    enabled: true
edges:
  webhook->fetch:
    id: e1
    source_trigger: webhook
    target_job: fetch
    condition_type: always
    enabled: true
  fetch->load:
    id: e2
    source_job: fetch
    target_job: load
    condition_type: on_job_success
    enabled: true
"""


def read(text: str) -> Workflow:
    return Workflow.read(text)


def listed(trigger: str, after_take: str = "") -> str:
    """The portability form: a trigger as given, and a step `take` that `after_take` may follow."""
    return (
        f"name: Inbound\nsteps:\n{trigger}\n  - id: take\n    name: Take\n"
        "    adaptors: ['@openfn/language-common@3.3.4']\n    expression: fn(state => state)\n"
        + (f"{after_take}\n  - id: hand\n    name: Hand\n" if after_take else "")
    )


HOOK = "  - id: webhook\n    type: webhook\n    enabled: true\n"


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        (VISITS, "webhook\n    enabled: true", "webhook\n    enabled: false"),
        (STEPS, "    enabled: true", "    enabled: false"),
        (APP, "    enabled: true", "    enabled: false"),
        (
            JOBS.replace("before_start\n    enabled: true", "before_start"),
            *["reply: before_start"] * 2,
        ),
        (
            STEPS.replace("    enabled: true\n", "").replace("uuid: bb01", "enabled: true"),
            *["enabled: true", "enabled: false"],
        ),
    ],
)
def test_s01_a_trigger_is_switched_whatever_words_asked_for_it(
    text: str, was: str, now: str
) -> None:
    key = read(text).triggers[0].key
    done = patched(read(text), f"triggers: {{{key}: {{enabled: false}}}}")
    assert done.changes == (f"Trigger {key} switched off",)
    assert done.workflow.triggers[0].enabled is False
    if was != now:
        assert done.workflow.text == text.replace(was, now, 1)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (VISITS, ("fetch", "load")),
        (STEPS, ("clean", "store")),
        (CLI, ("read", "clean")),
        (listed(HOOK + "    next: take", "    next: hand"), ("take", "hand")),
        (listed(HOOK + "    next: take", "    next:\n      - hand"), ("take", "hand")),
        (
            listed(HOOK + "    next: take", "    next:\n      hand: on_job_failure"),
            ("take", "hand"),
        ),
        (listed(HOOK + "    next: {take: {condition: always}}"), ("webhook", "take")),
    ],
)
def test_s02_a_path_is_switched_off_whatever_it_is_written_like(
    text: str, ends: tuple[str, str]
) -> None:
    before = read(text)
    key = "->".join(ends)
    done = patched(before, f"edges: {{{key}: {{enabled: false}}}}")
    assert [c for c in done.changes if not c.startswith("Path ") or "switched off" not in c] == []
    off = path(done.workflow, *ends)
    assert off.enabled is False
    assert off.condition_type == path(before, *ends).condition_type
    back = patched(done.workflow, f"edges: {{{key}: {{enabled: true}}}}").workflow
    assert path(back, *ends).enabled is True


@pytest.mark.parametrize(
    ("text", "name", "change"),
    [
        (VISITS, "jobs.load", "Removed step Load"),
        (VISITS, "triggers.webhook", "Removed trigger webhook"),
        (STEPS, "jobs.store", "Removed step Store"),
        (CLI, "jobs.read", "Removed step Read"),
        (APP, "edges.read->clean", "Removed path Read → Clean"),
    ],
)
def test_s03_what_is_listed_to_go_is_gone_after_one_reply(
    text: str, name: str, change: str
) -> None:
    done = patched(read(text), None, name)
    assert done.changes == (change,)
    key = name.partition(".")[2]
    parts = [*done.workflow.steps, *done.workflow.triggers, *done.workflow.edges]
    assert key not in [part.key for part in parts]
    assert not [p for p in done.workflow.check() if p.severity == "error"]


@pytest.mark.parametrize("text", [VISITS, listed(HOOK + "    next: take"), APP])
@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("webhook", {"webhook_reply": "after_completion"}),
        ("webhook", {"webhook_response_config": {"success_code": 201}, "custom_path": "visits/in"}),
        ("cron", {"cron_expression": "0 6 * * *", "cron_cursor_job": "STEP"}),
        ("kafka", {"kafka_configuration": {"hosts": ["a:1"], "topics": ["v"], "ssl": False}}),
    ],
)
def test_s04_settings_of_a_trigger_are_shown_and_written(
    text: str, type_: str, given: dict[str, object]
) -> None:
    before = read(text)
    key = before.triggers[0].key
    given = {k: before.steps[0].key if v == "STEP" else v for k, v in given.items()}
    reply = yaml.safe_dump({"triggers": {key: {"type": type_, **given}}})
    after = patched(before, reply).workflow
    (trigger,) = after.triggers
    shown = yaml.safe_load(after.draft())["triggers"][trigger.key]
    assert {k: shown[k] for k in given} == given
    name = next(iter(given))
    less = (
        patched(after, f"triggers: {{{trigger.key}: {{{name}: null}}}}", *[])
        if type_ != "cron"
        else None
    )
    assert less is None or name not in less.workflow.draft()


@pytest.mark.parametrize(
    "block",
    [
        "    openfn:\n      webhook_reply: before_start\n",
        "    openfn: {webhook_reply: before_start}\n",
        "    openfn:\n      webhook_reply: before_start   # at once\n      uuid: u1\n",
        "    openfn: {uuid: u1}\n",
        "    openfn: {}\n",
        "    openfn:\n",
        "",
    ],
)
def test_s05_a_schedule_goes_into_a_block_whatever_it_holds(block: str) -> None:
    before = read(listed(HOOK + block + "    next: take"))
    reply = "triggers: {webhook: {type: cron, cron_expression: 0 6 * * *}}"
    (trigger,) = patched(before, reply).workflow.triggers
    assert (trigger.type, trigger.cron_expression) == ("cron", "0 6 * * *")
    assert (trigger.key, trigger.id) == ("cron", before.triggers[0].id)
    assert not trigger.settings
    back = patched(patched(before, reply).workflow, "triggers: {cron: {type: webhook}}").workflow
    assert back.triggers[0].cron_expression is None


FEED = APP.replace("    webhook_reply: before_start", "    cron_cursor: read")
BY_NAME = """\
name: By name
start: take
steps:
  - id: cron
    type: cron
    enabled: true
    openfn: {cron: 0 6 * * *, cron_cursor: take}
    next: take
  - name: take
    expression: fn(state => state)
    next: {shape: on_job_success}
  - name: shape
    expression: fn(state => state)
"""
BY_ID = VISITS.replace(
    "type: webhook\n", "type: cron\n    cron_cursor_job_id: j1\n    cron_expression: 0 6 * * *\n"
)


def test_s06_references_follow_a_key_and_go_with_their_step() -> None:
    after = patched(read(BY_NAME), "jobs: {take: {name: pull}}").workflow
    assert after.text == BY_NAME.replace("take", "pull")
    for text, step in ((FEED, "read"), (BY_NAME, "take"), (BY_ID, "fetch")):
        gone = patched(read(text), None, f"jobs.{step}")
        assert "cursor" not in gone.workflow.text
        assert any("went on from the last state" in warning for warning in gone.warnings)
        assert gone.workflow.start != "take"
    moved = patched(read(BY_ID), "triggers: {webhook: {cron_cursor_job: load}}").workflow
    assert moved.text == BY_ID.replace("cursor_job_id: j1", "cursor_job_id: j2")
    hook = patched(read(FEED), "triggers: {cron: {type: webhook}}").workflow
    assert hook.start == hook.triggers[0].key == "webhook"
    assert "cursor" not in hook.text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            APP.replace(
                "type: cron\n    cron_expression: '0 5 * * *'   # before the office opens",
                "type: webhook",
            ),
            "    cron_expression: 0 7 * * 1-5\n",
        ),
        (
            CLI.replace("    cron_expression: '0 5 * * *'   # before the office opens\n", ""),
            "    cron_expression: 0 7 * * 1-5\n",
        ),
        (
            listed(HOOK + "    openfn: {uuid: u}\n    next: take"),
            "openfn: {uuid: u, cron: 0 7 * * 1-5}\n",
        ),
        (VISITS, "    cron_expression: 0 7 * * 1-5\n"),
    ],
)
def test_s07_a_schedule_is_written_as_the_document_writes_it(text: str, line: str) -> None:
    key = read(text).triggers[0].key
    reply = f"triggers: {{{key}: {{type: cron, cron_expression: 0 7 * * 1-5}}}}"
    done = patched(read(text), reply)
    assert line in done.workflow.text
    assert done.workflow.text.count("cron_expression" if text is not listed else "cron:") <= 1
    assert not any("None" in change for change in done.changes)


@pytest.mark.parametrize(
    ("text", "source"),
    [(CLI, "cron"), (APP, "cron"), (APP.replace("cron", "nightly"), "nightly")],
)
def test_s08_a_path_that_closes_a_gap_is_a_mapping_where_all_are(text: str, source: str) -> None:
    lead = f"edges: {{x: {{source_trigger: {source}, target_job: clean}}}}"
    after = patched(read(text), lead, "jobs.read").workflow
    (trigger, *steps) = yaml.safe_load(after.text)["steps"]
    assert trigger["next"]["clean"]["condition"] == "always"
    assert all(isinstance(step.get("next", {}), dict) for step in steps)
    wide = patched(read(text), "edges:\n" + edge("read", "store"), "jobs.clean").workflow
    assert yaml.safe_load(wide.text)["steps"][1]["next"]["store"]["condition"] == "on_job_success"


OFF = VISITS.removesuffix("enabled: true\n") + "enabled: false\n"
CHECK = "jobs: {check: {name: Check, adaptor: common}}\nedges:\n"
BETWEEN = CHECK + edge("fetch", "check") + edge("check", "load")


def test_s09_what_takes_the_place_of_a_path_that_is_off_is_off_too() -> None:
    done = patched(read(OFF), BETWEEN, "edges.fetch->load")
    assert path(done.workflow, "fetch", "check").enabled is False
    assert any("Fetch → Check" in c and "switched off" in c for c in done.changes)
    steps = patched(read(STEPS), "edges: {clean->store: {enabled: false}}").workflow
    around = patched(steps, "edges:\n" + edge("read", "store"), "jobs.clean").workflow
    assert path(around, "read", "store").enabled is False
    both = CHECK + edge("fetch", "check", enabled=True) + edge("check", "load", enabled=True)
    on = patched(read(OFF), both, "edges.fetch->load")
    assert path(on.workflow, "fetch", "check").enabled is True
    assert any("was switched off" in text for text in on.warnings)


def test_s09_what_takes_the_place_of_a_conditional_path_keeps_its_condition() -> None:
    before = read(VISITS.replace("on_job_success", "on_job_failure"))
    ends = (
        "  a: {source_job: fetch, target_job: check}\n  b: {source_job: check, target_job: load}\n"
    )
    after = patched(before, CHECK + ends, "edges.fetch->load").workflow
    assert path(after, "fetch", "check").condition_type == "on_job_failure"
    assert path(after, "check", "load").condition_type == "on_job_success"
    gone = patched(read(JOBS), "edges: {x: {source_job: read, target_job: store}}", "jobs.clean")
    kept = path(gone.workflow, "read", "store")
    assert kept.condition_expression == "state.data.length > 0"


@pytest.mark.parametrize(
    "expression",
    ["!state.error && state.data.n > 0", "!state.errors", "!!state.data", "!(state.a) || state.b"],
)
@pytest.mark.parametrize("flow", [False, True])
def test_s11_an_expression_that_begins_like_a_tag_is_written_whole(
    expression: str, flow: bool
) -> None:
    given = f"condition_type: js_expression\n    condition_expression: {expression}\n"
    if flow:
        given = "{" + given.strip().replace("\n    ", ", ") + "}\n"
    reply = "edges:\n  fetch->load:" + (f" {given}" if flow else f"\n    {given}")
    after = patched(read(VISITS), reply).workflow
    assert path(after, "fetch", "load").condition_expression == expression
    assert yaml.safe_load(after.text)["edges"]["fetch->load"]["condition_expression"] == expression


@pytest.mark.parametrize(
    "reply",
    [
        "jobs:\n  load:\n    name: Notify #2 & load\n",
        "edges:\n  fetch->load:\n    condition_expression: state.a === 'x #1'\n",
        "edges:\n  fetch->load:\n    condition_label: only # 2\n",
        "name: Visits #2\n",
    ],
)
def test_s11_text_that_a_comment_would_cut_off_gets_the_correction_round(reply: str) -> None:
    assert "comment" in rejected(read(VISITS), reply)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("common@3.3.4", None),
        ("http@7.3.2", "@openfn/language-http@7.3.2"),
        ("language-http@6.5.4", "@openfn/language-http@6.5.4"),
        ("dhis2", "@openfn/language-dhis2@8.2.1"),
        ("'@openfn/language-http'", "@openfn/language-http@7.3.2"),
        ("HTTP@latest", "@openfn/language-http@latest"),
    ],
)
def test_s12_an_adaptor_is_written_as_the_app_writes_it(given: str, written: str | None) -> None:
    done = patched(read(VISITS), f"jobs: {{load: {{adaptor: {given}}}}}", adaptors=KNOWN)
    wanted = VISITS.replace("'@openfn/language-common@3.3.4'", f"'{written}'")
    assert done.workflow.text == (wanted if written else VISITS)
    assert done.warnings == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("htpp@7.3.2", "Did you mean @openfn/language-http"),
        ("http@99.0.0", "no version 99.0.0"),
        ("'@openfn/language-salesforce@1.0.0'", "no adaptor @openfn/language-salesforce"),
        ("my http", "not an adaptor"),
    ],
)
def test_s12_an_unknown_adaptor_gets_one_correction_round(given: str, told: str) -> None:
    reply = f"jobs: {{load: {{adaptor: {given}}}}}"
    assert told in rejected(read(VISITS), reply, adaptors=KNOWN)
    if told != "not an adaptor":
        again = patched(read(VISITS), reply, adaptors=KNOWN, unknown_adaptors=True)
        assert told in again.warnings[0]
    old = read(VISITS.replace("common@3.3.4", "gone@1.0.0"))
    assert patched(old, "jobs: {load: {name: Put}}", adaptors=KNOWN).warnings == ()


@pytest.mark.parametrize(
    ("text", "reply", "told"),
    [
        (VISITS, BETWEEN, "Load is now reached twice from Fetch"),
        (
            JOBS,
            "edges:\n"
            + edge("clean", "x")
            + edge("x", "store")
            + "jobs: {x: {name: X, adaptor: http}}",
            "Store is now reached twice from Clean",
        ),
        (STEPS, "edges: {clean->store: {condition_type: always}}\n", ""),
        (
            VISITS,
            "edges:\n  webhook->fetch: {enabled: true}\n"
            + edge("fetch", "x", condition_type="on_job_failure")
            + edge("x", "load", condition_type="on_job_failure")
            + "jobs: {x: {name: X, adaptor: http}}",
            "",
        ),
        (OFF, BETWEEN, ""),
    ],
)
def test_s13_a_step_that_now_runs_twice_is_warned_about(text: str, reply: str, told: str) -> None:
    warnings = " ".join(patched(read(text), reply).warnings)
    assert told in warnings
    assert bool(told) == ("reached twice" in warnings)


ACCENTED = VISITS.replace("name: Fetch", "name: Récupérer")


@pytest.mark.parametrize(
    "name", ["Vérifier l'état", "取得", "Load (2)", "a/b", "x" * 101, "Load: all"]
)
def test_s14_a_name_that_the_app_does_not_take_gets_the_correction_round(name: str) -> None:
    for change in (
        f'jobs: {{load: {{name: "{name}"}}}}',
        f'jobs: {{new: {{name: "{name}", adaptor: http}}}}',
    ):
        assert name[:20] in rejected(read(VISITS), change)
    kept = patched(read(ACCENTED), "jobs: {load: {name: Put}, fetch: {name: Récupérer}}").workflow
    assert kept.text == ACCENTED.replace("name: Load", "name: Put")
    whole = read(ACCENTED).draft().replace("name: Load", "name: Put")
    assert patched(read(ACCENTED), whole).workflow.text == kept.text
    assert joined(kept) == joined(read(ACCENTED))

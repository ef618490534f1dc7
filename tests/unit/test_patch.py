"""A patch changes what it names and nothing else, in every form of a document."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from workflow_documents import (
    FORMS,
    JOBS,
    PING,
    codes,
    difference,
    edge,
    ids,
    joined,
    patched,
    path,
    rejected,
    reply,
    workflow,
)

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

every_form = pytest.mark.parametrize("form", FORMS)
#: For what is decided before anything is written.
some_forms = pytest.mark.parametrize("form", ["jobs", "steps", "app"])
ADD_PING = PING + "edges:\n" + edge("store", "ping")


@every_form
def test_the_draft_and_an_empty_patch_change_no_byte(form: str) -> None:
    before = workflow(form)
    for yaml_text in (before.draft(), None, "", "{}", "jobs:\ntriggers: {}\n"):
        done = patched(before, yaml_text)
        assert (done.workflow.text, done.changes, done.warnings) == (before.text, (), ())


@every_form
def test_another_schedule_is_one_line(form: str) -> None:
    before = workflow(form)
    done = patched(before, "triggers: {cron: {cron_expression: 0 7 * * 1}}")
    gone, came = difference(before.text, done.workflow.text)
    assert len(gone) == len(came) == 1
    assert came[0].endswith("'0 7 * * 1'   # before the office opens")
    assert done.changes == ("Schedule changed from `0 5 * * *` to `0 7 * * 1`",)


@some_forms
def test_blanks_in_a_schedule_are_no_change_but_digits_are(form: str) -> None:
    before = workflow(form)
    wider = patched(before, "triggers: {cron: {cron_expression: '0  5 * * * '}}").workflow
    assert wider.text == before.text
    eleven = patched(before, "triggers: {cron: {cron_expression: 1 12 * * *}}").workflow
    after = patched(eleven, "triggers: {cron: {cron_expression: 11 2 * * *}}").workflow
    assert after.triggers[0].cron_expression == "11 2 * * *"


@some_forms
@pytest.mark.parametrize("what", ["left out", "invented", "swapped"])
def test_ids_stay_whatever_a_whole_reply_does_to_them(form: str, what: str) -> None:
    before = workflow(form)

    def meddle(whole: dict[str, Any]) -> None:
        whole["triggers"]["cron"]["cron_expression"] = "0 7 * * 1"
        parts = [*whole["jobs"].values(), *whole["edges"].values(), whole["triggers"]["cron"]]
        for number, part in enumerate(parts):
            part.pop("id", None)
            if what == "invented":
                part["id"] = f"new-{number}"
        if what == "swapped":
            whole["jobs"]["read"]["id"], whole["jobs"]["store"]["id"] = "aa03", "aa01"

    after = patched(before, reply(before, meddle)).workflow
    assert len(difference(before.text, after.text)[0]) == 1
    assert (ids(after), codes(after)) == (ids(before), codes(before))


@every_form
def test_an_added_step_comes_with_its_path_and_touches_no_line(form: str) -> None:
    before = workflow(form)
    done = patched(before, ADD_PING.replace("{name", "{id: aa01, name"))
    gone, _ = difference(before.text.rstrip(), done.workflow.text.rstrip())
    assert [line for line in gone if line not in done.workflow.text] == []
    assert done.changes == ("Added step Ping (http)", "Added path Store → Ping (on success)")
    ping = done.workflow.find_step("ping")
    assert ping is not None
    assert not ping.has_code
    assert (ping.id is None) == (form in ("app", "cli"))
    assert ping.id != "aa01"
    assert codes(done.workflow) == {**codes(before), "ping": ping.code}


def test_a_new_part_has_an_id_only_where_its_kind_has_ids() -> None:
    bare = Workflow.read("\n".join(line for line in JOBS.splitlines() if "id:" not in line))
    assert "id:" not in patched(bare, ADD_PING.replace("{name", "{id: x, name")).workflow.text


@every_form
def test_keys_that_a_patch_cannot_set_survive_and_are_not_copied(form: str) -> None:
    before = workflow(form)
    done = patched(before, ADD_PING.replace("{name", "{credential: warehouse, name"))
    text = done.workflow.text
    assert "`credential` of the step ping" in done.warnings[0]
    for key in ("webhook_reply: before_start", "x-owner: data", "clinic-api", "warehouse"):
        assert text.count(key) == before.text.count(key)


@every_form
def test_another_display_name_keeps_the_key_and_is_one_line(form: str) -> None:
    before = workflow(form)
    done = patched(before, "jobs: {clean: {name: Tidy up}}")
    assert difference(before.text, done.workflow.text) == (["name: Clean"], ["name: Tidy up"])
    assert done.changes == ("Renamed step Clean to Tidy up",)


def test_a_step_that_has_only_a_name_takes_its_paths_along() -> None:
    text = """\
name: By name
start: hook
steps:
  - {id: hook, type: webhook, enabled: true, next: Take in}
  - name: Take in
    adaptor: '@openfn/language-http@7.3.2'
    next: {Hand on: on_job_success}
  - name: Hand on
    adaptor: '@openfn/language-common@3.3.4'
"""
    before = Workflow.read(text)
    after = patched(before, "jobs: {Take in: {name: Pull}}").workflow
    assert after.text == text.replace("Take in", "Pull")
    new = "jobs: {tell: {name: Tell them, adaptor: http}}\nedges:\n" + edge("Hand on", "tell")
    added = patched(before, new)
    assert joined(added.workflow) >= {("Hand on", "Tell them")}
    assert "id: tell" not in added.workflow.text


def test_a_key_in_another_encoding_of_its_characters_is_the_same_key() -> None:
    before = Workflow.read(JOBS.replace("read", "Récupérer_ça"))
    for key in ("Récupérer_ça", "Récupérer_ça"):
        after = patched(before, f"jobs: {{{key}: {{name: Get}}}}").workflow
        assert after.text == before.text.replace("name: Read", "name: Get")


@every_form
def test_a_renamed_workflow_can_still_be_edited(form: str) -> None:
    before = workflow(form)
    after = patched(before, "name: Ward sync").workflow
    assert after.text == before.text.replace("name: Clinic sync", "name: Ward sync")
    code = after.with_code("read", "get('/ward');\n").find_step("read")
    assert code and code.code == "get('/ward');\n"


@every_form
def test_code_in_a_patch_is_left_out_with_a_warning(form: str) -> None:
    before = workflow(form)
    smuggled = """\
jobs:
  read: {body: "get('/stolen');"}
  store: {body: '[code of stoer]'}
  clean: {body: [code of clean], name: Tidy}
  ping: {name: Ping, adaptor: http, body: "post('/ping');"}
"""
    done = patched(before, smuggled)
    after = codes(done.workflow)
    assert {key: after[key] for key in codes(before)} == codes(before)
    assert "/stolen" not in done.workflow.text
    assert "/ping" not in done.workflow.text
    assert sum("was left out" in warning for warning in done.warnings) == 2


@some_forms
def test_the_order_of_a_whole_reply_means_nothing(form: str) -> None:
    before = workflow(form)

    def shuffle(whole: dict[str, Any]) -> None:
        for section in ("jobs", "edges"):
            whole[section] = dict(reversed(whole[section].items()))

    assert patched(before, reply(before, shuffle)).workflow.text == before.text


@every_form
def test_a_removed_step_takes_its_paths_its_comment_and_nothing_else(form: str) -> None:
    before = workflow(form)
    done = patched(before, "edges:\n" + edge("read", "store"), "jobs.clean")
    text = done.workflow.text
    assert "clean" not in text.replace("nothing to clean", "").lower()
    assert "do not remove" not in text
    assert done.changes == ("Removed step Clean", "Added path Read → Store (on success)")
    assert joined(done.workflow) == {("cron", "read"), ("read", "store")}
    assert ids(done.workflow) == {k: v for k, v in ids(before).items() if k != "clean"}


@every_form
def test_a_removed_path_is_told_with_what_nothing_leads_to_any_more(form: str) -> None:
    done = patched(workflow(form), None, "edges.clean->store")
    assert done.changes == ("Removed path Clean → Store",)
    assert "Nothing leads to the step Store" in done.warnings[0]


@some_forms
def test_what_a_whole_reply_leaves_out_goes_only_when_it_says_so(form: str) -> None:
    before = workflow(form)

    def lose(whole: dict[str, Any]) -> None:
        del whole["jobs"]["store"], whole["edges"]["clean->store"]

    answer = reply(before, lose)
    assert "`jobs.store`" in rejected(before, answer)
    assert patched(before, answer, "jobs.store").changes == ("Removed step Store",)
    whole = patched(before, before.draft(), "steps.store").workflow
    assert whole.text == patched(before, None, "jobs.store").workflow.text


def test_a_whole_reply_and_its_short_form_give_the_same_bytes() -> None:
    for form in FORMS:
        before = workflow(form)

        def change(whole: dict[str, Any]) -> None:
            whole["triggers"]["cron"] |= {"type": "webhook", "enabled": False}
            whole["edges"]["read->clean"]["condition_expression"] = "state.ok"

        short = "triggers: {cron: {type: webhook, enabled: false}}\nedges: "
        short += "{read->clean: {condition_expression: state.ok}}"
        whole = patched(before, reply(before, change)).workflow
        assert whole.text == patched(before, short).workflow.text


@every_form
def test_a_step_in_between_leads_the_path_over(form: str) -> None:
    before = workflow(form)
    between = PING + "edges:\n" + edge("clean", "ping") + edge("ping", "store")
    done = patched(before, between, "edges.clean->store")
    ways = {("cron", "read"), ("read", "clean"), ("clean", "ping"), ("ping", "store")}
    assert joined(done.workflow) == ways
    assert path(done.workflow, "read", "clean") == path(before, "read", "clean")
    assert done.warnings == ()


@every_form
def test_a_path_that_is_led_elsewhere_keeps_its_id_and_condition(form: str) -> None:
    before = workflow(form)
    after = patched(before, "edges: {clean->store: {source_job: read}}").workflow
    assert path(after, "read", "store").condition_type == "on_job_success"
    assert path(after, "read", "store").id == path(before, "clean", "store").id
    assert ("clean", "store") not in joined(after)


@every_form
def test_a_condition_changes_in_its_place(form: str) -> None:
    before = workflow(form)
    more = "edges: {read->clean: {condition_expression: state.data.length > 10}}"
    gone, came = difference(before.text, patched(before, more).workflow.text)
    assert [line.split(": ")[1] for line in gone] == ["state.data.length > 0"]
    assert [line.split(": ")[1] for line in came] == ["state.data.length > 10"]


@every_form
def test_a_condition_that_is_no_expression_any_more_drops_it_and_its_label(form: str) -> None:
    before = workflow(form)
    after = patched(before, "edges: {read->clean: {condition_type: always}}").workflow
    changed = path(after, "read", "clean")
    assert (changed.condition_type, changed.condition_expression) == ("always", None)
    assert changed.condition_label is None
    assert "state.data.length" not in after.text


@every_form
def test_an_expression_alone_makes_a_path_conditional(form: str) -> None:
    before = workflow(form)
    given = 'condition_expression: "!state.errors && state.data", condition_label: "some: data"'
    after = patched(before, f"edges: {{clean->store: {{{given}}}}}").workflow
    changed = path(after, "clean", "store")
    assert changed.condition_type == "js_expression"
    assert changed.condition_expression == "!state.errors && state.data"
    assert changed.condition_label == "some: data"
    assert path(after, "read", "clean") == path(before, "read", "clean")


@every_form
def test_a_second_path_from_one_step_leaves_the_first(form: str) -> None:
    before = workflow(form)
    failing = [edge(key, "ping", condition_type="on_job_failure") for key in ("clean", "store")]
    after = patched(before, PING + "edges:\n" + "".join(failing)).workflow
    assert path(after, "clean", "ping").condition_type == "on_job_failure"
    assert path(after, "store", "ping").condition_type == "on_job_failure"
    assert path(after, "clean", "store") == path(before, "clean", "store")


@some_forms
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"source_job": "nowhere"}, "`nowhere`"),
        ({"target_job": "nowhere"}, "`nowhere`"),
        ({"target_job": None}, "`target_job`"),
        ({"source_trigger": "cron"}, "not both"),
        ({"target_job": "clean"}, "circle"),
        ({"condition_type": "sometimes"}, "sometimes"),
        ({"condition_type": "js_expression"}, "condition_expression"),
        ({"condition_type": "js_expression", "condition_expression": "x" * 256}, "255"),
        ({"condition_label": "x" * 256}, "255"),
    ],
)
def test_a_path_that_the_app_would_refuse_is_sent_back(
    form: str, change: dict[str, Any], told: str
) -> None:
    assert told in rejected(workflow(form), PING + "edges:\n" + edge("clean", "ping", **change))


@every_form
def test_a_trigger_and_a_path_are_switched_off_and_on_again_byte_for_byte(form: str) -> None:
    before = workflow(form)
    off = patched(before, "triggers: {cron: {enabled: false}}")
    assert off.changes == ("Trigger cron switched off",)
    gone, came = difference(before.text, off.workflow.text)
    assert (gone, came) == (["enabled: true"], ["enabled: false"])
    on = patched(off.workflow, "triggers: {cron: {enabled: true}}").workflow
    assert on.text == before.text
    off = patched(before, "edges: {clean->store: {enabled: false}}")
    assert off.changes == ("Path Clean → Store switched off",)
    on = patched(off.workflow, "edges: {clean->store: {enabled: true}}").workflow
    assert path(on, "clean", "store").enabled is True


@every_form
def test_a_trigger_that_changes_type_keeps_id_and_switch_and_its_references_follow(
    form: str,
) -> None:
    before = workflow(form)
    done = patched(before, "triggers: {cron: {type: webhook, webhook_reply: after_completion}}")
    (trigger,) = done.workflow.triggers
    assert (trigger.key, trigger.type, trigger.enabled) == ("webhook", "webhook", True)
    assert trigger.id == before.triggers[0].id
    assert trigger.cron_expression is None
    assert ("webhook", "read") in joined(done.workflow)
    assert path(done.workflow, "webhook", "read").condition_type == "always"
    assert done.workflow.start in (None, "webhook")
    assert "cron" not in done.workflow.text
    assert "webhook_reply: after_completion" in done.workflow.text
    assert "Trigger changed from cron to webhook" in done.changes
    back = patched(done.workflow, "triggers: {webhook: {type: cron, cron_expression: 0 5 * * *}}")
    assert ids(back.workflow) == ids(before)


@every_form
def test_a_trigger_that_is_taken_out_for_another_is_that_one_changed(form: str) -> None:
    before = workflow(form)
    hook = "triggers: {hook: {type: webhook}}"
    after = patched(before, hook, "triggers.cron").workflow
    (trigger,) = after.triggers
    assert (trigger.key, trigger.enabled) == ("hook", True)
    assert trigger.id == before.triggers[0].id
    assert path(after, "hook", "read").condition_type == "always"
    assert after.start in (None, "hook")
    assert "one trigger" in rejected(before, hook)


@every_form
def test_a_new_trigger_is_off_unless_it_is_given_as_on(form: str) -> None:
    bare = patched(workflow(form), None, "triggers.cron").workflow
    assert bare.triggers == ()
    lead = "edges: {x: {source_trigger: hook, target_job: read}}\n"
    for given, enabled in (("", False), (", enabled: true", True)):
        after = patched(bare, f"triggers: {{hook: {{type: webhook{given}}}}}\n{lead}").workflow
        assert [t.enabled for t in after.triggers] == [enabled]
        assert f"enabled: {str(enabled).lower()}" in after.text
        assert path(after, "hook", "read").enabled is not False


@some_forms
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("triggers: {cron: {cron_expression: every day}}", "every day"),
        ("triggers: {cron: {cron_expression: 0 0 0 8 * *}}", "6 fields"),
        ("triggers: {cron: {type: timer}}", "timer"),
        ("triggers: {cron: {type: webhook, cron_expression: 1 1 * * *}}", "no schedule"),
        ("edges: {x: {source_trigger: cron, target_job: store}}", "`read`, `store`"),
        ("jobs: {read: {name: Store}}", "`Store`"),
        ("jobs: {read-2: {name: Read, adaptor: http}}", "`Read`"),
        (f"jobs: {{read: {{name: {'x' * 101}}}}}", "101 characters"),
    ],
)
def test_what_the_app_would_refuse_is_sent_back(form: str, change: str, told: str) -> None:
    assert told in rejected(workflow(form), change)


NEW = """\
name: Daily
jobs:
  get-it:
    name: Get it
    adaptor: '@openfn/language-http@latest'
    body: |
      // Add operations here
  store:
    name: Store it
    adaptor: '@openfn/language-postgresql@latest'
    body: |
      // Add operations here
triggers:
  t:
    type: cron
    cron_expression: 0 8 * * *
    enabled: false
edges:
  t->get-it:
    source_trigger: t
    target_job: get-it
    condition_type: always
    enabled: true
  get-it->store:
    source_job: get-it
    target_job: store
    condition_type: on_job_success
    enabled: true
"""


@pytest.mark.parametrize("text", [None, "", "# keep me\n", "{}", "null"])
def test_a_new_workflow_is_written_in_the_form_of_the_app(text: str | None) -> None:
    given = """\
name: Daily
jobs:
  get-it: {name: Get it, adaptor: http, credential: invented}
  store: {name: Store it, adaptor: '@openfn/language-postgresql@latest'}
triggers: {t: {type: cron, cron_expression: 0 8 * * *}}
edges:
  a: {source_trigger: t, target_job: get-it}
  get-it->store: {source_job: get-it, target_job: store}
"""
    done = patched(Workflow.read(text), given.replace("  a:", "  t->get-it:"))
    assert done.workflow.text == ("# keep me\n" if text == "# keep me\n" else "") + NEW
    assert done.changes[-1] == "Added path Get it → Store it (on success)"


@pytest.mark.parametrize("text", [None, "name: Empty\njobs:\nedges: {}\n"])
def test_a_workflow_without_steps_takes_the_code_that_comes(text: str | None) -> None:
    after = patched(Workflow.read(text), JOBS).workflow
    assert codes(after) == codes(workflow())
    assert yaml.safe_load(after.text)["jobs"]["read"]["body"] == "get('/clinics');\n"


def test_a_new_workflow_that_nobody_named_is_given_a_name() -> None:
    after = patched(Workflow.read(None), "jobs:\n  a: {name: A, adaptor: http}\n").workflow
    assert yaml.safe_load(after.text)["name"] == "New workflow"


def test_a_new_workflow_that_the_app_would_refuse_is_sent_back() -> None:
    two = JOBS.replace("    source_job: clean\n", "    source_trigger: cron\n")
    assert "starts 2 steps at once: `read`, `store`" in rejected(Workflow.read(None), two)
    assert "steps under `jobs`" in rejected(Workflow.read(None), "name: Only a name")

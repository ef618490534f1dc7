"""Whatever stands around a model's YAML, the workflow in it is found or plainly refused."""

from __future__ import annotations

import pytest
import yaml
from global_chat.workflow.merging.merge import ReplyRejected
from workflow_documents import JOBS, workflow

from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

FENCED_CODE = """\
name: Ask
jobs:
  ask:
    name: Ask
    adaptor: '@openfn/language-http@latest'
    body: |
      const p = `Answer as
      ```yaml
      name: no
      ```
      only`;
      post('/ask', { p });
"""


@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "Sure!\n\n```yaml\n{}```\nLet me know if it works!",
        "```\n{}```",
        "```yml\n{}",
        "Here:\n~~~yaml\n{}~~~\n```js\nfn();\n```\n",
        "Of course.\n\n{}",
        "\r\n```yaml\r\n{}```\r\n",
    ],
)
def test_the_whole_yaml_is_taken_and_nothing_of_the_prose(wrapped: str) -> None:
    answer = wrapped.replace("{}", FENCED_CODE)
    text = Workflow.read(None).merge(answer, request="make a step that asks").workflow.text
    body = yaml.safe_load(text)["jobs"]["ask"]["body"]
    assert body == yaml.safe_load(FENCED_CODE)["jobs"]["ask"]["body"]
    assert "Let me know" not in text


def test_an_indented_fence_is_taken_without_its_indentation() -> None:
    answer = "1. This:\n   ```yaml\n" + "".join(f"   {x}\n" for x in JOBS.splitlines()) + "   ```"
    assert workflow().merge(answer, request="nothing").workflow.text == JOBS


@pytest.mark.parametrize("form", ["steps", "project", "listed"])
def test_a_reply_may_have_another_form_than_the_document(form: str) -> None:
    before = workflow()
    answer = workflow(form).text.replace("'0 5 * * *'", "'0 6 * * *'")
    merged = before.merge(answer, request="an hour later")
    assert merged.changes == ("Schedule changed from `0 5 * * *` to `0 6 * * *`",)
    assert merged.workflow.text == JOBS.replace("'0 5 * * *'", "'0 6 * * *'")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "no workflow"),
        ("I cannot do that.", "no workflow"),
        ("[]", "no workflow"),
        ("name: New\njobs:\n  a:\n    name: Step 1: fetch\n", "line 4, column 17"),
        ("name: New\njobs:\n  a:\n\tname: A\n", "tab"),
        ("```yaml\nname: New\njobs:\n  a: [\n```", "line"),
        ("name: a\njobs:\n  a: x\n", "must be a mapping"),
        (
            "name: a\njobs:\n  a: {name: A}\n---\nname: b\njobs: {b: {name: B}}\n",
            "2 YAML documents",
        ),
        ("name: a\njobs:\n  a: {name: A}\n  a: {name: B}\n", "stands twice"),
        ("name: a\njobs:\n  a: &a\n    <<: *a\n    name: *b\n", "anchor"),
    ],
)
def test_what_is_no_workflow_is_refused_with_the_place(answer: str, told: str) -> None:
    with pytest.raises(ReplyRejected) as rejected:
        workflow().merge(answer, request="do it")
    assert told in " ".join(rejected.value.problems)


def test_a_name_that_is_too_long_is_sent_back() -> None:
    answer = workflow().draft().replace("name: Read\n", f"name: {'x' * 101}\n")
    with pytest.raises(ReplyRejected, match="101 characters"):
        workflow().merge(answer, request="rename it")


def test_a_new_workflow_is_written_in_the_form_of_the_app() -> None:
    answer = """\
name: Daily
steps:
  - {id: t, type: cron, cron_expression: 0 8 * * *, enabled: true, next: get-it}
  - id: get-it
    name: Get it
    adaptor: '@openfn/language-http@latest'
    configuration: invented
    next: {store: on_job_success}
  - id: store
    name: 'Store: it'
    adaptor: '@openfn/language-postgresql@latest'
"""
    merged = Workflow.read(None).merge(answer, request="build a daily fetch")
    assert (
        merged.workflow.text
        == """\
name: Daily
jobs:
  get-it:
    name: Get it
    adaptor: '@openfn/language-http@latest'
    body: |
      // Add operations here
  store:
    name: 'Store: it'
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
    )
    assert merged.changes[-1] == "Added path Get it → Store: it (on success)"


@pytest.mark.parametrize("text", [None, "", "# keep me\n", "{}", "null"])
def test_an_empty_document_keeps_its_comments(text: str | None) -> None:
    after = Workflow.read(text).merge(JOBS, request="build it").workflow
    assert after.text.startswith("# keep me\nname:" if text == "# keep me\n" else "name:")
    assert [step.code for step in after.steps] == [step.code for step in workflow().steps]


def test_a_new_workflow_goes_on_only_when_it_is_to() -> None:
    for request, enabled in (("build it", False), ("build it and switch it on", True)):
        after = Workflow.read(None).merge(JOBS, request=request).workflow
        assert [trigger.enabled for trigger in after.triggers] == [enabled]


def test_a_new_workflow_that_the_app_would_refuse_is_sent_back() -> None:
    two = JOBS.replace("    source_job: clean\n", "    source_trigger: cron\n")
    with pytest.raises(ReplyRejected, match="starts 2 steps at once: `read`, `store`"):
        Workflow.read(None).merge(two, request="build it")


def test_a_reply_that_only_lists_steps_in_another_order_changes_nothing_and_says_so() -> None:
    text = (
        "jobs:\n  a:\n    name: A\n    body: fn(s => s)\n  b:\n    name: B\n    body: fn(s => s)\n"
    )
    workflow = Workflow.read(text)
    reply = workflow.draft()
    start, middle = reply.index("  a:"), reply.index("  b:")
    swapped = reply[:start] + reply[middle:].rstrip("\n") + "\n" + reply[start:middle]
    merged = workflow.merge(swapped, request="put B before A")
    assert (merged.workflow.text, merged.changes) == (text, ())
    assert any("decided by the paths" in warning for warning in merged.warnings)

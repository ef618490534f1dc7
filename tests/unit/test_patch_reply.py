"""Whatever a model answers is read as a patch or refused with a sentence that names the part."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_documents import APP, FLOW, JOBS, STEPS, patched, rejected, workflow

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow
from global_chat.workflow.drafting import edge_fields, step_fields, trigger_fields
from global_chat.workflow.parts import Edge
from global_chat.workflow.patch import Patch, PatchRejected
from global_chat.workflow.patching.reply import read_patch

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
    text = patched(Workflow.read(None), wrapped.replace("{}", FENCED_CODE)).workflow.text
    body = yaml.safe_load(text)["jobs"]["ask"]["body"]
    assert body == yaml.safe_load(FENCED_CODE)["jobs"]["ask"]["body"]
    assert "Let me know" not in text


def test_an_indented_fence_is_taken_without_its_indentation() -> None:
    lines = workflow().draft().replace("name: Read", "name: Get").splitlines()
    answer = "1. This:\n   ```yaml\n" + "".join(f"   {line}\n" for line in lines) + "   ```"
    assert patched(workflow(), answer).workflow.text == JOBS.replace("name: Read", "name: Get")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("I cannot do that.", "no part of a workflow"),
        ("[]", "no part of a workflow"),
        ("name: New\njobs:\n  a:\n    body: Step 1: fetch\n", "line 4, column 17"),
        ("name: New\njobs:\n  a:\n\tname: A\n", "tab"),
        ("```yaml\nname: New\njobs:\n  a: [\n```", "line"),
        ("jobs:\n  a: x\n", "`jobs.a` must be a mapping"),
        ("jobs:\n  read:\n", "`jobs.read` must be a mapping"),
        ("jobs: {read: {name: A}}\n---\njobs: {b: {name: B}}\n", "2 YAML documents"),
        ("jobs: {read: {name: A}, read: {name: B}}\n", "`read` occurs twice"),
        ("jobs:\n  a:\n    type: *b\n", "`*b` refers to an anchor"),
        (STEPS, "`steps`"),
        ("workflows: {a: {jobs: {}}}", "`workflows`"),
        ("triggers:\n  cron:\n    type: [webhook, cron]\n", "`type` of the trigger `cron`"),
    ],
)
def test_what_is_no_patch_is_refused_with_the_place(answer: str, told: str) -> None:
    assert told in rejected(workflow(), answer)


@pytest.mark.parametrize(
    ("yaml_text", "remove", "told"),
    [
        # names what is not there
        ("jobs: {reed: {adaptor: http}}", [], "`reed`"),
        ("edges: {read->store: {enabled: false}}", [], "no path `read->store`"),
        ("triggers: {hook: {enabled: false}}", [], "`hook`"),
        ("triggers: {cron: {cron_cursor_job: nobody}}", [], "`nobody`"),
        (None, ["jobs.stor"], "Did you mean `store`"),
        (None, ["jobs."], "no step ``"),
        (None, ["store"], "`store` in `remove`"),
        (None, ["name"], "`name` in `remove`"),
        (None, ["jobs.read.name"], "`read.name`"),
        (None, ["edges.*"], "`*`"),
        # removes what it changes
        ("jobs: {store: {name: Put}}", ["jobs.store"], "removed and changed"),
        ("triggers: {cron: {enabled: false}}", ["triggers.cron"], "removed and changed"),
        ("edges: {clean->store: {enabled: false}}", ["edges.clean->store"], "removed and changed"),
        ("edges: {clean->store: {enabled: false}}", ["jobs.store"], "`clean->store`"),
        # takes away what a part cannot be without
        ("jobs: {read: {name: null}}", [], "`read`"),
        ("jobs: {read: {adaptor: null}}", [], "`read`"),
        ("triggers: {cron: {type: null}}", [], "`cron`"),
        ("edges: {clean->store: {target_job: null}}", [], "`clean->store`"),
        ("edges: {clean->store: {source_job: null}}", [], "`clean->store`"),
        # new parts that are not whole
        ("jobs: {new: {name: New}}", [], "`adaptor`"),
        ("jobs: {'': {name: New, adaptor: http}}", [], "key"),
        ("triggers: {'': {type: webhook}}", ["triggers.cron"], "key"),
        ("jobs: {' ': {name: New, adaptor: http}}", [], "key"),
        ("jobs: {new: {name: ' ', adaptor: http}}", [], "name"),
        ("jobs: {new: {name: New, adaptor: 'a b'}}", [], "`new`"),
        ("jobs: {get: {name: Get, adaptor: http, body: '[code of read]'}}", [], "`read`"),
        ("jobs: {get: {name: Get, adaptor: http, id: '[id of job read]'}}", [], "`read`"),
        ("edges: {x: {source_job: read}}", [], "`x`"),
        ("edges: {x: {target_job: read}}", [], "`x`"),
        ("edges: {x: {source_job: read, target_job: read}}", [], "circle"),
        ("edges: {x: {source_job: read, target_job: clean, enabled: false}}", [], "`read->clean`"),
        # wrong types
        ("name: [a]", [], "`name`"),
        ("jobs: [read]", [], "`jobs`"),
        ("jobs: read", [], "`jobs`"),
        ("edges: [{source_job: read}]", [], "`edges`"),
        ("triggers: cron", [], "`triggers`"),
        ("jobs: {read: [name, Get]}", [], "`jobs.read`"),
        ("jobs: {[read]: {name: Get}}", [], "key"),
        ("jobs: {read: {name: {a: b}}}", [], "`name`"),
        ("jobs: {read: {adaptor: [http]}}", [], "`adaptor`"),
        ("triggers: {cron: {enabled: 'yes'}}", [], "`enabled`"),
        ("triggers: {cron: {cron_expression: [1, 2]}}", [], "`cron_expression`"),
        ("triggers: {cron: {webhook_reply: {a: b}}}", [], "`webhook_reply`"),
        ("triggers: {cron: {webhook_response_config: 201}}", [], "`webhook_response_config`"),
        ("triggers: {cron: {type: kafka, kafka_configuration: [a]}}", [], "`kafka_configuration`"),
        ("edges: {clean->store: {enabled: 0}}", [], "`enabled`"),
        ("edges: {clean->store: {condition_expression: {a: b}}}", [], "`condition_expression`"),
        ("edges: {clean->store: {condition_type: ''}}", [], "condition type"),
        ("edges: {clean->store: {target_job: [read]}}", [], "`target_job`"),
    ],
)
@pytest.mark.parametrize("form", ["jobs", "steps", "app"])
def test_a_patch_that_cannot_be_meant_is_refused_and_names_the_part(
    form: str, yaml_text: str | None, remove: list[str], told: str
) -> None:
    assert told in rejected(workflow(form), yaml_text, *remove)


def test_every_problem_is_told_at_once() -> None:
    told = rejected(workflow(), "jobs: {read: {name: Störe}, x: {}}\nedges: {y: {}}", "jobs.z")
    for name in ("Störe", "`x`", "`y`", "`z`"):
        assert name in told


def test_odd_entries_of_remove_are_what_they_plainly_mean() -> None:
    before = workflow()
    usual = patched(before, None, "jobs.store").workflow.text
    for odd in (["jobs.store", "jobs.store"], [" jobs.store "], ["steps.store", ""], ["job.store"]):
        assert patched(before, None, *odd).workflow.text == usual
    both = patched(before, None, "jobs.store", "edges.clean->store").workflow
    assert both.text == usual


@pytest.mark.parametrize(
    "huge",
    [
        "jobs: {read: {name: " + "x" * 10_000_000 + "}}",
        "jobs:\n" + "".join(f"  s{n}: {{name: S{n}}}\n" for n in range(5_000)),
        "jobs: {read: {name: " + "[" * 500 + "]" * 500 + "}}",
        "jobs: {read: {x: " + "{a: " * 150 + "1" + "}" * 150 + "}}",
        "a: &a [1]\n" + "".join(f"a{n}: &a{n} [*a, *a]\n" for n in range(20)) + "jobs: *a19",
        "triggers: {cron: &x {webhook_response_config: {a: *x}}}",
    ],
)
def test_a_huge_or_deep_or_endless_reply_is_refused_in_a_short_sentence(huge: str) -> None:
    assert len(rejected(workflow(), huge)) < 3_000


HOSTILE = (
    *("", " "),
    *("a: b", "it's", 'q"q', "*a", "&a", "<<", "a\nb", "a\r\nb", "\u2028", "\x85", "\ufeff", "🦠"),
    *(
        "- a",
        "? a",
        "#",
        "a #b",
        "{",
        "[",
        "!x",
        "%a",
        "@a",
        "`",
        "~",
        "null",
        "true",
        "1.0",
        "0x1",
    ),
    *("a->b", "->", "x" * 300, "\x07", "=", "e\u0301", "\u202e", "a\tb"),
)


@pytest.mark.parametrize("text", [JOBS, STEPS, FLOW])
@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_key_is_written_so_that_it_reads_back_or_is_refused(text: str, key: str) -> None:
    before = Workflow.read(text)
    last = before.steps[-1].key
    new = {"jobs": {key: {"name": "New one", "adaptor": "http"}}}
    edges = {key: {"source_job": last, "target_job": key, "condition_label": key}}
    before_text = before.text
    try:
        after = patched(before, yaml.safe_dump(new | {"edges": edges}, allow_unicode=True)).workflow
    except PatchRejected as refused:
        assert all(refused.problems)
    else:
        assert (last, key) in {(e.source_step, e.target) for e in after.edges}
        undone = patched(after, None, f"jobs.{key}").workflow
        assert {s.key for s in undone.steps} == {s.key for s in before.steps}
    assert before.text == before_text


_KEYS = st.sampled_from(
    ["read", "clean", "store", "cron", "cron->read", "read->clean", "clean->store", "new", "jobs"]
) | st.sampled_from(HOSTILE)
_FIELDS = st.sampled_from(
    sorted(
        {"id", "name", "adaptor", "body", "credential", "type", "cron_expression", "custom_path"}
        | {"webhook_reply", "webhook_response_config", "cron_cursor", "cron_cursor_job", "kafka"}
        | {"kafka_configuration", "hosts", "sasl", "next", "openfn", "steps", "<<", "x"}
        | edge_fields(Edge("", "t", "t", "t", "t", "t", "t", True)).keys()
    )
)
_WORDS = st.sampled_from(
    [
        *(None, True, False, 0, 7, -1.5, "", "x", "http", "webhook", "cron", "kafka", "0 8 * * *"),
        *("always", "js_expression", "[code of read]", "[id of job read]", "state.a"),
    ]
)
_VALUES: st.SearchStrategy[Any] = (
    _WORDS
    | _KEYS
    | st.lists(_WORDS, max_size=2)
    | st.dictionaries(_FIELDS, _WORDS | st.lists(_WORDS, max_size=1), max_size=2)
)
_PARTS = st.dictionaries(_KEYS, st.dictionaries(_FIELDS, _VALUES, max_size=5) | _VALUES, max_size=4)
_REPLIES = st.fixed_dictionaries(
    {},
    optional={"name": _VALUES, "jobs": _PARTS, "triggers": _PARTS, "edges": _PARTS, "x": _VALUES},
)
_REMOVE = st.lists(
    st.builds("{}.{}".format, st.sampled_from(["jobs", "triggers", "edges", "x"]), _KEYS)
    | st.text(max_size=6),
    max_size=2,
)


def does_no_harm(text: str, yaml_text: str | None, remove: list[str]) -> None:
    before = Workflow.read(text)
    try:
        after = patched(before, yaml_text, *remove).workflow
    except (PatchRejected, InvalidWorkflow) as refused:
        assert str(refused).strip()
    else:
        code = {step.key: step.code for step in before.steps}
        assert all(code.get(s.key, s.code) == s.code for s in after.steps)
        assert not [p for p in after.check() if p.severity == "error"]


@given(st.sampled_from([JOBS, STEPS, APP, FLOW, ""]), _REPLIES, _REMOVE)
@settings(max_examples=80, deadline=None)
def test_no_data_in_a_reply_makes_another_error(
    text: str, reply: dict[str, Any], remove: list[str]
) -> None:
    does_no_harm(text, yaml.safe_dump(reply, allow_unicode=True), remove)


@given(st.sampled_from([JOBS, APP]), st.text(max_size=200), _REMOVE)
@settings(max_examples=50, deadline=None)
def test_no_text_of_a_reply_makes_another_error(text: str, reply: str, remove: list[str]) -> None:
    does_no_harm(text, reply, remove)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_draft_with_something_else_in_it_makes_no_other_error(data: st.DataObject) -> None:
    draft = Workflow.read(JOBS).draft()
    at = data.draw(st.integers(0, len(draft)))
    other = data.draw(st.sampled_from(HOSTILE) | st.text(max_size=5))
    draft = draft[:at] + other + draft[at + data.draw(st.integers(0, 6)) :]
    does_no_harm(JOBS, draft, [])


@given(_PARTS, _PARTS, _PARTS, st.lists(_KEYS, max_size=2))
@settings(max_examples=30, deadline=None)
def test_no_patch_made_by_a_program_makes_another_error(
    jobs: Any, triggers: Any, edges: Any, remove: list[str]
) -> None:
    parts = [
        {key: fields for key, fields in part.items() if isinstance(fields, dict)}
        for part in (jobs, triggers, edges)
    ]
    before = Workflow.read(JOBS)
    try:
        before.apply(Patch(None, *parts, remove=tuple(remove)))
    except (PatchRejected, InvalidWorkflow) as refused:
        assert str(refused).strip()


def test_what_a_patch_may_change_is_what_is_shown() -> None:
    before = workflow()
    shown = yaml.safe_load(before.draft())
    for section, parts, fields_of in (
        ("jobs", before.steps, step_fields),
        ("triggers", before.triggers, trigger_fields),
        ("edges", before.edges, edge_fields),
    ):
        for part in parts:
            fields: Any = fields_of(part)  # type: ignore[operator]
            assert fields.items() <= shown[section][part.key].items()
    assert read_patch(None, [], before) == Patch()

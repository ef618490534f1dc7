"""Reading: three forms, one value, nothing retyped; a text that cannot be read is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow
from global_chat.yaml import compose
from global_chat.yaml.nodes import Entry, Mapping, Node, Sequence
from tests.documents import Document, documents

pytestmark = pytest.mark.unit

FILES = sorted((Path(__file__).parents[2] / "fixtures/workflows").glob("*.yaml"))


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def refused(text: str, page: str | None = None) -> InvalidWorkflow:
    with pytest.raises(InvalidWorkflow) as caught:
        Workflow.read(text, page)
    return caught.value


# --- forms


@settings(max_examples=100, deadline=None)
@given(documents())
def test_every_form_and_style_gives_the_same_steps(document: Document) -> None:
    workflow = Workflow.read(document.text, document.page)
    assert {s.key: s.code for s in workflow.steps} == {
        key: body.code for key, body in document.bodies.items()
    }


def test_a_portable_workflow_reads_like_an_exported_one() -> None:
    portable = Workflow.read(
        "name: W\nsteps:\n"
        "  - {id: cron, type: cron, enabled: true, openfn: {cron: 0 7 * * 1, uuid: t1}, next: a}\n"
        "  - id: a\n    adaptors: ['@openfn/language-http@7.3.2']\n    expression: get('/');\n"
        "    next:\n      b: {condition: state.x > 1, label: big, disabled: true}\n"
        "      c: on_job_failure\n      d: true\n      e: {condition: !state.errors }\n"
        "  - {id: b, name: B, adaptor: x, openfn: {uuid: j2}}\n"
        "  - {id: c}\n  - {id: d}\n  - {id: e}\n"
    )
    trigger = portable.triggers[0]
    assert (trigger.key, trigger.type, trigger.cron_expression) == ("cron", "cron", "0 7 * * 1")
    assert (trigger.enabled, trigger.id) == (True, "t1")
    a, b = portable.steps[:2]
    assert (a.adaptor, a.code, a.name, a.id) == (
        "@openfn/language-http@7.3.2",
        "get('/');",
        "a",
        None,
    )
    assert (b.adaptor, b.name, b.id, b.code) == ("x", "B", "j2", None)
    found = [(e.source_trigger, e.source_step, e.target, e.condition_type) for e in portable.edges]
    assert found == [
        ("cron", None, "a", "always"),
        (None, "a", "b", "js_expression"),
        (None, "a", "c", "on_job_failure"),
        (None, "a", "d", "always"),
        (None, "a", "e", "on_job_success"),
    ]
    big = portable.edges[1]
    assert (big.condition_expression, big.condition_label, big.enabled) == (
        "state.x > 1",
        "big",
        False,
    )


def test_an_exported_workflow_gives_its_triggers_and_edges() -> None:
    workflow = Workflow.read(
        "jobs: {a: {name: A}}\ntriggers:\n  w: {type: webhook, enabled: false, id: 7}\n"
        "edges:\n  w->a:\n    source_trigger: w\n    target_job: a\n    condition_type: always\n"
        "    condition_label: yes\n    enabled: true\n"
    )
    assert workflow.triggers[0].enabled is False
    assert workflow.triggers[0].id == "7"
    edge = workflow.edges[0]
    assert (edge.key, edge.source_trigger, edge.target, edge.line) == ("w->a", "w", "a", 5)
    assert (edge.condition_type, edge.condition_label, edge.enabled) == ("always", "yes", True)


@pytest.mark.parametrize(
    "page",
    ["workflows/night", "workflows/n-1/load", "workflows/Nightly/settings", "workflows/NIGHT!"],
)
def test_a_page_selects_a_projects_workflow_by_key_id_name_or_fold(page: str) -> None:
    text = (
        "workflows:\n  night: {id: n-1, name: Nightly, jobs: {load: {body: x}}}\n"
        "  day: {name: Daily, jobs: {load: {body: y}}}\n"
    )
    assert Workflow.read(text, page).steps[0].code == "x"


@pytest.mark.parametrize("page", [None, "workflows/week", "not a page"])
def test_a_project_of_several_without_a_selection_names_them(page: str | None) -> None:
    error = refused("workflows: [{id: night, steps: []}, {id: day, steps: []}]", page)
    assert "`night`, `day`" in error.message


def test_the_only_workflow_of_a_project_needs_no_page() -> None:
    assert Workflow.read("workflows: {a: {jobs: {b: {body: x}}}}").steps[0].key == "b"


@pytest.mark.parametrize(
    "text", [None, "", " \n", "# only a note\n", "---\n", "{}", "null", "\ufeff"]
)
def test_nothing_is_the_empty_workflow_and_stays_as_it_is(text: str | None) -> None:
    workflow = Workflow.read(text)
    assert workflow.is_empty and workflow.text == (text or "") and workflow.steps == ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_document_reads_with_every_step_coded_or_marked_empty(path: Path) -> None:
    workflow = Workflow.read(text_of(path), "workflows/immunization-reminders")
    assert workflow.text == text_of(path)
    assert workflow.steps and len(workflow.edges) >= len(workflow.steps) - 1
    assert all(step.code for step in workflow.steps)
    assert {s.has_code for s in workflow.steps} == {path.stem != "cash-transfer-skeleton"}


# --- literal text


@pytest.mark.parametrize(
    "key", ["on", "no", "0123", "1.10", "2024-01-31", "12:30", "~x", "0x1F", "1e3"]
)
def test_keys_names_and_ids_are_their_text(key: str) -> None:
    workflow = Workflow.read(f"name: no\njobs:\n  {key}:\n    id: 12e45\n    name: 1.10\n")
    step = workflow.find_step(key)
    assert step is not None
    assert (workflow.name, step.key, step.name, step.id) == ("no", key, "1.10", "12e45")


def test_only_yaml_1_2_booleans_are_booleans() -> None:
    values = ("yes", "'true'", "False", "true")
    text = "triggers:\n" + "".join(f"  t{i}: {{enabled: {v}}}\n" for i, v in enumerate(values))
    assert [t.enabled for t in Workflow.read(text).triggers] == [None, None, False, True]


def test_merge_keys_and_aliases_reach_the_step() -> None:
    workflow = Workflow.read(
        "x: &http {adaptor: http@1, name: shared}\ny: &more {<<: *http, body: &b 'get();'}\n"
        "jobs:\n  a: {<<: *http, name: A}\n  b: {<<: [*more, *http]}\n  c: {body: *b}\n"
        "  d: {'<<': *http}\n"
    )
    found = [(s.name, s.adaptor, s.code) for s in workflow.steps]
    assert found[:2] == [("A", "http@1", None), ("shared", "http@1", "get();")]
    assert found[2:] == [("c", None, "get();"), ("d", None, None)]


def test_a_body_in_a_file_is_named() -> None:
    jobs = Workflow.read("jobs: {a: {body: {path: ./a.js}}}").steps[0]
    step = Workflow.read("steps: [{id: a, expression: ./a.js}]").steps[0]
    assert jobs.code_path == step.code_path == "./a.js"
    assert jobs.code is step.code is None


def test_line_ends_inside_code_are_always_newlines() -> None:
    text = 'jobs:\r\n  a:\r\n    body: |\r\n      x\r\n      y\r\n  b: {body: "x\\r\\ny"}\r\n'
    assert [s.code for s in Workflow.read(text).steps] == ["x\ny\n", "x\ny"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\ufeff", "\U0001f600"])
def test_characters_that_are_no_line_ends_in_yaml_1_2_are_text(sign: str) -> None:
    text = f"name: a{sign}b\njobs:\n  k{sign}:\n    body: |\n      x{sign}y\n      {sign}z\n"
    workflow = Workflow.read(text)
    step = workflow.steps[0]
    assert (workflow.name, step.key, step.code) == (f"a{sign}b", f"k{sign}", f"x{sign}y\n{sign}z\n")


def test_what_libyaml_refuses_but_yaml_1_2_allows_is_read() -> None:
    text = (
        'jobs:\n  a:\n    name: "\\ud83d\\ude00 \\ud83d"\n    body: |\n      \tget();\n'
        "  b:\n    body:\n"
    )
    workflow = Workflow.read(text)
    assert workflow.steps[0].name == "😀 �"
    assert workflow.steps[0].code == "\tget();\n"
    assert workflow.with_code("b", "x\n").text == text.replace("body:\n", "body: |\n      x\n")


# --- places


def nodes(node: Node) -> list[Node]:
    if isinstance(node, Sequence):
        return [node, *(n for item in node.items for n in nodes(item))]
    if isinstance(node, Mapping):
        return [node, *(n for e in node.entries for n in (*nodes(e.key), *nodes(e.value)))]
    return [node]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_places_are_exact_with_marks_line_ends_and_astral_characters(
    newline: str, bom: str
) -> None:
    text = bom + newline.join(
        [
            "na😀me: &n é😀",
            "k: [1, {a: 'q'}] # c",
            "b: !!str |+ # c",
            "  x😀",
            "",
            "c: *n",
            "d:",
            "e: >",
            "  y",
            "",
        ]
    )
    root = Workflow.read(text + newline + "jobs: {}").root
    assert root is not None
    shown = [text[n.start : n.end] for n in nodes(root)[1:]][:14]
    assert shown == [
        "na😀me", "&n é😀", "k", "[1, {a: 'q'}]", "1", "{a: 'q'}", "a", "'q'", "b",
        f"!!str |+ # c{newline}  x😀{newline}", "c", "*n", "d", "",
    ]  # fmt: skip


def test_a_part_knows_its_line_and_its_entry() -> None:
    workflow = Workflow.read("\ufeffjobs:\r\n  # c\r\n  a:\r\n    name: A\r\n")
    assert workflow.layout is not None
    placed = workflow.layout.steps[0]
    assert placed.part.line == 3
    assert isinstance(placed.entry, Entry)
    assert workflow.source.position(placed.entry.start) == (3, 3)
    assert workflow.source.position(1) == (1, 1)


def test_the_pure_python_parser_gives_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(FILES[1])
    fast = Workflow.read(text)
    monkeypatch.setattr(compose, "_LOADER", yaml.SafeLoader)
    slow = Workflow.read(text)
    assert fast.root and slow.root
    assert [(n.start, n.end) for n in nodes(fast.root)] == [
        (n.start, n.end) for n in nodes(slow.root)
    ]

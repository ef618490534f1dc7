"""Stitching where a step has no body of its own: missing, merged, shared or in another file."""

from __future__ import annotations

import pytest

from global_chat.contract.errors import InternalError, InvalidWorkflow
from global_chat.workflow.document import Workflow
from global_chat.yaml import text_edits
from tests.documents import loaded

pytestmark = pytest.mark.unit

NEW = "// first\nget('/a');\n\n// then\nfn(state => state);\n"


def stitched(text: str, key: str, code: str = NEW, page: str | None = None) -> str:
    return Workflow.read(text, page).with_code(key, code).text


# --- no body, flow style


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "  a:\n    name: A  # n\n  b: {}\n",
            "  a:\n    name: A  # n\n    body: |\n      y\n  b: {}\n",
        ),
        ("  a:\n    'name': A", "  a:\n    'name': A\n    'body': |\n      y\n "),
        (
            "  a:\n    x: |+\n      z\n\n  b:\n",
            "  a:\n    x: |+\n      z\n\n    body: |\n      y\n  b:\n",
        ),
        ("  a:  # n\n  b:\n", "  a:  # n\n    body: |\n      y\n  b:\n"),
        ("  a: null # n\n", "  a: # n\n    body: |\n      y\n"),
        ("  a: {}\n", '  a: {body: "y\\n"}\n'),
        ("  a: {name: A, } # n\n", '  a: {name: A, body: "y\\n", } # n\n'),
        ("  a: {name: A, body: x} # n\n", '  a: {name: A, body: "y\\n"} # n\n'),
        ('  a: {"name":"A","body":"x"}\n', '  a: {"name":"A","body":"y\\n"}\n'),
        ("  {a: , b: {}}\n", '  {a: {body: "y\\n"} , b: {}}\n'),
        ('  {"a":{},"b":null}\n', '  {"a":{"body": "y\\n"},"b":null}\n'),
        ('  {"a":null,"b":{}}\n', '  {"a":{"body": "y\\n"},"b":{}}\n'),
        ("  a: {\n    name: A # n\n  }\n", '  a: {\n    name: A, body: "y\\n" # n\n  }\n'),
    ],
)
def test_a_step_without_a_body_gets_one_like_its_other_keys(before: str, after: str) -> None:
    assert stitched("jobs:\n" + before, "a", "y\n") == "jobs:\n" + after


def test_in_the_portability_form_code_stands_before_next() -> None:
    text = "steps:\n- id: a\n  adaptor: x\n  next: b\n- id: b\n"
    assert stitched(text, "a", "y\n") == text.replace("  next", "  expression: |\n    y\n  next")
    assert stitched(text, "b", "y\n") == text + "  expression: |\n    y\n"


def test_a_list_of_workflows_is_edited_in_the_selected_one_only() -> None:
    text = (
        "workflows:\n  - id: nightly\n    steps:\n      - id: load\n        expression: |\n"
        "          a;\n  - id: weekly\n    steps:\n      - id: load\n"
        "        expression: |\n          b;\n"
    )
    after = stitched(text, "load", "n\n", "workflows/weekly/load")
    assert after == text.replace("b;", "n")


# --- anchors, aliases and merge keys


def test_an_anchored_body_passes_its_old_code_to_those_who_share_it() -> None:
    text = (
        "jobs:\n  a:\n    body: &noop |  # n\n      old\n  b:\n    body: *noop  # m\n"
        "  c: {body: *noop}\n"
    )
    assert stitched(text, "a", "new\n") == (
        "jobs:\n  a:\n    body: |  # n\n      new\n  b:\n    body: &noop |  # m\n      old\n"
        "  c: {body: *noop}\n"
    )


@pytest.mark.parametrize(
    "old", ["'o: ld'", "old", '"o\\tld"', "null", "", ">\n      old\n\n      er"]
)
@pytest.mark.parametrize(
    "user", ["  b: {body: *x}\n", "  b:\n    body: *x\n", "  b: {}\nz: [*x, 1]\n"]
)
def test_an_anchored_body_of_any_style_keeps_its_users_as_they_were(old: str, user: str) -> None:
    text = f"jobs:\n  a:\n    body: &x {old}\n{user}y: *x\n"
    before, after = loaded(text), loaded(stitched(text, "a"))
    assert after["jobs"].pop("a") == {"body": NEW}
    before["jobs"].pop("a")
    assert after == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("!!null ''", "|"),
        ("!!binary aGk= # c", "| # c"),
        ("!<tag:yaml.org,2002:int> 5", "|"),
        ("!!str x", "!!str |"),
        ("!js |\n      x", "!js |"),
    ],
)
def test_a_tag_that_says_that_a_body_is_no_text_goes_and_others_stay(old: str, new: str) -> None:
    text = f"jobs:\n  a:\n    body: {old}\n    name: A\n"
    assert stitched(text, "a", "y\n") == f"jobs:\n  a:\n    body: {new}\n      y\n    name: A\n"


def test_an_alias_is_replaced_and_the_anchor_stays() -> None:
    text = "jobs:\n  a:\n    body: &noop |\n      old\n  b:\n    body: *noop  # m\n"
    assert stitched(text, "b", "new\n") == text.replace("*noop  # m", "|  # m\n      new")


def test_a_merged_body_is_overridden_in_the_step() -> None:
    text = "x: &t\n  adaptor: h\n  body: old\njobs:\n  a:\n    <<: *t\n    name: A\n  b: {<<: *t}\n"
    assert stitched(text, "a", "n\n") == text.replace("name: A", "name: A\n    body: |\n      n")
    assert stitched(text, "b", "n\n") == text.replace("b: {<<: *t}", 'b: {<<: *t, body: "n\\n"}')


@pytest.mark.parametrize("body", ["    body: old\n", "    body: |\n      old\n", ""])
def test_steps_that_share_a_whole_step_keep_their_code(body: str) -> None:
    text = (
        f"jobs:\n  a: &t\n    name: A\n{body}  b: *t\n  c: {{<<: *t, name: C}}\n  d:\n    <<: *t\n"
    )
    workflow = Workflow.read(text)
    for key in "abcd":
        after = workflow.with_code(key, NEW)
        assert {s.key: s.code for s in after.steps} == {
            s.key: NEW if s.key == key else s.code for s in workflow.steps
        }
        assert after.text.count("*t") == 3


# --- refusals


def test_an_unknown_key_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Workflow.read("jobs: {a: {}}").with_code("A", NEW)
    with pytest.raises(KeyError):
        Workflow.read(None).with_code("a", NEW)


def test_code_in_a_file_is_left_there_and_the_file_named() -> None:
    with pytest.raises(InvalidWorkflow, match=r"\./a\.js"):
        Workflow.read("jobs: {a: {body: {path: ./a.js}}}").with_code("a", NEW)


@pytest.mark.parametrize("body", ["[x]", "{code: x}"])
def test_a_body_that_is_no_text_is_not_overwritten(body: str) -> None:
    with pytest.raises(InvalidWorkflow, match="must be text"):
        Workflow.read(f"jobs: {{a: {{body: {body}}}}}").with_code("a", NEW)


def test_a_document_that_would_be_damaged_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: object, owner: object, *_: object) -> list[tuple[int, int, str]]:
        return [(0, 4, "jobs"), (12, 13, "B")]

    monkeypatch.setattr(text_edits.TextEdits, "set_text", careless)
    with pytest.raises(InternalError, match="nothing was changed"):
        Workflow.read("jobs: {a: {name: A, body: x}}").with_code("a", NEW)

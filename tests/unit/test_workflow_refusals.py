"""Refusing: whatever text is given, it is read or refused with line, column and what helps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit


def refused(text: str, page: str | None = None) -> InvalidWorkflow:
    with pytest.raises(InvalidWorkflow) as caught:
        Workflow.read(text, page)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("name: W\njobs:\n  a:\n    name: Step 1: fetch\n", 4, 17, "quotes"),
        ("\ufeffname: Step 1: fetch\n", 1, 13, "quotes"),
        ("jobs:\n  a:\n    adaptor: @openfn/language-http\n", 3, 14, "quotes"),
        ("triggers:\n  c:\n    cron_expression: */5 * * * *\n", 3, 22, "quotes"),
        ("name: x\njobs:\n  a:\n\tname: x\n", 4, 1, "tab"),
        ("jobs: {a: {b: 1, b: 2}}", 1, 18, "`b` occurs twice"),
        ("jobs:\n  a: {}\n  'a': {}\n", 3, 3, "first on line 2"),
        ("steps:\n- id: a\n- id: a\n", 3, 3, "first on line 2"),
        ("steps:\n- expression: a\n", 2, 3, "neither `id` nor `name`"),
        ('jobs:\n  a: "x\n', 2, 6, "not closed"),
        ("jobs:\n  a: x\0y\n", 2, 7, "U+0000"),
        ("jobs:\n  a: \ud83d\n", 2, 6, "U+D83D"),
        ("jobs: {a: *b}", 1, 11, "not defined"),
        ("jobs: x", 1, 7, "mapping"),
        ("jobs: {a: x}", 1, 11, "mapping"),
        ("steps: {a: x}", 1, 8, "list"),
        ("steps: [x]", 1, 9, "mapping"),
        ("workflows: x", 1, 12, "mapping or a list"),
        ("workflows: {}", 1, 1, "no workflow"),
        ("steps: []\njobs: {}", 1, 1, "not both"),
        ("foo: 1", 1, 1, "not a workflow"),
        ("- a", 1, 1, "not a workflow"),
        ("just words", 1, 1, "not a workflow"),
        ("name: x\n? [a]\n: 1\njobs:\n  ? [a]\n  : {}\n", 5, 5, "key"),
        ("a: [" * 200, 1, 201, "nest"),
    ],
)
def test_a_refusal_names_line_column_and_what_helps(
    text: str, line: int, column: int, words: str
) -> None:
    error = refused(text)
    assert error.details == {"line": line, "column": column}
    assert words in error.message


def test_several_documents_are_counted_and_refused() -> None:
    error = refused("---\nname: a\njobs: {}\n---\nname: b\njobs: {}\n", "workflows/b/x")
    assert "2 YAML documents" in error.message


HOSTILE: dict[str, str] = {
    "itself": "jobs: &j\n  a: *j\n",
    "its own merge": "jobs:\n  a: &a\n    <<: *a\n",
    "a merge bomb": "x0: &a0 {k: 1}\n"
    + "".join(f"x{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 40))
    + "jobs: {a: {<<: *a39}}\n",
    "an alias bomb": "x0: &a0 [x]\n"
    + "".join(f"x{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40))
    + "jobs: {a: {body: *a39, name: *a39}}\n",
    "edges by the million": "steps:\n  - id: a\n    next: &n {"
    + ",".join(f"t{i}: " for i in range(3_000))
    + "}\n"
    + "".join(f"  - {{id: s{i}, next: *n}}\n" for i in range(3_000)),
    "brackets": "[" * 1_000_000,
    "braces": "{" * 1_000_000,
    "dashes": "- " * 500_000,
    "one long word": "x" * 10_000_000,
    "blank lines": "jobs: {a: {body: x}}" + "\n" * 1_000_000,
    "blank block": "name: |\n" + " \n" * 400_000,
    "too long": " " * 20_000_001,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_ends_in_a_value_or_a_refusal(name: str) -> None:
    try:
        workflow = Workflow.read(HOSTILE[name])
    except InvalidWorkflow as error:
        assert error.message
    else:
        assert len(workflow.outline() + workflow.draft()) < 10_000


_WORDS = ("jobs:", "steps:", "a:", "id: ", "body: ", "next: ", "name: ", "x", "&a ", "*a", "<<: ")
_SIGNS = (*"|#'\"{}[],%\t\r\u2028\ufeff", "- ", ">-", ": ", "? ", "!t ", "---", "...")
_PIECES = st.sampled_from((*_WORDS, *_SIGNS, "\n", "\n  ", "\n    "))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(_PIECES, max_size=25).map("".join)))
def test_no_text_makes_a_traceback(text: str) -> None:
    try:
        workflow = Workflow.read(text, "workflows/a/b")
    except InvalidWorkflow as error:
        assert error.details.get("line", 1) >= 1
        return
    assert workflow.text == text
    for step in workflow.steps:
        code: Any = workflow.find_step(step.key)
        assert code is not None
    workflow.outline()
    workflow.draft()

"""Stitching: another code for one step, the same bytes everywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.workflow.document import Workflow
from tests.documents import Document, any_code, bodies_of, documents, loaded, small_changes

pytestmark = pytest.mark.unit

FILES = sorted((Path(__file__).parents[2] / "fixtures/workflows").glob("*.yaml"))
NEW = "// first\nget('/a');\n\n// then\nfn(state => state);\n"


def stitched(text: str, key: str, code: str = NEW, page: str | None = None) -> str:
    return Workflow.read(text, page).with_code(key, code).text


def normal(code: str) -> str:
    return code.replace("\r\n", "\n")


def drawn_change(document: Document, code: str, data: st.DataObject) -> tuple[str, str]:
    """A step, and a code for it that is new or nearly the old one."""
    key = data.draw(st.sampled_from(list(document.bodies)))
    old = document.bodies[key].code
    return key, data.draw(small_changes(old)) if old and data.draw(st.booleans()) else code


# --- properties, over generated documents in all forms and styles


@settings(max_examples=70, deadline=None)
@given(documents(), any_code, st.data())
def test_the_body_reads_back_as_the_code_and_all_others_as_before(
    document: Document, code: str, data: st.DataObject
) -> None:
    key, code = drawn_change(document, code, data)
    text = stitched(document.text, key, code, document.page)
    expected = {k: body.code for k, body in document.bodies.items()} | {key: normal(code)}
    assert bodies_of(text, document.form) == expected


@settings(max_examples=70, deadline=None)
@given(documents(), any_code, st.data())
def test_a_body_is_the_only_thing_that_changes(
    document: Document, code: str, data: st.DataObject
) -> None:
    key, code = drawn_change(document, code, data)
    body, before = document.bodies[key], document.text
    after = stitched(before, key, code, document.page)
    if body.code == normal(code):
        assert after == before
    elif body.start >= 0:
        line_end = min(
            i
            for i in (before.find("\r\n", body.end), before.find("\n", body.end), len(before))
            if i >= 0
        )
        assert after.startswith(before[: body.start])
        assert after.endswith(before[line_end:])
        changed = after[body.start : len(after) - (len(before) - line_end)]
        assert changed.count("# a note") >= before[body.start : line_end].count("# a note")
    else:
        same = next(
            (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before)
        )
        assert any(after.endswith(before[i:]) for i in range(max(same - 40, 0), same + 1))
    assert after.endswith("\n") == before.endswith("\n")
    assert ("\r\n" in before) <= ("\n" not in after.replace("\r\n", ""))


@settings(max_examples=40, deadline=None)
@given(documents(), any_code, st.data())
def test_the_same_code_gives_the_same_document(
    document: Document, code: str, data: st.DataObject
) -> None:
    workflow = Workflow.read(document.text, document.page)
    for step in workflow.steps:
        if step.code is not None:
            assert workflow.with_code(step.key, step.code) is workflow
    key, code = drawn_change(document, code, data)
    once = workflow.with_code(key, code)
    assert once.with_code(key, code).text == once.text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_step_of_a_real_document_can_be_edited_and_set_back(path: Path) -> None:
    text = path.read_bytes().decode()
    pages = ("workflows/immunization-reminders", "workflows/facility-registry-sync")
    for page in pages if "\nworkflows:" in text else pages[:1]:
        workflow = Workflow.read(text, page)
        for step in workflow.steps:
            after = workflow.with_code(step.key, NEW)
            found = after.find_step(step.key)
            assert found is not None and found.code == NEW
            assert [s.code for s in after.steps if s.key != step.key] == [
                s.code for s in workflow.steps if s.key != step.key
            ]
            removed = set(text.splitlines()) - set(after.text.splitlines())
            code_lines = {line.strip() for line in (step.code or "").splitlines()}
            assert all(any(c in line for c in code_lines) or "body:" in line for line in removed)
            back = after.with_code(step.key, step.code or "")
            assert [s.code for s in back.steps] == [s.code for s in workflow.steps]


# --- styles, one by one


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("|\n      get('v1');\n      \n      x  ;", "v1", "v22"),
        (">-\n      get('v1', {\n        x\n      });\n\n\n      fn(v1,\n      v1);", "v1", "v22"),
        ("'get(''v1'');\n\n\n      x'  # note", "v1", "it''s"),
        ('"get(\\"v1\\");\\n\\\n      \\tx \\u00e9;"', "v1", 'a\\"b'),
        ("get(v1\n      , x)  # note", "v1", "v22"),
        ("&shared 'get(v1)'", "v1", "v22"),
    ],
)
def test_a_changed_word_is_changed_in_the_bodys_own_style(body: str, old: str, new: str) -> None:
    text = f"jobs:\n  a:\n    body: {body}\n    name: A\n"
    code = loaded(text)["jobs"]["a"]["body"]
    expected = text.replace(old, new)
    assert stitched(text, "a", loaded(expected)["jobs"]["a"]["body"]) == expected
    assert stitched(expected, "a", code) == text


def test_a_word_that_its_style_cannot_hold_makes_the_body_a_block() -> None:
    text = "jobs:\n  a:\n    body: get(some.longer.path)\n"
    assert stitched(text, "a", "get(some.longer #path)") == text.replace(
        "get(some.longer.path)", "|-\n      get(some.longer #path)"
    )


def test_a_changed_word_stays_unshared() -> None:
    text = "jobs:\n  a:\n    body: &x 'get(v1)'\n  b: {body: *x}\n"
    assert stitched(text, "a", "get(v2)") == (
        "jobs:\n  a:\n    body: 'get(v2)'\n  b: {body: &x 'get(v1)'}\n"
    )


def test_a_folded_body_becomes_literal_and_its_neighbour_stays_folded() -> None:
    text = (
        "jobs:\n  a:\n    body: >-\n      get('/a', {\n        x\n      });\n\n\n      y;\n"
        "  b:\n    body: >-\n      z;\n"
    )
    workflow = Workflow.read(text)
    assert workflow.steps[0].code == "get('/a', {\n  x\n});\n\ny;"
    after = workflow.with_code("a", "// c\nx();\n").text
    assert (
        after == "jobs:\n  a:\n    body: |\n      // c\n      x();\n  b:\n    body: >-\n      z;\n"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (" |  # keep me\n      old\n", " |  # keep me\n      new\n"),
        (" >+\n      old\n\n\n", " |\n      new\n\n\n"),
        (" |2-\n        old", " |\n      new\n "),
        (" 'old'   # keep me\n", " |   # keep me\n      new\n"),
        (' "o\\\n      ld"\n', " |\n      new\n"),
        (" old\n      words  # keep me\n", " |  # keep me\n      new\n"),
        (" null\n", " |\n      new\n"),
        (" ~ # keep me\n", " | # keep me\n      new\n"),
        ("\n", " |\n      new\n"),
        ("   # keep me\n", " |   # keep me\n      new\n"),
        ("\n      'old'\n", "\n      |\n      new\n"),
        (" !!str old\n", " !!str |\n      new\n"),
        (" &alone old\n", " &alone |\n      new\n"),
    ],
)
def test_a_body_of_any_style_becomes_a_literal_block_in_its_place(body: str, expected: str) -> None:
    text = f"jobs:\n  a:\n    name: A\n    body:{body}"
    assert stitched(text, "a", "new\n") == f"jobs:\n  a:\n    name: A\n    body:{expected}"


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("x\n", "|\n      x\n"),
        ("x", "|-\n      x\n"),
        ("x\n\n", "|+\n      x\n\n"),
        ("  x\n", "|2\n        x\n"),
        ("\tx\n", "|2\n      \tx\n"),
        ("\n\nx\n", "|2\n\n\n      x\n"),
        ("x  \n\t\ny \n", "|\n      x  \n      \t\n      y \n"),
        ("", '""\n'),
        ("\n", '"\\n"\n'),
        (" \n", '" \\n"\n'),
        ("a\x1b\0b\n", '"a\\u001b\\u0000b\\n"\n'),
        ("a\x85\u2028\ufeffb\n", '"a\\u0085\\u2028\\ufeffb\\n"\n'),
        ("a\rb", '"a\\rb"\n'),
        ("a\ud83db😀\n", "|\n      a\ufffdb😀\n"),
        ("é \\1 $& `${x}` 'q' \"d\"\n", "|\n      é \\1 $& `${x}` 'q' \"d\"\n"),
        ("---\n...\n# x\n- y: z\n", "|\n      ---\n      ...\n      # x\n      - y: z\n"),
    ],
)
def test_code_is_a_literal_block_where_one_can_hold_it_else_quoted(code: str, body: str) -> None:
    text = "jobs:\n  a:\n    body: old\n    name: A\n"
    assert stitched(text, "a", code) == f"jobs:\n  a:\n    body: {body}    name: A\n"


def test_a_windows_document_keeps_its_line_ends_whichever_the_code_has() -> None:
    text = "jobs:\r\n  a:\r\n    body: |\r\n      x\r\n\r\n      y\r\n    enabled: true\r\n"
    for code in ("p\n\nq\n", "p\r\n\r\nq\r\n"):
        assert stitched(text, "a", code) == text.replace("      x", "      p").replace(
            "      y", "      q"
        )


@pytest.mark.parametrize("indent", [2, 3, 4, 8])
def test_the_documents_own_indentation_is_kept(indent: int) -> None:
    one, two, three = (" " * indent * n for n in (1, 2, 3))
    text = (
        f"jobs:\n{one}a:\n{two}body: 'x'\n{one}b:\n{two}body: |\n{three}y\n{one}c:\n{two}name: C\n"
    )
    assert stitched(text, "a", "n\n") == text.replace("'x'", f"|\n{three}n")
    assert stitched(text, "b", "n\n") == text.replace(f"{three}y", f"{three}n")
    assert stitched(text, "c", "n\n") == text + f"{two}body: |\n{three}n\n"


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\n# end\n"])
def test_the_end_of_the_file_stays_as_it_was(ending: str) -> None:
    text = "jobs:\n  a:\n    body: |\n      x" + ending
    for code in ("y", "y\n", "y\n\n", "  y\n"):
        after = stitched(text, "a", code)
        assert after.endswith("\n") == text.endswith("\n")
        assert after.endswith(ending)
        assert loaded(after)["jobs"]["a"]["body"] == code


def test_blank_lines_behind_a_body_stay_outside_of_it() -> None:
    text = "jobs:\n  a:\n    body: |\n      x\n\n\n  b: {}\n"
    assert stitched(text, "a", "y\n") == text.replace("x", "y")
    assert stitched(text, "a", "y\n\n\n") == text.replace("|\n      x", "|+\n      y")
    assert loaded(stitched(text, "a", "y\n\n"))["jobs"]["a"]["body"] == "y\n\n"

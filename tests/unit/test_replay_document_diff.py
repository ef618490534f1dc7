"""What changed in a document, and that nothing else did: judged without the code that edits it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.replay.compare import document_diff, other_bytes
from tests.replay_cases import WORKFLOW

pytestmark = pytest.mark.unit


def found(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    diff = document_diff(before, after)
    return diff.changed, diff.added, diff.removed


def others(before: str, after: str, moved: tuple[str, ...] = ()) -> tuple[str, ...]:
    return other_bytes(before, after, document_diff(before, after), moved)


def test_a_changed_text_is_named_by_its_path() -> None:
    after = WORKFLOW.replace("get('/a');", "get('/z');")
    assert found(WORKFLOW, after) == (("jobs.get.body",), (), ())
    assert others(WORKFLOW, after) == ()


def test_an_added_and_a_removed_part_are_named_once_and_not_by_what_is_in_them() -> None:
    after = WORKFLOW + "  more:\n    name: More\n    body: x();\n"
    assert found(WORKFLOW, after) == ((), ("jobs.more",), ())
    assert found(after, WORKFLOW) == ((), (), ("jobs.more",))
    assert others(WORKFLOW, after) == others(after, WORKFLOW) == ()


def test_items_of_a_list_go_by_their_id() -> None:
    before = "steps:\n  - id: a\n    expression: x();\n  - id: b\n    expression: y();\n"
    assert found(before, before.replace("y();", "z();"))[0] == ("steps.b.expression",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: w\n", "name:  w\n"),
        ("name: w\n", "name: w  # why\n"),
        ("name: Get\n", 'name: "Get"\n'),
        ("name: w\n", "name: w\r\n"),
        ("  # kept\n", "  # gone\n"),
    ],
)
def test_a_byte_outside_the_changed_parts_is_seen_although_no_value_changed(
    old: str, new: str
) -> None:
    after = WORKFLOW.replace("get('/a');", "get('/z');")
    careless = after.replace(old, new)
    if "#" in old:  # inside the code a comment is part of the value
        assert "jobs.save.body" in found(WORKFLOW, careless)[0]
    else:
        assert others(WORKFLOW, careless) != ()


def test_a_body_may_change_its_style_but_not_what_stands_around_it() -> None:
    after = WORKFLOW.replace("body: get('/a');", "body: |\n      get('/z');\n      more();")
    assert found(WORKFLOW, after)[0] == ("jobs.get.body",)
    assert others(WORKFLOW, after) == ()


def test_a_mapping_that_becomes_a_text_is_one_change() -> None:
    before = "jobs:\n  a:\n    body:\n      path: ./a.js\n"
    assert found(before, "jobs:\n  a:\n    body: x();\n") == (("jobs.a.body",), (), ())


def test_an_alias_that_is_written_out_is_told_unless_it_is_expected() -> None:
    before = "jobs:\n  a:\n    body: &x one();\n  b:\n    body: *x\n"
    after = "jobs:\n  a:\n    body: two();\n  b:\n    body: one();\n"
    assert found(before, after)[0] == ("jobs.a.body",)
    assert others(before, after) != ()
    assert others(before, after, ("jobs.b.body",)) == ()


def test_a_comment_may_go_with_the_part_below_it_and_with_no_other() -> None:
    before = "jobs:\n  # first\n  a: 1\n  # second\n  b: 2\n"
    assert others(before, "jobs:\n  # first\n  a: 1\n") == ()
    assert others(before, "jobs:\n  a: 1\n  # second\n  b: 2\n") != ()


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_the_same_as_itself(text: str) -> None:
    assert found(text, text) == ((), (), ())
    assert others(text, text) == ()

"""Code edits: plain text, in order, exactly one place each, all of them or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.workflow.code_edits import CodeEdit, EditMismatch, apply_code_edits

pytestmark = pytest.mark.unit

TWICE = "get('/x', {\n  limit: 10\n});\nget('/y', {\n  limit: 10\n});\n"


def replace(old: str | None, new: str) -> CodeEdit:
    return CodeEdit("replace", old, new)


def rewrite(new: str) -> CodeEdit:
    return CodeEdit("rewrite", None, new)


def mismatch(code: str | None, *edits: CodeEdit) -> str:
    with pytest.raises(EditMismatch) as caught:
        apply_code_edits(code, edits)
    return str(caught.value)


def test_edits_apply_in_order_each_to_the_result_of_the_one_before() -> None:
    edits = [replace("a", "b;b"), replace("b;b", "c"), rewrite("x"), replace("x", "y")]
    assert apply_code_edits("a", edits[:2]) == "c"
    assert apply_code_edits("a", edits) == "y"
    assert apply_code_edits("a", []) == "a"


@pytest.mark.parametrize("code", [None, "", " \n", "// Add operations here\n"])
@pytest.mark.parametrize("edit", [replace("gone", "x();"), replace(None, "x();"), rewrite("x();")])
def test_on_an_empty_step_any_edit_gives_the_code(code: str | None, edit: CodeEdit) -> None:
    assert apply_code_edits(code, [edit]) == "x();"


@pytest.mark.parametrize("old", [None, "", " \n"])
def test_a_replace_without_old_code_is_refused(old: str | None) -> None:
    assert "has no old_code" in mismatch("a", replace(old, "b"))


def test_a_text_that_occurs_twice_is_refused_with_its_places() -> None:
    message = mismatch(TWICE, rewrite(TWICE), replace("  limit: 10", "  limit: 50"))
    assert "Edit 2 of 2" in message and "2 times" in message and "lines 2, 5" in message
    better = replace("get('/y', {\n  limit: 10", "get('/y', {\n  limit: 50")
    first, second = TWICE[:28], TWICE[28:]
    assert apply_code_edits(TWICE, [better]) == first + second.replace("10", "50")


def test_overlapping_places_count() -> None:
    assert "2 times" in mismatch("aXaXa", replace("aXa", "b"))
    assert "3 times" in mismatch("x = '----'", replace("--", "+"))


def test_a_text_that_does_not_occur_is_refused_with_a_hint() -> None:
    message = mismatch(TWICE, replace("get('/y', {\n  limit: 11\n", "x"))
    assert message.startswith("The edit: old_code does not occur") and "line 4" in message


def test_nothing_is_half_applied() -> None:
    code = "a;\nb;\n"
    assert "Edit 2 of 2" in mismatch(code, replace("a", "c"), replace("gone", "d"))
    assert code == "a;\nb;\n"


@pytest.mark.parametrize("old", ["log(1);", "  log(1);", "  log(1);\n", "log(1);\n"])
def test_what_is_taken_away_leaves_no_line_of_blanks(old: str) -> None:
    code = "fn(state => {\n  log(1);\n\n  return state;\n});\n"
    after = apply_code_edits(code, [CodeEdit("replace", old, "")])
    assert after == code.replace("  log(1);\n", "")
    assert apply_code_edits("a(); b();\n", [CodeEdit("replace", " b();", "")]) == "a();\n"


@pytest.mark.parametrize("text", [r"/^(\d+)\8?$/ '$&$$\1' C:\new", "{x} {{y}} %s ${z}", "a.b*c"])
def test_text_is_never_a_pattern(text: str) -> None:
    assert apply_code_edits(f"1;{text};2", [replace(text, "t")]) == "1;t;2"
    assert apply_code_edits("1;t;2", [replace("t", text)]) == f"1;{text};2"
    assert "does not occur" in mismatch("axb*c", replace("a.b*c", "t"))


@pytest.mark.parametrize(
    ("code", "old", "new", "result"),
    [
        ("a;  \nb;\n", "a;\nb;", "c;", "c;\n"),
        ("a;\nb;\t\nc;\n", "a;  \nb;", "x;", "x;\t\nc;\n"),
        ("a;\nb;", "b;\n", "c;\n", "a;\nc;\n"),
        ("a;\nb;\n", "a;\r\nb;\r\n", "c;\r\n", "c;\r\n"),
        ("a;\r\nb;\r\nc;\r\n", "a;\nb;\n", "x;\ny;\n", "x;\r\ny;\r\nc;\r\n"),
        ("a;\nb;\n", "a; ", "x;", "x;\nb;\n"),
    ],
)
def test_line_ends_and_blanks_at_line_ends_may_differ(
    code: str, old: str, new: str, result: str
) -> None:
    assert apply_code_edits(code, [replace(old, new)]) == result


@pytest.mark.parametrize("old", ["  a;\n b;", "a;\n\nb;", "a;b;", "a;\u00a0b;", "a ; b ;"])
def test_blanks_of_any_kind_may_differ_where_that_fits_one_place(old: str) -> None:
    assert apply_code_edits("a;\nb;\nc;\n", [replace(old, "x;")]) == "x;\nc;\n"
    assert "2 times" in mismatch("a;\nb;\na; b;\n", replace(old, "x;"))


@pytest.mark.parametrize("old", ["a; ;", "A;", "a;\nc;"])
def test_what_differs_in_more_than_blanks_does_not_fit(old: str) -> None:
    assert "does not occur" in mismatch("a;\nb;\n", replace(old, "x"))


@pytest.mark.parametrize(
    "comment",
    ["// ... rest of the code unchanged ...", "/* existing code */", "// … reste inchangé"],
)
def test_code_left_out_behind_a_comment_is_an_edit_that_failed(comment: str) -> None:
    code = "get('/a');\nfn(state => {\n  return state;\n});\npost('/b', $.data);\n"
    for edit in (
        rewrite(f"get('/a', {{}});\n{comment}\n"),
        replace("fn(state => {\n  return state;\n});", f"fn(state => {{\n  {comment}\n}});"),
    ):
        assert "leaves code out" in mismatch(code, edit)
    # What says nothing else has no place in code, however little of it there was.
    assert "leaves code out" in mismatch("get('/a');\n", rewrite(f"get('/b');\n{comment}\n"))


def test_a_comment_beside_the_whole_code_is_only_a_comment() -> None:
    code = "get('/a');\npost('/b', $.data);\n"
    for new in (f"// the rest of the day\n{code}", f"{code}// other systems follow ...\n"):
        assert apply_code_edits(code, [rewrite(new)]) == new


def test_an_old_code_that_fits_twice_is_refused() -> None:
    assert "2 times" in mismatch("a; \nb;\na;  \nb;\n", replace("a;\nb;", "x"))


def test_an_exact_place_wins_over_loose_ones() -> None:
    assert apply_code_edits("a;\nb;\na; \nb;\n", [replace("a;\nb;", "x")]) == "x\na; \nb;\n"


# --- fences

FENCED = "const p = `Answer as\n```json\n{}\n```\nonly`;\npost('/ask', { p });"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("```js\nget('/a');\n```", "get('/a');\n"),
        ("\n```javascript\nget('/a');\n\n```\n", "get('/a');\n\n"),
        ("```\nget('/a');\n```\nLet me know if it works!", "get('/a');\n"),
        (f"```js\n{FENCED}\n```", FENCED + "\n"),
        (f"```js\n{FENCED}\n```\nThat's it.", FENCED + "\n"),
        ("``` js\r\nx();\r\n```", "x();\n"),
    ],
)
def test_a_fence_around_the_new_code_is_taken_off(given: str, code: str) -> None:
    assert apply_code_edits(None, [rewrite(given)]) == code
    assert apply_code_edits("old();", [replace("old();", given)]) == code.removesuffix("\n")


@pytest.mark.parametrize(
    "code",
    [
        FENCED,
        FENCED + "\n",
        "const p = `\n```",
        "const p = `\n```\n{}\n```",
        f"```js\n{FENCED}",
        "```js\nx();",
        "```",
        "```x``` `y`",
        "x();\n```\n",
    ],
)
def test_fences_that_belong_to_the_code_stay(code: str) -> None:
    assert apply_code_edits("old", [rewrite(code)]) == code


def test_a_fenced_old_code_is_found_too() -> None:
    assert apply_code_edits("a;\nb;\n", [replace("```js\na;\n```", "x;")]) == "x;\nb;\n"


# --- any text

_text = st.text(st.sampled_from("ab \t\r\n`;é😀\\$"), max_size=12)


@given(_text, _text, _text, _text)
def test_a_unique_piece_is_replaced_and_everything_around_it_stays(
    before: str, piece: str, after: str, new: str
) -> None:
    code = before + piece + after
    places = sum(code.startswith(piece, i) for i in range(len(code)))
    if not (piece.strip() and new) or places != 1 or "`" in new or "\r" in code + new:
        return
    assert apply_code_edits(f"x{code}", [replace(piece, new)]) == f"x{before}{new}{after}"


@given(st.one_of(st.none(), _text), st.lists(st.tuples(st.booleans(), _text, _text), max_size=3))
def test_any_edit_is_applied_or_refused_with_a_sentence(
    code: str | None, edits: list[tuple[bool, str, str]]
) -> None:
    given_edits = [CodeEdit("replace" if r else "rewrite", old, new) for r, old, new in edits]
    try:
        result = apply_code_edits(code, given_edits)
    except EditMismatch as error:
        assert "old_code" in str(error)
    else:
        assert result == (code or "") or edits

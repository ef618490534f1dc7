"""Code changes where it was asked to, byte for byte, or not at all."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.offline.code.answer import CodeReply, CodeTask, reply
from global_chat.offline.code.hunks import edits_between
from global_chat.offline.code.javascript import Code, parses
from global_chat.offline.code.state_keys import renamed_key
from global_chat.workflow.code_edits import CodeEdit, apply_code_edits
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

WORKFLOWS = Path(__file__).parents[2] / "fixtures" / "workflows"


def asked(name: str, key: str, request: str, log: str = "") -> tuple[str, CodeReply]:
    text = (WORKFLOWS / f"{name}.yaml").read_bytes().decode("utf-8")
    workflow = Workflow.read(text, f"workflows/{name}")
    step = workflow.find_step(key)
    assert step is not None
    code = step.code or ""
    task = CodeTask(request, code, step.key, step.name, step.adaptor or "", "", workflow.steps, log)
    return code, reply(task)


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line[0] + line[2:].strip() for line in lines if line[0] in "+-" and line[2:].strip()]


def cases() -> list[tuple[str, str, str, list[str]]]:
    """The cases of `offline_code.txt`, beside this file."""
    found: list[tuple[str, str, str, list[str]]] = []
    name = key = ""
    for line in (Path(__file__).parent / "offline_code.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, _, key = (part.strip() for part in line[3:].partition("|"))
        elif line.startswith("    "):
            found[-1][3].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            found.append((name, key, line, []))
    return found


@pytest.mark.parametrize(("name", "key", "request_", "expected"), cases())
def test_an_edit_changes_the_lines_that_were_meant_and_no_other(
    name: str, key: str, request_: str, expected: list[str]
) -> None:
    code, said = asked(name, key, request_)
    assert said.code is not None, said.text
    assert changed_lines(code, said.code) == expected


@pytest.mark.parametrize(
    ("name", "key", "request_"),
    [
        ("kobo-household-to-dhis2", "Clean-and-map", "skip households without a phone"),
        ("kobo-household-to-dhis2", "Get-submissions", "set the limit to 100 and add retries"),
        ("kobo-household-to-dhis2", "Get-submissions", "take only forms under 5 minutes"),
        ("kobo-household-to-dhis2", "Upsert-tracked-entities", "make the import 3 times faster"),
        ("kobo-household-to-dhis2", "Email-data-team", "to should be 'a@x.org' as well"),
        ("donations-to-salesforce", "create-in-SF", "some have no email, put 'none' then"),
        ("donations-to-salesforce", "fetch-donations", "ask for page 2 too, page: 2 as well"),
        ("donations-to-salesforce", "create-in-SF", "do a catch like update-in-SF has"),
        ("followup-reminders", "Schedule-follow-up-visits", "28 days, but 14 for ANC"),
        ("odk-nutrition-postgres", "classify-muac", "children over 59 months out"),
        ("stock-levels.portable", "warn-low-stock", "translate the message"),
        ("national-hmis-hub", "extract-niassa", "the timeout should be 90 seconds"),
    ],
)
def test_what_rules_cannot_do_changes_nothing_and_says_what_would_help(
    name: str, key: str, request_: str
) -> None:
    _, said = asked(name, key, request_)
    assert said.code is None
    assert said.handover is None
    assert "ANTHROPIC_API_KEY" in said.text


@pytest.mark.parametrize(
    ("name", "key", "request_"),
    [
        ("kobo-household-to-dhis2", "Get-submissions", "change 'Hh7uTqPz3Lk' to 'Hh7uTqPz3Lm'"),
        ("kobo-household-to-dhis2", "Get-submissions", "in Clean and map drop the enrollments"),
        ("cholera-surveillance", "Envoyer-à-la-région", "remplace 10000 par 100000"),
        ("kobo-household-to-dhis2", "Get-submissions", "which step runs after this one?"),
        ("kobo-household-to-dhis2", "Get-submissions", "the batch size here must be 20"),
        ("odk-nutrition-postgres", "fetch-screenings", "this should take project 9"),
    ],
)
def test_what_lies_elsewhere_is_handed_over(name: str, key: str, request_: str) -> None:
    _, said = asked(name, key, request_)
    assert said.handover == request_
    assert said.text == ""


def test_a_question_is_answered_from_the_code_and_changes_nothing() -> None:
    _, said = asked("odk-nutrition-postgres", "classify-muac", "which mm value counts as SAM?")
    assert said.code is None
    assert "if (mm < 115) return 'SAM';" in said.text
    assert "`state.rows`" in said.text


def test_an_explanation_lists_operations_and_the_keys_of_the_state() -> None:
    _, said = asked(
        "kobo-household-to-dhis2", "Get-submissions", "explique ce que fait cette étape"
    )
    assert "`getSubmissions('aR9uKx4mWq2ZtYp7LcVb3N'" in said.text
    assert "`state.households`" in said.text
    assert said.text.startswith("Ce que fait")


def test_an_empty_step_gets_a_starter_that_parses_and_is_marked() -> None:
    _, said = asked(
        "cash-transfer-skeleton", "Record-payment", "write the code of this step please"
    )
    assert said.code is not None
    assert parses(said.code)
    assert "Starter" in said.code
    assert "TODO" in said.code


def test_no_starter_takes_the_place_of_code_that_was_described() -> None:
    request = "code for this: insert every item of state.payments into table payment"
    _, said = asked("cash-transfer-skeleton", "Record-payment", request)
    assert said.code is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("fn(state => { state.a = 1; });", "fn(state => { state.b = 1; });"),
        ("each('$.a[*]', x($.a));", "each('$.b[*]', x($.b));"),
        ("fn(state => ({ ...state, a: 1 }));", "fn(state => ({ ...state, b: 1 }));"),
        ("fn(state => ({ ...state, a }));", "fn(state => ({ ...state, b: a }));"),
        ("fn(state => { const { a } = state; });", "fn(state => { const { b: a } = state; });"),
        ("fn(state => state['a'] && state?.a);", "fn(state => state['b'] && state?.b);"),
        (
            "fn(state => state.data.a + x.a + state.a);",
            "fn(state => state.data.a + x.a + state.b);",
        ),
        ("post('/a', { a: $.a, label: 'a' });", "post('/a', { a: $.b, label: 'a' });"),
    ],
)
def test_a_renamed_key_is_the_key_of_the_state_and_nothing_that_looks_like_it(
    code: str, expected: str
) -> None:
    assert renamed_key(Code(code), "a", "b") == expected


def test_a_key_that_is_taken_is_not_renamed_to() -> None:
    _, said = asked(
        "lab-results.portable", "validate-result", "rename state.valid to state.invalid"
    )
    assert said.code is None


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=150)
def test_edits_turn_the_old_code_into_the_new(old: str, new: str) -> None:
    edits = [CodeEdit(e["action"], e["old_code"], e["new_code"]) for e in edits_between(old, new)]
    rewritten = len(edits) == 1 and edits[0].action == "rewrite"
    if not rewritten:
        assert apply_code_edits(old, edits) == new


_PIECES = """
fn(state => { return state; }) get('/x', {}) ; state.a = 1 `t ${x}` ' " { } ( )
// c /* */ console.log(1) remove replace add console.log catch emojis 'x' "y" `z` 1 50 limit to by
with all in § ¤0
"""


@given(
    st.lists(st.sampled_from(_PIECES.split(" ")), max_size=12).map(" ".join),
    st.lists(st.sampled_from(_PIECES.split(" ")), max_size=12).map(" ".join) | st.text(max_size=80),
)
@settings(max_examples=150)
def test_code_that_parsed_parses_still_whatever_is_asked(code: str, request_: str) -> None:
    said = reply(CodeTask(request_, code, "k", "K"))
    assert said.text or said.handover or said.code is not None
    if said.code is not None and parses(code):
        assert parses(said.code)

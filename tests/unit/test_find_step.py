"""Resolving a step's name: exact key, exact name, then the fold, and only when one step fits."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.workflow.document import Workflow
from global_chat.workflow.finding import find_step, fold
from global_chat.workflow.parts import Step

pytestmark = pytest.mark.unit

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def found(names: dict[str, str], wanted: str | None) -> str | None:
    step = find_step((Step(key, name) for key, name in names.items()), wanted)
    return step.key if step else None


def test_an_exact_key_wins_over_another_steps_exact_name() -> None:
    assert found({"load": "Fetch", "Fetch": "Other"}, "Fetch") == "Fetch"


def test_an_exact_name_wins_over_a_fold_that_fits_several() -> None:
    steps = {"a": "Load data", "b": "load-data", "c": "LOAD DATA"}
    assert found(steps, "Load data") == "a"
    assert found(steps, "load_data") is None


def test_two_steps_of_one_exact_name_are_ambiguous() -> None:
    assert found({"a": "Load", "b": "Load"}, "Load") is None


@pytest.mark.parametrize(
    ("page", "key"), [("load-data", "load-data"), ("Load Data", "Load Data"), ("LOAD_DATA", None)]
)
def test_keys_that_differ_in_signs_only_are_found_exactly_or_not_at_all(
    page: str, key: str | None
) -> None:
    assert found({"load-data": "Load one", "Load Data": "Load two"}, page) == key


@pytest.mark.parametrize(
    "wanted", ["get patients", "Get-Patients!", " GET  PATIENTS ", "ｇet_patients"]
)
def test_case_punctuation_and_width_do_not_matter(wanted: str) -> None:
    assert found({"Get-patients": "Get patients", "Load": "Load"}, wanted) == "Get-patients"


def test_letters_marks_and_digits_of_every_script_stay() -> None:
    steps = {
        "取得": "取得",
        "登録": "登録",
        "données": "D",
        "donnees": "E",
        "step-1": "1",
        "step-2": "2",
    }
    for key in steps:
        assert found(steps, f"«{key}»") == key
    assert found({"हिंदी": "a", "हदी": "b"}, "हिंदी.") == "हिंदी"


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_composed_and_decomposed_accents_are_the_same(form: Form) -> None:
    steps = {"etat-vérifié": "e", "other": "o"}
    assert found(steps, unicodedata.normalize(form, "etat-vérifié")) == "etat-vérifié"
    decomposed = {unicodedata.normalize("NFD", "vérifié"): "e"}
    assert found(decomposed, unicodedata.normalize("NFC", "vérifié")) == next(iter(decomposed))


@pytest.mark.parametrize("wanted", [None, "", " ", "🐱", "-", "!?", "\0"])
def test_a_name_that_folds_to_nothing_finds_nothing(wanted: str | None) -> None:
    assert found({"🐶": "🐶", "--": "--", "a": "A"}, wanted) is None


def test_a_step_whose_key_and_name_both_fit_counts_once() -> None:
    assert found({"get-it": "Get it"}, "GET IT") == "get-it"


def test_a_document_finds_its_steps_by_the_same_rule() -> None:
    workflow = Workflow.read("steps: [{id: a/b, name: Create/update}, {id: c}]")
    step = workflow.find_step("create update")
    assert step is not None and step.key == "a/b"
    assert workflow.find_step("a/b") is step
    assert Workflow.read(None).find_step("a") is None


@given(st.text())
def test_folding_again_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@given(st.lists(st.text(max_size=5), max_size=5, unique=True), st.text(max_size=5))
def test_what_is_found_is_the_only_step_that_fits(keys: list[str], wanted: str) -> None:
    steps = {key: key.upper() for key in keys}
    hit = found(steps, wanted)
    if hit is not None:
        assert hit == wanted or steps[hit] == wanted or fold(hit) == fold(wanted) != ""
    elif fold(wanted):
        assert sum(fold(wanted) in (fold(k), fold(n)) for k, n in steps.items()) != 1

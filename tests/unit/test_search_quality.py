"""Whether documentation is found: the measured promise, and what it is measured with."""

from __future__ import annotations

import re

import pytest

from benchmarks.knowledge import METHODS, read_questions, score
from global_chat.knowledge.handbook import handbook_documents, handbook_files
from global_chat.knowledge.library import Library

pytestmark = pytest.mark.unit


def test_there_are_enough_questions_and_every_page_has_some() -> None:
    questions = read_questions()
    assert len(questions) >= 80
    assert len({q.question for q in questions}) == len(questions)
    assert {f"{q.page}.md" for q in questions} == set(handbook_files())


def test_no_question_is_written_in_the_handbook_word_for_word() -> None:
    text = " ".join(content.decode() for content in handbook_files().values())
    folded = re.sub(r"\W+", " ", text.casefold())
    copied = [
        q.question
        for q in read_questions()
        if len(words := re.sub(r"\W+", " ", q.question.casefold()).strip().split()) > 4
        and " ".join(words) in folded
    ]
    assert copied == []


async def test_fused_search_finds_the_page_and_beats_either_ranking_alone() -> None:
    library, questions = Library(None), read_questions()
    results = {method: await score(library, questions, method) for method in METHODS}
    fused = results["fused"]
    assert fused.recall_at_5 >= 0.92
    for alone in ("words", "meaning"):
        assert fused.recall_at_5 > results[alone].recall_at_5
        assert fused.mean_reciprocal_rank > results[alone].mean_reciprocal_rank


def test_every_page_says_what_it_is_about_in_four_languages() -> None:
    for document in handbook_documents():
        page = document.page
        assert page.title and page.keywords and page.sections, document.path
        assert len(page.asked) >= 9, document.path
        assert sum(len(section.text) for section in page.sections) < 5_000, document.path

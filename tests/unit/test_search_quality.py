"""Whether documentation is found: the measured promise, and what it is measured with."""

from __future__ import annotations

import re

import pytest

from benchmarks.knowledge import (
    read_code_requests,
    read_questions,
    read_unrelated,
    read_unseen,
    score,
    unanswered,
)
from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.library import Library
from global_chat.knowledge.pages import handbook_documents, handbook_files, read_page
from global_chat.knowledge.search import PROMPT_FLOOR, SEARCH_FLOOR
from global_chat.workflow.checking.code import code_problems

pytestmark = pytest.mark.unit


def test_there_are_enough_questions_and_every_page_has_some() -> None:
    questions = read_questions()
    assert len(questions) >= 80
    assert len({q.question for q in questions}) == len(questions)
    assert {f"{page}.md" for q in questions for page in q.pages} == set(handbook_files())


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


async def test_search_finds_the_page() -> None:
    library = Library(None)
    assert (await score(library, read_unseen())).recall_at_5 >= 0.93
    assert (await score(library, read_questions())).recall_at_5 >= 0.85


async def test_little_is_shown_for_questions_that_have_nothing_to_do_with_it() -> None:
    library, questions = Library(None), read_unrelated()
    for floor, part in ((SEARCH_FLOOR, 0.36), (PROMPT_FLOOR, 0.06)):
        shown = [q for q in questions if await library.search(q, 1, floor)]
        assert len(shown) <= part * len(questions), shown


async def test_the_code_agent_reads_the_names_that_a_request_needs() -> None:
    requests = read_code_requests()
    missed = await unanswered(Library(None, offline=True), requests)
    assert len(requests) == 60 and len(missed) <= 2, missed


BLOCKS = [
    pytest.param(name, code, id=f"{name}-{number}")
    for name, content in handbook_files().items()
    for number, code in enumerate(re.findall(r"```js\n(.*?)```", content.decode(), re.DOTALL))
]


@pytest.mark.parametrize(("name", "code"), BLOCKS)
def test_the_handbooks_code_keeps_the_rules_for_a_steps_code(name: str, code: str) -> None:
    page = read_page(handbook_files()[name].decode(), name)
    problems = []
    for adaptor in page.adaptors or ("http",):
        facts = Catalogue.load().facts(adaptor)
        assert facts is not None, adaptor
        problems.append(code_problems(code, facts))
    assert () in problems, problems


def test_every_page_says_what_it_is_about_in_four_languages() -> None:
    for document in handbook_documents():
        page = document.read()
        assert page.title and page.keywords and page.sections, document.path
        assert len(page.asked) >= 9, document.path
        assert sum(len(section.text) for section in page.sections) < 5_000, document.path

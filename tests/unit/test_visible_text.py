"""What the user sees of a streamed text: every character once, whatever breaks in between."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.agents.context import show
from global_chat.agents.model_calls import VisibleText
from global_chat.contract.events import Event, TextDelta, TextEnded, TextRestarted
from tests.screen import blocks_on, screen

pytestmark = pytest.mark.unit

#: Few letters, so that an attempt often begins like the one before it.
texts = st.text(st.sampled_from("ab \n😀"), max_size=12)


def cut(text: str, data: st.DataObject) -> list[str]:
    """`text` in pieces of any sizes, empty ones too."""
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@given(texts, st.data())
def test_the_pieces_make_up_the_text_without_the_blanks_before_it(
    text: str, data: st.DataObject
) -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    for piece in cut(text, data):
        visible.piece(piece)
    visible.end()
    assert screen(events) == text.lstrip()
    assert not any(isinstance(e, TextRestarted) for e in events)
    assert sum(isinstance(e, TextEnded) for e in events) == bool(text.strip())


@settings(max_examples=150)
@given(st.lists(texts, max_size=3), texts, st.data())
def test_after_any_number_of_restarts_the_last_attempt_stands_there_once(
    broken: list[str], text: str, data: st.DataObject
) -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    for attempt in broken:
        for piece in cut(attempt, data):
            visible.piece(piece)
        visible.restart()
    for piece in cut(text, data):
        visible.piece(piece)
    visible.end()
    assert screen(events) == text.lstrip()


def test_an_attempt_that_goes_on_from_the_same_words_is_simply_continued() -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    visible.piece("The step ")
    visible.piece("calls /a")
    visible.restart()
    for piece in ("The st", "ep calls", " /a.", " Done."):
        visible.piece(piece)
    visible.end()
    assert [e.text for e in events if isinstance(e, TextDelta)] == [
        "The step ", "calls /a", ".", " Done.",
    ]  # fmt: skip
    assert not any(isinstance(e, TextRestarted) for e in events)


def test_an_attempt_that_says_something_else_is_announced_before_it_is_shown() -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    visible.piece("The step calls")
    visible.restart()
    visible.piece("The job")
    assert events == [TextDelta("The step calls"), TextRestarted(), TextDelta("The job")]


def test_an_attempt_that_says_nothing_takes_back_what_was_shown() -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    visible.piece("I will")
    visible.restart()
    visible.end()
    assert screen(events) == ""


def test_a_restart_before_anything_was_shown_is_nobody_s_business() -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    visible.piece(" \n")
    visible.restart()
    visible.piece("Hello")
    visible.end()
    assert events == [TextDelta("Hello"), TextEnded()]


def test_one_listener_can_show_several_blocks() -> None:
    events: list[Event] = []
    visible = VisibleText(events.append)
    visible.piece("one")
    visible.end()
    visible.end()
    visible.piece("two")
    visible.end()
    assert blocks_on(events) == ["one", "two"]


def test_a_whole_block_is_said_at_once() -> None:
    events: list[Event] = []
    show(events.append, "Done.")
    assert events == [TextDelta("Done."), TextEnded()]

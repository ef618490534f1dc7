"""No text from a model, a log or a workflow steers the terminal, in whatever pieces it comes."""

from __future__ import annotations

import io
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    Changes,
    Event,
    Status,
    StepDiff,
    TextDelta,
    TextEnded,
    TurnStarted,
    Warned,
)
from global_chat.render.live import Live
from global_chat.render.renderers import JsonLines, Plain
from global_chat.render.text import clean, one_line
from tests.terminal import seen
from tests.turns import ended

pytestmark = pytest.mark.unit

STEERING = ["\x1b", "\x1b[2J", "\x1b[1A\x1b[K", "\x1b]8;;http://e.org\x07", "\x1b]8;;\x07", "\x07"]
STEERING += ["\x1b]0;title\x1b\\", "\x9b2J", "\x9d", "\x08\x08", "\r", "\x00", "\x7f", "\x85"]
STEERING += ["\u202e", "\u2066", "\u2069", "\u202a", "\u2028", "\ud83d", "\x0c", "\x0b", "\x1c"]
MARKUP = ["[red]x[/red]", "[link=http://e.org]x[/link]", "[/]", "[a](http://e.org)", ":smile:"]
MARKUP += ["&#x202e;", "&#27;", "<http://e.org/%1b[2J>", "![x](http://e.org/%07)", "**", "`", "```"]
MARKUP += ["</kbd>", "<b>", "# ", "- ", "\n", "\n\n", "| a |\n|---|\n", "~~~\n"]
TEXT = st.lists(st.one_of(st.sampled_from(STEERING + MARKUP), st.text(max_size=8)), max_size=12)
HOSTILE = TEXT.map("".join)

#: What Rich itself sends: colours, the cursor hidden and shown, up a row, erase a row.
OURS = re.compile(r"\x1b\[(\?25[lh]|[0-9;]*m|1A|2K)|\r")
SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")


def events_with(text: str) -> list[Event]:
    """A turn that says `text` wherever a turn can say anything."""
    return [
        TurnStarted("t"),
        Status(text),
        Warned(text),
        *(TextDelta(sign) for sign in text),
        TextEnded(),
        Changes(text, (StepDiff(text, text, text, text + "x"),), (text,)),
        ended(text),
    ]


def live_output(text: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    view = Live(out, err, size=(60, 24), animate=False)
    with view:
        for event in events_with(text):
            view(event)
    view.failed(TurnError(text))
    view.note(text)
    view.finish([Path(one_line(text) or "x")], 1.0)
    return SPINNER.sub("*", out.getvalue() + err.getvalue())


def plain_output(text: str) -> str:
    both = io.StringIO()
    view = Plain(both, both)
    with view:
        for event in events_with(text):
            view(event)
    view.failed(TurnError(text, details={"partial_workflow": text}))
    view.note(text)
    view.finish([Path("a\x1b[2J")], 1.0)
    return both.getvalue()


def steering_in(text: str) -> set[str]:
    kept = {"\n", "\t"}
    found = {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs")} - kept
    return found | {sign for sign in text if unicodedata.bidirectional(sign) in OVERRIDES}


OVERRIDES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(HOSTILE)
def test_clean_text_holds_nothing_that_steers(text: str) -> None:
    assert not steering_in(clean(text))
    assert not steering_in(one_line(text))
    assert "\n" not in one_line(text)


@given(HOSTILE, HOSTILE)
def test_it_does_not_matter_how_a_stream_is_cut(first: str, second: str) -> None:
    assert clean(first) + clean(second) == clean(first + second)


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]) | st.sampled_from("\n\t")))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(HOSTILE)
@settings(max_examples=60, deadline=None)
def test_a_terminal_gets_only_our_own_sequences(text: str) -> None:
    output = live_output(text)
    assert not steering_in(OURS.sub("", output))
    # Sequences that look like ours come from us: clean text makes exactly the same picture.
    assert output == live_output(clean(text))


@given(HOSTILE)
@settings(max_examples=60, deadline=None)
def test_a_pipe_gets_no_sequences_at_all(text: str) -> None:
    assert not steering_in(plain_output(text))


@given(HOSTILE)
@settings(max_examples=60, deadline=None)
def test_a_program_gets_every_character_escaped(text: str) -> None:
    out = io.StringIO()
    view = JsonLines(out, io.StringIO())
    with view:
        for event in events_with(text):
            view(event)
    assert out.getvalue().isascii()
    assert not steering_in(out.getvalue())


def test_an_escape_sequence_over_two_pieces_is_shown_harmlessly() -> None:
    out = io.StringIO()
    view = Live(out, io.StringIO(), size=(60, 24), animate=False)
    with view:
        view(TextDelta("ok \x1b"))
        view(TextDelta("[2J\x1b[1A\x1b[K\x1b]8;;http://example.org\x07x\x1b]8;;\x07\x07 end"))
        view(TextEnded())
    assert seen(out.getvalue()) == [
        "ok ␛[2J␛[1A␛[K␛]8;;http://example.org␇x␛]8;;␇␇ end",
    ]


def test_markup_is_shown_literally_and_a_link_shows_where_it_leads() -> None:
    out = io.StringIO()
    view = Live(out, io.StringIO(), size=(100, 24), animate=False)
    with view:
        view(
            TextDelta("[red]x[/red] [your bank](http://evil.example/%1b) <https://docs.openfn.org>")
        )
        view(TextEnded())
    assert seen(out.getvalue(), 100) == [
        "[red]x[/red] your bank (http://evil.example/%1b) https://docs.openfn.org",
    ]
    assert "\x1b]8" not in out.getvalue()


def test_a_name_cannot_pretend_to_be_a_line_of_ours() -> None:
    out = io.StringIO()
    view = Plain(io.StringIO(), out)
    view(Status("Reading\nError (INTERNAL): give me your key"))
    assert out.getvalue().count("\n") == 1

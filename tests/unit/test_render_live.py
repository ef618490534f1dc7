"""What a person sees in a terminal, read off a terminal in memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.markdown import Markdown
from syrupy.assertion import SnapshotAssertion

from global_chat.contract.errors import RateLimited
from global_chat.contract.events import (
    Changes,
    Event,
    Status,
    StepDiff,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnStarted,
    Warned,
)
from global_chat.render import live as live_view
from global_chat.render.choice import renderer
from global_chat.render.live import MAX_DIFF_LINES, Live
from global_chat.render.markdown import StreamedMarkdown, split_blocks
from global_chat.render.wording import RESTARTED
from tests.terminal import cursor_is_shown, seen
from tests.turns import ANSWER, CHANGES, ended, failed, pieces, planned

pytestmark = pytest.mark.unit

FILES = [Path("tmp/payload.response.json"), Path("tmp/payload.workflow.yaml")]
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(3[0-7]|9[0-7]|38)[0-9;]*m")


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "LINES", "COLORTERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def live(out: io.StringIO, size: tuple[int, int] = (60, 24), **options: bool) -> Live:
    return Live(out, Tty(), size=size, animate=False, **options)


def output(events: Iterable[Event], size: tuple[int, int] = (60, 24), **options: bool) -> str:
    out = io.StringIO()
    view = live(out, size, **options)
    with view:
        for event in events:
            view(event)
    return out.getvalue()


def shown(events: Iterable[Event], size: tuple[int, int] = (60, 24), **options: bool) -> str:
    return "\n".join(seen(output(events, size, **options), *size))


@pytest.mark.parametrize("columns", [60, 100])
def test_a_whole_turn(snapshot: SnapshotAssertion, columns: int) -> None:
    out = io.StringIO()
    view = live(out, (columns, 24))
    with view:
        for event in planned():
            view(event)
    view.finish(FILES, 3.21)
    assert "\n".join(seen(out.getvalue(), columns)) == snapshot


def test_blocks_and_statuses_are_shown_once_each_and_in_order() -> None:
    text = shown(planned("Done."))
    words = ["Reading the request", "I'll write it now.", "code of Fetch", "code of Load", "Done."]
    places = [text.index(word) for word in words]
    assert places == sorted(places)
    assert [text.count(word) for word in words] == [1] * len(words)


def test_what_happens_now_moves_at_the_end() -> None:
    out = io.StringIO()
    view = live(out)
    with view:
        view(Status("Reading the request"))
        view(Status("Planning"))
        *_, last = seen(out.getvalue())
        assert last.endswith(" Planning") or last.endswith("Reading the request")
        view(Warned("careful"))
        assert seen(out.getvalue())[-1].endswith(" Planning")


def test_the_end_of_the_answer_is_seen_before_it_is_complete() -> None:
    out = io.StringIO()
    view = live(out)
    with view:
        view(TextDelta("Some **bold** words\n\nand an unfinished par"))
        view(Warned("draws the moving part"))
        *_, words, _, spinner = seen(out.getvalue())
        assert words == "and an unfinished par"
        assert spinner.endswith(" Writing")


@pytest.mark.parametrize("size", [(60, 10), (60, 24), (100, 40)])
def test_an_answer_longer_than_the_screen_is_all_there_once(size: tuple[int, int]) -> None:
    paragraphs = [f"Paragraph {number} " + "word " * 40 for number in range(60)]
    code = "```js\n" + "".join(f"line({number});\n" for number in range(90)) + "```"
    text = shown([*pieces("\n\n".join([*paragraphs, code]), 50), TextEnded(), ended()], size)
    assert re.findall(r"^Paragraph (\d+) ", text, re.M) == [str(n) for n in range(60)]
    assert re.findall(r"line\((\d+)\)", text) == [str(n) for n in range(90)]
    assert text.count("word") == 60 * 40


def test_the_moving_part_never_outgrows_the_screen() -> None:
    out = io.StringIO()
    view = live(out, (60, 12))
    with view:
        view(TextDelta("```js\n" + "".join(f"line({number});\n" for number in range(90))))
        view(Warned("draws the moving part"))
        lines = seen(out.getvalue(), 60, 12)
        assert "line(89);" in lines[-3]
        assert len(lines) <= 12


def test_the_clock_that_draws_the_moving_part_disturbs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_view, "FRAME_SECONDS", 0.0001)
    out = io.StringIO()
    with Live(out, Tty(), size=(60, 24)) as view:
        for event in planned(ANSWER * 3):
            view(event)
    assert "\n".join(seen(out.getvalue())) == shown(planned(ANSWER * 3))


def test_text_that_starts_again_replaces_what_was_only_moving() -> None:
    text = shown([*pieces("The step ca"), TextRestarted(), *pieces("It calls /a."), TextEnded()])
    assert text == "It calls /a."


def test_text_that_starts_again_after_some_of_it_scrolled_away_says_so() -> None:
    first = "Finished.\n\nA second paragraph\nbegins"
    text = shown([TextDelta(first), TextRestarted(), *pieces("Again."), TextEnded()])
    assert text == f"Finished.\n\n{RESTARTED}\n\nAgain."


def test_without_streaming_the_answer_is_shown_whole_at_the_end() -> None:
    text = shown(planned("All done."), stream=False)
    assert "I'll write it now." not in text
    assert text.count("All done.") == 1


def test_a_diff_shows_what_went_and_what_came() -> None:
    text = shown([CHANGES, ended("Done.")])
    assert "Fetch visits  +2 −2 ─" in text
    assert "-  return state;" in text
    assert "+  return state.data;" in text
    assert "Load to DHIS2  +1 −0 ─" in text
    assert text.index("Done.") < text.index("Fetch visits") < text.index("• Fetch visits")


def test_a_diff_without_a_line_that_differs_is_told_in_words() -> None:
    changes = Changes("", (StepDiff("a", "A", "x();\n", "x();"),))
    assert "only line ends" in shown([changes, ended("Done.")])


def test_a_very_long_diff_is_cut_with_a_word() -> None:
    after = "".join(f"line({number});\n" for number in range(1000))
    text = shown([Changes("", (StepDiff("a", "A", "", after),)), ended("Done.")])
    assert text.count("+line(") == MAX_DIFF_LINES - 1
    assert "701 more lines" in text


def test_added_lines_are_green_and_removed_ones_red() -> None:
    text = output([CHANGES, ended("Done.")])
    assert re.search(r"\x1b\[32m\+  return state\.data;", text)
    assert re.search(r"\x1b\[31m-  return state;", text)


def test_no_color_takes_the_colours_and_leaves_the_view() -> None:
    assert COLOUR.search(output(planned()))
    plain = output(planned(), colours=False)
    assert not COLOUR.search(plain)
    assert seen(plain) == seen(output(planned()))


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_the_environment_decides_on_colours(environment: dict[str, str], coloured: bool) -> None:
    out = Tty()
    view = renderer(out, Tty(), environment)
    assert isinstance(view, Live)
    with view:
        for event in planned():
            view(event)
    assert bool(COLOUR.search(out.getvalue())) is coloured


@pytest.mark.parametrize("how", ["answered", "failed", "interrupted", "closed twice"])
def test_the_cursor_is_back_whatever_happens(how: str) -> None:
    out = io.StringIO()
    view = Live(out, Tty(), size=(60, 24))
    try:
        with view:
            for event in failed() if how == "failed" else planned()[:-3]:
                view(event)
            assert not cursor_is_shown(out.getvalue())
            if how == "interrupted":
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert cursor_is_shown(out.getvalue())
    if how == "closed twice":
        view.__exit__(None, None, None)
        assert cursor_is_shown(out.getvalue())


def test_an_interrupted_answer_keeps_what_was_seen_of_it() -> None:
    out = io.StringIO()
    view = live(out)
    with pytest.raises(KeyboardInterrupt), view:
        view(TextDelta("half a sent"))
        raise KeyboardInterrupt
    assert seen(out.getvalue()) == ["half a sent"]


def test_a_failure_is_said_on_standard_error() -> None:
    out, err = io.StringIO(), Tty()
    view = Live(out, err, size=(60, 24), animate=False)
    with view:
        for event in failed():
            view(event)
    view.failed(RateLimited("The model service is busy.", retry_after=20))
    assert "Error" not in out.getvalue()
    assert "Error (RATE_LIMIT): The model service is busy." in "\n".join(seen(err.getvalue()))


def test_diagnostics_stand_above_what_moves_and_go_to_a_file_when_that_is_asked_for() -> None:
    expected = ["router: planner (4)", "Warning: odd"]
    out, err = io.StringIO(), io.StringIO()
    for view in (Live(out, err, size=(60, 24), animate=False), live(shown_here := io.StringIO())):
        with view:
            view.note("router:\nplanner (4)")
            view(Warned("odd"))
    assert (seen(out.getvalue()), err.getvalue().splitlines()) == ([], expected)
    assert seen(shown_here.getvalue()) == expected


def test_a_terminal_that_lacks_the_characters_still_shows_the_turn() -> None:
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding="ascii")
    view = Live(out, io.StringIO(), size=(60, 24), animate=False)
    with view:
        for event in planned("✓ done 患者 🐱"):
            view(event)
    view.finish(FILES, 1.0)
    text = "\n".join(seen(data.getvalue().decode("ascii")))
    assert "? done ?? ?" in text
    assert "router > planner > job code agent x2" in text


def test_an_answer_that_markdown_cannot_draw_is_shown_as_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise IndexError("pop from an empty stack")

    monkeypatch.setattr(Markdown, "__rich_console__", fail)
    assert shown([*pieces("**Done.**"), TextEnded()]) == "**Done.**"


def test_what_looks_like_a_tag_is_not_lost() -> None:
    text = shown([*pieces("Use <your-url> in `<a>`.\n\n<div>\nhello\n</div>\n"), TextEnded()])
    assert text == "Use <your-url> in <a>.\n\n<div> hello </div>"


BLOCKS = [
    "# h\n",
    "- a\n",
    "1. b\n",
    "> q\n",
    "```js\n",
    "```\n",
    "    code\n",
    "\n",
    "\n\n",
    "---\n",
]
BLOCKS += ["| a | b |\n|---|---|\n", "===\n", "word", "* ", "`x`", "  more\n", "[a](http://x)\n"]
MARKDOWN = st.lists(st.sampled_from(BLOCKS), max_size=30).map("".join)


@given(MARKDOWN)
def test_the_blocks_of_an_answer_are_the_answer(source: str) -> None:
    assert "".join(split_blocks(source)) == source


@given(MARKDOWN, st.integers(1, 9))
def test_a_streamed_answer_is_cut_where_the_whole_one_would_be(source: str, size: int) -> None:
    streamed = StreamedMarkdown()
    found = [block for piece in pieces(source, size) for block in streamed.add(piece.text)]  # type: ignore[union-attr]
    found += streamed.end()
    assert "".join(found).split() == source.split()
    whole = [block for block in split_blocks(source) if block.strip()]
    assert [block for block in found if block.strip()] == whole


def test_the_answer_of_a_turn_reads_the_same_streamed_or_whole() -> None:
    start: list[Event] = [TurnStarted("t")]
    assert shown([*start, *pieces(ANSWER, 3), TextEnded(), ended()]) == shown([*start, ended()])


def test_a_status_that_stands_for_long_says_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(live_view.time, "monotonic", lambda: now)
    out = io.StringIO()
    view = live(out)
    with view:
        view(Status("Planning"))
        now += 4
        view.note("a")
        assert "Planning (" not in out.getvalue()
        now += 8
        view.note("b")
        assert "Planning (12 s)" in out.getvalue()

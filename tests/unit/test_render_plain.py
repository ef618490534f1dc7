"""What a pipe or a simple terminal gets: answers on one stream, diagnostics on the other."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from global_chat.contract.errors import AuthError, RateLimited, TurnError
from global_chat.contract.events import (
    Event,
    Status,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnStarted,
    Warned,
)
from global_chat.render.choice import renderer
from global_chat.render.live import Live
from global_chat.render.renderers import JsonLines, Plain, Renderer
from global_chat.render.text import Stream
from global_chat.render.wording import error_text
from tests.turns import ANSWER, ended, failed, pieces, planned

pytestmark = pytest.mark.unit

FILES = [Path("tmp/payload.response.json"), Path("tmp/payload.workflow.yaml")]


def drawn(events: Iterable[Event], *, stream: bool = True) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    view = Plain(out, err, stream=stream)
    with view:
        for event in events:
            view(event)
    return out.getvalue(), err.getvalue()


def test_a_whole_turn(snapshot: SnapshotAssertion) -> None:
    out, err = io.StringIO(), io.StringIO()
    view = Plain(out, err)
    with view:
        for event in planned():
            view(event)
    view.finish(FILES, 3.21)
    assert (out.getvalue(), err.getvalue()) == snapshot


def test_the_text_of_each_block_is_shown_once_and_in_order() -> None:
    out, _ = drawn(planned())
    assert out == f"I'll write it now.\n\n{ANSWER}"


def test_without_streaming_the_answer_is_all_that_is_shown() -> None:
    out, _ = drawn(planned(), stream=False)
    assert out == ANSWER


def test_an_answer_that_nobody_streamed_is_shown_at_the_end() -> None:
    out, _ = drawn([TurnStarted("t"), ended("Done.")])
    assert out == "Done.\n"


def test_each_piece_is_shown_as_it_comes() -> None:
    out = io.StringIO()
    view = Plain(out, io.StringIO())
    view(TextDelta("The st"))
    assert out.getvalue() == "The st"


def test_text_that_starts_again_is_never_silently_doubled() -> None:
    events = [
        *pieces("The step calls"),
        TextRestarted(),
        *pieces("The step calls /a."),
        TextEnded(),
    ]
    out, _ = drawn([*events, ended("The step calls /a.")])
    assert out == ("The step calls\n[the answer starts again]\nThe step calls /a.\n")


def test_a_restart_before_any_text_needs_no_word() -> None:
    out, _ = drawn([TextRestarted(), *pieces("Done."), TextEnded()])
    assert out == "Done.\n"


def test_a_warning_in_the_middle_of_a_line_waits_for_its_end() -> None:
    both = io.StringIO()
    view = Plain(both, both)
    events: list[Event] = [TextDelta("one "), Warned("careful"), TextDelta("line"), TextEnded()]
    for event in events:
        view(event)
    assert both.getvalue() == "one line\nWarning: careful\n"


def test_a_turn_that_breaks_off_leaves_whole_lines_and_says_why() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = Plain(out, err)
    with view:
        for event in failed():
            view(event)
    view.failed(RateLimited("The model service is busy. Try again in a while.", retry_after=20))
    view.finish([], 1.0)
    assert out.getvalue() == "The first half of\n"
    assert err.getvalue().splitlines() == [
        "· Planning",
        "Error (RATE_LIMIT): The model service is busy. Try again in a while.",
        "  The service asks to wait 20 seconds before the next try.",
        "router · 100 tokens in, 3 out · 1.0 s",
    ]


def test_an_interrupted_turn_leaves_whole_lines() -> None:
    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt), Plain(out, io.StringIO()) as view:
        view(TextDelta("half a li"))
        raise KeyboardInterrupt
    assert out.getvalue() == "half a li\n"


def test_json_and_quiet_draw_nothing_but_json_still_warns() -> None:
    for quiet, expected in ((False, "Warning: The adaptor is not in the catalogue.\n"), (True, "")):
        out, err = io.StringIO(), io.StringIO()
        view = renderer(out, err, {}, json=True, quiet=quiet)
        with view:
            for event in planned():
                view(event)
        view.finish(FILES, 1.0)
        assert (out.getvalue(), err.getvalue()) == ("", expected)


@pytest.mark.parametrize("kind", [Renderer, Plain, JsonLines])
def test_every_renderer_says_why_a_turn_failed(kind: type[Renderer]) -> None:
    err = io.StringIO()
    view = kind(err) if kind is Renderer else kind(io.StringIO(), err)  # type: ignore[call-arg,arg-type]
    view.failed(AuthError("The key is not accepted. Check ANTHROPIC_API_KEY."))
    assert err.getvalue() == (
        "Error (AUTH_ERROR): The key is not accepted. Check ANTHROPIC_API_KEY.\n"
    )


def test_an_error_names_the_work_that_was_kept() -> None:
    error = TurnError("It failed.", details={"partial_workflow": "tmp/p.workflow.partial.yaml"})
    assert error_text(error).splitlines()[1] == (
        "  The part of the work that was finished is in tmp/p.workflow.partial.yaml."
    )


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "options", "kind"),
    [
        (Tty(), {}, Live),
        (io.StringIO(), {}, Plain),
        (None, {}, Plain),
        (Tty(), {"events": True}, JsonLines),
        (Tty(), {"json": True}, Renderer),
        (Tty(), {"json": True, "events": True}, Renderer),
        (Tty(), {"quiet": True}, Renderer),
        (Tty(), {"quiet": True, "events": True}, JsonLines),
    ],
)
def test_which_renderer_a_command_gets(
    out: io.StringIO | None, options: dict[str, bool], kind: type[Renderer]
) -> None:
    assert type(renderer(out, None, {"TERM": "xterm"}, **options)) is kind  # type: ignore[arg-type]


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_draw_is_written_to_like_a_pipe(term: str) -> None:
    assert isinstance(renderer(Tty(), None, {"TERM": term}), Plain)


def test_a_pipe_gets_only_the_answer_unless_a_stream_is_asked_for() -> None:
    for stream, expected in ((None, ANSWER), (True, f"I'll write it now.\n\n{ANSWER}")):
        out = io.StringIO()
        view = renderer(out, io.StringIO(), {}, stream=stream)
        with view:
            for event in planned():
                view(event)
        assert out.getvalue() == expected


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("cp1252", "? done ?? ? — “x” > …"), ("ascii", '? done ?? ? - "x" > .')],
)
def test_characters_that_a_terminal_lacks_are_replaced_on_the_screen_only(
    encoding: str, expected: str
) -> None:
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding=encoding)
    text = "✓ done 患者 🐱 — “x” → …"
    Stream(out).line(text)
    assert data.getvalue().decode(encoding) == expected + "\n"


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_json_reads_back_as_it_was_whatever_the_encoding_lacks(encoding: str) -> None:
    value = {"response": "✓ “患者” 🐱 é \x1b[2J \x9b2J \u202e \x7f \u2028", "n": ["…\n\t"]}
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding=encoding)
    Stream(out).json(json.dumps(value, indent=2, ensure_ascii=False))
    text = data.getvalue().decode(encoding)
    assert json.loads(text) == value
    assert not set(text) & set("\x1b\x9b\u202e\x7f")
    assert ("患" in text, "é" in text) == (encoding == "utf-8", encoding != "ascii")


class Broken(io.StringIO):
    """A pipe whose reader has gone, or a full disk."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("stream", [None, Broken()])
def test_a_stream_that_is_closed_is_no_reason_to_fail(stream: io.StringIO | None) -> None:
    for view in (Plain(stream, stream), JsonLines(stream, stream), Renderer(stream)):
        with view:
            for event in [*planned(), Status("late")]:
                view(event)
        view.failed(AuthError("no"))
        view.finish(FILES, 1.0)


GONE = """
import sys
from pathlib import Path
from global_chat.contract.events import TextDelta, TextEnded
from global_chat.render.choice import renderer

view = renderer(sys.stdout, sys.stderr, {}, stream=True, events=sys.argv[2] == "events")
with view:
    for number in range(20_000):
        view(TextDelta("line of text\\n"))
    view(TextEnded())
Path(sys.argv[1]).write_text("saved")
print("a last word")
"""


@pytest.mark.parametrize("mode", ["plain", "events"])
def test_a_reader_that_leaves_costs_no_file_and_no_complaint(tmp_path: Path, mode: str) -> None:
    command = [sys.executable, "-c", GONE, str(tmp_path / "r.json"), mode]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.readline()
    run.stdout.close()
    errors = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=60) == 0
    assert errors == b""
    assert (tmp_path / "r.json").read_text() == "saved"


def test_a_full_device_costs_no_file_and_no_complaint(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-c", GONE, str(tmp_path / "r.json"), "plain"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    assert (run.returncode, run.stderr) == (0, b"")
    assert (tmp_path / "r.json").read_text() == "saved"

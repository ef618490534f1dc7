"""The installed command on terminals of every kind, and in pipes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from contextlib import suppress

import pytest

from tests.service.command_line import (
    ANSWER,
    ANSWERED,
    CHANGED,
    EDITED,
    INSTALLED,
    PAYLOAD,
    CommandLine,
    Script,
)
from tests.terminal import cursor_is_shown, seen

pytestmark = pytest.mark.service

COLUMNS, ROWS = 60, 24
COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38|48)[0-9;]*m")
#: Clears the screen, goes up and erases, sets the title, disguises a link, rings.
STEERING = (
    "ok \x1b[2J\x1b[1A\x1b[K\x1b]0;owned\x07\x1b]8;;http://example.org\x07x\x1b]8;;\x07\x07\x9b2J"
)


def scripted(command: CommandLine, script: Script) -> tuple[object, ...]:
    """The arguments of a turn with a script."""
    return ("run", "--input", "turn.json", "--script", command.write("script.json", script))


def on_a_terminal(command: CommandLine, script: Script, **environment: str) -> str:
    """What a terminal of 60 columns is sent: both streams go there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **environment}
    process = command.start(
        *scripted(command, script),
        environment=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    with suppress(OSError):  # how the end of a terminal reads
        while piece := os.read(ours, 65_536):
            sent += piece
    os.close(ours)
    assert process.wait(30) == 0
    return sent.decode()


def test_a_terminal_gets_the_live_view(command: CommandLine) -> None:
    answer = "I limited **Fetch**:\n\n1. `limit` is 100.\n"
    turn = {**EDITED["job_code_agent"][0], "text": answer}
    sent = on_a_terminal(command, {**EDITED, "job_code_agent": [turn]})
    lines = seen(sent, COLUMNS, ROWS)
    assert lines[:2] == ["· Reading the request", "· Working on the code of Fetch"]
    assert "I limited Fetch:" in lines and " 1 limit is 100." in lines
    assert any(line.startswith("Fetch  +1 −1 ───") for line in lines)
    assert "-get('/visits');" in lines and "+get('/visits', { query: { limit: 100 } });" in lines
    assert "wrote turn.response.json" in " ".join(lines)
    assert COLOUR.search(sent)
    assert cursor_is_shown(sent)
    assert command.text("turn.workflow.yaml") == CHANGED


def test_a_dumb_terminal_gets_plain_text(command: CommandLine) -> None:
    sent = on_a_terminal(command, EDITED, TERM="dumb")
    assert "\x1b" not in sent
    assert f"{ANSWER}\r\n" in sent


def test_what_a_model_says_cannot_steer_a_terminal_and_no_color_is_kept_to(
    command: CommandLine,
) -> None:
    script = {**ANSWERED, "planner": [{"text": STEERING, "chunk": 4}]}
    sent = on_a_terminal(command, script, NO_COLOR="1")
    assert "\x1b[" in sent and not COLOUR.search(sent)
    lines = seen(sent, COLUMNS, ROWS)
    assert lines[0] == "· Reading the request"
    assert any(line.startswith("ok ␛[2J␛[1A␛[K") for line in lines)
    assert not re.search("\x1b\\[2J|\x1b\\]|\x07|\x9b", sent)
    assert command.json("turn.response.json")["response"] == STEERING


def test_a_pipe_gets_no_control_characters_and_files_the_true_ones(command: CommandLine) -> None:
    ran = command.turn({**ANSWERED, "planner": [{"text": STEERING, "chunk": 4}]})
    assert ran.out.startswith("ok ␛[2J␛[1A␛[K")
    assert all(char.isprintable() or char == "\n" for char in ran.out + ran.err)
    assert command.json("turn.response.json")["response"] == STEERING


def test_characters_that_an_encoding_lacks_are_replaced_on_the_screen_only(
    command: CommandLine,
) -> None:
    arguments = scripted(command, EDITED)
    ran = command.process(*arguments, PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert ran.code == 0
    assert ran.out == "I limited the page size ? ?? ?.\n"
    assert "Traceback" not in ran.err and "Reading the request" in ran.err
    assert command.json("turn.response.json")["response"] == ANSWER


def test_json_reads_back_in_any_encoding(command: CommandLine) -> None:
    ran = command.process(*scripted(command, EDITED), "--json", PYTHONIOENCODING="ascii")
    assert ran.out.isascii()
    assert ran.json == command.json("turn.response.json")


def test_help_comes_out_in_any_encoding(command: CommandLine) -> None:
    ran = command.process("check", "--help", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert "Usage: global-chat" in ran.out


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_reader_that_leaves_costs_no_file_and_no_complaint(
    command: CommandLine, option: str
) -> None:
    command.write("turn.json", {**PAYLOAD, "options": {"stream": True}})
    long = "line of text\n" * 20_000
    arguments = [*scripted(command, {**ANSWERED, "planner": [{"text": long, "chunk": 4_000}]})]
    process = command.start(*arguments, *filter(None, [option]))
    assert process.stdout and process.stderr
    assert process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    assert "Traceback" not in err and "Exception ignored" not in err
    assert command.json("turn.response.json")["response"] == long.strip()


@pytest.mark.parametrize("closed", [">&- 2>&- <&-", ">/dev/full"])
def test_closed_streams_cost_no_file_and_no_complaint(command: CommandLine, closed: str) -> None:
    arguments = " ".join(map(str, scripted(command, EDITED)))
    ran = subprocess.run(
        ["sh", "-c", f"'{INSTALLED}' {arguments} {closed}"],
        cwd=command.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False)
    assert command.text("turn.workflow.yaml") == CHANGED

"""A conversation: several turns on one file, and nothing written to it before /apply."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import termios
import time
from pathlib import Path

import pytest

from global_chat.chat.commands import completions
from global_chat.chat.session import Session
from global_chat.cli.chat import chat
from global_chat.cli.options import ChatOptions, ModelOptions
from global_chat.contract.errors import InternalError
from tests.service.command_line import CommandLine

pytestmark = pytest.mark.service

WORKFLOW = """\
name: Visits
jobs:
  load:  # the only step
    name: Load
    adaptor: '@openfn/language-http@7.3.2'
    body: |
      get('/visits');
"""

SCRIPT = """\
router:
  - reply: {destination: job_code_agent, confidence: 5, job_key: load}
    repeat: true
job_code_agent:
  - when: {contains: "read /patients", in: last}
    text: It reads patients now.
    tools:
      - name: edit_job
        input: {code_edits: [{action: rewrite, old_code: null, new_code: "get('/patients');\\n"}]}
  - when: {contains: ["It reads patients now.", "what does it read"], in: messages}
    text: It reads patients.
  - when: {contains: "fail please", in: last}
    error: {status: 401, type: authentication_error, message: no}
    repeat: true
  - when: {contains: "look at the log", in: last}
    text: The log says so.
    repeat: 2
"""


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Type lines into a conversation; returns what was printed: (stdout, stderr)."""
    (tmp_path / "workflow.yaml").write_text(WORKFLOW)
    (tmp_path / "script.yaml").write_text(SCRIPT)

    def typed(*lines: str) -> tuple[str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        options = ChatOptions(tmp_path / "workflow.yaml", page="workflows/visits/load")
        assert chat(options, ModelOptions(script=tmp_path / "script.yaml")) == 0
        captured = capsys.readouterr()
        return captured.out, captured.err

    return typed


def test_nothing_is_written_to_the_file_before_apply(talk, tmp_path: Path) -> None:
    talk("read /patients")
    assert (tmp_path / "workflow.yaml").read_text() == WORKFLOW

    talk("/apply")
    changed = WORKFLOW.replace("/visits'", "/patients'")
    assert (tmp_path / "workflow.yaml").read_text() == changed


def test_a_later_turn_knows_those_of_an_earlier_session(talk) -> None:
    talk("read /patients")
    out, _err = talk("what does it read?")
    assert "It reads patients." in out


def test_undo_takes_the_change_back(talk, tmp_path: Path) -> None:
    out, _err = talk("read /patients", "/diff", "/undo", "/diff", "/apply")
    assert "+      get('/patients');" in out
    assert "The workflow is as it is in the file." in out
    assert (tmp_path / "workflow.yaml").read_text() == WORKFLOW


def test_a_failed_turn_ends_the_turn_and_not_the_conversation(talk) -> None:
    out, err = talk("fail please", "/page")
    assert "AUTH_ERROR" in err
    assert "Page: workflows/visits/load" in out


def test_attachments_belong_to_one_message(talk, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("a line of the log")
    out, _err = talk(f"/attach log {tmp_path / 'run.log'}", "look at the log", "/attach")
    assert "For the next message: log (17 characters)" in out
    assert "Nothing is attached." in out
    saved = json.loads((tmp_path / "workflow.yaml.chat.json").read_text())
    assert "a line of the log" not in json.dumps(saved)


def test_a_file_that_somebody_else_changed_is_not_overwritten(talk, tmp_path: Path) -> None:
    talk("read /patients")
    (tmp_path / "workflow.yaml").write_text(WORKFLOW + "# theirs\n")
    out, err = talk("/apply")
    assert "theirs" in (tmp_path / "workflow.yaml").read_text()
    assert "changed by something else" in err + out


def test_a_recording_that_cannot_be_written_is_told_before_the_first_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "workflow.yaml").write_text(WORKFLOW)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    model = ModelOptions(script=tmp_path / "script.yaml", record=tmp_path / "gone" / "r.yaml")
    assert chat(ChatOptions(tmp_path / "workflow.yaml"), model) == 2
    assert "does not exist" in capsys.readouterr().err


def test_unknown_commands_and_open_quotes_are_told(talk) -> None:
    _out, err = talk("/nope", '/attach log "x')
    assert "There is no command /nope" in err
    assert "quotation mark" in err


def test_a_file_changed_outside_is_no_dead_end(talk, tmp_path: Path) -> None:
    file = tmp_path / "workflow.yaml"
    talk("read /patients")
    file.write_text(WORKFLOW + "# theirs\n")
    _out, err = talk("/apply")
    assert "/reload" in err and "/discard" in err
    out, _err = talk("/reload", "/diff", "/undo", "/diff")
    assert "The workflow is as it is in the file." in out
    assert "+      get('/patients');" in out  # nothing pending was lost
    talk("/discard")
    assert "# theirs" in file.read_text()
    assert "The workflow is as it is in the file." in talk("/diff")[0]


def test_what_is_not_applied_can_be_taken_back_in_a_later_session(talk) -> None:
    talk("read /patients")
    out, _err = talk("/undo", "/diff")
    assert "The workflow is as it is in the file." in out


def test_applied_changes_can_be_taken_back_by_the_undo_command(talk, tmp_path: Path) -> None:
    talk("read /patients", "/apply")
    assert CommandLine(tmp_path).run("undo", tmp_path / "workflow.yaml").code == 0
    assert (tmp_path / "workflow.yaml").read_text() == WORKFLOW


def test_two_conversations_on_one_file_lose_nothing_of_each_other(tmp_path: Path) -> None:
    file = tmp_path / "workflow.yaml"
    file.write_text(WORKFLOW)
    first, second = Session.open(file), Session.open(file)
    first.change(WORKFLOW + "# first\n")
    second.change(WORKFLOW + "# second\n")
    assert "Another conversation has written to" in second.notes[0]
    assert (first.is_kept, second.is_kept) == (True, True)
    assert Session.open(file).text == WORKFLOW + "# first\n"
    assert Session.open(file, second.file).text == WORKFLOW + "# second\n"


def test_what_cannot_be_kept_is_not_claimed_to_be_and_the_loop_goes_on(
    talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InternalError("workflow.yaml.chat.json could not be written: No space left.")

    monkeypatch.setattr("global_chat.chat.session.write_atomically", full)
    out, err = talk("read /patients", "/diff")
    assert "No space left" in err and "+      get('/patients');" in out
    assert "Not applied, and not kept either" in err


def test_every_slip_is_answered_and_nothing_is_sent(talk, tmp_path: Path) -> None:
    out, err = talk("/aply", "apply", "/attach '' x.log", "/attach log gone.log", "/page nowhere")
    assert "did you mean /apply?" in err
    assert "Write /apply for the command. Nothing was sent." in err
    assert "An attachment needs a type" in err and "gone.log does not exist" in err
    assert "'nowhere' is not a page" in err
    assert not (tmp_path / "workflow.yaml.chat.json").exists() or "nowhere" not in out


def test_a_planted_session_file_is_not_trusted(tmp_path: Path, capsys) -> None:
    file, beside = tmp_path / "workflow.yaml", tmp_path / "workflow.yaml.chat.json"
    file.write_text(WORKFLOW)
    beside.write_text('{"history": "x"}')
    assert chat(ChatOptions(file), ModelOptions(backend="offline")) == 2
    beside.unlink()
    (tmp_path / "mine").write_text("mine")
    beside.symlink_to(tmp_path / "mine")
    assert chat(ChatOptions(file), ModelOptions(backend="offline")) == 2
    assert (tmp_path / "mine").read_text() == "mine"
    err = capsys.readouterr().err
    assert "does not hold a conversation" in err and "is a link" in err


def test_completion_knows_commands_types_files_and_pages(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run 1.log").write_text("x")
    (tmp_path / "workflow.yaml").write_text(WORKFLOW)
    session = Session.open(Path("workflow.yaml"), page="workflows/Visits")
    assert completions(session, "/di") == ["/diff", "/discard"]
    assert completions(session, "/attach lo") == ["log"]
    assert completions(session, "/attach log ") == ["'run 1.log'", "workflow.yaml"]
    assert completions(session, "/page workflows/Visits/l") == ["workflows/Visits/load"]
    assert completions(session, "di") == []


def test_a_file_that_does_not_exist_yet_is_told(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert chat(ChatOptions(tmp_path / "new.yaml"), ModelOptions(backend="offline")) == 0
    assert "new.yaml does not exist yet: /apply will make it." in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_end_of_the_process_at_the_prompt_leaves_the_terminal_sane(
    tmp_path: Path, number: int
) -> None:
    command = CommandLine(tmp_path)
    command.write("visits.yaml", WORKFLOW)
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = command.start(
        *("chat", "visits.yaml", "--backend", "offline"),
        environment={"TERM": "xterm-256color"},
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
    )
    deadline = time.monotonic() + 30
    while termios.tcgetattr(theirs) == before and time.monotonic() < deadline:
        while select.select([ours], [], [], 0.1)[0]:  # so that it is never full
            os.read(ours, 65_536)
    assert termios.tcgetattr(theirs) != before  # the prompt has begun
    process.send_signal(number)
    try:
        process.wait(timeout=30)
    finally:
        process.kill()
    assert termios.tcgetattr(theirs)[3] == before[3]
    os.close(ours)
    os.close(theirs)


def test_a_turn_works_on_the_file_as_it_is_now_when_nothing_is_pending(tmp_path: Path) -> None:
    file = tmp_path / "workflow.yaml"
    file.write_text(WORKFLOW)
    session = Session.open(file)
    file.write_text(WORKFLOW + "# theirs\n")
    session.refresh()
    assert (session.text, session.changed) == (WORKFLOW + "# theirs\n", False)
    assert "was changed meanwhile" in session.notes[-1]

"""A conversation: several turns on one file, and nothing written to it before /apply."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from global_chat.cli.chat import chat
from global_chat.cli.options import ChatOptions, ModelOptions

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

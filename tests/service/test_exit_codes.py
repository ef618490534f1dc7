"""Every failure is one object, in one sentence, with the exit code of whose move it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from global_chat.contract.errors import TurnError
from tests.promised_failures import PROMISED
from tests.service.command_line import (
    ANSWERED,
    EDITED,
    PAYLOAD,
    WORKFLOW,
    CommandLine,
    Ran,
    Script,
    routed,
)
from tests.service.messages_server import MessagesServer

pytestmark = pytest.mark.service


def failed(type_: str, retry_after: float | None = None) -> Script:
    """A turn whose planner fails in one way, however often it is asked."""
    error = {"type": type_, **({} if retry_after is None else {"retry_after": retry_after})}
    return {"router": [routed("planner")], "planner": [{"error": error, "repeat": True}]}


def error_of(command: CommandLine, ran: Ran, type_: str) -> dict[str, Any]:
    """The error object, after checks of all that holds for each: run it with `--json`."""
    code, exit_code = PROMISED[type_]
    error: dict[str, Any] = ran.json
    assert (ran.code, error["type"], error["code"]) == (exit_code, type_, code)
    assert error.keys() <= {"code", "type", "message", "details"}
    assert error == command.json("turn.response.json")
    assert command.files == {"turn.response.json"}
    sentence, *hints = ran.err.splitlines()
    assert sentence == f"Error ({type_}): {error['message']}"
    assert error["message"].endswith(".")
    assert all(hint.startswith("  ") for hint in hints)
    return error


def test_the_table_has_every_error_there_is() -> None:
    def below(kind: type[TurnError]) -> Iterator[str]:
        yield kind.type
        for child in kind.__subclasses__():
            yield from below(child)

    assert set(below(TurnError)) == set(PROMISED)


@pytest.mark.parametrize("type_", PROMISED)
def test_each_type_has_its_code_and_its_exit_code(command: CommandLine, type_: str) -> None:
    error_of(command, command.turn(failed(type_), "--json"), type_)


def test_a_rate_limit_says_how_long_to_wait(command: CommandLine) -> None:
    ran = command.turn(failed("RATE_LIMIT", retry_after=90), "--json")
    assert error_of(command, ran, "RATE_LIMIT")["details"] == {"retry_after": 90}
    assert "asks to wait 90 seconds" in ran.err


def test_attachments_over_the_limit_are_refused_naming_the_largest(command: CommandLine) -> None:
    given = [{"type": "log", "content": "x" * 249_000}, {"type": "run_input", "content": "y" * 900}]
    command.write("turn.json", {**PAYLOAD, "attachments": given})
    assert command.turn(ANSWERED, "--json").code == 0
    given[1]["content"] = "y" * 1_000
    command.write("turn.json", {**PAYLOAD, "attachments": given})
    details = error_of(command, command.turn({}, "--json"), "ATTACHMENT_TOO_LARGE")["details"]
    assert details["largest_attachment"] == {"type": "log", "characters": 249_000}
    assert details["total_characters"] > details["limit_characters"] == 250_000


def test_a_workflow_that_cannot_be_parsed_is_refused_with_line_and_column(
    command: CommandLine,
) -> None:
    command.write("turn.json", {**PAYLOAD, "workflow_yaml": "name: One\njobs:\n  fetch: [a\n"})
    error = error_of(command, command.turn({}, "--json"), "INVALID_WORKFLOW")
    assert "line 4" in error["message"] and "column 1" in error["message"]


def test_a_call_that_no_turn_answers_names_the_agent_and_what_differs(
    command: CommandLine,
) -> None:
    script = {**EDITED, "job_code_agent": [{"when": {"contains": "a blue moon"}, "text": "Yes."}]}
    error = error_of(command, command.turn(script, "--json"), "SCRIPT_MISMATCH")
    assert "job_code_agent" in error["message"]
    assert "'a blue moon' is not in" in error["message"]


def test_a_turn_of_the_script_that_nobody_used_is_a_mismatch(command: CommandLine) -> None:
    script = {**ANSWERED, "job_code_agent": [{"text": "Never asked."}]}
    error = error_of(command, command.turn(script, "--json", "-q"), "SCRIPT_MISMATCH")
    assert error["details"] == {"unused": ["job_code_agent[0]"]}


@pytest.mark.parametrize("place", ["global_chat.cli.run.wire", "global_chat.turn.take.check_size"])
def test_a_fault_of_the_program_is_told_like_any_other_failure(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fault(*_given: object) -> None:
        raise KeyError("sk-ant-api03-a-secret-in-a-variable")

    monkeypatch.setattr(place, fault)
    ran = command.turn({}, "--json")
    assert "KeyError" in error_of(command, ran, "INTERNAL")["message"]
    assert "secret" not in ran.out + ran.err + command.text("turn.response.json")


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("", "turn.json is empty"),
        (" \n", "turn.json is empty"),
        ("[]", "must be one object"),
        ("null", "must be one object"),
        ('{"content": "a",', "line 1, column"),
        ('{"content": "a", "content": "b"}', "the key 'content' twice"),
        ('{"contents": "a"}', "'content' is missing"),
        ('{"content": " \\n"}', "'content' is blank"),
        ('{"content": 5}', "'content'"),
        ('{"content": "a", "history": [{"role": "robot", "content": "b"}]}', "'history[0].role'"),
        ('{"content": "a", "attachments": [{"type": "log"}]}', "'attachments[0].content'"),
        ('{"content": "a", "options": {"stream": "maybe"}}', "'options.stream'"),
    ],
)
def test_a_payload_that_cannot_be_used_is_refused_by_name(
    command: CommandLine, payload: str, says: str
) -> None:
    command.write("turn.json", payload)
    assert says in error_of(command, command.turn({}, "--json"), "BAD_REQUEST")["message"]


@pytest.mark.parametrize("data", ['{"a": 1}'.encode("utf-16"), b"\xff\xfe", b'{"content": "\xe9"}'])
def test_a_payload_in_another_encoding_is_refused(command: CommandLine, data: bytes) -> None:
    (command.folder / "turn.json").write_bytes(data)
    error = error_of(command, command.turn({}, "--json"), "BAD_REQUEST")
    assert "UTF-8" in error["message"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "There is nothing to do"),
        (["run", "--input", ""], "--input is empty"),
        (["run", "--input", "none.json"], "none.json does not exist"),
        (["run", "--input", "none/turn.json"], "check the path"),
        (["run", "--input", "."], ". is a folder"),
        (["run", "-i", "turn.json", "--no-such-option"], "No such option"),
        (["run", "-i", "turn.json", "--backend", "oracle"], "'oracle' is not one of"),
        (["run", "-i", "turn.json", "--apply"], "name it with --workflow"),
        (["run", "-i", "turn.json", "-w", "none.yaml"], "none.yaml does not exist"),
        (["run", "-i", "turn.json", "-a", "log"], "should name a type and a file"),
        (["run", "-i", "turn.json", "-a", "=turn.json"], "should name a type and a file"),
        (["run", "-i", "turn.json", "-a", "log=none.log"], "none.log does not exist"),
        (["run", "-i", "turn.json", "--config", "none.toml"], "none.toml does not exist"),
        (["run", "-i", "turn.json", "--script", "none.yaml"], "none.yaml"),
        (["run", "-i", "turn.json", "--script", "turn.json"], "content is not a known key"),
        (["run", "-i", "turn.json", "--base-url", "localhost:1"], "not a web address"),
        (["job", "-m", " "], "'content' is blank"),
        (["no-such-command"], "No such command"),
    ],
)
def test_wrong_usage_ends_with_two_and_a_sentence(
    command: CommandLine, arguments: list[str], says: str
) -> None:
    ran = command.run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err.replace("\n", " ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output", "none/r.json"],
        ["--output", "turn.json"],
        ["--output", "visits.yaml"],
        ["--output", "."],
        ["--output", "same.json", "--workflow-out", "same.json"],
        ["--output-dir", "turn.json/folder"],
        ["--record", "none/script.yaml"],
        ["--record", "turn.json"],
        ["--record", "turn.response.json"],
        ["--trace", "none/trace.jsonl"],
        ["--trace", "visits.yaml"],
        ["--trace", "turn.workflow.yaml"],
        ["--workflow-out", "visits.yaml", "--apply"],
    ],
)
def test_a_wrong_path_costs_no_model_call_and_no_file(
    command: CommandLine, messages_server: MessagesServer, arguments: list[str]
) -> None:
    command.write("visits.yaml", WORKFLOW)
    before = command.text("turn.json")
    ran = command.turn(
        None,
        *("--workflow", "visits.yaml", "--base-url", messages_server.url, *arguments),
        ANTHROPIC_API_KEY="key",
    )
    assert ran.code == 2
    assert messages_server.requests == []
    assert (command.text("turn.json"), command.text("visits.yaml")) == (before, WORKFLOW)
    assert command.files == {"visits.yaml"}


def test_without_a_key_the_sentence_says_where_to_put_one(command: CommandLine) -> None:
    error = error_of(command, command.turn(None, "--json"), "AUTH_ERROR")
    assert "ANTHROPIC_API_KEY" in error["message"]

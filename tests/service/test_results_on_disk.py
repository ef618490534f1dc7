"""Result files hold the old run or the new one, whatever happens in between."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.service.answers import Answer, broken, json_text, text, tool_use
from tests.service.command_line import (
    AFTER,
    ANSWER,
    ANSWERED,
    CHANGED,
    EDIT,
    EDITED,
    OVERLOADED,
    PAYLOAD,
    WORKFLOW,
    CommandLine,
    Ran,
    Script,
    routed,
)
from tests.service.messages_server import MessagesServer

pytestmark = pytest.mark.service

OLD = {"turn.response.json": '{"old": 1}', "turn.workflow.yaml": "old: 1\n"}
CALL = {"job_key": "fetch", "message": "Limit it.", "attachments": []}
#: The planner has one step edited, and then its own next call fails.
HALF_DONE: Script = {
    "router": [routed("planner")],
    "planner": [
        {"tools": [{"name": "call_job_code_agent", "input": CALL}]},
        {"error": {"type": "OVERLOADED"}, "repeat": True},
    ],
    "job_code_agent": [{"text": "Done.", "tools": [{"name": "edit_job", "input": EDIT}]}],
}


def write_old(command: CommandLine) -> None:
    for name, content in OLD.items():
        command.write(name, content)


def test_a_turn_replaces_both_files_of_an_earlier_run(command: CommandLine) -> None:
    write_old(command)
    assert command.turn(EDITED).code == 0
    response = command.json("turn.response.json")
    assert response["attachments"][0]["content"] == command.text("turn.workflow.yaml") == CHANGED
    assert command.files == set(OLD)  # and no temporary file


def test_a_failure_replaces_the_response_and_leaves_the_workflow(command: CommandLine) -> None:
    write_old(command)
    assert command.turn(OVERLOADED).code == 4
    assert command.json("turn.response.json")["type"] == "OVERLOADED"
    assert command.text("turn.workflow.yaml") == OLD["turn.workflow.yaml"]
    assert command.files == set(OLD)


def test_work_that_was_done_before_a_failure_is_kept_apart_and_named(command: CommandLine) -> None:
    write_old(command)
    command.write("visits.yaml", WORKFLOW)
    ran = command.turn(HALF_DONE, "-w", "visits.yaml", "--apply")
    assert ran.code == 4
    assert command.text("turn.workflow.partial.yaml") == CHANGED
    assert command.text("turn.workflow.yaml") == OLD["turn.workflow.yaml"]
    assert command.text("visits.yaml") == WORKFLOW
    details = command.json("turn.response.json")["details"]
    assert details["partial_workflow"] == "turn.workflow.partial.yaml"
    assert "is in turn.workflow.partial.yaml." in ran.err


@pytest.mark.parametrize(
    ("options", "partial"),
    [
        (["--output-dir", "out"], "out/turn.workflow.partial.yaml"),
        (["--workflow-out", "new.yaml"], "new.workflow.partial.yaml"),
    ],
)
def test_partial_work_stands_beside_the_workflow_wherever_that_goes(
    command: CommandLine, options: list[str], partial: str
) -> None:
    command.turn(HALF_DONE, *options)
    assert command.text(partial) == CHANGED


def test_a_failure_before_any_work_keeps_nothing_apart(command: CommandLine) -> None:
    failing = {**HALF_DONE, "planner": [{"error": {"type": "OVERLOADED"}, "repeat": True}]}
    command.turn({**failing, "job_code_agent": []})
    assert command.files == {"turn.response.json"}


def test_a_full_disk_leaves_both_old_files_and_says_so(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_old(command)

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        "global_chat.disk.writing.os", SimpleNamespace(**vars(os) | {"fsync": full})
    )
    ran = command.turn(EDITED)
    assert ran.code == 1
    assert ran.out.startswith("I limited the page size")  # the answer itself is not lost
    assert "Error (INTERNAL): " in ran.err and "No space left on device" in ran.err
    assert {name: command.text(name) for name in command.files} == OLD


@pytest.mark.parametrize("option", ["--trace", "--record"])
def test_a_trace_or_recording_that_fails_costs_no_result_and_is_told(
    command: CommandLine, option: str
) -> None:
    ran = command.turn(EDITED, option, "/dev/full")
    assert ran.code == 1
    assert "wrote turn.response.json, turn.workflow.yaml" in ran.err
    assert "Error (INTERNAL): " in ran.err.splitlines()[-1]
    assert "/dev/full" in ran.err and "No space left on device" in ran.err
    assert command.json("turn.response.json")["attachments"][0]["content"] == CHANGED
    assert command.text("turn.workflow.yaml") == CHANGED


def test_with_json_the_response_is_whole_although_the_trace_fails(command: CommandLine) -> None:
    ran = command.turn(EDITED, "--json", "--trace", "/dev/full")
    assert (ran.code, ran.json) == (1, command.json("turn.response.json"))


def test_a_failed_turn_keeps_its_own_error_when_the_trace_fails_too(command: CommandLine) -> None:
    ran = command.turn(OVERLOADED, "--trace", "/dev/full", "--record", "/dev/full")
    assert (ran.code, command.json("turn.response.json")["type"]) == (4, "OVERLOADED")


def test_a_collector_that_fails_costs_no_result(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        assert command.text("turn.workflow.yaml") == CHANGED  # it was written before
        raise RuntimeError("no route to the collector")

    monkeypatch.setattr("global_chat.trace.otel.OtelListener.close", broken)
    command.write("turn.json", {**PAYLOAD, "metrics_opt_in": True})
    ran = command.turn(EDITED)
    assert (ran.code, "Error (INTERNAL): " in ran.err) == (1, True)


def test_a_result_that_cannot_be_written_is_found_before_anybody_is_asked(
    command: CommandLine,
) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("this system has no folder that refuses files")
    write_old(command)
    ran = command.turn({}, "--output", "/proc/x")
    assert (ran.code, "/proc/x cannot be written" in ran.err) == (2, True)
    assert {name: command.text(name) for name in command.files} == OLD


@contextmanager
def signalled(server: MessagesServer, number: int, calls: int) -> Iterator[None]:
    """Send this process a signal when the server has got its so many-th request."""

    over = threading.Event()

    def send() -> None:
        while len(server.requests) < calls:
            if over.wait(0.01):
                return
        os.kill(os.getpid(), number)

    handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()
        for one, handler in handlers.items():
            signal.signal(one, handler)


def hanging(server: MessagesServer, agent: str) -> None:
    """The agent begins an answer and then says nothing more."""
    if agent != "router":
        reply = {"destination": agent, "confidence": 5, "job_key": "fetch"}
        server.add(json_text(reply, agent="router"))
    server.add(replace(broken(text("I limited the page size."), "hang", 5), agent=agent))


def interrupt(
    command: CommandLine, server: MessagesServer, agent: str, number: int, *arguments: str
) -> Ran:
    """A turn that gets a signal while `agent` answers."""
    hanging(server, agent)
    with signalled(server, number, calls=1 if agent == "router" else 2):
        return command.turn(None, "--base-url", server.url, *arguments, ANTHROPIC_API_KEY="a-key")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("agent", ["router", "planner"])
def test_an_interrupt_leaves_no_old_response_that_looks_like_its_own_and_hangs_up(
    command: CommandLine, messages_server: MessagesServer, agent: str, number: int
) -> None:
    write_old(command)
    ran = interrupt(command, messages_server, agent, number, "--trace", "trace.jsonl")
    assert ran.code == 130
    assert "Traceback" not in ran.err and "Error" not in ran.err
    assert "Interrupted: nothing was kept. The workflow file is as it was." in ran.err
    assert command.json("turn.response.json")["type"] == "INTERRUPTED"
    assert command.text("turn.workflow.yaml") == OLD["turn.workflow.yaml"]
    assert command.files == {*OLD, "trace.jsonl"}
    turn = command.lines("trace.jsonl")[-1]
    assert (turn["kind"], turn["unfinished"]) == ("turn", True)
    assert messages_server.client_left.wait(10)


def test_an_interrupted_stream_of_events_says_so_and_ends(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    ran = interrupt(command, messages_server, "planner", signal.SIGINT, "--events")
    assert ran.code == 130
    assert [event["type"] for event in ran.events[-2:]] == ["error", "message_stop"]
    assert ran.events[-2]["error"]["type"] == "INTERRUPTED"


def test_an_interrupted_turn_keeps_what_was_recorded(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    interrupt(command, messages_server, "planner", signal.SIGINT, "--record", "recorded.yaml")
    assert "destination: planner" in command.text("recorded.yaml").replace('"', "")
    assert AFTER not in command.text("recorded.yaml")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_installed_command_ends_quietly_with_130(command: CommandLine, number: int) -> None:
    """It waits for a payload from a pipe that nobody writes into: so it is known where it is."""
    os.mkfifo(command.folder / "ask.json")
    process = command.start("run", "--input", "ask.json")
    with (command.folder / "ask.json").open("wb"):
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
    assert command.files == set()


@pytest.mark.parametrize("content", ["raise KeyboardInterrupt", "import nothing_of_that_name"])
def test_an_interrupt_while_the_program_loads_prints_no_traceback(
    command: CommandLine, content: str
) -> None:
    """Any other trouble while it loads does, or the first half of this test could not fail."""
    command.write("typer.py", content)
    process = command.start(program=(sys.executable, "-m", "global_chat"))
    _, err = process.communicate(timeout=30)
    interrupted = content == "raise KeyboardInterrupt"
    assert (process.returncode == 130, "Traceback" not in err) == (interrupted, interrupted)


def test_a_turn_with_nothing_to_change_leaves_no_workflow_of_an_earlier_one(
    command: CommandLine,
) -> None:
    write_old(command)
    command.write("turn.workflow.partial.yaml", "old: 1\n")
    assert command.turn(ANSWERED).code == 0
    assert command.files == {"turn.response.json"}


def test_a_link_under_a_name_that_the_program_chose_is_not_followed(command: CommandLine) -> None:
    command.write("mine.txt", "mine")
    (command.folder / "turn.response.json").symlink_to("mine.txt")
    ran = command.turn(ANSWERED)
    assert (ran.code, "turn.response.json is a link to another file" in ran.err) == (2, True)
    assert command.text("mine.txt") == "mine"


def test_a_named_pipe_never_blocks_and_never_takes_a_result(command: CommandLine) -> None:
    os.mkfifo(command.folder / "pipe")
    ran = command.turn(ANSWERED, "--output", "pipe")
    assert (ran.code, "pipe is not a file" in ran.err) == (2, True)


@pytest.mark.parametrize("option", ["--json", "--events"])
def test_a_full_disk_behind_standard_output_ends_with_1(command: CommandLine, option: str) -> None:
    command.write("script.json", ANSWERED)
    with Path("/dev/full").open("w") as full:
        process = command.start(
            "run", "-i", "turn.json", "--script", "script.json", option, stdout=full
        )
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "No space left on device" in err) == (1, True)
    assert command.json("turn.response.json")["response"] == ANSWER


def test_a_turn_with_nothing_to_change_writes_no_workflow(command: CommandLine) -> None:
    assert command.turn(ANSWERED, "--output-dir", "out").code == 0
    assert command.files == {"out/turn.response.json"}


def test_an_interrupt_keeps_the_work_that_was_done_before_it(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    write_old(command)
    for agent, answer in (
        ("router", json_text(routed("planner")["reply"])),
        ("planner", Answer(content=(tool_use("call_job_code_agent", CALL),))),
        ("job_code_agent", Answer(content=(tool_use("edit_job", EDIT),))),
        ("planner", broken(text("The page size is limited."), "hang", 5)),
    ):
        messages_server.add(replace(answer, agent=agent))
    with signalled(messages_server, signal.SIGINT, calls=4):
        ran = command.turn(None, "--base-url", messages_server.url, ANTHROPIC_API_KEY="a-key")
    assert ran.code == 130
    assert command.text("turn.workflow.partial.yaml") == CHANGED
    assert "what was finished is in turn.workflow.partial.yaml" in ran.err
    assert command.json("turn.response.json")["type"] == "INTERRUPTED"

"""The same cause has the same type at every agent: over real HTTP, with the real SDK."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.service.answers import Answer, broken, json_text, refusal, text, tool_use
from tests.service.command_line import PAYLOAD, CommandLine, Ran, Script, routed
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import KEY

pytestmark = pytest.mark.service

AGENTS = ("router", "workflow_agent", "job_code_agent", "planner")
SAID = "The step asks for visits and keeps them in state."

#: What each agent says when nothing goes wrong.
GOOD = {
    "router": json_text({"destination": "planner", "confidence": 5, "job_key": None}),
    "workflow_agent": json_text({"handover": None, "yaml": None, "text": SAID}),
    "job_code_agent": text(SAID),
    "planner": text(SAID),
}


def http(status: int, type_: str, message: str = "no", **headers: str) -> Callable[[str], Answer]:
    """An error response that quotes the key, as a careless server does."""
    return lambda _agent: refusal(status, type_, f"{message} (key {KEY})", **headers)


def stream(kind: str, after: int, **error: str) -> Callable[[str], Answer]:
    """A good answer that goes wrong after some of its events."""
    return lambda agent: broken(GOOD[agent], kind, after, **error)


def stopped(reason: str) -> Callable[[str], Answer]:
    """An answer that ends for a reason that is not the model's being done."""
    return lambda agent: replace(GOOD[agent], stop_reason=reason)


#: By name: the answer, and the type and exit code that it has to come out with.
FAILED_CALLS: dict[str, tuple[Callable[[str], Answer], str, int]] = {
    "invalid": (http(400, "invalid_request_error"), "BAD_REQUEST", 2),
    "long": (http(400, "invalid_request_error", "prompt is too long"), "PROMPT_TOO_LONG", 2),
    "window": (stopped("model_context_window_exceeded"), "PROMPT_TOO_LONG", 2),
    "large": (http(413, "request_too_large"), "REQUEST_TOO_LARGE", 2),
    "key": (http(401, "authentication_error"), "AUTH_ERROR", 3),
    "permission": (http(403, "permission_error"), "FORBIDDEN", 3),
    "model": (http(404, "not_found_error"), "NOT_FOUND", 3),
    "rate": (http(429, "rate_limit_error", retry_after="90"), "RATE_LIMIT", 4),
    "rate in the stream": (stream("error", 5, type="rate_limit_error"), "RATE_LIMIT", 4),
    "cut at once": (stream("cut", 0), "CONNECTION_ERROR", 4),
    "cut": (stream("cut", 5), "CONNECTION_ERROR", 4),
    "closed": (stream("close", 5), "CONNECTION_ERROR", 4),
    "overloaded": (http(529, "overloaded_error"), "OVERLOADED", 4),
    "overloaded in the stream": (stream("error", 5, type="overloaded_error"), "OVERLOADED", 4),
    "provider": (http(500, "api_error"), "PROVIDER_ERROR", 4),
    "provider in the stream": (stream("error", 5, type="api_error"), "PROVIDER_ERROR", 4),
    "garbled": (stream("garble", 5), "PROVIDER_ERROR", 4),
}
#: One of each exit code and of each place where a call fails: these are tried at every agent.
EVERYWHERE = ("invalid", "window", "key", "rate", "rate in the stream", "cut", "garbled")
UNUSABLE: dict[str, tuple[Callable[[str], Answer], str, int]] = {
    "max_tokens": (stopped("max_tokens"), "OUTPUT_TRUNCATED", 5),
    "refusal": (stopped("refusal"), "REFUSED", 5),
    "empty": (lambda _agent: Answer(), "EMPTY_OUTPUT", 5),
    "blank": (lambda _agent: text(" \n"), "EMPTY_OUTPUT", 5),
}


def ask(command: CommandLine, server: MessagesServer, *arguments: str, key: str = KEY) -> Ran:
    """One turn against the server, everything written that can be, and nothing waited for."""
    command.write("settings.toml", "[retry]\nfirst_wait = 0\nlongest_wait = 0\n")
    return command.turn(
        None,
        *("--base-url", server.url, "--config", "settings.toml", "--json", "-v"),
        *("--trace", "trace.jsonl", "--record", "recorded.yaml", *arguments),
        ANTHROPIC_API_KEY=key,
    )


def answers(server: MessagesServer, agent: str, answer: Answer, sent_to: str = "") -> None:
    """Let `agent` be asked, and answer like that however often it is."""
    if agent != "router":
        reply = {"destination": sent_to or agent, "confidence": 5, "job_key": "fetch"}
        server.add(json_text(reply, agent="router"))
    server.add(replace(answer, agent=agent, repeat=True))


def check(command: CommandLine, ran: Ran, type_: str, exit_code: int) -> dict[str, Any]:
    """What holds for every failure that a model's server causes."""
    error: dict[str, Any] = ran.json
    assert (error["type"], ran.code) == (type_, exit_code)
    assert error == command.json("turn.response.json")
    assert f"Error ({type_}): {error['message']}\n" in ran.err
    assert "Traceback" not in ran.err
    assert command.lines("trace.jsonl")[-1]["error_type"] == type_
    written = {name: command.text(name) for name in command.files}
    assert written.keys() == {"settings.toml", "turn.response.json", "trace.jsonl", "recorded.yaml"}
    for name, shown in {**written, "stdout": ran.out, "stderr": ran.err}.items():
        assert KEY not in shown, name
    return error


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        *(("planner", fault) for fault in FAILED_CALLS),
        *((agent, fault) for agent in AGENTS[:3] for fault in EVERYWHERE),
    ],
)
def test_a_failed_call_ends_the_turn_with_its_own_type(
    command: CommandLine, messages_server: MessagesServer, fault: str, agent: str
) -> None:
    answer, type_, exit_code = FAILED_CALLS[fault]
    answers(messages_server, agent, answer(agent))
    error = check(command, ask(command, messages_server), type_, exit_code)
    assert messages_server.requests[-1].agent == agent
    if fault == "rate":
        assert error["details"]["retry_after"] == 90


@pytest.mark.parametrize("agent", AGENTS[1:])
@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_answer_that_cannot_be_used_ends_the_turn_with_its_own_type(
    command: CommandLine, messages_server: MessagesServer, fault: str, agent: str
) -> None:
    answer, type_, exit_code = UNUSABLE[fault]
    answers(messages_server, agent, answer(agent))
    check(command, ask(command, messages_server), type_, exit_code)


@pytest.mark.parametrize("fault", UNUSABLE)
def test_a_router_whose_answer_cannot_be_used_leaves_the_turn_to_the_planner(
    command: CommandLine, messages_server: MessagesServer, fault: str
) -> None:
    messages_server.add(replace(UNUSABLE[fault][0]("router"), agent="router"), GOOD["planner"])
    ran = ask(command, messages_server)
    assert ran.code == 0
    assert ran.json["meta"]["agents"] == ["router", "planner"]
    assert ran.json["meta"]["router_confidence"] == 1
    assert [request.agent for request in messages_server.requests] == ["router", "planner"]


@pytest.mark.parametrize(
    ("agent", "after"),
    [("router", 0), ("workflow_agent", 5), ("job_code_agent", 0), ("planner", 5)],
)
def test_silence_ends_with_a_timeout_before_and_in_the_middle_of_an_answer(
    command: CommandLine, messages_server: MessagesServer, agent: str, after: int
) -> None:
    answers(messages_server, agent, stream("hang", after)(agent))
    error = check(command, ask(command, messages_server, "--timeout", "1"), "TIMEOUT", 4)
    assert error["details"]["timeout_seconds"] == 1
    assert messages_server.client_left.wait(10)


def test_a_workflow_that_stays_invalid_is_an_invalid_output(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    reply = {"handover": None, "yaml": "jobs: [", "text": "Done."}
    answers(messages_server, "workflow_agent", json_text(reply))
    check(command, ask(command, messages_server), "INVALID_OUTPUT", 5)
    agents = [request.agent for request in messages_server.requests]
    assert agents == ["router", "workflow_agent", "workflow_agent"]


def test_a_document_that_does_not_parse_reaches_no_model(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    command.write("turn.json", {**PAYLOAD, "workflow_yaml": "jobs: ["})
    ran = ask(command, messages_server)
    assert (ran.code, ran.json["type"]) == (2, "INVALID_WORKFLOW")
    assert messages_server.requests == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_call_that_the_script_lacks_is_named_at_every_agent(
    command: CommandLine, agent: str
) -> None:
    script: Script = {} if agent == "router" else {"router": [routed(agent)]}
    ran = command.turn(script, "--json")
    assert (ran.code, ran.json["type"]) == (1, "SCRIPT_MISMATCH")
    assert ran.json["details"]["agent"] == agent


@pytest.mark.parametrize("fault", ["key", "overloaded", "cut", "max_tokens", "refusal", "empty"])
@pytest.mark.parametrize(
    ("agent", "tool"),
    [("workflow_agent", "call_workflow_agent"), ("job_code_agent", "call_job_code_agent")],
)
def test_a_subagent_that_fails_is_a_result_that_the_planner_hears(
    command: CommandLine, messages_server: MessagesServer, fault: str, agent: str, tool: str
) -> None:
    answer, type_, _ = {**FAILED_CALLS, **UNUSABLE}[fault]
    called = {"job_key": "fetch", "message": "Look.", "attachments": []}
    answers(messages_server, agent, answer(agent), sent_to="planner")
    messages_server.add(
        Answer(content=(tool_use(tool, called),), agent="planner"),
        replace(GOOD["planner"], agent="planner", contains=f"Nothing was changed. {type_}"),
    )
    ran = ask(command, messages_server)
    assert (ran.code, ran.json["response"]) == (0, SAID), ran.err
    assert f"{tool} failed" in ran.err
    assert KEY not in ran.out + ran.err + command.text("recorded.yaml")


def test_a_key_in_the_payload_is_used_before_others_and_written_nowhere(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    command.write("turn.json", {**PAYLOAD, "api_key": KEY})
    answers(messages_server, "planner", GOOD["planner"])
    ran = command.turn(
        *(None, "-v", "--events", "--trace", "trace.jsonl", "--record", "recorded.yaml"),
        ANTHROPIC_API_KEY="sk-ant-api03-another",
        ANTHROPIC_AUTH_TOKEN="token",
        ANTHROPIC_BASE_URL=messages_server.url,
    )
    assert ran.code == 0
    headers = [request.headers for request in messages_server.requests]
    assert {header["authorization"] for header in headers} == {f"Bearer {KEY}"}
    assert all(KEY not in command.text(name) for name in command.files)
    assert KEY not in ran.out + ran.err


@pytest.mark.parametrize("kind", ["response", "stream"])
def test_a_key_of_any_shape_is_taken_out_of_what_a_server_says(
    command: CommandLine, messages_server: MessagesServer, kind: str
) -> None:
    key = "Tr0ub4dor&3"
    said = f"no entry with {key} here"
    in_stream = broken(GOOD["planner"], "error", 5, type="authentication_error", message=said)
    refused = refusal(401, "authentication_error", said)
    answers(messages_server, "planner", in_stream if kind == "stream" else refused)
    ran = ask(command, messages_server, key=key)
    assert (ran.code, ran.json["type"]) == (3, "AUTH_ERROR")
    assert "no entry with [redacted] here" in ran.json["message"]
    assert key not in ran.out + ran.err + "".join(map(command.text, command.files))


def test_a_key_is_taken_out_of_a_recording_of_what_a_model_says(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    answers(messages_server, "planner", text("The header was Tr0ub4dor&3."))
    assert ask(command, messages_server, key="Tr0ub4dor&3").code == 0
    assert "The header was [redacted]." in command.text("recorded.yaml")


def test_a_key_is_not_in_what_the_sdk_logs(
    command: CommandLine, messages_server: MessagesServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="anthropic")
    answers(messages_server, "planner", GOOD["planner"])
    assert ask(command, messages_server).code == 0
    assert "Request options" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("environment", "used"),
    [
        ({"ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_AUTH_TOKEN": "a-token"}, "a-key"),
        ({"ANTHROPIC_AUTH_TOKEN": "a-token"}, "a-token"),
        ({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "a-token"}, "a-token"),
    ],
)
def test_the_key_comes_before_the_token_and_the_option_before_the_variable(
    command: CommandLine, messages_server: MessagesServer, environment: dict[str, str], used: str
) -> None:
    answers(messages_server, "planner", GOOD["planner"])
    environment = {**environment, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    assert command.turn(None, "--base-url", messages_server.url, **environment).code == 0
    assert messages_server.requests[0].headers["authorization"] == f"Bearer {used}"


def test_a_server_that_is_not_there_is_a_connection_error(command: CommandLine) -> None:
    command.write("settings.toml", "[retry]\nfirst_wait = 0\n")
    arguments = ("--base-url", "http://user:a-password@127.0.0.1:9", "--config", "settings.toml")
    ran = command.turn(None, "--json", *arguments, ANTHROPIC_API_KEY="a-key")
    assert (ran.code, ran.json["type"]) == (4, "CONNECTION_ERROR")
    assert "127.0.0.1:9" in ran.err and "a-password" not in ran.err + ran.out


def test_a_recording_of_a_failed_turn_fails_in_the_same_way(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    answers(messages_server, "planner", FAILED_CALLS["overloaded"][0]("planner"))
    first = ask(command, messages_server)
    again = command.turn(None, "--script", "recorded.yaml", "--json")
    assert (first.code, again.code) == (4, 4)
    assert again.json["message"] == first.json["message"]


def test_faults_can_be_told_from_answers(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    """Without a fault the same turns are answered, so the tests above test the faults."""
    for agent in AGENTS[1:]:
        answers(messages_server, agent, GOOD[agent])
        assert ask(command, messages_server).json["response"] == SAID

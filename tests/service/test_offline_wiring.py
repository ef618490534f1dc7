"""Where the command line puts the rules: in the place of every agent, or as router alone."""

from __future__ import annotations

import json

import pytest

from tests.service.answers import json_text
from tests.service.command_line import CommandLine
from tests.service.messages_server import MessagesServer

pytestmark = pytest.mark.service

WORKFLOW = """\
name: One
jobs:
  fetch:
    name: Fetch
    body: get('/visits');
triggers:
  cron:
    type: cron
    cron_expression: 0 8 * * *
    enabled: true
edges:
  cron->fetch: { source_trigger: cron, target_job: fetch, condition_type: always, enabled: true }
"""


def test_the_offline_backend_answers_without_a_key_and_says_what_it_is(
    command: CommandLine,
) -> None:
    command.write("one.yaml", WORKFLOW)
    asked = ("run", "-w", "one.yaml", "-m", "run it every hour", "--backend", "offline")
    ran = command.run(*asked, "-v", "--trace", "trace.jsonl")
    assert ran.code == 0
    assert "offline, answered by rules and not by a language model" in ran.err
    assert "no model was asked" in ran.err
    response = command.json("global-chat.response.json")
    assert (response["meta"]["backend"], response["meta"]["agents"]) == ("offline", [])
    changed = WORKFLOW.replace("0 8 * * *", "0 * * * *")
    assert command.text("global-chat.workflow.yaml") == changed
    spans = [json.loads(line) for line in command.text("trace.jsonl").splitlines()]
    assert {span["kind"] for span in spans} <= {"turn", "stitch", "warning"}
    assert not any("model" in span for span in spans)


def test_a_refusal_is_no_failure(command: CommandLine) -> None:
    command.write("one.yaml", WORKFLOW)
    ran = command.run("run", "-w", "one.yaml", "-m", "make it nicer", "--backend", "offline")
    response = command.json("global-chat.response.json")
    assert (ran.code, response["meta"]["changes"]) == (0, [])
    assert response["response"].endswith("Nothing was changed.")


def test_an_agent_cannot_be_addressed_without_a_model(command: CommandLine) -> None:
    ran = command.run("workflow", "-m", "run it every hour", "--backend", "offline")
    assert ran.code == 2
    assert "global-chat run" in ran.err


def test_there_is_nothing_to_record_without_a_model(command: CommandLine) -> None:
    ran = command.run("run", "-m", "hello", "--backend", "offline", "--record", "turns.yaml")
    assert (ran.code, "--record" in ran.err) == (2, True)


def test_the_offline_router_in_front_of_live_agents_saves_their_router_call(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    command.write("one.yaml", WORKFLOW)
    command.write("settings.toml", '[router]\nbackend = "offline"\n')
    answer = {"handover": None, "remove": [], "yaml": None, "text": "It runs at eight already."}
    messages_server.add(json_text(answer))
    ran = command.run(
        *("run", "-w", "one.yaml", "-m", "run it every day at 9", "--config", "settings.toml"),
        *("-v", "--trace", "trace.jsonl"),
        *("--base-url", messages_server.url),
        ANTHROPIC_API_KEY="a-key",
    )
    assert (ran.code, len(messages_server.requests)) == (0, 1)
    assert "router: no model was asked;" in ran.err
    spans = [json.loads(line) for line in command.text("trace.jsonl").splitlines()]
    models = {span["agent"]: span.get("model") for span in spans if span["kind"] == "model_call"}
    assert models["router"] is None
    assert models["workflow_agent"]
    response = command.json("global-chat.response.json")
    assert response["meta"]["agents"] == ["router", "workflow_agent"]
    assert "backend" not in response["meta"]

"""The embedded model where the command line puts it: behind every agent, or as router alone."""

from __future__ import annotations

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
    ran = command.run("run", "-w", "one.yaml", "-m", "run it every hour", "--backend", "offline")
    assert ran.code == 0
    assert "offline, answered by rules and not by a language model" in ran.err
    response = command.json("global-chat.response.json")
    assert response["meta"]["backend"] == "offline"
    changed = WORKFLOW.replace("0 8 * * *", "0 * * * *")
    assert command.text("global-chat.workflow.yaml") == changed


def test_the_offline_router_in_front_of_live_agents_saves_their_router_call(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    command.write("one.yaml", WORKFLOW)
    command.write("settings.toml", '[router]\nbackend = "offline"\n')
    answer = {"handover": None, "yaml": None, "text": "It runs at eight already."}
    messages_server.add(json_text(answer))
    ran = command.run(
        *("run", "-w", "one.yaml", "-m", "run it every day at 8", "--config", "settings.toml"),
        *("--base-url", messages_server.url),
        ANTHROPIC_API_KEY="a-key",
    )
    assert (ran.code, len(messages_server.requests)) == (0, 1)
    response = command.json("global-chat.response.json")
    assert response["meta"]["agents"] == ["router", "workflow_agent"]
    assert "backend" not in response["meta"]

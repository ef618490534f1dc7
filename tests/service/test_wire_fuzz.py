"""No answer of a server is a bug of this program: seeded mutations of what the real service sends.

`GLOBAL_CHAT_SOAK` in the environment is the number of seeds, for `make soak`.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import httpx2
import pytest

from global_chat.agents.context import Services
from global_chat.contract.errors import InternalError, TurnError
from global_chat.contract.payload import Payload, read
from global_chat.contract.settings import PlannerSettings, RetrySettings, Settings
from global_chat.model import anthropic_connection
from global_chat.model.anthropic import AnthropicModel
from global_chat.model.retry import Retrying
from global_chat.turn.take import take_turn
from tests.service.answers import Answer, Event, events_in, json_text, text, tool_use
from tests.service.messages_server import Received
from tests.service.scripts import PAGE, WORKFLOW, code_call, edit, inspect, structure_call

pytestmark = pytest.mark.service

SEEDS = range(int(os.environ.get("GLOBAL_CHAT_SOAK", "60")))


def deep(levels: int) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = [value]
    return value


ODD: list[Any] = [
    *(None, True, -1, 0, 10**4000, 1e300, "", " ", "x\ud800", "\x00\x1b[2J", [], {}, [None], [[]]),
    *({"a": {}}, "tool_use", "text", deep(60), deep(490), "</user_code>", "y" * 5000),
]

TOOLS = [
    edit("limit: 50", "limit: 80"),
    inspect("load"),
    code_call("fetch"),
    structure_call(),
    {"name": "search_documentation", "input": {"query": "paging"}},
    {"name": "edit_workflow", "input": {"goal": "Raise both."}},
]


def answer(agent: str, chance: random.Random) -> Answer:
    """What this agent may say when nothing is wrong."""
    if agent == "router":
        where = chance.choice(["workflow_agent", "job_code_agent", "planner"])
        return json_text({"destination": where, "confidence": 5, "job_key": "fetch"})
    if agent == "workflow_agent":
        yaml = "jobs:\n  fetch:\n    name: Get visits\n"
        return json_text({"handover": None, "remove": [], "yaml": yaml, "text": "Renamed."})
    if chance.random() < 0.3:
        return text("This step asks for fifty visits. " * 9)
    uses = chance.sample(TOOLS, chance.randint(1, 3))
    blocks = [tool_use(u["name"], u["input"], f"toolu_{i}") for i, u in enumerate(uses)]
    return Answer(({"type": "text", "text": "Let me see."}, *blocks))


def spoil(value: Any, chance: random.Random) -> Any:
    """JSON data with something, somewhere, that does not belong there."""
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        copied: Any = dict(value) if isinstance(value, dict) else list(value)
        key = chance.choice(list(copied)) if isinstance(copied, dict) else 0
        if chance.random() < 0.15:
            del copied[key]
        else:
            copied[key] = spoil(copied[key], chance)
        return copied
    return chance.choice(ODD)


def stream(events: list[Event], chance: random.Random) -> bytes:
    """The events as they go over the wire, a few of them spoiled, lost, doubled or cut."""
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        place = chance.randrange(len(events))
        match chance.choice(["spoil", "spoil", "spoil", "lose", "double", "move"]):
            case "spoil":
                events[place] = spoil(events[place], chance)
            case "lose" if len(events) > 1:
                del events[place]
            case "double":
                events.insert(place, events[place])
            case "move":
                events.insert(chance.randrange(len(events)), events.pop(place))
    lines = []
    for event in events:
        name = event.get("type", "ping") if isinstance(event, dict) else "message_delta"
        lines.append(f"event: {name}\ndata: {json.dumps(event)}\n\n".encode("utf-8", "replace"))
    raw = b"".join(lines)
    return raw[: chance.randrange(len(raw))] if chance.random() < 0.1 else raw


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """The chance by which every answer is made that the SDK reads, over no network."""
    chance = random.Random()

    def answered(request: httpx2.Request) -> httpx2.Response:
        agent = Received("", {}, json.loads(request.content)).agent
        if chance.random() < 0.1:
            error = spoil(
                {"type": "error", "error": {"type": "api_error", "message": "no"}}, chance
            )
            return httpx2.Response(chance.choice([302, 400, 401, 429, 500]), json=error)
        content = stream(list(events_in(answer(agent, chance))), chance)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    def client() -> httpx2.AsyncClient:
        hooks = {"response": [anthropic_connection._bound]}
        return httpx2.AsyncClient(transport=httpx2.MockTransport(answered), event_hooks=hooks)

    monkeypatch.setattr(anthropic_connection, "_http_client", client)
    return chance


async def test_no_answer_of_a_server_is_an_internal_error(wire: random.Random) -> None:
    payload = read(Payload, {"content": "Raise it.", "workflow_yaml": WORKFLOW, "page": PAGE})
    settings = Settings(planning=PlannerSettings(max_tool_calls=3))

    async def no_wait(_seconds: float) -> None:
        pass

    anthropic = AnthropicModel(api_key="sk-test", base_url="http://127.0.0.1:1")
    model = Retrying(anthropic, RetrySettings(), sleep=no_wait)
    outcomes = set()
    for seed in SEEDS:
        wire.seed(seed)
        try:
            response = await take_turn(payload, Services(model, settings), lambda _event: None)
            json.dumps(response.model_dump(mode="json")).encode()
            outcomes.add("answered")
        except InternalError as error:
            pytest.fail(f"seed {seed}: {error.__cause__!r}")
        except TurnError as error:
            error.as_json()
            outcomes.add(error.type)
    await anthropic.aclose()
    assert {"answered", "INVALID_OUTPUT"} <= outcomes

"""The offline router's decisions: usable, calibrated, and handed on when it is not sure."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.agents.router import SCHEMA, read_decision
from global_chat.contract.attachments import block
from global_chat.contract.names import Usage
from global_chat.model.seam import Message, ModelEvent, ModelRequest, Reply, SystemPart, TextPiece
from global_chat.offline.model import OfflineModel
from global_chat.offline.request.blocks import read_blocks
from global_chat.offline.request.outline import read_outline
from global_chat.offline.request.questions import read_question
from global_chat.offline.router_first import OfflineRouter
from global_chat.prompts.compose import place, router_system
from global_chat.workflow.outline_lines import outline_lines
from global_chat.workflow.parts import Edge, Step, Trigger

pytestmark = pytest.mark.unit

STEPS = (
    Step("fetch-visits", "Fetch visits", "@openfn/language-http@7.3.2", "get('/visits');"),
    Step("clean-visits", "Clean visits", "@openfn/language-common@3.3.4", "fn(state => state);"),
    Step("load-visits", "Load visits", "@openfn/language-dhis2@8.2.1", "create('events', {});"),
)
TRIGGERS = (Trigger("cron", "cron", True, "0 2 * * *"),)
EDGES = (
    Edge("a", "fetch-visits", source_trigger="cron", condition_type="always"),
    Edge("b", "clean-visits", source_step="fetch-visits", condition_type="on_job_success"),
    Edge(
        "c",
        "load-visits",
        source_step="clean-visits",
        condition_type="js_expression",
        condition_expression="(state.x || []).length > 0",
        condition_label="some, at least",
        enabled=False,
    ),
)
OUTLINE = outline_lines("Visits, cleaned", STEPS, TRIGGERS, EDGES)


def request(
    content: str, page: str = "", *, outline: str = OUTLINE, more: str = ""
) -> ModelRequest:
    text = "\n\n".join([place(f"workflows/visits{page}", outline), more, block("request", content)])
    return ModelRequest(
        agent="router",
        model="m",
        system=(SystemPart(router_system()),),
        messages=(Message("user", text),),
        max_tokens=256,
        output_schema=SCHEMA,
    )


async def decided(made: ModelRequest) -> dict[str, object]:
    events = [event async for event in OfflineModel().complete(made)]
    reply = events[-1]
    assert isinstance(reply, Reply)
    assert "".join(e.text for e in events if isinstance(e, TextPiece)) == reply.text
    assert read_decision(reply.text).problem is None
    found: dict[str, object] = json.loads(reply.text)
    return found


@pytest.mark.parametrize(
    ("content", "page", "destination", "key"),
    [
        ("run it every day at 6", "", "workflow_agent", None),
        ("renomme cette étape en Nettoyer", "/clean-visits", "workflow_agent", None),
        ("in Clean visits drop what has no date", "", "job_code_agent", "clean-visits"),
        ("what does this step do?", "/load-visits", "job_code_agent", "load-visits"),
        ("remove the console.log lines in all steps", "", "planner", None),
        ("explain this workflow", "", "planner", None),
    ],
)  # fmt: skip
async def test_clear_requests_go_where_they_belong(
    content: str, page: str, destination: str, key: str | None
) -> None:
    found = await decided(request(content, page))
    assert (found["destination"], found["job_key"]) == (destination, key)


async def test_without_a_workflow_there_is_only_the_planner() -> None:
    found = await decided(request("build me a workflow", outline=""))
    assert found == {"destination": "planner", "confidence": 5, "job_key": None}


async def test_the_same_request_gets_the_same_answer() -> None:
    first, second = [await decided(request("limit 50", "/fetch-visits")) for _ in range(2)]
    assert first == second


def test_the_outline_is_read_back_whole() -> None:
    outline = read_outline(OUTLINE)
    assert [s.key for s in outline.steps] == [s.key for s in STEPS]
    assert outline.name == "Visits, cleaned"
    path = outline.steps[1].paths[0]
    assert path.target == "load-visits"
    assert path.is_off
    assert path.note == 'if "some, at least": (state.x || []).length > 0, off'


def test_a_block_inside_of_a_block_is_text() -> None:
    inner = block("request", "no")
    text = f"{block('page', 'p')}\n\n{block('request', inner)}"
    assert read_blocks(text) == [("page", "p"), ("request", inner)]


def test_a_question_is_read_back_from_its_rendering() -> None:
    more = "\n\n".join(
        [block("recent_turns", "user: a\nb\nassistant: c"), block("attached", '["log"]')]
    )
    found = read_question(request("why?", "/load-visits", more=more))
    assert found.content == "why?"
    assert found.open_step is not None
    assert found.open_step.key == "load-visits"
    assert found.recent == (("user", "a\nb"), ("assistant", "c"))
    assert found.attached == ("log",)


@given(st.text(max_size=120))
@settings(max_examples=100)
async def test_any_request_gets_a_decision_that_can_be_used(content: str) -> None:
    found = await decided(request(content, "/clean-visits"))
    assert found["job_key"] in {None, *(s.key for s in STEPS)}


class Asked:
    """A model that notes what it was asked."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        yield Reply(({"type": "text", "text": "{}"},), "end_turn", Usage(1, 1), "live")


async def test_in_front_of_a_live_model_a_sure_decision_costs_no_call() -> None:
    live = Asked()
    router = OfflineRouter(live, threshold=0.0)
    events = [event async for event in router.complete(request("every day at 6"))]
    assert live.requests == []
    assert isinstance(events[-1], Reply)
    assert events[-1].model == "offline"


async def test_in_front_of_a_live_model_an_unsure_decision_is_left_to_it() -> None:
    live, behind = Asked(), Asked()
    router = OfflineRouter(live, behind, threshold=1.01)
    made = request("hm")
    events = [event async for event in router.complete(made)]
    assert behind.requests == [made]
    assert live.requests == []
    assert isinstance(events[-1], Reply)
    assert events[-1].model == "live"


async def test_other_agents_requests_pass_through_untouched() -> None:
    live = Asked()
    made = ModelRequest("planner", "m", (), (Message("user", "x"),), 10)
    async for _ in OfflineRouter(live, threshold=0.0).complete(made):
        pass
    assert live.requests == [made]

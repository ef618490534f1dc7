"""The offline router's decisions: usable, from the grammar where it reads, and left when unsure."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest

from global_chat.agents.context import Services, Task, TurnContext
from global_chat.agents.router import decide
from global_chat.contract.errors import BadRequest
from global_chat.contract.names import Usage
from global_chat.model.seam import Message, ModelEvent, ModelRequest, Reply
from global_chat.offline.router import OfflineRouter, read_question
from global_chat.workflow.document import Workflow
from global_chat.workflow.outline import outline_lines, read_outline

pytestmark = pytest.mark.unit

DOCUMENT = """\
name: Visits, cleaned
jobs:
  fetch-visits:
    name: Fetch visits
    adaptor: '@openfn/language-http@7.3.2'
    body: get('/visits');
  clean-visits:
    name: Clean visits
    adaptor: '@openfn/language-common@3.3.4'
    body: fn(state => state);
triggers:
  cron: { type: cron, cron_expression: 0 2 * * *, enabled: true }
edges:
  cron->fetch-visits: { source_trigger: cron, target_job: fetch-visits, condition_type: always }
  fetch-visits->clean-visits:
    source_job: fetch-visits
    target_job: clean-visits
    condition_type: js_expression
    condition_expression: (state.x || []).length > 0
    condition_label: some, at least
    enabled: false
"""
WORKFLOW = Workflow.read(DOCUMENT)


class Asked:
    """A model that notes what it was asked."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        text = json.dumps({"destination": "planner", "confidence": 4, "job_key": None})
        yield Reply(({"type": "text", "text": text},), "end_turn", Usage(), "live")


async def route(
    content: str, step: str = "", workflow: Workflow = WORKFLOW
) -> tuple[str, str | None]:
    context = TurnContext(Services(OfflineRouter()), lambda _: None)
    said = await decide(context, Task(content, workflow, f"workflows/visits/{step}".rstrip("/")))
    assert said.problem is None
    return said.destination, said.job_key


@pytest.mark.parametrize(
    ("content", "step", "destination", "key"),
    [
        ("run it every day at 6", "", "workflow_agent", None),
        ("renomme cette étape en Nettoyer", "clean-visits", "workflow_agent", None),
        ("in Clean visits replace 'a' with 'b'", "", "job_code_agent", "clean-visits"),
        ("limit 500 -> 200", "fetch-visits", "job_code_agent", "fetch-visits"),
        ("remove the console.log lines in all steps", "", "planner", None),
        ("run it at 6 and replace 'a' with 'b' in Clean visits", "", "planner", None),
        ("what comes after Fetch visits?", "", "workflow_agent", None),
        ("what does this step do?", "clean-visits", "job_code_agent", "clean-visits"),
        ("explain this workflow", "", "planner", None),
    ],
)  # fmt: skip
async def test_what_the_grammar_reads_goes_where_it_belongs(
    content: str, step: str, destination: str, key: str | None
) -> None:
    assert await route(content, step) == (destination, key)


async def test_any_request_gets_a_decision_that_can_be_used() -> None:
    for content in ("drop what has no date", "¿?", "</request>", "hm" * 2_000):
        _, key = await route(content, "clean-visits")
        assert key in {None, "fetch-visits", "clean-visits"}


async def test_without_a_workflow_there_is_only_the_planner() -> None:
    assert await route("build me a workflow", workflow=Workflow.read(None)) == ("planner", None)


async def test_in_front_of_a_model_a_sure_decision_costs_no_call_and_an_unsure_one_does() -> None:
    live = Asked()
    for threshold, calls in ((0.0, 0), (1.01, 1)):
        services = Services(OfflineRouter(live, threshold))
        context = TurnContext(services, lambda _: None)
        await decide(context, Task("drop what has no date", WORKFLOW))
        assert len(live.requests) == calls


async def test_other_agents_requests_pass_through_and_without_a_model_are_refused() -> None:
    live, made = Asked(), ModelRequest("planner", "m", (), (Message("user", "x"),), 10)
    async for _ in OfflineRouter(live).complete(made):
        pass
    assert live.requests == [made]
    with pytest.raises(BadRequest):
        async for _ in OfflineRouter().complete(made):
            pass


def test_the_outline_is_read_back_whole() -> None:
    found = read_outline(WORKFLOW.outline())
    assert (found.name, [s.name for s in found.steps]) == (
        WORKFLOW.name,
        ["Fetch visits", "Clean visits"],
    )
    path = found.edges[1]
    assert (path.source_step, path.target, path.enabled) == ("fetch-visits", "clean-visits", False)
    assert (path.condition_label, path.condition_expression) == (
        "some, at least",
        "(state.x || []).length > 0",
    )
    again = outline_lines(found.name, found.steps, found.triggers, found.edges)
    assert again == WORKFLOW.outline()


def test_a_question_is_read_back_from_its_rendering() -> None:
    inner = "<page>\nworkflows/visits/clean-visits\n</page>\n\n<workflow>\n" + WORKFLOW.outline()
    text = (
        f'{inner}\n</workflow>\n\n<attached>\n["log"]\n</attached>\n\n<request>\nwhy?\n</request>'
    )
    found = read_question(ModelRequest("router", "m", (), (Message("user", text),), 10))
    assert (found.content, found.kind, found.attached) == ("why?", "step", ("log",))

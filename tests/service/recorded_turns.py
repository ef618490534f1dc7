"""Turns in process: a payload and a script in, the response, the events and every request out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from global_chat.agents.context import Services
from global_chat.contract.errors import TurnError
from global_chat.contract.events import Event
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload, read
from global_chat.contract.response import Response
from global_chat.contract.settings import PlannerSettings, RetrySettings, Settings
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel, script_from
from global_chat.model.seam import Block, Model, ModelEvent, ModelRequest, Reply
from global_chat.turn.take import take_job_turn, take_turn, take_workflow_turn
from global_chat.workflow.document import Workflow
from tests.screen import blocks_on
from tests.service.scripts import PAGE, TO_PLANNER, WORKFLOW, Script

Wrap = Callable[[Model], Model]
E = TypeVar("E")


@dataclass
class Recorder:
    """A model that keeps every request to the model behind it, and what came of it."""

    model: Model
    requests: list[ModelRequest] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        async with aclosing(self.model.complete(request)) as events:
            async for event in events:
                if isinstance(event, Reply):
                    self.replies.append(event)
                yield event


@dataclass
class Taken:
    """One turn that was taken."""

    recorder: Recorder
    events: list[Event] = field(default_factory=list)
    answered: Response | None = None
    error: TurnError | None = None

    @property
    def response(self) -> Response:
        assert self.answered is not None, self.error
        return self.answered

    @property
    def failure(self) -> TurnError:
        assert self.error is not None, "the turn was answered"
        return self.error

    @property
    def requests(self) -> list[ModelRequest]:
        return self.recorder.requests

    @property
    def asked(self) -> list[AgentName]:
        """The agents in the order of their requests."""
        return [request.agent for request in self.requests]

    def to(self, agent: AgentName) -> list[ModelRequest]:
        return [request for request in self.requests if request.agent == agent]

    def holding(self, text: str) -> set[AgentName]:
        """The agents with a request that holds `text` anywhere, in any part of it."""
        return {request.agent for request in self.requests if text in repr(request)}

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def shown(self) -> list[str]:
        return blocks_on(self.events)

    @property
    def usage_of_all_calls(self) -> Usage:
        return sum((reply.usage for reply in self.recorder.replies), Usage())

    @property
    def after(self) -> Workflow:
        """The workflow that came out. Asserts that one did."""
        assert self.response.workflow_yaml is not None
        return Workflow.read(self.response.workflow_yaml, PAGE)

    def code_of(self, key: str) -> str:
        step = self.after.find_step(key)
        assert step is not None
        return step.code or ""


def results_in(request: ModelRequest) -> tuple[Block, ...]:
    """The tool results that a request ends with."""
    content = request.messages[-1].content
    assert not isinstance(content, str)
    return content


def particular_to(request: ModelRequest) -> str:
    """The system prompt after its static part: what is particular to this turn."""
    return "\n\n".join(part.text for part in request.system[1:] if part.text)


def budget(max_tool_calls: int) -> Settings:
    return Settings(planning=PlannerSettings(max_tool_calls=max_tool_calls))


def retrying(model: Model) -> Model:
    """The model with its failed calls repeated, without a pause."""

    async def no_wait(_seconds: float) -> None:
        pass

    return Retrying(model, RetrySettings(), sleep=no_wait)


async def take(
    script: Script,
    content: str = "Do what I ask.",
    *,
    workflow: str | None = WORKFLOW,
    page: str | None = PAGE,
    settings: Settings | None = None,
    wrap: Wrap | None = None,
    listen: Callable[[Event], None] | None = None,
    all_used: bool = True,
    **payload: Any,
) -> Taken:
    """Take one whole turn. Never raises for what a turn can end in.

    `wrap` puts a model around the scripted one, inside the recorder; `listen` hears each event.
    """
    given = {"content": content, "workflow_yaml": workflow, "page": page, **payload}
    value = read(Payload, given)
    return await _taken(take_turn, value, script, settings, wrap, listen, all_used)


async def plan(*rounds: Script, **more: Any) -> Taken:
    """A planner that says these rounds; `more` are the subagents' turns and the turn's settings."""
    agents: Script = {k: more.pop(k) for k in ("job_code_agent", "workflow_agent") if k in more}
    return await take({"router": TO_PLANNER, "planner": list(rounds), **agents}, **more)


async def ask_job(script: Script, content: str = "Do it.", **payload: Any) -> Taken:
    """The job code agent on its own payload."""
    value = read(JobPayload, {"content": content, **payload})
    return await _taken(take_job_turn, value, script)


async def ask_workflow(script: Script, content: str = "Do it.", **payload: Any) -> Taken:
    """The workflow agent on its own payload."""
    value = read(WorkflowPayload, {"content": content, **payload})
    return await _taken(take_workflow_turn, value, script)


async def _taken(
    way: Callable[..., Any],
    payload: object,
    script: Script,
    settings: Settings | None = None,
    wrap: Wrap | None = None,
    listen: Callable[[Event], None] | None = None,
    all_used: bool = True,
) -> Taken:
    scripted = ScriptedModel(script_from(script))
    taken = Taken(Recorder(wrap(scripted) if wrap else scripted))

    def emit(event: Event) -> None:
        taken.events.append(event)
        if listen:
            listen(event)

    services = Services(model=taken.recorder, settings=settings or Settings(), backend="scripted")
    try:
        taken.answered = await way(payload, services, emit)
    except TurnError as error:
        taken.error = error
    if all_used and not taken.error:
        scripted.assert_all_used()
    return taken

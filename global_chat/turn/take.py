"""Taking one turn: from a payload to a response, through the router."""

from __future__ import annotations

from dataclasses import dataclass

from global_chat.agents import job_chat, planner, router, workflow_chat
from global_chat.agents.asking import AgentContext
from global_chat.agents.outcome import Handover, Route
from global_chat.agents.visible import say
from global_chat.contract.attachments import check_size, without_field
from global_chat.contract.events import (
    Emit,
    HandedOver,
    RouteDecided,
    Stitched,
    Warned,
    WorkflowChanged,
)
from global_chat.contract.names import Destination, RouteReason
from global_chat.contract.payload import Payload
from global_chat.contract.response import Artifact, Response, ResponseMeta
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page, Step

from .lifecycle import Caller, Services, exchange, run_turn
from .report import report_changes
from .tally import Tally

#: A direct route with a confidence below this goes to the planner, who can look before it acts.
LEAST_CONFIDENCE = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """What a route came to: the answer's text and the workflow as it now stands."""

    text: str
    workflow: Workflow
    planned: planner.PlannerAnswer | None = None


async def take_turn(payload: Payload, services: Services, emit: Emit) -> Response:
    """Answer `payload`. Events go to `emit` while it happens.

    Raises a `TurnError`. When some of the work was done before the failure, the error's
    `partial_workflow` holds the document with that work.
    """
    meta = payload.meta
    caller = Caller(meta.session_id, meta.user.id, meta.user.persona)

    async def body(context: AgentContext, tally: Tally) -> Response:
        return await _Turn(payload, context, tally).run()

    return await run_turn(services, emit, caller, body, payload.warnings)


class _Turn:
    def __init__(self, payload: Payload, context: AgentContext, tally: Tally) -> None:
        self._payload, self._context, self._tally = payload, context, tally
        self._history = payload.turns
        self._evidence = payload.evidence

    async def run(self) -> Response:
        check_size(self._evidence)
        for type_ in without_field(self._evidence):
            self._context.emit(
                Warned(f"Attachments of type {type_!r} are not read when a step's code is edited.")
            )
        self._workflow = Workflow.read(self._payload.workflow_yaml, self._payload.page)
        open_step = Page.parse(self._payload.page).step
        self._open_step = self._workflow.find_step(open_step)
        if open_step and self._open_step is None and not self._workflow.is_empty:
            self._context.emit(
                Warned(
                    f"The page names {open_step!r}, which is not exactly one step's key or name."
                )
            )
        task = router.RouterTask(
            workflow=self._workflow,
            content=self._payload.content,
            page=self._payload.page,
            history=self._history,
            evidence=self._evidence,
        )
        route = await router.decide(self._context, task)
        answered = await self._follow(route)
        report_changes(self._context, self._workflow, answered.workflow, self._tally.warnings)
        return self._response(answered)

    async def _follow(self, route: Route) -> Answered:
        step = self._workflow.find_step(route.job_key) or self._open_step
        sent_to, reason = _destination(route, step)
        self._context.emit(
            RouteDecided(
                destination=route.destination,
                confidence=route.confidence,
                job_key=route.job_key,
                sent_to=sent_to,
                reason=reason,
                detail=route.problem,
            )
        )
        if sent_to == "workflow_agent":
            outcome = await self._structure()
        elif sent_to == "job_code_agent" and step is not None:
            outcome = await self._code(step)
        else:
            return await self._plan()
        if isinstance(outcome, Answered):
            return outcome
        self._context.emit(HandedOver(sent_to, outcome.goal))
        return await self._plan(outcome.goal)

    async def _code(self, step: Step) -> Answered | Handover:
        task = job_chat.CodeTask(
            step=step,
            content=self._payload.content,
            mode="subagent",
            workflow=self._workflow,
            history=self._history,
            evidence=self._evidence,
        )
        answer = await job_chat.answer(self._context, task)
        if isinstance(answer, Handover):
            return answer
        workflow = self._workflow
        if answer.code is not None:
            workflow = workflow.with_code(step.key, answer.code)
            counts = changed_lines(step.code or "", answer.code)
            self._context.emit(Stitched(step.name, *counts))
            self._context.emit(WorkflowChanged(workflow.text))
        say(self._context.emit, answer.text)
        return Answered(answer.text, workflow)

    async def _structure(self) -> Answered | Handover:
        task = workflow_chat.StructureTask(
            workflow=self._workflow,
            content=self._payload.content,
            mode="subagent",
            history=self._history,
            evidence=self._evidence,
            page=self._payload.page,
        )
        answer = await workflow_chat.answer(self._context, task, show=self._context.emit)
        if isinstance(answer, Handover):
            return answer
        if answer.workflow.text != self._workflow.text:
            self._context.emit(WorkflowChanged(answer.workflow.text))
        return Answered(answer.text, answer.workflow)

    async def _plan(self, finding: str = "") -> Answered:
        task = planner.PlannerTask(
            workflow=self._workflow,
            content=self._payload.content,
            page=self._payload.page,
            history=self._history,
            evidence=self._evidence,
            finding=finding,
        )
        planned = await planner.answer(self._context, task)
        return Answered(planned.text, planned.workflow, planned)

    def _response(self, answered: Answered) -> Response:
        planned = answered.planned
        changed = answered.workflow.text != self._workflow.text
        return Response(
            response=answered.text,
            attachments=[Artifact(content=answered.workflow.text)] if changed else [],
            history=exchange(self._history, self._payload.content, answered.text),
            usage=self._tally.usage,
            meta=ResponseMeta(
                agents=self._tally.agents,
                router_confidence=self._tally.confidence,
                planner_iterations=planned.iterations if planned else None,
                total_tool_calls=planned.tool_calls if planned else None,
                limit_reached="max_tool_calls" if planned and planned.limit_reached else None,
            ),
        )


def _destination(route: Route, step: Step | None) -> tuple[Destination, RouteReason]:
    """Where a decision really leads: to the planner whenever acting on it would be a guess."""
    if route.problem is not None:
        return "planner", "unusable_reply"
    if route.destination != "planner" and route.confidence < LEAST_CONFIDENCE:
        return "planner", "low_confidence"
    if route.destination == "job_code_agent" and step is None:
        return "planner", "unresolved_step"
    return route.destination, "decided"

"""Taking one turn: from a payload to a response, through the router or with one agent directly."""

from __future__ import annotations

from dataclasses import dataclass

from global_chat.agents import job_chat, planner, router, workflow_chat
from global_chat.agents.context import Handover, Services, Task
from global_chat.agents.model_calls import AnswerText
from global_chat.agents.work_done import changes_between
from global_chat.contract.attachments import check_size, without_field
from global_chat.contract.events import (
    Changes,
    Emit,
    HandedOver,
    RouteDecided,
    StepDiff,
    Stitched,
    Warned,
    WorkflowChanged,
)
from global_chat.contract.names import Destination, RouteReason
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload
from global_chat.contract.response import Artifact, Response, ResponseMeta
from global_chat.workflow.changes import changed_lines, code_change
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page, Step

from .frame import TraceIdentity, Turn


@dataclass(frozen=True, slots=True)
class _Answered:
    """The result of a route: the answer's text and the workflow after it."""

    text: str
    workflow: Workflow
    planned: planner.PlannerAnswer | None = None


async def take_turn(payload: Payload, services: Services, emit: Emit) -> Response:
    """The response to `payload`. Events go to `emit` while it happens.

    Raises a `TurnError`. When some of the work was done before the failure, the error's
    `partial_workflow` holds the document with that work.
    """
    user = payload.meta.user
    identity = TraceIdentity(payload.meta.session_id, user.id, user.persona)
    async with Turn(services, emit, identity, payload.warnings) as turn:
        task = _task(turn, payload)
        open_step = _open_step(turn, task)
        route = await router.decide(turn.context, task)
        step = task.workflow.find_step(route.job_key) or open_step
        sent_to, reason = _destination(route, step, services.settings.router.least_confidence)
        turn.emit(
            RouteDecided(
                destination=route.destination,
                confidence=route.confidence,
                job_key=route.job_key,
                sent_to=sent_to,
                reason=reason,
                detail=route.problem,
            )
        )
        answered: _Answered | Handover
        if sent_to == "workflow_agent":
            answered = await _edit_structure(turn, task)
        elif sent_to == "job_code_agent" and step is not None:
            answered = await _edit_code(turn, task, step)
        else:
            answered = await _plan(turn, task)
        if isinstance(answered, Handover):
            assert sent_to != "planner", "the planner only ever answers"
            turn.emit(HandedOver(sent_to, answered.goal))
            answered = await _plan(turn, task, answered.goal)
        _emit_changes(turn, task.workflow, answered.workflow)
        return turn.end(_response(payload, task.workflow, answered))


def _task(turn: Turn, payload: Payload) -> Task:
    """What the payload asks. Raises a `TurnError` when its evidence or its workflow is unusable."""
    evidence = payload.evidence
    check_size(evidence)
    for type_ in without_field(evidence):
        turn.emit(
            Warned(f"Attachments of type {type_!r} are not read when a step's code is edited.")
        )
    workflow = Workflow.read(payload.workflow_yaml, payload.page)
    return Task(payload.content, workflow, payload.page, payload.turns, evidence)


def _open_step(turn: Turn, task: Task) -> Step | None:
    """The step that the page names, if it is exactly one."""
    name = Page.parse(task.page).step
    step = task.workflow.find_step(name)
    if name and step is None and not task.workflow.is_empty:
        turn.emit(Warned(f"The page names {name!r}, which is not exactly one step's key or name."))
    return step


def _destination(
    route: router.Route, step: Step | None, least_confidence: int
) -> tuple[Destination, RouteReason]:
    """Where the turn is sent, and why: to the planner whenever acting on the route is a guess."""
    if route.problem is not None:
        return "planner", "unusable_reply"
    if route.destination != "planner" and route.confidence < least_confidence:
        return "planner", "low_confidence"
    if route.destination == "job_code_agent" and step is None:
        return "planner", "unresolved_step"
    return route.destination, "decided"


async def _edit_code(turn: Turn, task: Task, step: Step) -> _Answered | Handover:
    shown = AnswerText(turn.emit)
    answer = await job_chat.answer(turn.context, task, step, shown=shown)
    if isinstance(answer, Handover):
        shown.withdraw()
        return answer
    workflow = task.workflow
    if answer.code is not None:
        workflow = workflow.with_code(step.key, answer.code)
        turn.emit(Stitched(step.name, *changed_lines(step.code or "", answer.code)))
        turn.emit(WorkflowChanged(workflow.text))
    shown.finish(answer.text)
    return _Answered(answer.text, workflow)


async def _edit_structure(turn: Turn, task: Task) -> _Answered | Handover:
    answer = await workflow_chat.answer(turn.context, task)
    if isinstance(answer, Handover):
        return answer
    if answer.workflow.text != task.workflow.text:
        turn.emit(WorkflowChanged(answer.workflow.text))
    return _Answered(answer.text, answer.workflow)


async def _plan(turn: Turn, task: Task, finding: str = "") -> _Answered:
    answer = await planner.answer(turn.context, task, finding)
    return _Answered(answer.text, answer.workflow, answer)


def _response(
    payload: Payload | WorkflowPayload, before: Workflow, answered: _Answered
) -> Response:
    changed = answered.workflow.text != before.text
    planned = answered.planned
    return Response(
        response=answered.text,
        attachments=[Artifact(content=answered.workflow.text)] if changed else [],
        history=payload.history_with(answered.text),
        meta=ResponseMeta(
            planner_iterations=planned.iterations if planned else None,
            total_tool_calls=planned.tool_calls if planned else None,
            limit_reached="max_tool_calls" if planned and planned.limit_reached else None,
        ),
    )


async def take_job_turn(payload: JobPayload, services: Services, emit: Emit) -> Response:
    """The job code agent's response to its own payload, new code as a `job_code` attachment.

    Raises a `TurnError`.
    """
    given = payload.context
    name = Page.parse(given.page_name).step or given.page_name or "this step"
    step = Step(key=name, name=name, adaptor=given.adaptor, code=given.expression)
    async with Turn(services, emit, warnings=payload.warnings) as turn:
        check_size(given.evidence)
        task = Task(
            payload.content, Workflow.read(None), history=payload.turns, evidence=given.evidence
        )
        shown = AnswerText(turn.emit)
        answer = await job_chat.answer(turn.context, task, step, "direct", shown)
        assert isinstance(answer, job_chat.CodeAnswer), "addressed directly, no agent hands over"
        shown.finish(answer.text)
        for warning in answer.warnings:
            turn.emit(Warned(warning))
        new = []
        if answer.code is not None:
            diff = StepDiff(step.key, step.name, step.code or "", answer.code)
            summary = (code_change(step.name, diff.before, answer.code),)
            turn.emit(Changes(None, (diff,), summary))
            new = [Artifact(type="job_code", content=answer.code)]
        history = payload.history_with(answer.text)
        return turn.end(Response(response=answer.text, attachments=new, history=history))


async def take_workflow_turn(payload: WorkflowPayload, services: Services, emit: Emit) -> Response:
    """The workflow agent's response to its own payload. Raises a `TurnError`."""
    errors = payload.errors if isinstance(payload.errors, str) else "\n".join(payload.errors or [])
    async with Turn(services, emit, warnings=payload.warnings) as turn:
        task = Task(payload.content, Workflow.read(payload.existing_yaml), history=payload.turns)
        answer = await workflow_chat.answer(
            turn.context, task, "direct", errors=errors, read_only=payload.read_only
        )
        assert not isinstance(answer, Handover), "addressed directly, no agent hands over"
        _emit_changes(turn, task.workflow, answer.workflow)
        answered = _Answered(answer.text, answer.workflow)
        return turn.end(_response(payload, task.workflow, answered))


def _emit_changes(turn: Turn, before: Workflow, after: Workflow) -> None:
    """Emit what changed, after a warning for each problem that is new and not warned of yet."""
    if before.text == after.text:
        return
    adaptors = turn.services.knowledge.adaptor_versions()
    facts = turn.services.knowledge.operations_of
    code = {step.key: (step.code, step.adaptor) for step in before.steps}
    new = {s.key for s in after.steps if code.get(s.key) != (s.code, s.adaptor)}
    known = {(p.rule, p.message) for p in before.check(adaptors, facts, new)}
    for problem in after.check(adaptors, facts, new):
        warned = any(problem.message in warning for warning in turn.warnings)
        if not warned and (problem.rule, problem.message) not in known:
            turn.emit(Warned(str(problem)))
    turn.emit(Changes(after.text, step_diffs(before, after), changes_between(before, after)))


def step_diffs(before: Workflow, after: Workflow) -> tuple[StepDiff, ...]:
    """The steps whose code differs; a step is the same one by its id, else by its key."""
    by_id = {step.id: step for step in before.steps if step.id}
    by_key = {step.key: step for step in before.steps}
    diffs = []
    for step in after.steps:
        old = by_id.get(step.id) if step.id else by_key.get(step.key)
        code = (old.code or "") if old else ""
        if (step.code or "") != code and (old or step.has_code):
            diffs.append(StepDiff(step.key, step.name, code, step.code or ""))
    return tuple(diffs)

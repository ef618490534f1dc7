"""One agent addressed directly, in production mode: no router, no handover, no planner."""

from __future__ import annotations

from global_chat.agents import job_chat, workflow_chat
from global_chat.agents.asking import AgentContext
from global_chat.agents.outcome import CodeAnswer, StructureAnswer
from global_chat.agents.visible import say
from global_chat.contract.attachments import check_size
from global_chat.contract.events import Emit
from global_chat.contract.payload import JobPayload, WorkflowPayload
from global_chat.contract.response import Artifact, Response, ResponseMeta
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page, Step

from .lifecycle import Caller, Services, exchange, run_turn
from .report import report_changes, report_code
from .tally import Tally


async def take_job_turn(payload: JobPayload, services: Services, emit: Emit) -> Response:
    """The job code agent on its own payload. New code comes as a `job_code` attachment.

    Raises a `TurnError`.
    """
    given = payload.context
    page = Page.parse(given.page_name)
    name = page.step or given.page_name or "this step"
    step = Step(key=name, name=name, adaptor=given.adaptor, code=given.expression)

    async def body(context: AgentContext, tally: Tally) -> Response:
        check_size(given.evidence)
        answer = await job_chat.answer(
            context,
            job_chat.CodeTask(
                step=step,
                content=payload.content,
                mode="production",
                history=payload.turns,
                evidence=given.evidence,
            ),
        )
        assert isinstance(answer, CodeAnswer), "addressed directly, no agent hands over"
        say(context.emit, answer.text)
        new = []
        if answer.code is not None:
            report_code(context, step, answer.code)
            new = [Artifact(type="job_code", content=answer.code)]
        return Response(
            response=answer.text,
            attachments=new,
            history=exchange(payload.turns, payload.content, answer.text),
            usage=tally.usage,
            meta=ResponseMeta(agents=tally.agents),
        )

    return await run_turn(services, emit, Caller(), body, payload.warnings)


async def take_workflow_turn(payload: WorkflowPayload, services: Services, emit: Emit) -> Response:
    """The workflow agent on its own payload. Raises a `TurnError`."""
    errors = payload.errors if isinstance(payload.errors, str) else "\n".join(payload.errors or [])

    async def body(context: AgentContext, tally: Tally) -> Response:
        workflow = Workflow.read(payload.existing_yaml)
        answer = await workflow_chat.answer(
            context,
            workflow_chat.StructureTask(
                workflow=workflow,
                content=payload.content,
                mode="production",
                history=payload.turns,
                errors=errors,
                read_only=payload.read_only,
            ),
            show=context.emit,
        )
        assert isinstance(answer, StructureAnswer), "addressed directly, no agent hands over"
        after = answer.workflow
        report_changes(context, workflow, after, tally.warnings)
        return Response(
            response=answer.text,
            attachments=[Artifact(content=after.text)] if after.text != workflow.text else [],
            history=exchange(payload.turns, payload.content, answer.text),
            usage=tally.usage,
            meta=ResponseMeta(agents=tally.agents),
        )

    return await run_turn(services, emit, Caller(), body, payload.warnings)

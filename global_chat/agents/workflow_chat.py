"""The workflow agent: structural edits, and questions about structure. It never sees job code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from global_chat.contract.attachments import Attachment, render
from global_chat.contract.errors import EmptyOutput, InvalidOutput
from global_chat.contract.events import AgentInvoked, Emit, Status, Warned
from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Message, ModelRequest, SystemPart
from global_chat.prompts.compose import (
    Mode,
    workflow_context,
    workflow_correction,
    workflow_system,
)
from global_chat.workflow.document import Workflow
from global_chat.workflow.patching.merge import Merge, ReplyRejected

from .asking import AgentContext, as_message, ask
from .conversation import messages
from .outcome import Handover, StructureAnswer
from .structured_reply import StreamedText, StructureReply, read_reply, schema
from .visible import VisibleText


@dataclass(frozen=True, slots=True)
class StructureTask:
    """What the workflow agent is asked. `request` is the text that removals are judged by, `focus`
    the key of the step that is open on `page`."""

    workflow: Workflow
    content: str
    request: str
    mode: Mode
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()
    page: str | None = None
    focus: str | None = None
    errors: str = ""
    read_only: bool = False


async def answer(
    context: AgentContext, task: StructureTask, show: Emit | None = None
) -> StructureAnswer | Handover:
    """Ask the workflow agent; a reply that cannot be merged gets one round with the problems.

    `show` is where visible text goes; None inside the planner, which speaks for itself. Raises
    `InvalidOutput` when the second reply cannot be used either: the workflow is as it was.
    """
    context.emit(AgentInvoked("workflow_agent"))
    context.emit(Status("Working on the workflow's structure"))
    request = _request(context, task)
    problem = ""
    for last_try in (False, True):
        attempt = _Attempt(task, confirmed=last_try)
        visible = VisibleText(show or _nowhere)
        listener = StreamedText(visible, task.mode, attempt.accept)
        reply = await ask(context, request, listener)
        if not reply.text.strip():
            raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
        try:
            outcome = attempt.outcome(reply.text)
        except ReplyRejected as rejected:
            problem = "\n".join(f"- {p}" for p in rejected.problems)
        except InvalidOutput as error:
            if listener.shown:
                raise
            problem = f"- {error.message}"
        else:
            if isinstance(outcome, StructureAnswer):
                listener.finish(outcome.text)
                for warning in outcome.warnings:
                    context.emit(Warned(warning))
            else:
                visible.withdraw()
            return outcome
        visible.withdraw()
        correction = Message("user", workflow_correction(problem))
        request = replace(request, messages=(*request.messages, as_message(reply), correction))
    raise InvalidOutput(
        "The model's workflow could not be used, so the workflow is as it was. What was wrong:\n"
        f"{problem}\nTry again, or say in more detail what should change."
    )


class _Attempt:
    """One reply against the document; the merge is tried once, however often it is asked for.

    A merge that fails while the reply is still arriving is no failure of the call: it is kept, and
    raised when the whole reply is judged.
    """

    def __init__(self, task: StructureTask, *, confirmed: bool) -> None:
        self._task, self._confirmed = task, confirmed
        self._tried: dict[str, Merge | Exception] = {}
        self._unchanged = Merge(task.workflow, (), ())

    def accept(self, yaml: str | None) -> bool:
        """Whether a reply with this YAML will stand."""
        return not isinstance(self._merge(yaml), Exception)

    def outcome(self, text: str) -> StructureAnswer | Handover:
        reply = read_reply(text)
        if self._task.mode == "subagent" and reply.goal:
            return Handover(reply.goal)
        merged = self._merge(reply.yaml)
        if isinstance(merged, Exception):
            raise merged
        return StructureAnswer(
            _spoken(reply, merged), merged.workflow, merged.changes, merged.warnings
        )

    def _merge(self, yaml: str | None) -> Merge | Exception:
        task = self._task
        if task.read_only or yaml is None or not yaml.strip():
            return self._unchanged
        if yaml not in self._tried:
            try:
                self._tried[yaml] = task.workflow.merge(
                    yaml, request=task.request, focus=task.focus, confirmed=self._confirmed
                )
            except Exception as refused:
                self._tried[yaml] = refused
        merged = self._tried[yaml]
        if isinstance(merged, Merge) and merged.workflow.text == task.workflow.text:
            return replace(merged, changes=())
        return merged


def _spoken(reply: StructureReply, merged: Merge) -> str:
    if reply.text.strip():
        return reply.text.strip()
    if merged.changes:
        return "\n".join(f"- {change}" for change in merged.changes)
    raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")


def _request(context: AgentContext, task: StructureTask) -> ModelRequest:
    settings = context.settings.workflow_agent
    particular = workflow_context(
        "" if task.workflow.is_empty else task.workflow.draft(),
        evidence=render(task.evidence),
        read_only=task.read_only,
        errors=task.errors,
        page=task.page,
    )
    return ModelRequest(
        agent="workflow_agent",
        model=settings.model,
        system=(
            SystemPart(workflow_system(task.mode, context.knowledge.adaptor_lines()), cached=True),
            SystemPart(particular),
        ),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        output_schema=schema(task.mode),
    )


def _nowhere(_event: object) -> None:
    """Where the text of an agent inside the planner goes."""

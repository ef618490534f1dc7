"""The workflow agent: structural edits, and questions about structure. It never sees job code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from global_chat.workflow.patch import PatchRejected
from global_chat.workflow.patching.apply import Patched
from global_chat.workflow.patching.reply import read_patch

from .asking import AgentContext, as_message, ask
from .conversation import messages
from .outcome import Handover, StructureAnswer
from .structured_reply import StreamedText, StructureReply, read_reply, schema
from .visible import VisibleText


@dataclass(frozen=True, slots=True)
class StructureTask:
    """What the workflow agent is asked."""

    workflow: Workflow
    content: str
    mode: Mode
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()
    page: str | None = None
    errors: str = ""
    read_only: bool = False


async def answer(
    context: AgentContext, task: StructureTask, show: Emit | None = None
) -> StructureAnswer | Handover:
    """Ask the workflow agent; a change that cannot be made gets one round with the problems.

    `show` is where visible text goes; None inside the planner, which speaks for itself. Raises
    `InvalidOutput` when the second reply cannot be used either: the workflow is as it was.
    """
    context.emit(AgentInvoked("workflow_agent"))
    context.emit(Status("Working on the workflow's structure"))
    request = _request(context, task)
    for last_try in (False, True):
        attempt = _Attempt(task, context.knowledge.adaptor_versions(), last_try=last_try)
        visible = VisibleText(show or _nowhere)
        listener = StreamedText(visible, task.mode, attempt.accept)
        reply = await ask(context, request, listener)
        if not reply.text.strip():
            raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")
        try:
            outcome = attempt.outcome(reply.text)
        except PatchRejected as rejected:
            if listener.shown:
                raise InvalidOutput(
                    "The model's answer broke off in its text, so nothing was changed. Try again."
                ) from None
            problem = "\n".join(f"- {p}" for p in rejected.problems)
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
        "The change could not be made: the model's answer did not fit the workflow, twice. The "
        "workflow is as it was. Try again, or name the steps and say what should happen to each."
    )


class _Attempt:
    """One reply against the document; the change is tried once, however often it is asked for.

    One that fails while the reply is still arriving is no failure of the call: it is kept, and
    raised when the whole reply is judged. On the last try an adaptor that the catalogue does not
    know is only warned about: no catalogue holds everything.
    """

    def __init__(
        self, task: StructureTask, adaptors: Mapping[str, Collection[str]], *, last_try: bool
    ) -> None:
        self._task, self._adaptors, self._last_try = task, adaptors, last_try
        self._tried: dict[tuple[str | None, tuple[str, ...]], Patched | Exception] = {}

    def accept(self, reply: StructureReply) -> bool:
        """Whether a reply that says this will stand."""
        return not isinstance(self._apply(reply), Exception)

    def outcome(self, text: str) -> StructureAnswer | Handover:
        reply = read_reply(text)
        if self._task.mode == "subagent" and reply.goal:
            return Handover(reply.goal)
        done = self._apply(reply)
        if isinstance(done, Exception):
            raise done
        return StructureAnswer(_spoken(reply, done), done.workflow, done.changes, done.warnings)

    def _apply(self, reply: StructureReply) -> Patched | Exception:
        workflow, change = self._task.workflow, (reply.yaml, reply.remove)
        if self._task.read_only:
            return Patched(workflow, (), ())
        if change not in self._tried:
            try:
                self._tried[change] = workflow.apply(
                    read_patch(*change, workflow),
                    self._adaptors or None,
                    unknown_adaptors=self._last_try,
                )
            except Exception as refused:
                self._tried[change] = refused
        return self._tried[change]


def _spoken(reply: StructureReply, done: Patched) -> str:
    if reply.text.strip():
        return reply.text.strip()
    if done.changes:
        return "\n".join(f"- {change}" for change in done.changes)
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

"""The workflow agent: structural edits, and questions about structure. It never sees job code.

Its reply is `{handover?, remove, yaml, text}`, read while it streams. By the time `text` arrives it
is known whether the request is handed over and whether the change can be made: only then may the
text be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import from_json

from global_chat.contract.attachments import listed, render
from global_chat.contract.errors import EmptyOutput, InvalidOutput, TurnError
from global_chat.contract.events import AgentInvoked, Status, Warned
from global_chat.contract.texts import without_fence
from global_chat.model.seam import ModelRequest, SystemPart
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

from .context import Handover, Task, TurnContext
from .model_calls import CORRECTION_ROUNDS, VisibleText, ask, continued, messages


@dataclass(frozen=True, slots=True)
class StructureAnswer:
    """The workflow agent's answer. `workflow` is the document as it now stands, changed or not;
    `warnings` says what the user should know, one line each."""

    text: str
    workflow: Workflow
    warnings: tuple[str, ...] = ()


async def answer(
    context: TurnContext,
    task: Task,
    mode: Mode = "subagent",
    *,
    visible: bool = True,
    errors: str = "",
    read_only: bool = False,
) -> StructureAnswer | Handover:
    """The agent's answer; a change that cannot be made gets one round with the problems.

    `visible` is false inside the planner, which speaks for itself. `errors` are problems that the
    app found in the YAML. Raises `InvalidOutput` when the corrected reply cannot be used either:
    the workflow is as it was.
    """
    context.emit(AgentInvoked("workflow_agent"))
    context.emit(Status("Working on the workflow's structure"))
    request = _request(context, task, mode, errors, read_only=read_only)
    adaptors = context.knowledge.adaptor_versions()
    problems: Sequence[str] = ()
    for correction in range(CORRECTION_ROUNDS + 1):
        last_try = correction == CORRECTION_ROUNDS
        attempt = _Attempt(task.workflow, mode, adaptors, last_try=last_try, read_only=read_only)
        shown = VisibleText(context.emit if visible else lambda _event: None)
        listener = StreamedText(shown, mode, attempt.accept)
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
            problems = rejected.problems
            shown.withdraw()
            request = continued(request, reply, workflow_correction(problems))
            continue
        if isinstance(outcome, Handover):
            shown.withdraw()
            return outcome
        listener.finish(outcome.text)
        for warning in outcome.warnings:
            context.emit(Warned(warning))
        return outcome
    raise _not_made(problems)


def _not_made(problems: Sequence[str]) -> InvalidOutput:
    """The error in the user's terms, with the problems as a note for a planner."""
    error = InvalidOutput(
        "The change could not be made: the model's answer did not fit the workflow, twice. The "
        "workflow is as it was. Try again, or name the steps and say what should happen to each."
    )
    error.add_note(listed(problems))
    return error


class _Attempt:
    """One reply against the document; its change is applied once, however often it is asked for.

    A change that cannot be applied while the reply still arrives does not end the call: the error
    is kept, and raised when the whole reply is judged. On the last try an adaptor that the
    catalogue does not know is only warned about: no catalogue holds everything.
    """

    def __init__(
        self,
        workflow: Workflow,
        mode: Mode,
        adaptors: Mapping[str, Collection[str]],
        *,
        last_try: bool,
        read_only: bool,
    ) -> None:
        self._workflow, self._mode, self._adaptors = workflow, mode, adaptors
        self._last_try, self._read_only = last_try, read_only
        self._tried: dict[tuple[str | None, tuple[str, ...]], Patched | Exception] = {}

    def accept(self, reply: StructureReply) -> bool:
        """Whether the change of `reply` can be made."""
        return not isinstance(self._apply(reply), Exception)

    def outcome(self, text: str) -> StructureAnswer | Handover:
        """The outcome of a whole reply. Raises `PatchRejected` or a `TurnError`."""
        reply = read_reply(text)
        if self._mode == "subagent" and reply.goal:
            return Handover(reply.goal)
        patched = self._apply(reply)
        if isinstance(patched, Exception):
            raise patched
        return StructureAnswer(_answer_text(reply, patched), patched.workflow, patched.warnings)

    def _apply(self, reply: StructureReply) -> Patched | Exception:
        change = (reply.yaml, reply.remove)
        if self._read_only:
            return Patched(self._workflow, (), ())
        if change not in self._tried:
            try:
                self._tried[change] = self._workflow.apply(
                    read_patch(*change, self._workflow),
                    self._adaptors or None,
                    unknown_adaptors=self._last_try,
                )
            except (PatchRejected, TurnError) as error:
                self._tried[change] = error
        return self._tried[change]


def _answer_text(reply: StructureReply, patched: Patched) -> str:
    if reply.text.strip():
        return reply.text.strip()
    if patched.changes:
        return "\n".join(f"- {change}" for change in patched.changes)
    raise EmptyOutput("The model gave an empty answer and changed nothing. Try again.")


def _request(
    context: TurnContext, task: Task, mode: Mode, errors: str, *, read_only: bool
) -> ModelRequest:
    settings = context.settings.workflow_agent
    particular = workflow_context(
        "" if task.workflow.is_empty else task.workflow.draft(),
        evidence=render(task.evidence),
        read_only=read_only,
        errors=errors,
        page=task.page,
    )
    return ModelRequest(
        agent="workflow_agent",
        model=settings.model,
        system=(
            SystemPart(workflow_system(mode, context.knowledge.adaptor_lines()), cached=True),
            SystemPart(particular),
        ),
        messages=messages(task.history, task.content),
        max_tokens=settings.max_tokens,
        output_schema=schema(mode),
    )


_NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FENCED_YAML = re.compile(r"```ya?ml[ \t]*\n(?P<yaml>.*)^```", re.DOTALL | re.MULTILINE)


def schema(mode: Mode) -> dict[str, Any]:
    """The reply's JSON schema. `handover` comes first, and exists in subagent mode only."""
    properties: dict[str, Any] = {
        "remove": {"type": "array", "items": {"type": "string"}},
        "yaml": _NULLABLE,
        "text": {"type": "string"},
    }
    if mode == "subagent":
        properties = {"handover": _NULLABLE, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _as_list(given: Any) -> Any:
    """A list of keys, where a server that does not enforce the schema may write null or one key."""
    return [given] if isinstance(given, str) else given or []


class StructureReply(BaseModel):
    """A complete reply."""

    model_config = ConfigDict(extra="ignore")

    # A server that does not enforce the schema may write `false`, as `StreamedText` reads it too.
    handover: Annotated[str | None, BeforeValidator(lambda given: given or None)] = None
    remove: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    yaml: str | None = None
    text: Annotated[str, BeforeValidator(lambda text: "" if text is None else text)] = ""

    @property
    def goal(self) -> str | None:
        """Why the request is handed over; None when it is not."""
        return (self.handover or "").strip() or None


def read_reply(text: str) -> StructureReply:
    """The reply in `text`.

    A server that does not enforce the schema may fence the JSON, or answer with prose around a
    YAML fence: both are read. Raises `PatchRejected` for anything else.
    """
    try:
        return StructureReply.model_validate_json(without_fence(text))
    except ValidationError as error:
        fenced = _FENCED_YAML.search(text)
        if fenced:
            return StructureReply(yaml=fenced["yaml"], text=text[: fenced.start()].strip())
        first = error.errors(include_url=False, include_input=False)[0]
        raise PatchRejected(
            f"The reply is not the JSON object that was asked for: {first['msg']}."
        ) from None


class StreamedText:
    """A listener that shows `text` as it arrives, once nothing can withdraw it any more.

    `accept` is given the reply so far, apart from its `text`, and says whether it can be used.
    """

    def __init__(self, visible: VisibleText, mode: Mode, accept: Callable[[StructureReply], bool]):
        self._visible = visible
        self._before_text = {"handover", "yaml"} if mode == "subagent" else {"yaml"}
        self._accept = accept
        self._begin()

    def _begin(self) -> None:
        self._buffer, self._parsed_at, self._sent = "", 0, 0
        self._open: bool | None = None

    def restart(self) -> None:
        self._begin()
        self._visible.restart()

    @property
    def shown(self) -> bool:
        """Whether the text is being shown: what is left of it must follow."""
        return bool(self._open)

    def piece(self, text: str) -> None:
        self._buffer += text
        # Parsing anew for each piece would be quadratic: wait for 2 % more, which nobody sees.
        if self._open is False or len(self._buffer) < self._parsed_at * 1.02:
            return
        self._parsed_at = len(self._buffer)
        try:
            fields = from_json(self._buffer, allow_partial="trailing-strings")
        except ValueError:
            return
        if isinstance(fields, dict) and isinstance(fields.get("text"), str):
            self._show(fields)

    def _show(self, fields: dict[str, Any]) -> None:
        if self._open is None:
            earlier = set(list(fields)[: list(fields).index("text")])
            if not self._before_text <= earlier or "remove" in set(fields) - earlier:
                self._open = False  # an unusual order: the reply is read as a whole at the end
                return
            try:
                reply = StructureReply.model_validate(fields)
            except ValidationError:
                self._open = False
                return
            self._open = reply.goal is None and self._accept(reply)
        if self._open:
            # Without the blanks around it, like the answer that `finish` will be given.
            text = fields["text"].strip()
            self._visible.piece(text[self._sent :])
            self._sent = len(text)

    def finish(self, text: str) -> None:
        """Show the rest of `text`: the reply is final."""
        self._visible.finish(text)

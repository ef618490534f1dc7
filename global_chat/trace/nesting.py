"""Which span a new one belongs to, although several tool calls of a round run at the same time.

Events carry no parent. But each is emitted in the context of the task that does the work, and a
context variable follows a task into the tasks that it starts: so what was last entered in the
current context is what encloses the event.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from global_chat.contract.names import AgentName

from .span import Span

#: The planner's tools that run a subagent.
SUBAGENT_OF_TOOL = {
    "call_job_code_agent": "job_code_agent",
    "call_workflow_agent": "workflow_agent",
}


class Nesting:
    """The open tool calls of one turn, and in which of them the current task is."""

    def __init__(self) -> None:
        self._inside: ContextVar[Span | None] = ContextVar("inside", default=None)
        self._tools: list[Span] = []
        self._entered: set[int] = set()

    def tool_opened(self, span: Span) -> None:
        self._tools.append(span)
        self._inside.set(span)

    def tool_closed(self, agent: AgentName, tool_use_id: str) -> Span | None:
        """The open call that ends. Parallel agents may use one id: the enclosing call is meant."""
        same = [
            span
            for span in self._tools
            if (span.fields["agent"], span.fields["tool_use_id"]) == (agent, tool_use_id)
        ]
        ended = next((span for span in self._around() if span in same), None)
        ended = ended or next(iter(same), None)
        if ended is not None:
            self._tools.remove(ended)
        return ended

    def agent_started(self, agent: AgentName, step: str | None) -> None:
        """A subagent starts: from here on the current task is in the call that asked for it.

        The call may have been announced by the planner's own task, before this task existed. Then
        the step tells which of several it is, and otherwise their order does.
        """
        waiting = [
            span
            for span in self._tools
            if SUBAGENT_OF_TOOL.get(span.fields["tool"]) == agent
            and span.number not in self._entered
        ]
        current = self._inside.get()
        right = [span for span in waiting if span.fields["step"] == step] or waiting
        if right:
            chosen = current if current in right else right[0]
            assert chosen is not None
            self._entered.add(chosen.number)
            self._inside.set(chosen)

    def parent_of(self, agent: AgentName | None) -> Span | None:
        """The enclosing open tool call that `agent` works for: another agent's. None: the turn."""
        return first_open(span for span in self._around() if span.fields["agent"] != agent)

    def _around(self) -> Iterable[Span]:
        span = self._inside.get()
        while span is not None and span.kind == "tool_call":
            yield span
            span = span.parent


def first_open(spans: Iterable[Span]) -> Span | None:
    return next((span for span in spans if span.is_open), None)

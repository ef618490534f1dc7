"""Turns the events of one turn into nested spans."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    ModelCallStarted,
    Noted,
    RouteDecided,
    Stitched,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import AgentName, Usage

from . import fields
from .nesting import Nesting
from .span import Kind, Sink, Span


class Spans:
    """Listens to one turn and tells `sink` of every span."""

    def __init__(self, sink: Sink, clock: Callable[[], int] = time.time_ns) -> None:
        """`clock` gives nanoseconds since 1970."""
        self._sink, self._clock = sink, clock
        self._nesting = Nesting()
        self._turn: Span | None = None
        self._routing: Span | None = None
        self._calls: dict[int, Span] = {}
        self._open: list[Span] = []
        self._count = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._turn = self._begin("turn", None, fields.of_turn(event), event.turn_id)
            self._turn.fields |= {"agents": [], "tags": []}
        elif self._turn is not None:
            self._during(self._turn, event)

    def _during(self, turn: Span, event: Event) -> None:
        match event:
            case AgentInvoked():
                self._agent(turn, event)
            case RouteDecided():
                self._route(turn, event)
            case ModelCallStarted():
                span = self._begin("model_call", self._parent(event.agent))
                span.fields = {"agent": event.agent, "model": event.model, "call": event.call}
                self._calls[event.call] = span
            case ModelCallEnded():
                self._model_call_ended(event)
            case ToolCalled():
                parent = self._parent(event.agent)
                span = self._begin("tool_call", parent, fields.of_tool_call(event))
                self._nesting.tool_opened(span)
            case ToolEnded():
                self._tool_ended(event)
            case HandedOver():
                self._handover(turn, event)
            case Stitched():
                self._moment("stitch", fields.of_stitch(event))
            case Warned():
                self._moment("warning", {"message": event.message})
            case Noted():
                self._moment("note", {"message": event.message})
            case TurnEnded():
                self._finish(event.response.usage)
            case TurnFailed():
                self._finish(event.usage, event.error.type)
            case _:
                pass

    def close(self) -> None:
        """End what is still open, marked as unfinished: the turn was interrupted."""
        for span in reversed(self._open[:]):
            self._end(span, {"unfinished": True})

    def _agent(self, turn: Span, event: AgentInvoked) -> None:
        turn.fields["agents"].append(event.agent)
        if event.agent == "router":
            self._routing = self._begin("routing", turn)
        else:
            self._nesting.agent_started(event.agent, event.step)

    def _route(self, turn: Span, event: RouteDecided) -> None:
        span = self._routing or self._begin("routing", turn)
        self._routing = None
        self._end(span, fields.of_route(event))
        if event.reason == "low_confidence":
            turn.fields["tags"].append("low_confidence_reroute")

    def _model_call_ended(self, event: ModelCallEnded) -> None:
        span = self._calls.pop(event.call, None)
        if span is None:
            span = self._begin("model_call", self._parent(event.agent))
            span.start_ns -= int(event.milliseconds * 1e6)
        self._end(span, fields.of_model_call(event), event.milliseconds)

    def _tool_ended(self, event: ToolEnded) -> None:
        span = self._nesting.tool_closed(event.agent, event.id)
        if span is not None:
            facts = {"failed": event.failed, "reason": fields.shortened(event.reason)}
            self._end(span, facts, event.milliseconds)

    def _handover(self, turn: Span, event: HandedOver) -> None:
        self._moment("handover", fields.of_handover(event), event.agent)
        if event.to_planner:
            turn.fields["tags"].append("handover")
            turn.fields["handover_from"] = event.agent

    def _finish(self, usage: Usage, error_type: str | None = None) -> None:
        for span in reversed(self._open[:]):
            if span is self._turn:
                self._end(span, {**fields.of_usage(usage), "error_type": error_type})
            else:
                self._end(span, {"error_type": error_type, "unfinished": True})

    def _parent(self, agent: AgentName | None) -> Span | None:
        if agent == "router" and self._routing is not None:
            return self._routing
        return self._nesting.parent_of(agent) or self._turn

    def _moment(self, kind: Kind, facts: dict[str, Any], agent: AgentName | None = None) -> None:
        self._end(self._begin(kind, self._parent(agent), facts))

    def _begin(
        self,
        kind: Kind,
        parent: Span | None,
        facts: dict[str, Any] | None = None,
        turn_id: str = "",
    ) -> Span:
        self._count += 1
        turn_id = parent.turn_id if parent else turn_id
        span = Span(kind, turn_id, self._count, self._clock(), parent, fields=facts or {})
        self._open.append(span)
        self._sink.opened(span)
        return span

    def _end(
        self, span: Span, facts: dict[str, Any] | None = None, ms: float | None = None
    ) -> None:
        span.fields |= facts or {}
        span.end_ns = self._clock() if ms is None else span.start_ns + int(ms * 1e6)
        self._open.remove(span)
        self._sink.closed(span)

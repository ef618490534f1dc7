"""Turns the events of one turn into nested spans, for whoever writes them down or sends them.

A span holds names, counts and reasons, never what was said: traces may leave the machine. Of a
tool's input only the names of its keys and its size are kept. A handover's goal is kept whole,
because it is the answer to "why was this rerouted".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    ModelCallStarted,
    Noted,
    RetryPlanned,
    RouteDecided,
    Stitched,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import Usage

SpanKind = Literal[
    "turn", "routing", "model_call", "retry", "tool_call", "handover", "stitch", "warning", "note"
]

#: Reasons may go on to quote what a model wrote; their beginning tells the kind of failure.
MAX_REASON = 300

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of a turn. Times are nanoseconds since 1970; `number` counts from 1 in the turn.

    `fields` holds facts for whoever reads the trace: never a prompt, an answer, code or a secret.
    """

    kind: SpanKind
    turn_id: str
    number: int
    start_ns: int
    parent: Span | None = None
    end_ns: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> Span:
        """The turn's own span."""
        return self.parent.root if self.parent else self

    @property
    def milliseconds(self) -> float:
        """How long it lasted, or 0 while it lasts."""
        return round(((self.end_ns or self.start_ns) - self.start_ns) / 1e6, 3)

    def as_dict(self) -> dict[str, Any]:
        """The row of the trace file. What does not apply is left out."""
        start = _EPOCH + timedelta(microseconds=self.start_ns // 1000)
        return {
            "kind": self.kind,
            "turn_id": self.turn_id,
            "span": self.number,
            **({"parent": self.parent.number} if self.parent else {}),
            "start": start.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "ms": self.milliseconds,
            **{name: value for name, value in self.fields.items() if value is not None},
        }


class Spans:
    """Listens to one turn and makes spans of it. What becomes of them is up to a subclass."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        """`clock` gives nanoseconds since 1970."""
        self._clock = clock
        self._turn: Span | None = None
        self._routing: Span | None = None
        self._calls: dict[int, Span] = {}
        #: Open tool calls by the call that they happen under and their own id, which parallel
        #: agents may share.
        self._tools: dict[tuple[str | None, str], Span] = {}
        self._open: list[Span] = []
        self._count = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            facts = _facts(event, "session_id", "user_id", "persona", "backend")
            facts |= {"agents": [], "tags": []}
            self._turn = self._begin("turn", None, facts, event.turn_id)
        elif self._turn is not None:
            self._during(self._turn, event)

    def opened(self, span: Span) -> None:
        """Called when a span begins. It must not raise."""

    def closed(self, span: Span) -> None:
        """Called when a span has ended and all is known of it. It must not raise."""

    def _during(self, turn: Span, event: Event) -> None:
        match event:
            case AgentInvoked():
                self._agent(turn, event)
            case RouteDecided():
                self._route(turn, event)
            case ModelCallStarted():
                facts = self._model_facts(event) | {"call": event.call}
                self._calls[event.call] = self._begin("model_call", self._parent(event), facts)
            case ModelCallEnded():
                self._model_call_ended(event)
            case RetryPlanned():
                facts = _facts(event, "call", "agent", "error_type", "wait_seconds")
                self._moment("retry", event, facts)
            case ToolCalled():
                span = self._begin("tool_call", self._parent(event), _tool_call_facts(event))
                self._tools[event.parent, event.id] = span
            case ToolEnded():
                self._tool_ended(event)
            case HandedOver():
                self._handover(turn, event)
            case Stitched():
                self._moment("stitch", event, _facts(event, "step", "added", "removed"))
            case Warned():
                self._moment("warning", event, {"message": event.message})
            case Noted():
                self._moment("note", event, {"message": event.message})
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

    def _route(self, turn: Span, event: RouteDecided) -> None:
        span = self._routing or self._begin("routing", turn)
        self._routing = None
        facts = _facts(event, "destination", "confidence", "job_key", "sent_to", "reason")
        self._end(span, {**facts, "detail": _reason(event.detail)})
        if event.reason == "low_confidence":
            turn.fields["tags"].append("low_confidence_reroute")

    def _model_call_ended(self, event: ModelCallEnded) -> None:
        span = self._calls.pop(event.call, None)
        if span is None:
            span = self._begin("model_call", self._parent(event))
            span.start_ns -= int(event.milliseconds * 1e6)
        first = event.first_token_ms
        facts = {
            **self._model_facts(event),
            **_facts(event, "call", "attempt"),
            "first_token_ms": None if first is None else round(first, 3),
            **event.usage.as_dict(),
            **_facts(event, "stop_reason", "error_type"),
        }
        self._end(span, facts, event.milliseconds)

    def _model_facts(self, event: ModelCallStarted | ModelCallEnded) -> dict[str, Any]:
        """Who asks which model. Offline no model is asked, whatever the settings name."""
        offline = self._turn is not None and self._turn.fields["backend"] == "offline"
        return {"agent": event.agent, "model": None if offline else event.model}

    def _tool_ended(self, event: ToolEnded) -> None:
        span = self._tools.pop((event.parent, event.id), None)
        if span is not None:
            facts = {"failed": event.failed, "reason": _reason(event.reason)}
            self._end(span, facts, event.milliseconds)

    def _handover(self, turn: Span, event: HandedOver) -> None:
        self._moment("handover", event, _facts(event, "agent", "goal", "to_planner"))
        if event.to_planner:
            turn.fields["tags"].append("handover")
            turn.fields["handover_from"] = event.agent

    def _finish(self, usage: Usage, error_type: str | None = None) -> None:
        for span in reversed(self._open[:]):
            if span is self._turn:
                self._end(span, {**usage.as_dict(), "error_type": error_type})
            else:
                self._end(span, {"error_type": error_type, "unfinished": True})

    def _parent(self, event: Event) -> Span | None:
        """The span that `event` belongs to: a planner's tool call, the routing, or the turn."""
        calls = ModelCallStarted | ModelCallEnded | RetryPlanned
        of_router = isinstance(event, calls) and event.agent == "router"
        if self._routing is not None and of_router:
            return self._routing
        return self._tools.get((None, event.parent or "")) or self._turn

    def _moment(self, kind: SpanKind, event: Event, facts: dict[str, Any]) -> None:
        self._end(self._begin(kind, self._parent(event), facts))

    def _begin(
        self,
        kind: SpanKind,
        parent: Span | None,
        facts: dict[str, Any] | None = None,
        turn_id: str = "",
    ) -> Span:
        self._count += 1
        turn_id = parent.turn_id if parent else turn_id
        span = Span(kind, turn_id, self._count, self._clock(), parent, fields=facts or {})
        self._open.append(span)
        self.opened(span)
        return span

    def _end(
        self, span: Span, facts: dict[str, Any] | None = None, ms: float | None = None
    ) -> None:
        span.fields |= facts or {}
        span.end_ns = self._clock() if ms is None else span.start_ns + int(ms * 1e6)
        self._open.remove(span)
        self.closed(span)


def _facts(event: Event, *names: str) -> dict[str, Any]:
    """Those fields of the event that may stand in a trace."""
    return {name: getattr(event, name) for name in names}


def _tool_call_facts(event: ToolCalled) -> dict[str, Any]:
    return {
        **_facts(event, "agent", "tool"),
        "tool_use_id": event.id,
        "step": event.step,
        "input_keys": sorted(event.input),
        "input_characters": len(json.dumps(event.input, ensure_ascii=False, default=str)),
    }


def _reason(text: str | None) -> str | None:
    """The first line of a reason, cut to `MAX_REASON` characters with a mark."""
    if text is None:
        return None
    line = text.strip().partition("\n")[0]
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"

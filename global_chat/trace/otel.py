"""Emits a turn's spans through the OpenTelemetry API, named by its GenAI conventions.

Attach it only when the user has opted in. Without an SDK installed and set up, the API does
nothing; whoever sets one up also flushes it. Facts for which the conventions have no name are
`global_chat.*` attributes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from global_chat import __version__

from .spans import Span, Spans

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.util.types import AttributeValue

_OPERATIONS = {"turn": "invoke_agent", "model_call": "chat", "tool_call": "execute_tool"}

#: Our field names by kind of span, and the conventions' names for them.
_NAMES: dict[str, dict[str, str]] = {
    "turn": {"session_id": "gen_ai.conversation.id", "user_id": "user.id"},
    "model_call": {"model": "gen_ai.request.model", "agent": "gen_ai.agent.name"},
    "tool_call": {
        "tool": "gen_ai.tool.name",
        "tool_use_id": "gen_ai.tool.call.id",
        "agent": "gen_ai.agent.name",
    },
    "handover": {"agent": "gen_ai.agent.name"},
}
_USAGE = {
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_creation_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "error_type": "error.type",
}


class OtelListener(Spans):
    """A listener that gives each span to a tracer, with its own times and its own parent."""

    def __init__(
        self,
        provider: trace.TracerProvider | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """`provider` defaults to the application's own. The turn nests in a current span."""
        super().__init__(clock)
        # The API costs 70 ms to import, which a turn that is not traced need not pay.
        from opentelemetry import trace  # noqa: PLC0415

        self._api = trace
        self._tracer = trace.get_tracer("global_chat", __version__, provider)
        self._live: dict[int, trace.Span] = {}

    def opened(self, span: Span) -> None:
        parent = self._live.get(span.parent.number) if span.parent else None
        context = self._api.set_span_in_context(parent) if parent else None
        kinds = self._api.SpanKind
        self._live[span.number] = self._tracer.start_span(
            span.kind,
            context,
            kinds.CLIENT if span.kind == "model_call" else kinds.INTERNAL,
            start_time=span.start_ns,
        )

    def closed(self, span: Span) -> None:
        live = self._live.pop(span.number)
        live.update_name(_name(span))
        live.set_attributes(attributes(span))
        if error := span.fields.get("error_type"):
            live.set_status(self._api.Status(self._api.StatusCode.ERROR, error))
        live.end(span.end_ns)


def _name(span: Span) -> str:
    """`chat claude-…`, `execute_tool edit_job`, `invoke_agent global-chat`; else the kind."""
    operation = _OPERATIONS.get(span.kind)
    named = (span.fields.get(name) for name in ("tool", "model", "agent"))
    subject = next(filter(None, named), "global-chat")
    return f"{operation} {subject}" if operation else span.kind


def attributes(span: Span) -> dict[str, AttributeValue]:
    """The span's fields under the conventions' names."""
    facts = {name: value for name, value in span.fields.items() if value is not None}
    found: dict[str, Any] = {"global_chat.turn_id": span.turn_id}
    if operation := _OPERATIONS.get(span.kind):
        found["gen_ai.operation.name"] = operation
    if span.kind == "model_call":
        found["gen_ai.provider.name"] = span.root.fields["backend"]
    if span.kind == "turn":
        found["gen_ai.agent.name"] = "global-chat"
    if span.kind == "tool_call":
        found["gen_ai.tool.type"] = "function"
    if "stop_reason" in facts:
        found["gen_ai.response.finish_reasons"] = [facts.pop("stop_reason")]
    if "input_tokens" in facts:
        # The conventions count cached tokens as input; the Messages API counts them apart.
        found["gen_ai.usage.input_tokens"] = facts.pop("input_tokens") + sum(
            facts[name] for name in ("cache_creation_input_tokens", "cache_read_input_tokens")
        )
    names = {**_USAGE, **_NAMES.get(span.kind, {})}
    found |= {names.get(name, f"global_chat.{name}"): value for name, value in facts.items()}
    return found

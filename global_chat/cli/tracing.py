"""Who listens to a turn besides the renderer: the trace file, and a collector if allowed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from global_chat.contract.events import Emit
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload
from global_chat.trace.writer import TraceWriter


def trace_listeners(
    stack: ExitStack, path: Path | None, payload: Payload | JobPayload | WorkflowPayload
) -> list[Emit]:
    """The listeners that the options and the payload ask for; `stack` closes them.

    Spans go to OpenTelemetry only when the payload opts in; where from there is for the
    OpenTelemetry SDK to say, if one is installed and set up. Raises `BadRequest` when the trace
    file cannot be opened.
    """
    listeners: list[Emit] = []
    if path is not None:
        listeners.append(stack.enter_context(TraceWriter(path)))
    if isinstance(payload, Payload) and payload.metrics_opt_in:
        # OpenTelemetry is only loaded for those who asked for it.
        from global_chat.trace.otel import OtelListener  # noqa: PLC0415

        listener = OtelListener()
        stack.callback(listener.close)
        listeners.append(listener)
    return listeners

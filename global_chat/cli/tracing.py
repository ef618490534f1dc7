"""Who listens to a turn besides the renderer: the trace file, and a collector if allowed."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from global_chat.contract.errors import BadRequest
from global_chat.contract.events import Emit
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload
from global_chat.trace.writer import TraceWriter

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

#: OpenTelemetry's own variables for where spans are sent.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def trace_listeners(
    stack: ExitStack, path: Path | None, payload: Payload | JobPayload | WorkflowPayload
) -> list[Emit]:
    """The listeners that the options and the payload ask for; `stack` closes them.

    Spans go to OpenTelemetry only when the payload opts in: to the collector that `ENDPOINTS`
    name, else to whatever provider the process has. Raises `BadRequest` when the trace file cannot
    be opened, or when a collector is named and the `telemetry` extra is not installed.
    """
    listeners: list[Emit] = []
    if path is not None:
        listeners.append(stack.enter_context(TraceWriter(path)))
    if isinstance(payload, Payload) and payload.metrics_opt_in:
        # OpenTelemetry is only loaded for those who asked for it.
        from global_chat.trace.otel import OtelListener  # noqa: PLC0415

        listener = OtelListener(_collector(stack) if any(map(os.environ.get, ENDPOINTS)) else None)
        stack.callback(listener.close)
        listeners.append(listener)
    return listeners


def _collector(stack: ExitStack) -> TracerProvider:
    """A provider that sends spans to the named collector, and has sent them all when it closes."""
    try:
        # The SDK and its exporter are an extra.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise BadRequest(
            "Sending traces to a collector needs the telemetry extra: install "
            "global-chat[telemetry], or leave metrics_opt_in out of the payload."
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "global-chat"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    stack.callback(provider.shutdown)
    return provider

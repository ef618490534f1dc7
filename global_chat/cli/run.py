"""One turn from the command line: read, wire, take the turn, write, say how it went.

What was paid for comes first: the results are written before the recording, the trace and the
collector are closed, and whatever fails there cannot cost them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from global_chat.agents.context import Services
from global_chat.contract.errors import BadRequest, InternalError, TurnError
from global_chat.contract.events import Emit, Event, WorkflowChanged
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload, read
from global_chat.contract.response import Response
from global_chat.disk.reading import read_object, read_text
from global_chat.disk.writing import ResultPaths, check_writable, result_paths, write_together
from global_chat.render.choice import renderer
from global_chat.render.renderers import Renderer
from global_chat.render.text import Stream
from global_chat.trace.writer import TraceWriter
from global_chat.turn.take import take_job_turn, take_turn, take_workflow_turn

from .offline_turns import take_offline_turn
from .options import ContextOptions, ModelOptions, PayloadOptions, ResultOptions, ShowOptions
from .wiring import wire

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

AnyPayload = Payload | JobPayload | WorkflowPayload

#: OpenTelemetry's own variables for where spans are sent.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@dataclass(frozen=True, slots=True)
class TurnKind:
    """What is run: the model of its payload, and what takes the turn."""

    payload: type[AnyPayload]
    take: Callable[[Any, Services, Emit], Coroutine[Any, Any, Response]]


TURN = TurnKind(Payload, take_turn)
JOB = TurnKind(JobPayload, take_job_turn)
WORKFLOW = TurnKind(WorkflowPayload, take_workflow_turn)


@dataclass(frozen=True, slots=True)
class Command:
    """One invocation: everything its options say."""

    given: PayloadOptions
    context: ContextOptions
    results: ResultOptions
    show: ShowOptions
    model: ModelOptions


def run_command(kind: TurnKind, command: Command) -> int:
    """Run one turn and return the exit code. Every failure is told; none escapes."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    invocation = _Invocation(kind, command)
    try:
        code = invocation.run()
    except TurnError as error:
        code = invocation.fail(error)
    except KeyboardInterrupt:
        invocation.keep_unfinished()
        code = 130
    except Exception as error:
        code = invocation.fail(InternalError.from_bug(error))
    return invocation.close(code)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A turn that is asked to end cleans up as after Ctrl-C: calls, files and the terminal.

    While it runs, that is the event loop's own way, which cancels the turn between two steps. A
    background job ignores Ctrl-C, and the loop then has none.
    """
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


class _Invocation:
    def __init__(self, kind: TurnKind, command: Command) -> None:
        self._kind, self._command = kind, command
        self._began = time.perf_counter()
        self._paths: ResultPaths | None = None
        self._unfinished: str | None = None
        self._closers: list[Callable[[], object]] = []
        self._renderer = self._choose_renderer(stream=None)

    def run(self) -> int:
        command = self._command
        self._check_options()
        paths = self._check_paths()
        given = given_object(command.given, command.context)
        payload = read(self._kind.payload, given)
        if isinstance(payload, Payload):
            self._renderer = self._choose_renderer(payload.options.stream)
        response = self._take(payload)
        files = self._write(response, paths)
        applied = self._apply(response, given.get("workflow_yaml"))
        files += filter(None, [applied])
        self._unfinished = None
        if command.show.as_json:
            Stream(sys.stdout).json(response.as_json())
        self._renderer.finish(files, time.perf_counter() - self._began)
        to_apply = command.context.apply and response.workflow_yaml is not None
        return 1 if to_apply and applied is None else 0

    def _take(self, payload: AnyPayload) -> Response:
        wired = wire(self._command.model, payload.api_key)
        self._closers.append(wired.keep_recording)
        emit = self._emitter(self._listeners(payload))
        with self._renderer:
            offline = wired.services.backend == "offline"
            take = take_offline_turn if offline else self._kind.take
            turn = take(payload, wired.services, emit)
            response = asyncio.run(wired.using(turn))
        wired.check_script()
        return response

    def _check_options(self) -> None:
        show, context = self._command.show, self._command.context
        if show.as_json and show.events:
            raise BadRequest("--json and --events both want standard output: give one of them.")
        if context.apply and context.workflow is None:
            raise BadRequest("--apply writes back into the workflow file: name it with --workflow.")

    def _check_paths(self) -> ResultPaths:
        """Where results go; a path problem must cost no model call."""
        given, context, results = self._command.given, self._command.context, self._command.results
        model = self._command.model
        paths = result_paths(
            given.input,
            output=results.output,
            workflow_out=results.workflow_out,
            output_dir=results.output_dir,
        )
        named = [path for path in (model.record, results.trace) if path is not None]
        check_writable(
            [paths.response, paths.workflow, paths.partial, *named],
            inputs=_files_read(given, context, model),
            create=results.output_dir,
        )
        if context.apply and context.workflow is not None:
            check_writable([context.workflow])
        self._paths = paths
        return paths

    def _choose_renderer(self, stream: bool | None) -> Renderer:
        show = self._command.show
        chosen = renderer(
            sys.stdout,
            sys.stderr,
            os.environ,
            json=show.as_json,
            events=show.events,
            quiet=show.quiet,
            stream=stream,
        )
        chosen.verbose = show.verbose
        return chosen

    def _listeners(self, payload: AnyPayload) -> list[Emit]:
        """The trace file, and OpenTelemetry when the payload opts in.

        Spans go to the collector that `ENDPOINTS` name, else to whatever provider the process has.
        Raises `BadRequest` when the trace file cannot be opened, or when a collector is named and
        the `telemetry` extra is not installed.
        """
        listeners: list[Emit] = []
        if self._command.results.trace is not None:
            writer = TraceWriter(self._command.results.trace)
            self._closers.append(writer.close)
            listeners.append(writer)
        if isinstance(payload, Payload) and payload.metrics_opt_in:
            # OpenTelemetry is only loaded for those who asked for it.
            from global_chat.trace.otel import OtelListener  # noqa: PLC0415

            provider = _collector() if any(map(os.environ.get, ENDPOINTS)) else None
            listener = OtelListener(provider)
            self._closers += [listener.close, *([provider.shutdown] if provider else [])]
            listeners.append(listener)
        return listeners

    def _emitter(self, listeners: list[Emit]) -> Emit:
        """Tells everybody of each event."""
        everybody: list[Emit] = [*listeners, self._renderer]

        def emit(event: Event) -> None:
            for listener in everybody:
                listener(event)
            if isinstance(event, WorkflowChanged):
                self._unfinished = event.workflow_yaml

        return emit

    def _write(self, response: Response, paths: ResultPaths) -> list[Path]:
        texts = {paths.response: response.as_json() + "\n"}
        workflow = response.workflow_yaml
        if workflow is not None:
            texts[paths.workflow] = workflow
        write_together(texts)
        return list(texts)

    def _apply(self, response: Response, before: str | None) -> Path | None:
        """Write the workflow back, unless its file was changed while the turn ran; return the file.

        None means that nothing was written.
        """
        context, workflow = self._command.context, response.workflow_yaml
        target = context.workflow if context.apply else None
        if target is None or workflow is None:
            return None
        if read_text(target) != before:
            self._renderer.note(
                f"{target} was changed while the turn ran, so it was left alone; the workflow of "
                "this turn is in the file named below."
            )
            return None
        write_together({target: workflow})
        return target

    def keep_unfinished(self) -> None:
        """After an interrupt: what was finished before it is kept, and named."""
        if self._paths is None or self._unfinished is None:
            return
        with contextlib.suppress(TurnError):
            write_together({self._paths.partial: self._unfinished})
            self._renderer.note(f"What was finished is in {self._paths.partial}.")

    def fail(self, error: TurnError) -> int:
        """Tell the failure everywhere it is promised: the response file, stdout, stderr."""
        paths = self._paths
        if paths is not None:
            texts = {}
            if error.partial_workflow is not None:
                texts[paths.partial] = error.partial_workflow
                error.details["partial_workflow"] = str(paths.partial)
            texts[paths.response] = error.as_json() + "\n"
            try:
                write_together(texts)
            except TurnError as unwritable:
                error = unwritable if error.exit_code == 1 else error
        if self._command.show.as_json:
            Stream(sys.stdout).json(error.as_json())
        self._renderer.failed(error)
        return error.exit_code

    def close(self, code: int) -> int:
        """Finish the recording, the trace and what goes to a collector; return the exit code.

        The results are written by now. A failure here is told, and a turn that went well then ends
        with the failure's exit code instead of `code`.
        """
        for closer in self._closers:
            try:
                closer()
            except KeyboardInterrupt:
                code = code or 130
            except Exception as raised:
                error = raised if isinstance(raised, TurnError) else InternalError.from_bug(raised)
                self._renderer.failed(error)
                code = code or error.exit_code
        return code


def given_object(given: PayloadOptions, context: ContextOptions) -> dict[str, Any]:
    """The payload's object: the file's, with what other options name put over it.

    Raises `BadRequest` when there is nothing to read or a file cannot be used.
    """
    if given.input is None and given.message is None:
        raise BadRequest(
            "There is nothing to do: give a payload with --input, or say what you want with "
            "--message."
        )
    if given.input == "":
        raise BadRequest("--input is empty: name a file, or - for standard input.")
    data = read_object(given.input) if given.input is not None else {}
    if not isinstance(data, dict):
        read(Payload, data)  # says what is wrong with it
        raise BadRequest("The payload must be one object.")
    if given.message is not None:
        data["content"] = given.message
    if context.workflow is not None:
        data["workflow_yaml"] = read_text(context.workflow)
    if context.page is not None:
        data["page"] = context.page
    if context.attach:
        before = data.get("attachments")
        kept = before if isinstance(before, list) else []
        data["attachments"] = [*kept, *(_attachment(text) for text in context.attach)]
    return data


def _attachment(text: str) -> dict[str, str]:
    type_, equals, path = text.partition("=")
    if not equals or not type_.strip() or not path:
        raise BadRequest(
            f"--attach {text!r} should name a type and a file, as in --attach log=run.log."
        )
    return {"type": type_.strip(), "content": read_text(Path(path))}


def _files_read(given: PayloadOptions, context: ContextOptions, model: ModelOptions) -> list[Path]:
    """The files that a turn reads, which no result may replace."""
    names = [given.input] if given.input and given.input != "-" else []
    names += [text.partition("=")[2] for text in context.attach or ()]
    paths = [context.workflow, model.script, model.config]
    return [*map(Path, names), *(path for path in paths if path is not None)]


def _collector() -> TracerProvider:
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
    return provider

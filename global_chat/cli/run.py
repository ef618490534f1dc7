"""One turn from the command line: read, wire, take the turn, write, say how it went.

What was paid for comes first: the results are written before the recording, the trace and the
collector are closed, and whatever fails there cannot cost them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
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
from global_chat.disk.applying import apply_change
from global_chat.disk.pulled import WorkflowFiles
from global_chat.disk.writing import (
    ResultPaths,
    check_writable,
    refuse_links,
    result_paths,
    write_together,
)
from global_chat.render.choice import renderer
from global_chat.render.renderers import Renderer
from global_chat.render.text import Stream, clean, patch
from global_chat.trace.writer import TraceWriter
from global_chat.turn.take import take_job_turn, take_turn, take_workflow_turn

from .given import Given, files_read, read_given
from .offline_turns import take_offline_turn
from .options import ContextOptions, ModelOptions, PayloadOptions, ResultOptions, ShowOptions
from .wiring import prices_of, show_bug, wire

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
        code = invocation.interrupted()
    except Exception as error:
        code = invocation.fail(InternalError.from_bug(error))
        if command.show.verbose:
            show_bug(error)
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
        self._paths: ResultPaths | None = None  # None when nothing is to be written
        self._outputs: list[Path] = []
        self._asked = self._kept = False
        self._unfinished: str | None = None
        self._closers: list[Callable[[], object]] = []
        self._renderer = self._choose_renderer(stream=None)

    def run(self) -> int:
        command = self._command
        self._check_options()
        paths = self._check_paths()
        given = read_given(command.given, command.context)
        payload = read(self._kind.payload, given.data)
        if isinstance(payload, Payload):
            self._renderer = self._choose_renderer(payload.options.stream)
        self._inputs(given.workflow)
        self._asked = True
        response = self._take(payload)
        code, files = self._keep(response, paths, given.workflow)
        self._asked = False
        out = Stream(sys.stdout)
        if command.show.as_json:
            out.json(response.as_json())
        elif command.context.dry_run and not command.show.events:
            self._show_patch(out, given, response.workflow_yaml)
        self._renderer.finish(files, time.perf_counter() - self._began)
        lost = out.error or (self._renderer.output_error if command.show.events else None)
        if lost:
            raise InternalError(f"Standard output could not be written: {lost.strerror}.")
        return code

    def _inputs(self, workflow: WorkflowFiles | None) -> None:
        """No result may replace a file that holds the workflow or a step's code, and a change can
        be written to all of these."""
        if workflow is not None:
            paths, self._paths = self._paths, None  # a refusal is not written there either
            check_writable(self._outputs, inputs=list(workflow.files))
            self._paths = paths
            if self._command.context.apply:
                check_writable(list(workflow.files))

    def _take(self, payload: AnyPayload) -> Response:
        wired = wire(self._command.model, payload.api_key)
        self._closers.append(wired.keep_recording)
        if wired.live:
            self._renderer.closing.prices = prices_of(wired.services.settings)
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
        self._outputs = [path for path in (model.record, results.trace) if path is not None]
        if not context.dry_run:
            self._outputs += [paths.response, paths.workflow, paths.partial]
            named = (results.output, results.workflow_out)
            refuse_links(path for path in self._outputs[-3:] if path not in named)
        # Which scripts are a step's code is not known yet; an error may not be written over one.
        scripts = [path for path in self._outputs if path.suffix == ".js" and path.exists()]
        check_writable(
            self._outputs,
            inputs=[*files_read(given, context, model), *scripts],
            create=None if context.dry_run else results.output_dir,
        )
        self._paths = None if context.dry_run else paths
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

    def _keep(
        self, response: Response, paths: ResultPaths, workflow: WorkflowFiles | None
    ) -> tuple[int, list[Path]]:
        """Write the results, and the change back into the workflow's files; the exit code, and
        what was written. Files of an earlier turn do not stay where this one writes none."""
        context, changed = self._command.context, response.workflow_yaml
        if context.dry_run:
            return 0, []
        texts = {paths.response: response.as_json() + "\n"}
        if changed is not None:
            texts[paths.workflow] = changed
        earlier = (path for path in (paths.workflow, paths.partial) if path.is_file())
        write_together({**dict.fromkeys(earlier), **texts})
        self._kept = True
        if not context.apply or workflow is None or changed is None:
            return 0, list(texts)
        try:
            applied = apply_change(workflow, changed)
            for file in workflow.left_over(changed):
                self._renderer.note(
                    f"{file} is no longer the code of any step. Delete it if unused."
                )
            return 0, [*texts, *applied]
        except TurnError as error:
            kept = f"The workflow of this turn is in {paths.workflow}: `global-chat diff` tells how"
            told = f"{error.message} {kept} it differs."
            self._renderer.failed(type(error)(told))
            return 1, list(texts)

    def _show_patch(self, out: Stream, given: Given, changed: str | None) -> None:
        """The change as a patch: of each file that `--apply` would write, or of the document."""
        if changed is None:
            return
        if given.workflow is not None:
            before, after = given.workflow.files, given.workflow.split(changed)
        else:
            path = Path("workflow.yaml")
            before, after = {path: given.data.get("workflow_yaml") or ""}, {path: changed}
        for file, text in after.items():
            shown = patch(os.path.relpath(file), before.get(file), text)
            out.write(clean(shown) if out.isatty() else shown)
        out.flush()

    def interrupted(self) -> int:
        """After an interrupt: what was finished before it is kept, and all is named."""
        paths = self._paths
        if self._asked:
            texts = {}
            kept = "nothing was kept"
            if paths is not None and self._unfinished is not None:
                texts[paths.partial] = self._unfinished
                kept = f"what was finished is in {paths.partial}"
            message = f"Interrupted: {kept}. The workflow file is as it was."
            if paths is not None:
                ended = {"code": 499, "type": "INTERRUPTED", "message": message}
                texts[paths.response] = json.dumps(ended, indent=2) + "\n"
                with contextlib.suppress(TurnError):
                    write_together(texts)
            self._renderer.note(message)
        return 130

    def fail(self, error: TurnError) -> int:
        """Tell the failure everywhere it is promised: the response file, stdout, stderr."""
        paths = self._paths
        if paths is not None and not self._kept:
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

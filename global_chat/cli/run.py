"""One turn from the command line: read, wire, take the turn, write, say how it went."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from global_chat.contract.errors import BadRequest, TurnError
from global_chat.contract.events import Emit, Event, WorkflowChanged
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload, read
from global_chat.contract.response import Response
from global_chat.disk.paths import ResultPaths, check_writable, result_paths
from global_chat.disk.reading import read_text
from global_chat.disk.writing import write_together
from global_chat.render.choice import renderer
from global_chat.render.decisions import decision_line
from global_chat.render.renderer import Renderer
from global_chat.render.stream import Stream
from global_chat.turn.lifecycle import Services, internal_error
from global_chat.turn.single import take_job_turn, take_workflow_turn
from global_chat.turn.take import take_turn

from .inputs import files_read, given_object
from .offline_turns import take_offline_turn
from .options import ContextOptions, ModelOptions, PayloadOptions, ResultOptions, ShowOptions
from .tracing import trace_listeners
from .wiring import wire

AnyPayload = Payload | JobPayload | WorkflowPayload


@dataclass(frozen=True, slots=True)
class Kind:
    """What is run: the model of its payload, and what takes the turn."""

    payload: type[AnyPayload]
    take: Callable[[Any, Services, Emit], Coroutine[Any, Any, Response]]


TURN = Kind(Payload, take_turn)
JOB = Kind(JobPayload, take_job_turn)
WORKFLOW = Kind(WorkflowPayload, take_workflow_turn)


@dataclass(frozen=True, slots=True)
class Command:
    """One invocation: everything its options say."""

    given: PayloadOptions
    context: ContextOptions
    results: ResultOptions
    show: ShowOptions
    model: ModelOptions


def run_command(kind: Kind, command: Command) -> int:
    """Run one turn and return the exit code. Every failure is told; none escapes."""
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    invocation = _Invocation(kind, command)
    try:
        return invocation.run()
    except TurnError as error:
        return invocation.fail(error)
    except KeyboardInterrupt:
        invocation.keep_unfinished()
        return 130
    except Exception as error:
        return invocation.fail(internal_error(error))


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A turn that is asked to end cleans up as after Ctrl-C: calls, files and the terminal.

    While it runs, that is the event loop's own way, which cancels the turn between two steps. A
    background job ignores Ctrl-C, and the loop then has none.
    """
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


class _Invocation:
    def __init__(self, kind: Kind, command: Command) -> None:
        self._kind, self._command = kind, command
        self._began = time.perf_counter()
        self._paths: ResultPaths | None = None
        self._unfinished: str | None = None
        self._renderer = self._choose_renderer(stream=None)

    def run(self) -> int:
        command = self._command
        self._check_options()
        paths = self._check_paths()
        given = given_object(command.given, command.context)
        payload = read(self._kind.payload, given)
        if isinstance(payload, Payload):
            self._renderer = self._choose_renderer(payload.options.stream)
        wired = wire(command.model, payload.api_key)
        with ExitStack() as stack:
            listeners = trace_listeners(stack, command.results.trace, payload)
            stack.enter_context(self._renderer)
            emit = self._emitter(listeners)
            answered = False
            try:
                offline = wired.services.backend == "offline"
                take = take_offline_turn if offline else self._kind.take
                turn = take(payload, wired.services, emit)
                response = asyncio.run(wired.using(turn))
                answered = True
            finally:
                wired.close(answered=answered)
        files = self._write(response, paths)
        files += (applied := self._apply(response, given.get("workflow_yaml")))
        self._unfinished = None
        if command.show.as_json:
            Stream(sys.stdout).json(response.as_json())
        self._renderer.finish(files, time.perf_counter() - self._began)
        return 1 if self._to_apply(response) and not applied else 0

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
            inputs=files_read(given, context, model),
            create=results.output_dir,
        )
        if context.apply and context.workflow is not None:
            check_writable([context.workflow])
        self._paths = paths
        return paths

    def _choose_renderer(self, stream: bool | None) -> Renderer:
        show = self._command.show
        return renderer(
            sys.stdout,
            sys.stderr,
            os.environ,
            json=show.as_json,
            events=show.events,
            quiet=show.quiet,
            stream=stream,
        )

    def _emitter(self, listeners: list[Emit]) -> Emit:
        """Tells everybody of each event."""
        verbose = self._command.show.verbose

        def emit(event: Event) -> None:
            if verbose and (line := decision_line(event)):
                self._renderer.note(line)
            for listener in listeners:
                listener(event)
            self._renderer(event)
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

    def _to_apply(self, response: Response) -> Path | None:
        """The workflow file that is to be written back, if there is anything to write."""
        changed = response.workflow_yaml is not None
        return self._command.context.workflow if self._command.context.apply and changed else None

    def _apply(self, response: Response, before: str | None) -> list[Path]:
        """Write the workflow back, unless somebody changed the file while the turn ran."""
        target, workflow = self._to_apply(response), response.workflow_yaml
        if target is None or workflow is None:
            return []
        if read_text(target) != before:
            self._renderer.note(
                f"{target} was changed while the turn ran, so it was left alone; the workflow of "
                "this turn is in the file named below."
            )
            return []
        write_together({target: workflow})
        return [target]

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

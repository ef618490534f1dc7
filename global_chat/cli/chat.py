"""What `chat` does: read a message, take a turn, show it, and so on until the user leaves."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

from global_chat.chat.commands import Leave, completions, hint
from global_chat.chat.commands import run as run_slash
from global_chat.chat.session import Session
from global_chat.contract.errors import BadRequest, InternalError, TurnError
from global_chat.contract.events import Event, WorkflowChanged
from global_chat.contract.texts import replace_lone_surrogates
from global_chat.disk.project_folder import page_of, workflow_file
from global_chat.disk.pulled import open_or_new
from global_chat.disk.writing import check_writable
from global_chat.render.choice import renderer
from global_chat.render.text import Stream, clean, counted, one_line
from global_chat.render.wording import error_text
from global_chat.turn.take import take_turn

from .offline_turns import take_offline_turn
from .options import ChatOptions, ModelOptions
from .wiring import Wired, prices_of, show_bug, wire

WELCOME = "Ask for a change or ask a question. /help lists commands; Ctrl-D leaves."

#: Returns the next message; raises EOFError at the end, KeyboardInterrupt on Ctrl-C.
Reader = Callable[[], str]


def chat(options: ChatOptions, model: ModelOptions) -> int:
    """Run a conversation until the user leaves. Returns the exit code."""
    err = Stream(sys.stderr)
    for number in filter(None, (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))):
        signal.signal(number, _end)
    try:
        workflow = workflow_file(options.file, options.page)
        opened = open_or_new(workflow)
        page = options.page and page_of(options.page, opened.text)
        session = Session.open(workflow, options.session, page)
        if model.record is not None:
            check_writable([model.record, session.file], inputs=[workflow, *opened.files])
        wired = wire(model, None)
    except TurnError as error:
        err.line(error_text(error))
        return error.exit_code
    waiting = " · a change is not applied: /diff" if session.changed else ""
    turns = counted(len(session.history) // 2, "earlier turn")
    err.line(f"{one_line(str(session.workflow))} · {turns}{waiting}\n{WELCOME}")
    loop = _Loop(session, wired, err, verbose=options.verbose)
    with contextlib.suppress(_Ended):
        loop.run(_reader(session))
    code = _keep_recording(wired, err)
    loop.leave()
    return code


class _Ended(BaseException):
    """The process is asked to end. It must unwind, so that the terminal is as it was before."""


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _keep_recording(wired: Wired, err: Stream) -> int:
    """Write the recording, if one is wanted, and return the exit code."""
    try:
        wired.keep_recording()
    except TurnError as error:
        err.line(error_text(error))
        return error.exit_code
    return 0


@dataclass(slots=True)
class _Loop:
    session: Session
    wired: Wired
    err: Stream
    verbose: bool
    unfinished: str | None = None

    def run(self, read: Reader) -> None:
        while True:
            try:
                self._show_notes()
                line = read().strip()
                if line:
                    self._handle(line)
            except (EOFError, Leave):
                return
            except KeyboardInterrupt:
                self._interrupted()
            except TurnError as error:
                self._failed(error)
            except Exception as error:
                self._failed(InternalError.from_bug(error))
                if self.verbose:
                    show_bug(error)

    def leave(self) -> None:
        """Say what is not applied, and whether it is kept."""
        session = self.session
        self._keep(self.unfinished)
        with contextlib.suppress(TurnError):
            if not session.is_kept:
                session.save()
        self._show_notes()
        if session.changed and session.is_kept:
            file, workflow = one_line(str(session.file)), one_line(str(session.workflow))
            self.err.line(
                f"Not applied; kept in {file}. The same command goes on from there; then /apply "
                f"writes it to {workflow}."
            )
        elif session.changed:
            self.err.line("Not applied, and not kept either: the conversation could not be saved.")

    def _show_notes(self) -> None:
        while self.session.notes:
            self.err.line(one_line(self.session.notes.pop(0)))

    def _handle(self, line: str) -> None:
        if line.startswith("/"):
            Stream(sys.stdout).line(clean(run_slash(self.session, line)))
        elif told := hint(line):
            self.err.line(told)
        else:
            self._turn(line)

    def _turn(self, content: str) -> None:
        drawing = renderer(sys.stdout, sys.stderr, os.environ, stream=True)
        drawing.verbose = self.verbose
        services = self.wired.services
        if self.wired.live:
            drawing.closing.prices = prices_of(services.settings)
        began = time.perf_counter()
        self.session.refresh()
        self._show_notes()

        def emit(event: Event) -> None:
            if isinstance(event, WorkflowChanged):
                self.unfinished = event.workflow_yaml
            drawing(event)

        with drawing:
            take = take_offline_turn if services.backend == "offline" else take_turn
            turn = take(self.session.payload(content), services, emit)
            response = asyncio.run(self.wired.using(turn))
        self.unfinished = None
        drawing.finish([], time.perf_counter() - began)
        self.session.answered(response)

    def _interrupted(self) -> None:
        kept = "" if self.unfinished else "; the workflow is as it was"
        self.err.line(f"Stopped{kept}. Ctrl-D leaves.")
        self._keep(self.unfinished)

    def _failed(self, error: TurnError) -> None:
        self.err.line(error_text(error))
        self._keep(error.partial_workflow)

    def _keep(self, finished: str | None) -> None:
        """What a turn finished before it ended is kept, as any change that is not applied."""
        self.unfinished = None
        if finished is None:
            return
        try:
            self.session.change(finished)
            self.err.line("What was finished is kept: /diff shows it, /undo takes it back.")
        except TurnError as error:
            self.err.line(error_text(error))


def _reader(session: Session) -> Reader:
    """Lines from a terminal with editing and history, or plain lines from a pipe."""
    if sys.stdin is None or not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")
        return _plain_lines
    # Only a terminal needs line editing, and it costs 100 ms to load.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion  # noqa: PLC0415
    from prompt_toolkit.document import Document  # noqa: PLC0415
    from prompt_toolkit.history import InMemoryHistory  # noqa: PLC0415
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent  # noqa: PLC0415

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    class Commands(Completer):
        def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
            line = document.text_before_cursor
            for word in completions(session, line):
                yield Completion(word, start_position=line.rfind(" ") + 1 - len(line))

    asked = InMemoryHistory([t.content for t in session.history if t.role == "user"])
    prompts: PromptSession[str] = PromptSession(
        history=asked, key_bindings=keys, completer=Commands(), complete_while_typing=False
    )
    return lambda: prompts.prompt("> ", bottom_toolbar=_toolbar(session))


def _toolbar(session: Session) -> str:
    attached = f" · {len(session.attachments)} attached" if session.attachments else ""
    changed = " · not applied" if session.changed else ""
    where = one_line(session.page or session.workflow.name)
    return f"{where}{attached}{changed} · Alt-Enter: new line"


def _plain_lines() -> str:
    """One message a line; a backslash at the end carries on with the next."""
    lines: list[str] = []
    while True:
        line = sys.stdin.readline() if sys.stdin else ""
        if not line and not lines:
            raise EOFError
        if replace_lone_surrogates(line) != line:
            raise BadRequest("This line is not UTF-8 text, so it was not sent.")
        line = line.rstrip("\n")
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line[:-1])

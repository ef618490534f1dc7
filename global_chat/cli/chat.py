"""What `chat` does: read a message, take a turn, show it, and so on until the user leaves."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from global_chat.chat.commands import Leave
from global_chat.chat.commands import run as run_slash
from global_chat.chat.session import Session
from global_chat.contract.errors import TurnError
from global_chat.disk.writing import check_writable
from global_chat.render.choice import renderer
from global_chat.render.text import Stream, clean, counted
from global_chat.render.wording import error_text
from global_chat.turn.take import take_turn

from .offline_turns import take_offline_turn
from .options import ChatOptions, ModelOptions
from .wiring import Wired, wire

WELCOME = "Ask for a change or ask a question. /help lists commands; Ctrl-D leaves."

#: Returns the next message; raises EOFError at the end, KeyboardInterrupt on Ctrl-C.
Reader = Callable[[], str]


def chat(options: ChatOptions, model: ModelOptions) -> int:
    """Run a conversation until the user leaves. Returns the exit code."""
    err = Stream(sys.stderr)
    try:
        session = Session.open(options.file, options.session, options.page)
        outputs = [path for path in (session.file, model.record) if path is not None]
        check_writable(outputs, inputs=[session.workflow])
        wired = wire(model, None)
    except TurnError as error:
        err.line(error_text(error))
        return error.exit_code
    waiting = " · a change is not applied: /diff" if session.changed else ""
    turns = counted(len(session.history) // 2, "earlier turn")
    err.line(f"{session.workflow} · {turns}{waiting}\n{WELCOME}")
    _Loop(session, wired, err, verbose=options.verbose).run(_reader(session))
    code = _keep_recording(wired, err)
    if session.changed:
        err.line(
            f"Not applied; kept in {session.file}. The same command goes on from there; then "
            f"/apply writes it to {session.workflow}."
        )
    return code


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

    def run(self, read: Reader) -> None:
        while True:
            try:
                line = read().strip()
                if line:
                    self._handle(line)
            except (EOFError, Leave):
                return
            except KeyboardInterrupt:
                self.err.line("Stopped; the workflow is as it was. Ctrl-D leaves.")
            except TurnError as error:
                self._failed(error)

    def _handle(self, line: str) -> None:
        if line.startswith("/"):
            Stream(sys.stdout).line(clean(run_slash(self.session, line)))
        else:
            self._turn(line)

    def _turn(self, content: str) -> None:
        drawing = renderer(sys.stdout, sys.stderr, os.environ, stream=True)
        drawing.verbose = self.verbose
        began = time.perf_counter()
        with drawing:
            offline = self.wired.services.backend == "offline"
            take = take_offline_turn if offline else take_turn
            turn = take(self.session.payload(content), self.wired.services, drawing)
            response = asyncio.run(self.wired.using(turn))
        self.session.answered(response)
        drawing.finish([], time.perf_counter() - began)

    def _failed(self, error: TurnError) -> None:
        """What a turn finished before it failed is kept, as any change that is not applied."""
        self.err.line(error_text(error))
        if error.partial_workflow is not None:
            self.session.change(error.partial_workflow)
            self.err.line("What was finished is kept: /diff shows it, /undo takes it back.")


def _reader(session: Session) -> Reader:
    """Lines from a terminal with editing and history, or plain lines from a pipe."""
    if not sys.stdin.isatty():
        return _plain_lines
    # Only a terminal needs line editing, and it costs 100 ms to load.
    from prompt_toolkit import PromptSession  # noqa: PLC0415
    from prompt_toolkit.history import InMemoryHistory  # noqa: PLC0415
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent  # noqa: PLC0415

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    asked = InMemoryHistory([t.content for t in session.history if t.role == "user"])
    prompts: PromptSession[str] = PromptSession(history=asked, key_bindings=keys)
    return lambda: prompts.prompt("> ", bottom_toolbar=_toolbar(session))


def _toolbar(session: Session) -> str:
    attached = f" · {len(session.attachments)} attached" if session.attachments else ""
    changed = " · not applied" if session.changed else ""
    return f"{session.page or Path(session.workflow).name}{attached}{changed} · Alt-Enter: new line"


def _plain_lines() -> str:
    """One message a line; a backslash at the end carries on with the next."""
    lines: list[str] = []
    while True:
        line = sys.stdin.readline()
        if not line and not lines:
            raise EOFError
        line = line.rstrip("\n")
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line[:-1])

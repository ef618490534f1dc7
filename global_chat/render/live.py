"""The live view of a terminal: what is happening now, the answer, the changes, one closing line.

Whatever is complete is printed and scrolls away like any output; only the end that still moves is
drawn again and again, so a long answer neither flickers nor is cut at the screen's edge.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Literal, Self, TextIO, cast

from rich import live as rich_live
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.rule import Rule
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    Changes,
    Event,
    Status,
    StepDiff,
    TextDelta,
    TextEnded,
    TextRestarted,
    TurnEnded,
    TurnFailed,
    Warned,
)

from .markdown import StreamedMarkdown, as_markdown
from .renderers import Renderer
from .text import Stream, clean, counted, diff_lines, one_line
from .wording import RESTARTED, error_text, warning_line

#: Rows of the screen that the moving end of an answer leaves free.
_FREE_ROWS = 4

#: A longer diff is cut: the terminal is for seeing what kind of change it is.
MAX_DIFF_LINES = 300

#: How long the moving part stays as it is while nothing happens.
FRAME_SECONDS = 0.1

#: From here on, in seconds, the moving status says for how long it has stood.
NOTED_SECONDS = 5

#: Columns and rows.
Size = tuple[int, int]

_Section = Literal["status", "text", "changes", "closing"]


class Live(Renderer):
    """Draws a turn with Rich. Status lines stay, so that one can read what was done."""

    def __init__(
        self,
        out: TextIO | None,
        err: TextIO | None,
        *,
        colours: bool = True,
        stream: bool = True,
        animate: bool = True,
        size: Size | None = None,
    ) -> None:
        """Without `stream`, the answer is shown when it is whole. `size` is for tests."""
        super().__init__(err)
        self._console = console_on(Stream(out), colours, size)
        self._errors = console_on(self._err, colours, size)
        self._region = Region(self._console, self._moving_part, animate=animate)
        self._spinner = Spinner("dots" if "utf" in self._console.encoding.lower() else "line")
        self._stream = stream
        self._section: _Section | None = None
        self._status = ""
        self._status_printed = False
        self._since = time.monotonic()
        self._answer = StreamedMarkdown()
        self._answered = self._in_block = self._block_printed = False
        self._changes: Changes | None = None
        self._over = False

    def draw(self, event: Event) -> None:
        with self._region.lock:
            self._draw(event)

    def _draw(self, event: Event) -> None:
        match event:
            case Status(text=text):
                self._print_status()
                self._status, self._status_printed = one_line(text), False
                self._since = time.monotonic()
            case TextDelta(text=text) if self._stream:
                self._text(text)
            case TextRestarted() if self._in_block:
                self._restart()
            case TextEnded():
                self._end_block()
            case Warned():
                self._warn(event)
            case Changes():
                self._changes = event
            case TurnEnded(response=response):
                if not self._answered:
                    self._text(response.response)
                self._end()
                self._print_changes()
            case TurnFailed():
                self._end()

    def __enter__(self) -> Self:
        self._region.start()
        return self

    def leave(self) -> None:
        try:
            with self._region.lock:
                self._end()
        finally:
            self._region.stop()

    def note(self, line: str) -> None:
        if self._err.isatty():
            with self._region.lock:
                self._print_status()
                self._print("status", Text(one_line(line), style="dim"))
        else:
            super().note(line)

    def failed(self, error: TurnError) -> None:
        if self._err.isatty():
            apart = [Text()] if self._section else []
            self._errors.print(Group(*apart, Text(error_text(error), style="red")))
        else:
            super().failed(error)

    def finish(self, files: Sequence[Path], seconds: float) -> None:
        text = self.closing.text(files, seconds)
        self._print("closing", Text(text, style="dim", overflow="fold"))

    def _warn(self, event: Warned) -> None:
        """Show the warning in the view, or write it to the file that standard error goes to."""
        if self._err.isatty():
            self._print_status()
            self._print("status", Text(warning_line(event), style="yellow"))
        else:
            super().draw(event)

    def _moving_part(self) -> RenderableType:
        rows, columns = self._console.height, self._console.width
        parts: list[RenderableType] = []
        if self._answer.rest.strip():
            window = self._answer.window(rows, columns)
            parts += [Text(), Tail(as_markdown(window), max(1, rows - _FREE_ROWS))]
        if not self._over:
            words = "Writing" if self._in_block else self._status or "Working"
            waited = int(time.monotonic() - self._since)
            if waited >= NOTED_SECONDS and not self._in_block:
                words += f" ({waited} s)"
            self._spinner.update(text=Text(words, overflow="ellipsis", no_wrap=True))
            apart = bool(parts) or self._section == "text"
            parts += [Text(), self._spinner] if apart else [self._spinner]
        return Group(*parts)

    def _text(self, text: str) -> None:
        self._print_status()
        self._answered = self._in_block = True
        self._print_blocks(self._answer.add(text))

    def _end_block(self) -> None:
        if self._in_block:
            self._print_blocks(self._answer.end())
            self._in_block = self._block_printed = False
            self._status = ""

    def _end(self) -> None:
        """Nothing moves any more; what moved until now stays as it is."""
        self._over = True
        self._end_block()
        self._print_status()

    def _restart(self) -> None:
        """What is printed stays, and a note follows it; what only moved is simply drawn again."""
        self._answer = StreamedMarkdown()
        if self._block_printed:
            self._print("text", Text(RESTARTED, style="dim"))

    def _print_blocks(self, blocks: Sequence[str]) -> None:
        for block in blocks:
            self._block_printed = True
            self._print("text", as_markdown(block))

    def _print_status(self) -> None:
        """Leave the status that moved until now as a line, before something else is printed."""
        if self._status and not self._status_printed:
            self._status_printed = True
            self._print("status", Text(f"· {self._status}", style="dim"))

    def _print_changes(self) -> None:
        if self._changes is None:
            return
        for step in self._changes.steps:
            self._print("changes", diff_view(step))
        lines = [Text(f" • {one_line(line)}") for line in self._changes.summary]
        if lines:
            self._print("changes", Group(*lines))

    def _print(self, section: _Section, part: RenderableType) -> None:
        """Print above the moving part, apart from what is of another kind."""
        together = self._section is None or section == self._section == "status"
        self._section = section
        self._console.print(part if together else Group(Text(), part))


_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff_view(step: StepDiff) -> RenderableType:
    """The step's name with the number of lines added and removed, then the diff."""
    lines = list(diff_lines(clean(step.before), clean(step.after)))
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    title = Text.assemble((one_line(step.name), "bold"), f"  +{added} −{removed}")
    shown = [_diff_line(line) for line in lines[:MAX_DIFF_LINES]]
    if not lines:
        shown = [Text("only line ends or unseen characters changed", style="dim")]
    if len(lines) > MAX_DIFF_LINES:
        left = len(lines) - MAX_DIFF_LINES
        text = f"… {counted(left, 'more line')}; the workflow file has them all"
        shown.append(Text(text, style="dim"))
    return Group(Rule(title, align="left", style="dim"), *shown)


def _diff_line(line: str) -> Text:
    return Text(line, _DIFF_STYLES.get(line[:1], "dim"), overflow="fold", tab_size=4)


#: A pipe has no width of its own; lines for a file may be as long as a wide window.
PIPE_WIDTH = 160


def console(stream: TextIO | None, *, colours: bool) -> Console:
    """A console for what a command prints. It never fails: what the encoding lacks is replaced."""
    safe = Stream(stream)
    return Console(
        file=cast("IO[str]", safe),
        width=None if safe.isatty() else PIPE_WIDTH,
        no_color=not colours,
        highlight=False,
        emoji=False,
    )


def console_on(stream: Stream, colours: bool, size: Size | None) -> Console:
    """A console that takes text as it is: no markup, no emoji names. `size` defaults to its own."""
    return Console(
        file=cast("IO[str]", stream),
        force_terminal=True,
        no_color=not colours,
        markup=False,
        emoji=False,
        highlight=False,
        width=size[0] if size else None,
        height=size[1] if size else None,
    )


class Region:
    """A region at the end of the output that is drawn again and again, and leaves no trace.

    It is drawn with each print and, with `animate`, every `FRAME_SECONDS`. Whoever prints, or
    changes what `make` draws, does so in `with region.lock`: a drawing in between would be erased
    by the height of another one. (Rich's own clock does not keep to that.)
    """

    def __init__(
        self, console: Console, make: Callable[[], RenderableType], *, animate: bool
    ) -> None:
        self.lock = threading.RLock()
        self._animate = animate
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._live = rich_live.Live(
            _Now(make),
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def start(self) -> None:
        """To be called once."""
        self._live.start()
        if self._animate:
            self._clock.start()

    def stop(self) -> None:
        """Erase the region and give the cursor back."""
        self._over.set()
        with self.lock:
            self._live.stop()

    def _tick(self) -> None:
        while not self._over.wait(FRAME_SECONDS):
            with self.lock:
                self._live.refresh()


class Tail:
    """The last `rows` rows of something that may be taller than the screen."""

    def __init__(self, inner: RenderableType, rows: int) -> None:
        self._inner, self._rows = inner, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options.update(height=None), pad=False)
        for line in lines[-self._rows :]:
            yield from line
            yield Segment.line()


class _Now:
    """Draws what `make` returns at the moment of drawing, by the clock or with a print."""

    def __init__(self, make: Callable[[], RenderableType]) -> None:
        self._make = make

    def __rich__(self) -> RenderableType:
        return self._make()

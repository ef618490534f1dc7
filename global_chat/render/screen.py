"""How the live view draws: its consoles, the region that moves, what is taller than the screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import IO, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from .stream import Stream

#: How long the moving part stays as it is while nothing happens.
FRAME_SECONDS = 0.1

#: A pipe has no width of its own; lines for a file may be as long as a wide window.
PIPE_WIDTH = 160

#: Columns and rows.
Size = tuple[int, int]


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
        self._live = Live(
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


def spinner_on(console: Console) -> Spinner:
    return Spinner("dots" if "utf" in console.encoding.lower() else "line")


def status_text(words: str) -> Text:
    return Text(words, overflow="ellipsis", no_wrap=True)


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

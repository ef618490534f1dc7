"""How the live view draws: its consoles, the region that moves, what is taller than the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from .stream import Stream

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


def moving_region(console: Console, make: Callable[[], RenderableType], *, animate: bool) -> Live:
    """A region at the end of the output that is drawn again and again, and leaves no trace.

    With `animate` false it is drawn with each print and not by a clock.
    """
    return Live(
        _Now(make),
        console=console,
        auto_refresh=animate,
        refresh_per_second=10,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        vertical_overflow="crop",
    )


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

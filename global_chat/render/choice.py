"""Which renderer a command gets, from its options and from where its output goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TextIO

from .json_lines import JsonLines
from .plain import Plain
from .renderer import Renderer

Kind = Literal["live", "plain", "events", "warnings", "silent"]


def choose(
    *,
    terminal: bool,
    term: str | None = None,
    json: bool = False,
    events: bool = False,
    quiet: bool = False,
) -> Kind:
    """The kind of renderer. `terminal`: whether standard output is one; `term`: `TERM`.

    A terminal whose `TERM` is `dumb` or `unknown` is written to like a pipe. `NO_COLOR` does not
    matter here: it takes the colours from the live view, not the view. `quiet` takes no events
    away: they were asked for by name, for a program.
    """
    if json:
        return "silent" if quiet else "warnings"
    if events:
        return "events"
    if quiet:
        return "silent"
    return "live" if terminal and term not in ("dumb", "unknown") else "plain"


def renderer(
    out: TextIO | None,
    err: TextIO | None,
    environment: Mapping[str, str],
    *,
    json: bool = False,
    events: bool = False,
    quiet: bool = False,
    stream: bool | None = None,
) -> Renderer:
    """The renderer for the streams `out` and `err`.

    `stream` says whether text is shown while it arrives; None means on a terminal only, so that
    what goes into a pipe is the answer and nothing that was said on the way to it. The events are
    always a stream.
    """
    terminal = out is not None and not out.closed and out.isatty()
    stream = terminal if stream is None else stream
    kind = choose(
        terminal=terminal, term=environment.get("TERM"), json=json, events=events, quiet=quiet
    )
    match kind:
        case "live":
            # Rich costs 100 ms to import, which only a terminal need pay.
            from .live import Live  # noqa: PLC0415

            return Live(out, err, colours=not environment.get("NO_COLOR"), stream=stream)
        case "plain":
            return Plain(out, err, stream=stream)
        case "events":
            return JsonLines(out, err)
        case _:
            return Renderer(err, warnings=kind == "warnings")

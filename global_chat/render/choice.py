"""Which renderer a command gets, from its options and from where its output goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from .renderers import JsonLines, Plain, Renderer


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

    A terminal whose `TERM` is `dumb` or `unknown` is written to like a pipe. `NO_COLOR` takes the
    colours from the live view, not the view. `quiet` takes no events away: they were asked for by
    name, for a program. `stream` says whether text is shown while it arrives; None means on a
    terminal only, so that what goes into a pipe is the answer and no text that came before it. The
    events are always a stream.
    """
    if events and not json:
        return JsonLines(out, err)
    if json or quiet:
        return Renderer(err, warnings=not quiet)
    terminal = out is not None and not out.closed and out.isatty()
    stream = terminal if stream is None else stream
    if not terminal or environment.get("TERM") in ("dumb", "unknown"):
        return Plain(out, err, stream=stream)
    # Rich costs 100 ms to import, which only a terminal need pay.
    from .live import Live  # noqa: PLC0415

    return Live(out, err, colours=not environment.get("NO_COLOR"), stream=stream)

"""The `trace` command. What it needs is loaded when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import flag

EPILOG = "Example: global-chat trace tmp/trace.jsonl --last"


def trace(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A trace that --trace wrote, JSON lines.")
    ],
    last: Annotated[bool, flag("--last", help="Only the last turn of the file.")] = False,
) -> None:
    """Draw the trace of turns as trees.

    Who was asked, how long it took, tokens and cache, and why a turn was rerouted.
    """
    # Rich and the readers of files: 150 ms that `--help` need not pay.
    from .trace_drawing import draw  # noqa: PLC0415

    raise typer.Exit(draw(file, last=last))

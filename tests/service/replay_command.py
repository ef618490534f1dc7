"""`global-chat replay` as a function: arguments in, exit code and both streams out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.testing import CliRunner

from global_chat.cli.replay import replay

APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(replay)


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The report of `--json`."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def run(folder: Path, *arguments: object, **environment: str) -> Ended:
    """Run the command with its history in `folder`."""
    given = ["--history", str(folder / "history.sqlite"), *map(str, arguments)]
    ended = CliRunner().invoke(APP, given, env=environment)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)

"""The `replay` command and its options. What it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from global_chat.contract.names import BackendName

from .options import base_url_option, config_option, option, takes, timeout_option

EPILOG = "Example: global-chat replay my-cases --html report.html"

_LIVE_PANEL = "Live runs"


def _panel(panel: str) -> Callable[..., Any]:
    """Makes options of one panel of the help from a name, a word for the value, and the help."""
    return lambda name, metavar, help, **more: option(
        name, metavar=metavar, help=help, panel=panel, **more
    )


_cases, _run, _report = map(_panel, ("Which cases", "How they run", "Reports"))
_live = _panel(_LIVE_PANEL)

_HISTORY = Path("tmp/replay.sqlite")
_PATHS = "Folders of cases. Or: compare A B, two runs side by side; history, all runs."
_ROUTES = "Labelled requests; repeatable."
_FILTER = "A piece of a name, title or kind, or a pattern with *; repeatable."
_JOBS = "How many at a time. Default: 1, or 4 live."
_JSON = "The report as JSON on stdout, nothing else."
_BATCHES = "Ask the router in batches: half the price, slower."
_BUDGET = "Stop before it is spent."
_POLL = "How often a batch is looked at."


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Which cases are run, how, with which model, and what is reported."""

    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATHS", help=_PATHS)] = None
    routes: Annotated[list[Path] | None, _cases("--routes", "FILE.jsonl", _ROUTES)] = None
    filters: Annotated[list[str] | None, _cases("--filter", "TEXT", _FILTER)] = None
    shard: Annotated[str | None, _cases("--shard", "I/N", "One of N shares of the cases.")] = None

    jobs: Annotated[int | None, _run("--jobs", "N", _JOBS, min=1)] = None
    repeat: Annotated[int, _run("--repeat", "N", "Run each case N times.", min=1)] = 1
    fail_fast: Annotated[bool, _run("--fail-fast", "", "Stop at the first failure.")] = False
    resume: Annotated[bool, _run("--resume", "", "Go on with the last such run.")] = False
    update: Annotated[bool, _run("--update", "", "Expect what came; shows the diff first.")] = False
    yes: Annotated[bool, _run("--yes", "", "Do not ask before updating.")] = False
    history: Annotated[Path, _run("--history", "PATH", "The file of runs.")] = _HISTORY

    as_json: Annotated[bool, _report("--json", "", _JSON)] = False
    junit: Annotated[Path | None, _report("--junit", "PATH", "A JUnit file.")] = None
    html: Annotated[Path | None, _report("--html", "PATH", "One HTML page.")] = None

    live: Annotated[bool, _live("--live", "", "Ask the real model.")] = False
    backend: Annotated[BackendName | None, _live("--backend", None, "Default: scripted.")] = None
    routes_only: Annotated[bool, _live("--routes-only", "", "Stop after the router.")] = False
    batches: Annotated[bool, _live("--batches", "", _BATCHES)] = False
    poll_seconds: Annotated[float, _live("--poll-seconds", "SECONDS", _POLL, min=0.001)] = 10.0
    record: Annotated[Path | None, _live("--record", "DIR", "Keep live turns as cases.")] = None
    budget: Annotated[float | None, _live("--budget", "USD", "Stop before it is spent.", min=0)] = (
        None
    )
    prices: Annotated[Path | None, _live("--prices", "PATH", "Your prices, TOML.")] = None
    base_url: Annotated[str | None, base_url_option(_LIVE_PANEL)] = None
    timeout: Annotated[float | None, timeout_option(_LIVE_PANEL)] = None
    config: Annotated[Path | None, config_option(_LIVE_PANEL)] = None

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked instead of scripts."""
        return self.live or self.backend in ("anthropic", "offline")


@takes(ReplayOptions)
def replay(options: ReplayOptions) -> int:
    """Run cases: scripted turns with what must come out, or labelled requests live.

    Every case is read before any runs. What came out otherwise than expected is told case by
    case, and the exit code is then 1.
    """
    # Pydantic, Rich and the whole program below: 300 ms that `--help` need not pay.
    from .replay_command import run_replay  # noqa: PLC0415

    return run_replay(options)

"""The options of `replay`, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from global_chat.contract.names import BackendName

from .options import base_url_option, config_option, flag, option, timeout_option

_CASES, _RUN, _REPORTS, _LIVE = "Which cases", "How they run", "Reports", "Live runs"

HISTORY = Path("tmp/replay.sqlite")


@dataclass(frozen=True, slots=True)
class CaseOptions:
    """Which cases are run."""

    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATHS",
            help="Folders of cases. Or: compare A B, two runs side by side; history, all runs.",
        ),
    ] = None
    routes: Annotated[
        list[Path] | None,
        option(
            "--routes", metavar="FILE.jsonl", help="Labelled requests; repeatable.", panel=_CASES
        ),
    ] = None
    filters: Annotated[
        list[str] | None,
        option(
            "--filter",
            metavar="TEXT",
            help="A piece of a name, title or kind, or a pattern with *; repeatable.",
            panel=_CASES,
        ),
    ] = None
    shard: Annotated[
        str | None,
        option("--shard", metavar="I/N", help="One of N shares of the cases.", panel=_CASES),
    ] = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How they are run."""

    jobs: Annotated[
        int | None,
        option(
            "--jobs",
            metavar="N",
            min=1,
            help="How many at a time. Default: cores, or 4 live.",
            panel=_RUN,
        ),
    ] = None
    repeat: Annotated[
        int, option("--repeat", metavar="N", min=1, help="Run each case N times.", panel=_RUN)
    ] = 1
    fail_fast: Annotated[
        bool, flag("--fail-fast", help="Stop at the first failure.", panel=_RUN)
    ] = False
    resume: Annotated[bool, flag("--resume", help="Go on with the last such run.", panel=_RUN)] = (
        False
    )
    update: Annotated[
        bool, flag("--update", help="Expect what came; shows the diff first.", panel=_RUN)
    ] = False
    yes: Annotated[bool, flag("--yes", help="Do not ask before updating.", panel=_RUN)] = False
    history: Annotated[
        Path, option("--history", metavar="PATH", help="The file of runs.", panel=_RUN)
    ] = HISTORY


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What is reported, and where to."""

    as_json: Annotated[
        bool, flag("--json", help="The report as JSON on stdout, nothing else.", panel=_REPORTS)
    ] = False
    junit: Annotated[
        Path | None, option("--junit", metavar="PATH", help="A JUnit file.", panel=_REPORTS)
    ] = None
    html: Annotated[
        Path | None, option("--html", metavar="PATH", help="One HTML page.", panel=_REPORTS)
    ] = None


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Whether a model is asked, and how."""

    live: Annotated[bool, flag("--live", help="Ask the real model.", panel=_LIVE)] = False
    backend: Annotated[
        BackendName | None, option("--backend", help="Default: scripted.", panel=_LIVE)
    ] = None
    routes_only: Annotated[
        bool, flag("--routes-only", help="Stop after the router.", panel=_LIVE)
    ] = False
    batches: Annotated[
        bool,
        flag("--batches", help="Ask the router in batches: half the price, slower.", panel=_LIVE),
    ] = False
    poll_seconds: Annotated[
        float,
        option(
            "--poll-seconds",
            metavar="SECONDS",
            min=0.001,
            help="How often a batch is looked at.",
            panel=_LIVE,
        ),
    ] = 10.0
    record: Annotated[
        Path | None,
        option("--record", metavar="DIR", help="Keep live turns as cases.", panel=_LIVE),
    ] = None
    budget: Annotated[
        float | None,
        option("--budget", metavar="USD", min=0, help="Stop before it is spent.", panel=_LIVE),
    ] = None
    prices: Annotated[
        Path | None, option("--prices", metavar="PATH", help="Your prices, TOML.", panel=_LIVE)
    ] = None
    base_url: Annotated[str | None, base_url_option(_LIVE)] = None
    timeout: Annotated[float | None, timeout_option(_LIVE)] = None
    config: Annotated[Path | None, config_option(_LIVE)] = None

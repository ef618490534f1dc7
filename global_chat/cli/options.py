"""The options that several commands share, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Backend(StrEnum):
    """What stands behind the model seam."""

    anthropic = "anthropic"
    scripted = "scripted"
    offline = "offline"


_MODEL, _OUTPUT, _SHOW = "Model", "Results", "What is shown"

Input = Annotated[
    str | None,
    typer.Option("--input", "-i", metavar="PATH|-", help="The payload, JSON or YAML; - is stdin."),
]
Message = Annotated[
    str | None,
    typer.Option("--message", "-m", metavar="TEXT", help="What you want, in your own words."),
]
WorkflowFile = Annotated[
    Path | None, typer.Option("--workflow", "-w", metavar="PATH", help="A workflow YAML file.")
]
Page = Annotated[
    str | None,
    typer.Option("--page", metavar="TEXT", help="Where you are: workflows/<workflow>[/<step>]."),
]
Attach = Annotated[
    list[str] | None,
    typer.Option("--attach", "-a", metavar="TYPE=PATH", help="A log or dataclip; repeatable."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="PATH", help="The response JSON.", rich_help_panel=_OUTPUT
    ),
]
WorkflowOut = Annotated[
    Path | None,
    typer.Option(
        "--workflow-out", metavar="PATH", help="The updated workflow.", rich_help_panel=_OUTPUT
    ),
]
OutputDir = Annotated[
    Path | None,
    typer.Option(
        "--output-dir", metavar="PATH", help="A folder for both.", rich_help_panel=_OUTPUT
    ),
]
Apply = Annotated[
    bool,
    typer.Option(
        "--apply", help="Write the workflow back into --workflow.", rich_help_panel=_OUTPUT
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="PATH", help="The turn's trace, JSON lines.", rich_help_panel=_OUTPUT
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="The response JSON on stdout, nothing else.", rich_help_panel=_SHOW
    ),
]
Events = Annotated[
    bool, typer.Option("--events", help="The stream as JSON lines.", rich_help_panel=_SHOW)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing.", rich_help_panel=_SHOW)]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="What was decided, on stderr.", rich_help_panel=_SHOW),
]
BackendName = Annotated[
    Backend | None,
    typer.Option("--backend", help="Default: anthropic.", rich_help_panel=_MODEL),
]
Script = Annotated[
    Path | None,
    typer.Option(
        "--script", metavar="PATH", help="Play model turns from a file.", rich_help_panel=_MODEL
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="PATH", help="Write model turns to one.", rich_help_panel=_MODEL
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Another server that speaks the Messages API.",
        rich_help_panel=_MODEL,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.001,
        help="Bounds each model call. Default: 600.",
        rich_help_panel=_MODEL,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="Settings, TOML.", rich_help_panel=_MODEL),
]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model answers, and how."""

    backend: Backend | None = None
    script: Path | None = None
    record: Path | None = None
    base_url: str | None = None
    timeout: float | None = None
    config: Path | None = None


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Where results go."""

    output: Path | None = None
    workflow_out: Path | None = None
    output_dir: Path | None = None
    apply: bool = False
    trace: Path | None = None


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What is shown while the turn runs."""

    as_json: bool = False
    events: bool = False
    quiet: bool = False
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class InputOptions:
    """What the turn is given."""

    input: str | None = None
    message: str | None = None
    workflow: Path | None = None
    page: str | None = None
    attach: tuple[str, ...] = ()

"""The options that commands share: groups of them as dataclasses, each option declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from global_chat.contract.names import BackendName

_RESULTS, _SHOWN, _MODEL = "Results", "What is shown", "Model"


def option(*names: str, help: str, panel: str = "Options", **more: Any) -> Any:
    """An option that takes a value; `help` and `panel` are what `--help` says and where."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def flag(*names: str, help: str, panel: str = "Options") -> Any:
    """An option that is given or not."""
    # Typer would show a flag as if it took a value, `<bool>`.
    return option(*names, help=help, panel=panel, metavar="")


def base_url_option(panel: str) -> Any:
    """`--base-url`, for every command that asks a model."""
    return option(
        "--base-url",
        metavar="URL",
        help="Another server that speaks the Messages API.",
        panel=panel,
    )


def timeout_option(panel: str) -> Any:
    """`--timeout`, in seconds, at most a day."""
    return option(
        "--timeout",
        metavar="SECONDS",
        min=0.001,
        max=86_400,
        help="Bounds each model call. Default: 600.",
        panel=panel,
    )


def config_option(panel: str) -> Any:
    """`--config`, the settings file."""
    return option("--config", metavar="PATH", help="Settings, TOML.", panel=panel)


@dataclass(frozen=True, slots=True)
class PayloadOptions:
    """What the turn is given."""

    text: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="What you want; - reads it from stdin."),
    ] = None
    input: Annotated[
        str | None,
        option("--input", "-i", metavar="PATH|-", help="The payload, JSON or YAML; - is stdin."),
    ] = None
    message: Annotated[
        str | None,
        option("--message", "-m", metavar="TEXT", help="What you want, in your own words."),
    ] = None


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """What the request is about, from files of its own."""

    workflow: Annotated[
        Path | None,
        option(
            "--workflow",
            "-w",
            metavar="PATH",
            help="The workflow's YAML file, or a project folder.",
        ),
    ] = None
    page: Annotated[
        str | None,
        option("--page", metavar="TEXT", help="Where you are: workflows/NAME[/STEP], or a step."),
    ] = None
    attach: Annotated[
        list[str] | None,
        option("--attach", "-a", metavar="TYPE=PATH", help="A log or a dataclip; repeatable."),
    ] = None
    apply: Annotated[
        bool, flag("--apply", help="Write the change back into --workflow and its code files.")
    ] = False
    dry_run: Annotated[
        bool, flag("--dry-run", help="Show the difference as a patch; write nothing.")
    ] = False


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Where results go."""

    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="PATH", help="The response JSON.", panel=_RESULTS),
    ] = None
    workflow_out: Annotated[
        Path | None,
        option("--workflow-out", metavar="PATH", help="The changed workflow.", panel=_RESULTS),
    ] = None
    output_dir: Annotated[
        Path | None,
        option("--output-dir", metavar="PATH", help="A folder for both.", panel=_RESULTS),
    ] = None
    trace: Annotated[
        Path | None,
        option("--trace", metavar="PATH", help="Add the trace, JSON lines.", panel=_RESULTS),
    ] = None


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What is shown while the turn runs."""

    as_json: Annotated[
        bool, flag("--json", help="The response JSON on stdout, nothing else.", panel=_SHOWN)
    ] = False
    events: Annotated[
        bool, flag("--events", help="The stream as JSON lines on stdout.", panel=_SHOWN)
    ] = False
    quiet: Annotated[bool, flag("--quiet", "-q", help="Only why a turn failed.", panel=_SHOWN)] = (
        False
    )
    verbose: Annotated[
        bool, flag("--verbose", "-v", help="What was decided, on stderr.", panel=_SHOWN)
    ] = False


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model answers, and how."""

    backend: Annotated[
        BackendName | None,
        option(
            "--backend",
            metavar="NAME",
            help="anthropic (the default), scripted or offline.",
            panel=_MODEL,
        ),
    ] = None
    script: Annotated[
        Path | None,
        option("--script", metavar="PATH", help="Play model turns from a file.", panel=_MODEL),
    ] = None
    record: Annotated[
        Path | None,
        option("--record", metavar="PATH", help="Write model turns to one.", panel=_MODEL),
    ] = None
    model: Annotated[
        list[str] | None,
        option(
            "--model",
            metavar="[AGENT=]NAME",
            help="Another model, for all agents or for one; repeatable.",
            panel=_MODEL,
        ),
    ] = None
    base_url: Annotated[str | None, base_url_option(_MODEL)] = None
    timeout: Annotated[float | None, timeout_option(_MODEL)] = None
    offline_docs: Annotated[
        bool, flag("--offline-docs", help="Never fetch adaptor docs.", panel=_MODEL)
    ] = False
    config: Annotated[Path | None, config_option(_MODEL)] = None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What a conversation is about."""

    file: Annotated[Path, typer.Argument(metavar="WORKFLOW", help="The workflow's YAML file.")]
    page: Annotated[
        str | None,
        option("--page", metavar="TEXT", help="Where you are: workflows/NAME[/STEP]."),
    ] = None
    session: Annotated[
        Path | None,
        option("--session", metavar="PATH", help="Default: WORKFLOW.chat.json."),
    ] = None
    verbose: Annotated[bool, flag("--verbose", "-v", help="What was decided, on stderr.")] = False


def takes(*groups: type[Any]) -> Callable[[Callable[..., int]], Callable[..., None]]:
    """Make a Typer command of a function that takes option groups and returns an exit code."""

    def decorate(function: Callable[..., int]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            given = (group(**{f.name: values[f.name] for f in fields(group)}) for group in groups)
            raise typer.Exit(function(*given))

        hints = {group: get_type_hints(group, include_extras=True) for group in groups}
        parameters = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[group][field.name],
            )
            for group in groups
            for field in fields(group)
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        return command

    return decorate

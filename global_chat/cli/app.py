"""The commands. Each loads what it needs when it runs, so that `--help` stays quick."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from global_chat import __version__

from . import replay
from .docs import docs_app
from .options import (
    ChatOptions,
    ContextOptions,
    ModelOptions,
    PayloadOptions,
    ResultOptions,
    ShowOptions,
    flag,
    option,
    takes,
)

app = typer.Typer(
    name="global-chat",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"global-chat {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: global-chat run --input tmp/payload.json")
def start(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print it."),
    ] = False,
) -> None:
    """The assistant for OpenFn workflows, on the command line."""


@app.command(epilog="Example: global-chat run --input tmp/payload.json")
@takes(PayloadOptions, ContextOptions, ResultOptions, ShowOptions, ModelOptions)
def run(
    given: PayloadOptions,
    context: ContextOptions,
    results: ResultOptions,
    show: ShowOptions,
    model: ModelOptions,
) -> int:
    """Take one turn: answer a request about a workflow, and write what changed.

    The answer streams to the terminal. The response goes to PAYLOAD.response.json and a changed
    workflow to PAYLOAD.workflow.yaml, beside the payload.
    """
    from .run import TURN, Command, run_command  # noqa: PLC0415 (pydantic, Rich: 200 ms)

    return run_command(TURN, Command(given, context, results, show, model))


@app.command(epilog="Example: global-chat job --input step.json")
@takes(PayloadOptions, ResultOptions, ShowOptions, ModelOptions)
def job(
    given: PayloadOptions, results: ResultOptions, show: ShowOptions, model: ModelOptions
) -> int:
    """Ask about the code of one step, directly.

    The payload is {content, context: {expression, adaptor, page_name, input, output, log},
    history}. New code is in the response's attachments.
    """
    from .run import JOB, Command, run_command  # noqa: PLC0415 (as above)

    return run_command(JOB, Command(given, ContextOptions(), results, show, model))


@app.command(epilog="Example: global-chat workflow --input structure.json")
@takes(PayloadOptions, ResultOptions, ShowOptions, ModelOptions)
def workflow(
    given: PayloadOptions, results: ResultOptions, show: ShowOptions, model: ModelOptions
) -> int:
    """Ask about the structure of a workflow, directly.

    The payload is {content, existing_yaml, errors, history, read_only}.
    """
    from .run import WORKFLOW, Command, run_command  # noqa: PLC0415 (as above)

    return run_command(WORKFLOW, Command(given, ContextOptions(), results, show, model))


@app.command(epilog="Example: global-chat chat workflow.yaml --page workflows/visits/load")
@takes(ChatOptions, ModelOptions)
def chat(options: ChatOptions, model: ModelOptions) -> int:
    """Talk about a workflow file: several turns, with undo, and nothing written before /apply.

    The conversation is kept beside the workflow, so that it can go on later.
    """
    from .chat import chat as converse  # noqa: PLC0415 (as above)

    return converse(options, model)


@app.command(epilog="Example: global-chat check workflow.yaml my-project --format github")
def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Workflow files or project folders; - is stdin."),
    ],
    style: Annotated[
        str, option("--format", metavar="NAME", help="text, github, json or sarif.")
    ] = "text",
    as_json: Annotated[bool, flag("--json", help="The same as --format json.")] = False,
    strict: Annotated[bool, flag("--strict", help="Warnings fail too.")] = False,
) -> None:
    """Say what is wrong with workflow files, and with the code in files of their own.

    Exit code 0: no error; 1: an error, with --strict also a warning; 2: a file cannot be read.
    """
    from .workflow_files import FORMATS, run_check  # noqa: PLC0415 (as above)

    if style not in FORMATS:
        raise typer.BadParameter(f"{style!r} is none of {', '.join(FORMATS)}.")
    raise typer.Exit(run_check(files, "json" if as_json else style, strict=strict))


@app.command(epilog="Example: global-chat diff before.yaml after.yaml")
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The workflow as it was.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The workflow as it is now.")],
    as_json: Annotated[bool, flag("--json", help="One object, {changes, diff}.")] = False,
) -> None:
    """Tell what changed between two workflow files, in workflow terms and as text.

    Exit code 0: nothing; 1: something; 2: a file cannot be read.
    """
    from .workflow_files import run_diff  # noqa: PLC0415 (as above)

    raise typer.Exit(run_diff(old, new, as_json))


@app.command(epilog="Example: global-chat undo workflow.yaml")
def undo(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file or a folder.")],
    page: Annotated[
        str | None, option("--page", metavar="TEXT", help="Which, of a folder.")
    ] = None,
) -> None:
    """Take back the last change that --apply or /apply wrote into a workflow's files.

    It is refused when a file was changed since.
    """
    from .workflow_files import run_undo, told  # noqa: PLC0415 (as above)

    raise typer.Exit(told(lambda: run_undo(file, page)))


@app.command(epilog="Example: global-chat new workflow visits.yaml")
def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="workflow, case or settings.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to write; a case's folder.")],
) -> None:
    """Write a commented example to start from. Nothing that exists is written over."""
    from .workflow_files import run_new, told  # noqa: PLC0415 (as above)

    raise typer.Exit(told(lambda: run_new(kind, file)))


app.command(epilog=replay.EPILOG)(replay.replay)


@app.command(epilog="Example: global-chat trace tmp/trace.jsonl --last")
def trace(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A trace that --trace wrote, JSON lines.")
    ],
    last: Annotated[bool, flag("--last", help="Only the last turn of the file.")] = False,
) -> None:
    """Draw the trace of turns as trees.

    Who was asked, how long it took, tokens and cache, and why a turn was rerouted.
    """
    from .trace import draw  # noqa: PLC0415 (as above)

    raise typer.Exit(draw(file, last=last))


app.add_typer(docs_app, name="docs")


def main() -> None:
    """The entry point of `global-chat`."""
    # Help must come out whatever characters the terminal's encoding lacks.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    app()


if __name__ == "__main__":
    main()

"""What a turn is given: the payload's object, put together from the files and options of a command.

Everything is read once. A workflow that `--workflow` names is opened with the code that is in files
of its own, for a change has to find its way back there.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import Payload, read
from global_chat.disk.project_folder import page_of, workflow_file
from global_chat.disk.pulled import WorkflowFiles, open_files
from global_chat.disk.reading import read_object, read_text

from .options import ContextOptions, ModelOptions, PayloadOptions


@dataclass(frozen=True, slots=True)
class Given:
    """The payload's object, and the workflow's files when it comes from such."""

    data: dict[str, Any]
    workflow: WorkflowFiles | None = None


def read_given(options: PayloadOptions, context: ContextOptions) -> Given:
    """The payload's object: the file's, with what other options name put over it.

    Raises `BadRequest` when there is nothing to read or a file cannot be used.
    """
    if options.input == "":
        raise BadRequest("--input is empty: name a file, or - for standard input.")
    message = _message(options)
    data = read_object(options.input) if options.input is not None else {}
    if not isinstance(data, dict):
        read(Payload, data)  # says what is wrong with it
        raise BadRequest("The payload must be one object.")
    if message is not None:
        data["content"] = message
    page = context.page if context.page is not None else data.get("page")
    workflow = None
    if context.workflow is not None:
        named = workflow_file(context.workflow, page if isinstance(page, str) else None)
        workflow = open_files(named)
        data["workflow_yaml"] = workflow.text
    if context.page is not None:
        data["page"] = page_of(context.page, data.get("workflow_yaml"))
    if context.attach:
        before = data.get("attachments")
        kept = before if isinstance(before, list) else []
        data["attachments"] = [*kept, *(_attachment(text) for text in context.attach)]
    return Given(data, workflow)


def _message(options: PayloadOptions) -> str | None:
    """The message of the command line: an option, an argument, or what standard input holds."""
    if options.text is not None and options.message is not None:
        raise BadRequest("The message is given twice, as an argument and with --message.")
    message = options.text if options.message is None else options.message
    if options.text and options.text != "-" and _is_file(options.text):
        raise BadRequest(
            f"{options.text!r} is a file, and the message should stand there. Name a workflow with "
            "--workflow, a payload with --input."
        )
    piped = message is None and options.input is None and sys.stdin and not sys.stdin.isatty()
    if message == "-" or piped:
        if options.input == "-":
            raise BadRequest("Standard input cannot be both the payload and the message.")
        message = read_text("-").strip() or None
    if message is None and options.input is None:
        raise BadRequest(
            'There is nothing to do: say what you want, as in `global-chat run "retry once" '
            "--workflow workflow.yaml`, or give a payload with --input."
        )
    return message


def _is_file(text: str) -> bool:
    with suppress(OSError, ValueError):  # too long for a name; a NUL
        return Path(text).is_file()
    return False


def _attachment(text: str) -> dict[str, str]:
    type_, equals, path = text.partition("=")
    if not equals or not type_.strip() or not path:
        raise BadRequest(
            f"--attach {text!r} should name a type and a file, as in --attach log=run.log."
        )
    return {"type": type_.strip(), "content": read_text(Path(path))}


def files_read(options: PayloadOptions, context: ContextOptions, model: ModelOptions) -> list[Path]:
    """The files that a turn reads, which no result may replace."""
    names = [options.input] if options.input and options.input != "-" else []
    names += [text.partition("=")[2] for text in context.attach or ()]
    paths = [context.workflow, model.script, model.config]
    return [*map(Path, names), *(path for path in paths if path is not None)]

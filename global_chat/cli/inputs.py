"""From options to the object that the payload is read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import Payload, read
from global_chat.disk.reading import read_object, read_text

from .options import ContextOptions, ModelOptions, PayloadOptions


def given_object(given: PayloadOptions, context: ContextOptions) -> dict[str, Any]:
    """The payload's object: the file's, with what other options name put over it.

    Raises `BadRequest` when there is nothing to read or a file cannot be used.
    """
    if given.input is None and given.message is None:
        raise BadRequest(
            "There is nothing to do: give a payload with --input, or say what you want with "
            "--message."
        )
    if given.input == "":
        raise BadRequest("--input is empty: name a file, or - for standard input.")
    data = read_object(given.input) if given.input is not None else {}
    if not isinstance(data, dict):
        read(Payload, data)  # says what is wrong with it
        raise BadRequest("The payload must be one object.")
    if given.message is not None:
        data["content"] = given.message
    if context.workflow is not None:
        data["workflow_yaml"] = read_text(context.workflow)
    if context.page is not None:
        data["page"] = context.page
    if context.attach:
        before = data.get("attachments")
        kept = before if isinstance(before, list) else []
        data["attachments"] = [*kept, *(_attachment(text) for text in context.attach)]
    return data


def files_read(given: PayloadOptions, context: ContextOptions, model: ModelOptions) -> list[Path]:
    """The files that a turn reads, which no result may replace."""
    names = [given.input] if given.input and given.input != "-" else []
    names += [text.partition("=")[2] for text in context.attach or ()]
    paths = [context.workflow, model.script, model.config]
    return [*map(Path, names), *(path for path in paths if path is not None)]


def _attachment(text: str) -> dict[str, str]:
    type_, equals, path = text.partition("=")
    if not equals or not type_.strip() or not path:
        raise BadRequest(
            f"--attach {text!r} should name a type and a file, as in --attach log=run.log."
        )
    return {"type": type_.strip(), "content": read_text(Path(path))}

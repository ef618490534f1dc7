"""The slash commands of a conversation: functions from a session to the text that is shown."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from global_chat.contract.attachments import Attachment
from global_chat.contract.errors import BadRequest
from global_chat.disk.reading import read_text
from global_chat.render.text import counted, diff_lines
from global_chat.workflow.document import Workflow

from .session import Session


class Leave(Exception):
    """The conversation is over."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is called, what it does."""

    usage: str
    help: str
    run: Callable[[Session, list[str]], str]


def run(session: Session, line: str) -> str:
    """Carry out a line that starts with `/` and return what to show.

    Raises `BadRequest` for an unknown command or wrong words, `Leave` when it ends the
    conversation.
    """
    try:
        name, *words = shlex.split(line[1:]) or [""]
    except ValueError:
        raise BadRequest("A quotation mark is not closed.") from None
    command = COMMANDS.get(name)
    if command is None:
        raise BadRequest(f"There is no command /{name}; /help lists them.")
    return command.run(session, words)


def _help(_session: Session, _words: list[str]) -> str:
    width = max(len(c.usage) for c in COMMANDS.values())
    return "\n".join(f"{c.usage:{width}}  {c.help}" for c in COMMANDS.values())


def _page(session: Session, words: list[str]) -> str:
    if words:
        session.page = " ".join(words)
        session.save()
    return f"Page: {session.page or '(none)'}"


def _attach(session: Session, words: list[str]) -> str:
    if len(words) == 1 and "=" in words[0]:
        words = words[0].split("=", 1)
    if len(words) != 2:
        return _attached(session)
    type_, path = words
    session.attachments.append(Attachment(type_, read_text(Path(path))))
    return _attached(session)


def _attached(session: Session) -> str:
    if not session.attachments:
        return "Nothing is attached. Attach a file with /attach log run.log."
    listed = (f"{a.type} ({counted(len(a.content), 'character')})" for a in session.attachments)
    return "For the next message: " + ", ".join(listed)


def _detach(session: Session, _words: list[str]) -> str:
    session.attachments.clear()
    return "Nothing is attached any more."


def _diff(session: Session, _words: list[str]) -> str:
    if not session.changed:
        return "The workflow is as it is in the file."
    before, after = Workflow.read(session.on_disk, session.page), _current(session)
    changes = (f"* {change}" for change in before.changes_to(after))
    return "\n".join([*changes, *diff_lines(session.on_disk, session.text)])


def _undo(session: Session, _words: list[str]) -> str:
    if not session.step_back():
        return "There is nothing to undo in this session."
    return "The last change is undone. " + (
        "Earlier ones are not applied yet."
        if session.changed
        else "The workflow is as in the file."
    )


def _apply(session: Session, _words: list[str]) -> str:
    if not session.changed:
        return "There is nothing to apply."
    session.apply()
    return f"Written to {session.workflow}."


def _steps(session: Session, _words: list[str]) -> str:
    return _current(session).outline() or "There is no workflow yet."


def _quit(_session: Session, _words: list[str]) -> str:
    raise Leave


def _current(session: Session) -> Workflow:
    return Workflow.read(session.text, session.page)


COMMANDS = {
    "help": Command("/help", "List the commands", _help),
    "page": Command("/page [workflows/NAME/STEP]", "Show or set where you are", _page),
    "steps": Command("/steps", "Outline the workflow", _steps),
    "attach": Command(
        "/attach [TYPE FILE]", "Attach a log or dataclip to the next message", _attach
    ),
    "detach": Command("/detach", "Attach nothing after all", _detach),
    "diff": Command("/diff", "Show what differs from the file", _diff),
    "undo": Command("/undo", "Take the last change back", _undo),
    "apply": Command("/apply", "Write the workflow to its file", _apply),
    "quit": Command("/quit", "Leave; what is not applied is kept in the session file", _quit),
}

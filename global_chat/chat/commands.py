"""The slash commands of a conversation: functions from a session to the text that is shown."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from global_chat.contract.attachments import FIELD_OF_TYPE, Attachment
from global_chat.contract.errors import BadRequest, TurnError
from global_chat.contract.texts import nearest
from global_chat.disk.project_folder import page_of
from global_chat.disk.reading import read_text
from global_chat.render.text import counted, diff_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

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
        near = nearest(name, COMMANDS)
        hint = f"did you mean /{near}?" if near else "/help lists them."
        raise BadRequest(f"There is no command /{name}; {hint}")
    return command.run(session, words)


def hint(line: str) -> str | None:
    """What to say to a line that is nothing but the name of a command without its slash."""
    name = {"exit": "quit", "q": "quit"}.get(line.lower(), line.lower())
    return f"Write /{name} for the command. Nothing was sent." if name in COMMANDS else None


def completions(session: Session, line: str) -> list[str]:
    """What the last word of a command line may become: a command, an attachment type, a file, a
    page."""
    *before, last = line.split(" ")
    if not before:
        found = [f"/{name}" for name in COMMANDS]
    elif before == ["/page"]:
        name = Page.parse(session.page).workflow or "workflow"
        found = [f"workflows/{name}/{key}" for key in _keys(session)]
    elif before == ["/attach"]:
        found = list(FIELD_OF_TYPE)
    elif before[0] == "/attach" and len(before) == 2:
        found = _files(last)
    else:
        found = []
    return [word for word in found if word.startswith(last)] if line.startswith("/") else []


def _keys(session: Session) -> list[str]:
    with suppress(TurnError):
        return [step.key for step in _current(session).steps]
    return []


def _files(start: str) -> list[str]:
    folder, _, name = start.rpartition("/")
    with suppress(OSError, ValueError):
        inside = sorted(Path(folder + "/" if "/" in start else ".").iterdir())
        prefix = f"{folder}/" if "/" in start else ""
        hidden = name.startswith(".")
        return [
            shlex.quote(f"{prefix}{path.name}") + ("/" if path.is_dir() else "")
            for path in inside
            if hidden or not path.name.startswith(".")
        ]
    return []


def _help(_session: Session, _words: list[str]) -> str:
    width = max(len(c.usage) for c in COMMANDS.values())
    return "\n".join(f"{c.usage:{width}}  {c.help}" for c in COMMANDS.values())


def _page(session: Session, words: list[str]) -> str:
    if words:
        session.page = page_of(" ".join(words), session.text)
        session.save()
    return f"Page: {session.page or '(none)'}"


def _attach(session: Session, words: list[str]) -> str:
    if len(words) == 1 and "=" in words[0]:
        words = words[0].split("=", 1)
    if len(words) != 2:
        return _attached(session)
    type_, path = words
    if not type_.strip():
        raise BadRequest("An attachment needs a type, as in /attach log run.log.")
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
        return "There is nothing to undo. `global-chat undo FILE` takes the last /apply back."
    return "The last change is undone. " + (
        "/diff shows what differs from the file now, /apply writes it."
        if session.changed
        else "The workflow is as in the file."
    )


def _reload(session: Session, _words: list[str]) -> str:
    pending = session.changed
    session.reload()
    more = " /undo brings back what was not applied." if pending else ""
    return f"The workflow is as {session.workflow} has it now.{more}"


def _discard(session: Session, _words: list[str]) -> str:
    if not session.changed:
        return "There is nothing to discard."
    session.reload()
    return f"Dropped; the workflow is as {session.workflow} has it now. /undo brings it back."


def _apply(session: Session, _words: list[str]) -> str:
    if not session.changed:
        return "There is nothing to apply."
    written = ", ".join(map(str, session.apply())) or session.workflow
    return f"Written to {written}. `global-chat undo {session.workflow}` takes it back."


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
    "reload": Command("/reload", "Take the file as it is now", _reload),
    "discard": Command("/discard", "Drop what is not applied", _discard),
    "apply": Command("/apply", "Write the workflow to its file", _apply),
    "quit": Command("/quit", "Leave; what is not applied is kept in the session file", _quit),
}

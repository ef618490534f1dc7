"""A conversation's state, and the file that keeps it from one session to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from global_chat.contract.attachments import Attachment
from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import AttachmentInput, HistoryTurn, Meta, Payload
from global_chat.contract.response import HistoryEntry, Response
from global_chat.disk.applying import apply_change
from global_chat.disk.pulled import open_or_new
from global_chat.disk.reading import read_object, read_text
from global_chat.disk.writing import check_writable, refuse_links, write_atomically

#: How many changes can be taken back.
MOST_UNDONE = 20


class _Saved(BaseModel):
    """What the session file holds. Changes that are not applied are in it, so that none is lost.

    `base` is the workflow as its files had it when they were made; `undo` as in `Session`.
    """

    model_config = ConfigDict(extra="forbid")

    page: str | None = None
    history: list[HistoryEntry] = []
    unapplied: str | None = None
    base: str | None = None
    undo: list[str] = []


@dataclass(slots=True)
class Session:
    """One conversation. `text` is the workflow as it is now, `on_disk` as its files had it when
    they were read.

    `undo` holds the texts before each change, the oldest first. Attachments wait for the next
    turn and belong to it alone. `notes` are sentences for the user that have not been shown.
    """

    workflow: Path
    file: Path
    on_disk: str
    text: str
    page: str | None = None
    history: list[HistoryEntry] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _written: str | None = None

    @classmethod
    def open(cls, workflow: Path, file: Path | None = None, page: str | None = None) -> Session:
        """Start or go on. A workflow file that does not exist yet is one to be built.

        The session file is `<workflow>.chat.json` unless named. Raises `BadRequest` when a file
        cannot be read or written, or the session file holds something else or is a planted link.
        """
        if file is None:
            file = workflow.with_name(workflow.name + ".chat.json")
            refuse_links([file])
        now = open_or_new(workflow)
        try:
            check_writable([file], inputs=[workflow, *now.files])
        except BadRequest as error:
            raise BadRequest(f"{error.message} --session names another file.") from None
        written = read_text(file) if file.exists() else None
        saved = _read(file) if written is not None else _Saved()
        session = cls(
            workflow=workflow,
            file=file,
            on_disk=now.text if saved.base is None else saved.base,
            text=now.text if saved.unapplied is None else saved.unapplied,
            page=page or saved.page,
            history=saved.history,
            undo=saved.undo,
            _written=written,
        )
        if not workflow.exists():
            session.notes.append(f"{workflow} does not exist yet: /apply will make it.")
        elif session.on_disk != now.text:
            session.notes.append(_changed_outside(workflow))
        return session

    @property
    def changed(self) -> bool:
        """Whether there is anything to apply."""
        return self.text != self.on_disk

    @property
    def is_kept(self) -> bool:
        """Whether the session file holds all of this."""
        return self.file.exists() and read_text(self.file) == self._as_json()

    def payload(self, content: str) -> Payload:
        """The next turn's payload."""
        return Payload(
            content=content,
            workflow_yaml=self.text or None,
            page=self.page,
            history=[HistoryTurn(role=t.role, content=t.content) for t in self.history],
            attachments=[AttachmentInput(type=a.type, content=a.content) for a in self.attachments],
            meta=Meta(session_id=self.file.name),
        )

    def answered(self, response: Response) -> None:
        """Take over what a turn gave, and save."""
        self.history = response.history
        self.attachments = []
        self.change(response.workflow_yaml or self.text)

    def change(self, text: str) -> None:
        """Put a text in the place of the workflow's, and save."""
        if text != self.text:
            self.undo = [*self.undo, self.text][-MOST_UNDONE:]
            self.text = text
        self.save()

    def step_back(self) -> bool:
        """Undo the last change; return whether there was one."""
        if not self.undo:
            return False
        self.text = self.undo.pop()
        self.save()
        return True

    def refresh(self) -> None:
        """Take a change that something else made to the files, when nothing waits to be applied."""
        now = self.on_disk if self.changed else open_or_new(self.workflow).text
        if now != self.on_disk:
            self.on_disk = self.text = now
            self.notes.append(f"{self.workflow} was changed meanwhile; this turn works on that.")

    def reload(self) -> None:
        """Take the workflow's files as they are now; what was not applied can be brought back."""
        self.on_disk = open_or_new(self.workflow).text
        self.change(self.on_disk)

    def apply(self) -> list[Path]:
        """Write the workflow to its files; return those that changed.

        Raises `BadRequest` when another program has changed one since it was read: that change
        would be lost.
        """
        now = open_or_new(self.workflow)
        if now.text != self.on_disk:
            raise BadRequest(_changed_outside(self.workflow))
        written = apply_change(now, self.text)
        # A new file for the code of a step may be spelled in another way.
        self.on_disk = self.text = open_or_new(self.workflow).text
        self.save()
        return written

    def save(self) -> None:
        """Write the session file; another one when a second conversation has written to it.

        Raises `InternalError` when that is not possible.
        """
        now = read_text(self.file) if self.file.exists() else None
        if now not in (self._written, None):
            taken, number = self.file, 2
            while self.file.exists():
                self.file = taken.with_name(f"{taken.stem}-{number}.json")
                number += 1
            self.notes.append(
                f"Another conversation has written to {taken}, so this one is kept in {self.file}: "
                f"go on with it by --session {self.file}."
            )
        text = self._as_json()
        write_atomically(self.file, text)
        self._written = text

    def _as_json(self) -> str:
        saved = _Saved(
            page=self.page,
            history=self.history,
            unapplied=self.text if self.changed else None,
            base=self.on_disk if self.changed else None,
            undo=self.undo,
        )
        return saved.model_dump_json(indent=2) + "\n"


def _changed_outside(workflow: Path) -> str:
    return (
        f"{workflow} or a file of its steps was changed by something else since this conversation "
        "read it. /reload takes it as it is now, and /undo then brings your change back; /discard "
        "drops your change."
    )


def _read(file: Path) -> _Saved:
    try:
        return _Saved.model_validate(read_object(file))
    except ValidationError:
        raise BadRequest(
            f"{file} does not hold a conversation. Name another file with --session."
        ) from None

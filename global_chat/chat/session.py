"""A conversation's state, and the file that keeps it from one session to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from global_chat.contract.attachments import Attachment
from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import AttachmentInput, HistoryTurn, Meta, Payload
from global_chat.contract.response import HistoryEntry, Response
from global_chat.disk.reading import read_object, read_text
from global_chat.disk.writing import write_atomically


class _Saved(BaseModel):
    """What the session file holds. Changes that are not applied are in it, so that none is lost.

    `base` is the workflow file as it was when they were made.
    """

    model_config = ConfigDict(extra="forbid")

    page: str | None = None
    history: list[HistoryEntry] = []
    unapplied: str | None = None
    base: str | None = None


@dataclass(slots=True)
class Session:
    """One conversation. `text` is the workflow as it is now, `on_disk` as the file has it.

    `undo` holds the texts before each change, the oldest first. Attachments wait for the next
    turn and belong to it alone.
    """

    workflow: Path
    file: Path
    on_disk: str
    text: str
    page: str | None = None
    history: list[HistoryEntry] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, workflow: Path, file: Path | None = None, page: str | None = None) -> Session:
        """Start or go on. A workflow file that does not exist yet is one to be built.

        The session file is `<workflow>.chat.json` unless named. Raises `BadRequest` when a file
        cannot be read, or the session file holds something else.
        """
        file = file or workflow.with_name(workflow.name + ".chat.json")
        on_disk = read_text(workflow) if workflow.exists() else ""
        saved = _read(file) if file.exists() else _Saved()
        return cls(
            workflow=workflow,
            file=file,
            on_disk=on_disk if saved.base is None else saved.base,
            text=on_disk if saved.unapplied is None else saved.unapplied,
            page=page or saved.page,
            history=saved.history,
        )

    @property
    def changed(self) -> bool:
        """Whether there is anything to apply."""
        return self.text != self.on_disk

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
        if response.workflow_yaml is not None:
            self.change(response.workflow_yaml)
        self.save()

    def change(self, text: str) -> None:
        """Put a new text in the place of the workflow's, and save."""
        self.undo.append(self.text)
        self.text = text
        self.save()

    def step_back(self) -> bool:
        """Undo the last change of this session; return whether there was one."""
        if not self.undo:
            return False
        self.text = self.undo.pop()
        self.save()
        return True

    def apply(self) -> None:
        """Write the workflow to its file.

        Raises `BadRequest` when another program has changed the file since it was read: that change
        would be lost.
        """
        now = read_text(self.workflow) if self.workflow.exists() else ""
        if now != self.on_disk:
            raise BadRequest(
                f"{self.workflow} was changed by something else since this conversation read it. "
                "Move your copy away, or leave and start again to work on the new file."
            )
        write_atomically(self.workflow, self.text)
        self.on_disk = self.text
        self.save()

    def save(self) -> None:
        """Write the session file."""
        saved = _Saved(
            page=self.page,
            history=self.history,
            unapplied=self.text if self.changed else None,
            base=self.on_disk if self.changed else None,
        )
        write_atomically(self.file, saved.model_dump_json(indent=2) + "\n")


def _read(file: Path) -> _Saved:
    try:
        return _Saved.model_validate(read_object(file))
    except ValidationError:
        raise BadRequest(
            f"{file} does not hold a conversation. Name another file with --session."
        ) from None

"""The workflow agent's reply, read while it streams: `{handover?, remove, yaml, text}`.

The fields come in that order, so by the time `text` arrives it is known whether the request is
handed over and whether the change can be made: only then may the text be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import from_json

from global_chat.prompts.compose import Mode
from global_chat.workflow.patch import PatchRejected

from .fences import unfenced
from .visible import VisibleText

_NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FENCED_YAML = re.compile(r"```ya?ml[ \t]*\n(?P<yaml>.*)^```", re.DOTALL | re.MULTILINE)


def schema(mode: Mode) -> dict[str, Any]:
    """The reply's JSON schema. `handover` comes first, and exists in subagent mode only."""
    properties: dict[str, Any] = {
        "remove": {"type": "array", "items": {"type": "string"}},
        "yaml": _NULLABLE,
        "text": {"type": "string"},
    }
    if mode == "subagent":
        properties = {"handover": _NULLABLE, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _as_list(given: Any) -> Any:
    """What a server that does not enforce the schema may write: nothing, or one key alone."""
    return [given] if isinstance(given, str) else given or []


class StructureReply(BaseModel):
    """A complete reply."""

    model_config = ConfigDict(extra="ignore")

    # A server that does not enforce the schema may write `false`, as `StreamedText` reads it too.
    handover: Annotated[str | None, BeforeValidator(lambda given: given or None)] = None
    remove: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    yaml: str | None = None
    text: Annotated[str, BeforeValidator(lambda text: "" if text is None else text)] = ""

    @property
    def goal(self) -> str | None:
        """Why the request is handed over; None when it is not."""
        return (self.handover or "").strip() or None


def read_reply(text: str) -> StructureReply:
    """The reply in `text`.

    A server that does not enforce the schema may fence the JSON, or answer with prose around a
    YAML fence: both are read. Raises `PatchRejected` for anything else.
    """
    try:
        return StructureReply.model_validate_json(unfenced(text))
    except ValidationError as error:
        fenced = _FENCED_YAML.search(text)
        if fenced:
            return StructureReply(yaml=fenced["yaml"], text=text[: fenced.start()].strip())
        first = error.errors(include_url=False, include_input=False)[0]
        raise PatchRejected(
            f"The reply is not the JSON object that was asked for: {first['msg']}."
        ) from None


class StreamedText:
    """A listener that shows `text` as it arrives, once nothing can withdraw it any more.

    `accept` is given the reply so far, its `text` aside, and says whether it can stand.
    """

    def __init__(self, visible: VisibleText, mode: Mode, accept: Callable[[StructureReply], bool]):
        self._visible = visible
        self._before_text = {"handover", "yaml"} if mode == "subagent" else {"yaml"}
        self._accept = accept
        self._begin()

    def _begin(self) -> None:
        self._buffer, self._parsed_at, self._sent = "", 0, 0
        self._open: bool | None = None

    def restart(self) -> None:
        self._begin()
        self._visible.restart()

    @property
    def shown(self) -> bool:
        """Whether the text is being shown: what is left of it must follow."""
        return bool(self._open)

    def piece(self, text: str) -> None:
        self._buffer += text
        # Parsing anew for each piece would be quadratic: wait for 2 % more, which nobody sees.
        if self._open is False or len(self._buffer) < self._parsed_at * 1.02:
            return
        self._parsed_at = len(self._buffer)
        try:
            fields = from_json(self._buffer, allow_partial="trailing-strings")
        except ValueError:
            return
        if isinstance(fields, dict) and isinstance(fields.get("text"), str):
            self._show(fields)

    def _show(self, fields: dict[str, Any]) -> None:
        if self._open is None:
            earlier = set(list(fields)[: list(fields).index("text")])
            if not self._before_text <= earlier or "remove" in set(fields) - earlier:
                self._open = False  # an unusual order: the whole is read at the end
                return
            try:
                reply = StructureReply.model_validate(fields)
            except ValidationError:
                self._open = False
                return
            self._open = reply.goal is None and self._accept(reply)
        if self._open:
            # Without the blanks around it, like the answer that `finish` will be given.
            text = fields["text"].strip()
            self._visible.piece(text[self._sent :])
            self._sent = len(text)

    def finish(self, text: str) -> None:
        """The reply stands: show what is left of `text`, which has no blanks around it."""
        self._visible.piece(text[self._sent :])
        self._visible.end()

"""Earlier turns as messages of a request."""

from __future__ import annotations

from collections.abc import Sequence

from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Message


def messages(history: Sequence[HistoryEntry], content: str) -> tuple[Message, ...]:
    """The history and this turn's request, alternating and starting with the user.

    Providers refuse blank turns, so they are left out; neighbours of one role become one message.
    """
    turns = [(t.role, t.content) for t in history if t.content.strip()]
    while turns and turns[0][0] != "user":
        turns.pop(0)
    joined: list[Message] = []
    for role, text in [*turns, ("user", content)]:
        if joined and joined[-1].role == role:
            joined[-1] = Message(role, f"{joined[-1].content}\n\n{text}")
        else:
            joined.append(Message(role, text))
    return tuple(joined)

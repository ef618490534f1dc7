"""Earlier turns as messages of a request."""

from __future__ import annotations

from collections.abc import Sequence

from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Message

#: Stands where providers want a user's turn and there was none. It puts no words into the user's
#: mouth, so that what the assistant said first, such as a question, stays the assistant's.
OPENING = "[No message from the user yet: the assistant speaks first.]"


def messages(history: Sequence[HistoryEntry], content: str) -> tuple[Message, ...]:
    """The history and this turn's request, alternating and starting with the user.

    Providers refuse blank turns, so they are left out; neighbours of one role become one message.
    """
    turns = [(t.role, t.content) for t in history if t.content.strip()]
    if turns and turns[0][0] == "assistant":
        turns.insert(0, ("user", OPENING))
    joined: list[Message] = []
    for role, text in [*turns, ("user", content)]:
        if joined and joined[-1].role == role:
            joined[-1] = Message(role, f"{joined[-1].content}\n\n{text}")
        else:
            joined.append(Message(role, text))
    return tuple(joined)

"""What stands on a screen after a turn's events, by the rules of the events alone."""

from __future__ import annotations

from collections.abc import Iterable

from global_chat.contract.events import Event, TextDelta, TextEnded, TextRestarted


def blocks_on(events: Iterable[Event]) -> list[str]:
    """The blocks of visible text. A restarted block is empty again; one without text is none."""
    blocks: list[str] = []
    current = ""
    for event in events:
        match event:
            case TextDelta(text=text):
                current += text
            case TextRestarted():
                current = ""
            case TextEnded():
                blocks.append(current)
                current = ""
    return [block for block in (*blocks, current) if block]


def screen(events: Iterable[Event]) -> str:
    """All visible text, blocks joined by a line."""
    return "\n".join(blocks_on(events))

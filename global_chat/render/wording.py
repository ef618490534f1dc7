"""The sentences that every renderer shares: failures, and the line that closes a turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import AgentName
from global_chat.contract.usage import Usage

from .safe_text import clean, one_line

#: What a person must know of an answer that no language model gave.
_BACKENDS = {
    "scripted": "scripted, no model was asked",
    "offline": "offline, answered by rules and not by a language model",
}

#: Stands where a piece of the answer was shown that no longer counts.
RESTARTED = "[connection lost; the answer starts again]"


def error_text(error: TurnError) -> str:
    """The failure for a person: its sentence, and a line for each hint that its details give."""
    lines = [f"Error ({error.type}): {clean(error.message)}"]
    if wait := error.details.get("retry_after"):
        lines.append(f"  The service asks to wait {wait:g} seconds before the next try.")
    if partial := error.details.get("partial_workflow"):
        lines.append(f"  The part of the work that was finished is in {one_line(str(partial))}.")
    return "\n".join(lines)


def warning_line(event: Warned) -> str:
    return f"Warning: {one_line(event.message)}"


class Closing:
    """Listens for who answered, what changed and what it cost, for the line at the end."""

    def __init__(self) -> None:
        self._backend = ""
        self._agents: list[AgentName] = []
        self._usage = Usage()
        self._changed = ""

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(backend=backend):
                self._backend = backend
            case AgentInvoked(agent=agent):
                self._agents.append(agent)
            case TurnEnded(response=response):
                self._agents, self._usage = response.meta.agents, response.usage
                self._changed = _changed(response.meta.changes)
            case TurnFailed(usage=usage):
                self._usage = usage

    def text(self, files: Sequence[Path], seconds: float) -> str:
        """`router → planner · 2 changes · 1,204 tokens in, 61 out · 3.2 s · wrote a.json`.

        Of a turn that failed it says nothing of changes: the error names what was kept.
        """
        parts = [
            _BACKENDS.get(self._backend, ""),
            _route(self._agents),
            self._changed,
            _tokens(self._usage),
            f"{seconds:.1f} s",
            _written(files),
        ]
        return " · ".join(filter(None, parts))


def _route(agents: Sequence[AgentName]) -> str:
    runs = ((name.replace("_", " "), len(list(group))) for name, group in groupby(agents))
    return " → ".join(f"{name} ×{count}" if count > 1 else name for name, count in runs)


def _changed(changes: Sequence[str]) -> str:
    if len(changes) == 1:
        return one_line(changes[0])
    return f"{len(changes)} changes" if changes else "nothing changed"


def _tokens(usage: Usage) -> str:
    cached = usage.cache_read_input_tokens
    total = usage.input_tokens + usage.cache_creation_input_tokens + cached
    if not total and not usage.output_tokens:
        return ""
    note = f" ({cached:,} cached)" if cached else ""
    return f"{total:,} tokens in{note}, {usage.output_tokens:,} out"


def _written(files: Sequence[Path]) -> str:
    return "wrote " + ", ".join(one_line(str(file)) for file in files) if files else ""

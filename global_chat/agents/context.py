"""What every agent is given: the turn that it works in, and the task."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from global_chat.contract.attachments import Attachment
from global_chat.contract.events import Emit, Event, TextDelta, TextEnded
from global_chat.contract.names import BackendName
from global_chat.contract.response import HistoryEntry
from global_chat.contract.settings import Settings
from global_chat.model.seam import Model
from global_chat.workflow.document import Workflow


class Knowledge(Protocol):
    """Documentation and the adaptor catalogue. Texts are ready to be shown to a model.

    The methods here are those of a knowledge with nothing in it.
    """

    def adaptor_lines(self) -> str:
        """The catalogue as short lines for the workflow agent; empty when there is none."""
        return ""

    def adaptor_versions(self) -> Mapping[str, Collection[str]]:
        """Known versions by package name; empty means that nothing is known."""
        return {}

    async def adaptor_docs(self, specifier: str, request: str) -> str:  # noqa: ARG002
        """What `specifier` (`@openfn/language-http@7.3.2`) offers, for the `<adaptor>` block."""
        return specifier

    async def search(self, query: str) -> str:  # noqa: ARG002
        """Passages that answer `query`, with titles and sources."""
        return "No documentation is indexed yet. Answer from what you know, and say so."

    def notes(self) -> tuple[str, ...]:
        """What the trace should say about the look-ups of this turn, such as docs not found."""
        return ()


class NoKnowledge(Knowledge):
    """A knowledge with nothing in it: it says so, and only names the adaptor in use."""


@dataclass(frozen=True, slots=True)
class Services:
    """What turns run on; the wiring chooses each of them."""

    model: Model
    settings: Settings = field(default_factory=Settings)
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    backend: BackendName = "anthropic"


@dataclass(frozen=True, slots=True)
class TurnContext:
    """One turn, as agents see it. `listener` receives its events; `calls` numbers model calls."""

    services: Services
    listener: Emit
    parent: str | None = None
    calls: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def knowledge(self) -> Knowledge:
        return self.services.knowledge

    def emit(self, event: Event) -> None:
        """Tell the listener of `event`, with the tool call that it happens under."""
        self.listener(replace(event, parent=self.parent) if self.parent else event)

    def under(self, tool_use_id: str) -> TurnContext:
        """The same turn, for what happens under one tool call of the planner."""
        return replace(self, parent=tool_use_id)


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is asked, and what it may read about it."""

    content: str
    workflow: Workflow
    page: str | None = None
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()


@dataclass(frozen=True, slots=True)
class Handover:
    """A subagent's way out: `goal` is what the user wants, for an agent that can do it."""

    goal: str


def show(emit: Emit, text: str) -> None:
    """Emit a complete block of visible text."""
    emit(TextDelta(text))
    emit(TextEnded())

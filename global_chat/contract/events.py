"""What happens in a turn, as values. One stream a turn: it starts once and ends once.

Agents emit these and know nothing of terminals, files or collectors; whoever listens draws,
counts or stores them. Every event carries its `parent`: the id of the planner's tool call under
which it happens, None when it belongs to the turn itself. Text that might still be withdrawn is
not emitted, with two exceptions: when a connection breaks after text was shown, and when a text too
long to announce a tool call does announce one. `TextRestarted` says that the same block begins
again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .errors import TurnError
from .names import AgentName, Destination, RouteReason, SubagentName, Usage
from .response import Response


@dataclass(frozen=True, slots=True)
class _Event:
    parent: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class TurnStarted(_Event):
    """The first event of a turn."""

    turn_id: str
    session_id: str | None = None
    user_id: str | None = None
    persona: str | None = None
    backend: str = "anthropic"


@dataclass(frozen=True, slots=True)
class Status(_Event):
    """What is happening now, in words for the user ("Editing the code of Fetch visits")."""

    text: str


@dataclass(frozen=True, slots=True)
class AgentInvoked(_Event):
    """An agent starts work. `step` is the display name of the step it works on, if any."""

    agent: AgentName
    step: str | None = None


@dataclass(frozen=True, slots=True)
class RouteDecided(_Event):
    """The router's decision, and where the turn is really sent."""

    destination: Destination
    confidence: int
    job_key: str | None
    sent_to: Destination
    reason: RouteReason = "decided"
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCallStarted(_Event):
    """A request leaves. `call` is unique in the turn."""

    call: int
    agent: AgentName
    model: str


@dataclass(frozen=True, slots=True)
class ModelCallEnded(_Event):
    """A request ended, well or not. Times are in milliseconds; usage counts a failed one too.

    `model` is None when rules answered in its place.
    """

    call: int
    agent: AgentName
    model: str | None
    milliseconds: float
    first_token_ms: float | None
    usage: Usage
    stop_reason: str | None
    attempt: int = 1
    error_type: str | None = None


@dataclass(frozen=True, slots=True)
class RetryPlanned(_Event):
    """A call failed with `error_type` and is made again after `wait_seconds`."""

    call: int
    agent: AgentName
    error_type: str
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class ToolCalled(_Event):
    """A model asked for a tool. `id` is the tool use's own."""

    id: str
    agent: AgentName
    tool: str
    input: dict[str, object]
    step: str | None = None


@dataclass(frozen=True, slots=True)
class ToolEnded(_Event):
    """The tool's result is known. `reason` says why it failed, when it did."""

    id: str
    agent: AgentName
    tool: str
    milliseconds: float
    failed: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HandedOver(_Event):
    """A subagent gave the request back; the user sees nothing of the attempt."""

    agent: SubagentName
    goal: str
    to_planner: bool = True
    """False inside the planner, where the goal becomes the tool's result."""


@dataclass(frozen=True, slots=True)
class Stitched(_Event):
    """New code was written into one step's body. Counts are lines."""

    step: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class WorkflowChanged(_Event):
    """The whole document after one more piece of work, to be kept should the turn go no further."""

    workflow_yaml: str


@dataclass(frozen=True, slots=True)
class Warned(_Event):
    """Something the user should know that does not stop the turn."""

    message: str


@dataclass(frozen=True, slots=True)
class Noted(_Event):
    """Something for the trace alone, such as documentation that could not be fetched."""

    message: str


@dataclass(frozen=True, slots=True)
class TextDelta(_Event):
    """A piece of visible answer text, in order."""

    text: str


@dataclass(frozen=True, slots=True)
class TextEnded(_Event):
    """The current block of visible text is complete; a later delta opens a new block."""


@dataclass(frozen=True, slots=True)
class TextRestarted(_Event):
    """The current block broke off and begins again from its first character."""


@dataclass(frozen=True, slots=True)
class StepDiff:
    """One step whose code changed."""

    key: str
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes(_Event):
    """What the turn changed. `summary` is one line a change, in workflow terms, and never empty.

    `workflow_yaml` is the document after it; None when a step's code came without one.
    """

    workflow_yaml: str | None
    steps: tuple[StepDiff, ...] = ()
    summary: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEnded(_Event):
    """The last event of a turn that was answered."""

    response: Response


@dataclass(frozen=True, slots=True)
class TurnFailed(_Event):
    """The last event of a turn that was not."""

    error: TurnError
    usage: Usage = field(default_factory=Usage)


Event = (
    TurnStarted
    | Status
    | AgentInvoked
    | RouteDecided
    | ModelCallStarted
    | ModelCallEnded
    | RetryPlanned
    | ToolCalled
    | ToolEnded
    | HandedOver
    | Stitched
    | WorkflowChanged
    | Warned
    | Noted
    | TextDelta
    | TextEnded
    | TextRestarted
    | Changes
    | TurnEnded
    | TurnFailed
)

#: Called with each event, in order, on the turn's own event loop. It must not block or raise.
Emit = Callable[[Event], None]

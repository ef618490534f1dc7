"""The router: one cheap call that says who should take the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from global_chat.contract.attachments import Attachment, block
from global_chat.contract.errors import OutputError
from global_chat.contract.events import AgentInvoked, Status
from global_chat.contract.names import DESTINATIONS, Destination
from global_chat.contract.response import HistoryEntry
from global_chat.model.seam import Message, ModelRequest, SystemPart
from global_chat.prompts.compose import attached_types, place, router_system
from global_chat.prompts.part import join
from global_chat.workflow.document import Workflow

from .asking import AgentContext, ask
from .fences import unfenced
from .outcome import Route

#: How many earlier turns the router reads, and how much of each, in characters: enough to know
#: what "do the same there" refers to.
RECENT_TURNS = 2
RECENT_CHARACTERS = 1_500

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "destination": {"type": "string", "enum": list(DESTINATIONS)},
        "confidence": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
        "job_key": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["destination", "confidence", "job_key"],
    "additionalProperties": False,
}


class _Decision(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    destination: Destination
    confidence: int = Field(ge=1, le=5)
    job_key: str | None = None


@dataclass(frozen=True, slots=True)
class RouterTask:
    """What the router is asked: to whom this request should go."""

    workflow: Workflow
    content: str
    page: str | None = None
    history: Sequence[HistoryEntry] = ()
    evidence: Sequence[Attachment] = ()


async def decide(context: AgentContext, task: RouterTask) -> Route:
    """Ask the router. A reply that cannot be used is a route to the planner with confidence 1.

    Raises a `TurnError` when the call itself fails: a wrong key or a rate limit is no guess.
    """
    context.emit(AgentInvoked("router"))
    context.emit(Status("Reading the request"))
    settings = context.settings.router
    request = ModelRequest(
        agent="router",
        model=settings.model,
        system=(SystemPart(router_system(), cached=True),),
        messages=(Message("user", _question(task)),),
        max_tokens=settings.max_tokens,
        output_schema=SCHEMA,
    )
    try:
        reply = await ask(context, request)
    except OutputError as error:
        return Route("planner", 1, problem=error.message)
    return read_decision(reply.text)


def read_decision(text: str) -> Route:
    """The decision in a reply's text, or the planner with confidence 1 and the reason."""
    try:
        decision = _Decision.model_validate_json(unfenced(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return Route("planner", 1, problem=f"{where}: {first['msg']}".removeprefix(": "))
    return Route(decision.destination, decision.confidence, decision.job_key)


def _question(task: RouterTask) -> str:
    """Everything that is particular to this turn; of the attachments only their types."""
    parts = [place(task.page, task.workflow.outline())]
    recent = [f"{t.role}: {_shortened(t.content)}" for t in task.history[-RECENT_TURNS:]]
    if recent:
        parts.append(block("recent_turns", "\n".join(recent)))
    return join(
        *parts, attached_types([a.type for a in task.evidence]), block("request", task.content)
    )


def _shortened(text: str) -> str:
    if len(text) <= RECENT_CHARACTERS:
        return text
    return text[:RECENT_CHARACTERS] + " […]"

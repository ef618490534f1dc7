"""The router: one cheap call that says who should take the request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from global_chat.contract.attachments import block
from global_chat.contract.errors import OutputError
from global_chat.contract.events import AgentInvoked, Status
from global_chat.contract.names import DESTINATIONS, Destination
from global_chat.contract.texts import shortened, without_fence
from global_chat.model.seam import Message, ModelRequest, SystemPart
from global_chat.prompts.compose import attached_types, join, place, router_system

from .context import Task, TurnContext
from .model_calls import ask

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
class Route:
    """The router's decision. `problem` says why a reply could not be used, if so."""

    destination: Destination
    confidence: int
    job_key: str | None = None
    problem: str | None = None


async def decide(context: TurnContext, task: Task) -> Route:
    """The router's decision. A reply that cannot be used means the planner, with confidence 1.

    Raises a `TurnError` when the call itself fails: a wrong key or a rate limit is an error.
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
        decision = _Decision.model_validate_json(without_fence(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return Route("planner", 1, problem=f"{where}: {first['msg']}".removeprefix(": "))
    return Route(decision.destination, decision.confidence, decision.job_key)


def _question(task: Task) -> str:
    """Everything that is particular to this turn; of the attachments only their types."""
    parts = [place(task.page, task.workflow.outline())]
    recent = [
        f"{turn.role}: {shortened(turn.content, RECENT_CHARACTERS, ' […]')}"
        for turn in task.history[-RECENT_TURNS:]
    ]
    if recent:
        parts.append(block("recent_turns", "\n".join(recent)))
    return join(
        *parts, attached_types([a.type for a in task.evidence]), block("request", task.content)
    )

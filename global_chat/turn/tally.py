"""What a turn has come to so far, gathered from its events and nowhere else."""

from __future__ import annotations

from global_chat.contract.events import (
    AgentInvoked,
    Changes,
    Event,
    ModelCallEnded,
    RouteDecided,
    Warned,
    WorkflowChanged,
)
from global_chat.contract.names import AgentName
from global_chat.contract.usage import Usage


class Tally:
    """A listener that adds up."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.agents: list[AgentName] = []
        self.confidence: int | None = None
        self.changes: list[str] = []
        self.warnings: list[str] = []
        #: The document with the work that is done, None when there is none yet.
        self.workflow_yaml: str | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case AgentInvoked(agent=agent):
                self.agents.append(agent)
            case ModelCallEnded(usage=usage):
                self.usage += usage
            case RouteDecided(confidence=confidence):
                self.confidence = confidence
            case WorkflowChanged(workflow_yaml=workflow_yaml):
                self.workflow_yaml = workflow_yaml
            case Changes(summary=summary):
                self.changes += summary
            case Warned(message=message):
                self.warnings.append(message)

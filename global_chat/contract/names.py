"""The names that payloads, responses, traces and scripts use for agents, and token counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

AgentName = Literal["router", "workflow_agent", "job_code_agent", "planner"]
SubagentName = Literal["workflow_agent", "job_code_agent"]
Destination = Literal["workflow_agent", "job_code_agent", "planner"]
RouteReason = Literal["decided", "low_confidence", "unresolved_step", "unusable_reply"]
"""Why a turn is sent where it is sent."""
BackendName = Literal["anthropic", "scripted", "offline"]
#: What a reply calls its model when rules gave it.
NO_MODEL = "offline"
"""The implementation behind the model seam."""

AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
DESTINATIONS: tuple[Destination, ...] = get_args(Destination)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one model call, or the sum over several. Units: tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counts under the Messages API's names."""
        return asdict(self)

    def __add__(self, other: Usage) -> Usage:
        counts = other.as_dict()
        return Usage(**{name: count + counts[name] for name, count in self.as_dict().items()})

"""The names that payloads, responses, traces and scripts use for agents."""

from __future__ import annotations

from typing import Literal, get_args

AgentName = Literal["router", "workflow_agent", "job_code_agent", "planner"]
SubagentName = Literal["workflow_agent", "job_code_agent"]
Destination = Literal["workflow_agent", "job_code_agent", "planner"]
RouteReason = Literal["decided", "low_confidence", "unresolved_step", "unusable_reply"]
"""Why a turn is sent where it is sent."""
BackendName = Literal["anthropic", "scripted", "offline"]
"""What stands behind the model seam."""

AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
DESTINATIONS: tuple[Destination, ...] = get_args(Destination)

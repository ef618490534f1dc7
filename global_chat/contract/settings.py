"""What can be configured, with its defaults. The wiring reads it from a TOML file (`--config`)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .names import AgentName


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AgentSettings(_Settings):
    """One agent's model. `max_tokens` bounds a reply, in tokens."""

    model: str
    max_tokens: int = Field(gt=0)


class RouterSettings(AgentSettings):
    """The router's model; with `backend` offline the embedded one decides in front of live agents.

    A direct route with a confidence below `least_confidence` goes to the planner instead, which can
    look before it acts. `threshold` is the chance of being right, 0 to 1, below which the embedded
    router asks the live model after all.
    """

    least_confidence: int = Field(default=3, ge=1, le=5)
    backend: Literal["anthropic", "offline"] = "anthropic"
    threshold: float = Field(default=0.8, ge=0, le=1)


class RetrySettings(_Settings):
    """How often a failed model call is tried, and how long the pauses between are, in seconds."""

    attempts: int = Field(default=3, ge=1)
    first_wait: float = Field(default=0.5, ge=0)
    longest_wait: float = Field(default=8.0, ge=0)


class PlannerSettings(_Settings):
    """`max_tool_calls` bounds the tool calls of one turn; then the planner must answer."""

    max_tool_calls: int = Field(default=10, ge=1)


class Settings(_Settings):
    """All settings. A small model routes, a middle one edits, a large one plans."""

    router: RouterSettings = RouterSettings(model="claude-haiku-5-5", max_tokens=256)
    workflow_agent: AgentSettings = AgentSettings(model="claude-sonnet-5-5", max_tokens=32_000)
    job_code_agent: AgentSettings = AgentSettings(model="claude-sonnet-5-5", max_tokens=32_000)
    planner: AgentSettings = AgentSettings(model="claude-opus-5-5", max_tokens=16_000)
    planning: PlannerSettings = PlannerSettings()
    retry: RetrySettings = RetrySettings()
    prices: dict[str, dict[str, float]] = {}
    """US dollars for a million tokens by the beginning of a model's id, as in `model/prices.toml`:
    `input`, `output`, `cache_write`, `cache_read`."""
    timeout_seconds: float = Field(default=600.0, gt=0)
    """Bounds each model call: its first byte, the silence between bytes, and the whole."""

    def of(self, agent: AgentName) -> AgentSettings:
        """The settings of one agent."""
        settings: AgentSettings = getattr(self, agent)
        return settings

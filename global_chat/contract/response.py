"""What a turn gives back: the response JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .names import AgentName, Usage


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Artifact(_Part):
    """What the turn made, present only when it changed something.

    A turn gives the whole `workflow_yaml`; the job code agent addressed directly, the `job_code`.
    """

    type: Literal["workflow_yaml", "job_code"] = "workflow_yaml"
    content: str


class HistoryEntry(_Part):
    role: Literal["user", "assistant"]
    content: str


class ResponseMeta(_Part):
    """Who answered, and what came of it. Keys that do not apply are left out of the JSON.

    `changes` is one line a change, `[]` when nothing changed. `warnings` are those of the events.
    """

    agents: list[AgentName] = []
    changes: list[str] = []
    warnings: list[str] = []
    router_confidence: int | None = Field(default=None, ge=1, le=5)
    planner_iterations: int | None = None
    total_tool_calls: int | None = None
    limit_reached: Literal["max_tool_calls"] | None = None
    backend: Literal["scripted", "offline"] | None = None
    """Set when no language model gave the answer."""


class Response(_Part):
    """The answer of one turn. `response` is Markdown text, never blank."""

    response: str
    attachments: list[Artifact] = []
    history: list[HistoryEntry]
    usage: Usage = Usage()
    meta: ResponseMeta = Field(default_factory=ResponseMeta)

    def as_json(self) -> str:
        """Strict JSON, two-space indent, characters as they are, absent meta keys left out."""
        return self.model_dump_json(indent=2, exclude_none=True, ensure_ascii=False)

    @property
    def workflow_yaml(self) -> str | None:
        """The updated workflow, or None when it did not change."""
        return next((a.content for a in self.attachments if a.type == "workflow_yaml"), None)

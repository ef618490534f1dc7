"""The result of one case, small enough to keep thousands of, and the evidence of a failure."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from global_chat.contract.errors import (
    AuthError,
    ConnectionFailed,
    Forbidden,
    NotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    TimedOut,
)
from global_chat.contract.names import AgentName, Destination, SubagentName, Usage
from global_chat.contract.texts import replace_lone_surrogates_in

#: How a turn fails that no model has answered.
_UNANSWERED = frozenset(
    kind.type
    for kind in (
        *(AuthError, Forbidden, NotFound),
        *(RateLimited, ConnectionFailed, TimedOut, Overloaded, ProviderError),
    )
)

#: `stopped` is a case that was not run to its end, because the budget was spent.
Status = Literal["passed", "failed", "crashed", "stopped"]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _can_be_written(cls, data: Any) -> Any:
        """Half of a surrogate pair may come from a payload, and no report could hold it."""
        return replace_lone_surrogates_in(data)


class Spent(_Entry):
    """Tokens of one agent with one model. `cost` is in US dollars, None without a price."""

    agent: AgentName
    model: str
    usage: Usage
    cost: float | None = None


class Said(_Entry):
    """One line of a conversation, for people."""

    who: str
    text: str


class Evidence(_Entry):
    """Why somebody would believe a failure: who said what, and what became of the workflow."""

    conversation: tuple[Said, ...] = ()
    workflow_diff: tuple[str, ...] = ()


class Result(_Entry):
    """One case that was run. `number` counts the repetitions of a case from 1."""

    case: str
    title: str
    status: Status
    number: int = 1
    fingerprint: str = ""
    scripted: bool = True
    differences: tuple[str, ...] = ()
    expected: Destination | None = None
    taken: Destination | None = None
    right: bool | None = None
    """Whether the router's decision was right, the step included; None without a label."""
    step: str | None = None
    confidence: int | None = None
    agents: tuple[AgentName, ...] = ()
    handover: SubagentName | None = None
    error: str | None = None
    kind: str | None = None
    spent: tuple[Spent, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.status in ("failed", "crashed")

    @property
    def stands(self) -> bool:
        """Whether it tells of its case, so that a resumed run need not do it again.

        A live turn that ended because of the key, the network or the service does not.
        """
        unanswered = not self.scripted and self.error in _UNANSWERED
        return self.status != "stopped" and not unanswered

    @property
    def cost(self) -> float | None:
        """US dollars; None when the price of any model that was asked is not known."""
        costs = [s.cost for s in self.spent]
        return None if not costs or None in costs else sum(c for c in costs if c is not None)

    @property
    def way(self) -> str:
        """`router → job_code_agent ⇢ planner`: who was asked; a broken arrow is a handover."""
        text, handed_over = "", False
        for agent, calls in groupby(self.agents):
            arrow = " → "
            if self.handover and agent == "planner" and not handed_over:
                arrow, handed_over = " ⇢ ", True
            count = len(list(calls))
            text += f"{arrow if text else ''}{agent}{f' ×{count}' if count > 1 else ''}"
        return text or (self.error or "nobody was asked")

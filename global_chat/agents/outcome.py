"""What an agent can come back with. Outcomes are types: only a subagent can hand over."""

from __future__ import annotations

from dataclasses import dataclass

from global_chat.contract.names import Destination
from global_chat.workflow.document import Workflow


@dataclass(frozen=True, slots=True)
class Route:
    """The router's decision. `problem` says why a reply could not be used, if so."""

    destination: Destination
    confidence: int
    job_key: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """The job code agent's answer. `code` is the step's new code, None when it stays."""

    text: str
    code: str | None = None
    failure: str | None = None
    """Why a change that the model wanted was not made, in terms that are for models only."""


@dataclass(frozen=True, slots=True)
class StructureAnswer:
    """The workflow agent's answer. `workflow` is the document as it now stands, changed or not;
    `changes` says what is different, `warnings` what the user should know, one line each."""

    text: str
    workflow: Workflow
    changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Handover:
    """A subagent's way out: `goal` is what the user wants, for someone who can do it."""

    goal: str

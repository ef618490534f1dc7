"""What an agent can come back with. Outcomes are types: only a subagent can hand over."""

from __future__ import annotations

from dataclasses import dataclass

from global_chat.contract.names import Destination
from global_chat.workflow.merging.merge import Merge


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
    """Why a change that the model wanted was not made."""


@dataclass(frozen=True, slots=True)
class StructureAnswer:
    """The workflow agent's answer. `merge` is what its YAML came to, None when it gave none.

    A merge may leave the document as it was: its YAML only repeated it.
    """

    text: str
    merge: Merge | None = None


@dataclass(frozen=True, slots=True)
class Handover:
    """A subagent's way out: `goal` is what the user wants, for someone who can do it."""

    goal: str

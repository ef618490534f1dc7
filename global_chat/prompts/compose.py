"""What each agent is told in each mode, composed from parts.

A part is a text file in `parts/`, with holes written `{{name}}` that its user must fill exactly.
*Subagent* mode is for agents called in a turn (by the router or the planner), *direct* mode for
agents that a user addresses. Both compositions are pinned by snapshots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Literal

from global_chat.contract.attachments import block, inline, listed

Mode = Literal["subagent", "direct"]

_HOLE = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(Exception):
    """A part and the code that uses it disagree about its holes."""


class Part:
    """A file of `parts/`, checked against the holes that its user knows when it is made."""

    def __init__(self, name: str, *holes: str) -> None:
        """Read `parts/<name>.md`. Raises `PromptError` unless its holes are exactly `holes`."""
        self.name = name
        self._text = (files(__package__) / "parts" / f"{name}.md").read_text("utf-8").strip()
        found = set(_HOLE.findall(self._text))
        if found != set(holes):
            raise PromptError(f"Part {name!r} has the holes {sorted(found)}, not {sorted(holes)}.")
        self._holes = found

    def fill(self, **values: str) -> str:
        """The text with every hole filled in one pass, so that braces in a value stay as they are.

        Raises `PromptError` when a value is missing or has no hole.
        """
        if set(values) != self._holes:
            raise PromptError(f"Part {self.name!r} takes {sorted(self._holes)}.")
        return _HOLE.sub(lambda match: values[match[1]], self._text)


def join(*texts: str) -> str:
    """Parts as one prompt: a blank line between them, empty ones left out."""
    return "\n\n".join(text for text in texts if text)


_VOICE = Part("voice")
_OPENFN = Part("openfn")
_EVIDENCE = Part("evidence")

_ROUTER = Part("router")

_WORKFLOW_ROLE = Part("workflow_role")
_WORKFLOW_REPLY = Part("workflow_reply")
_WORKFLOW_SCOPE = {
    "subagent": Part("workflow_scope_subagent"),
    "direct": Part("workflow_scope_direct"),
}
_WORKFLOW_ADAPTORS = Part("workflow_adaptors", "adaptors")
_WORKFLOW_NEW = Part("workflow_new")
_WORKFLOW_READ_ONLY = Part("workflow_read_only")
_WORKFLOW_ERRORS = Part("workflow_errors")
_WORKFLOW_CORRECTION = Part("workflow_correction", "problems")

_JOB_ROLE = Part("job_role")
_JOB_SCOPE = {
    "subagent": Part("job_scope_subagent"),
    "direct": Part("job_scope_direct"),
}
_JOB_CORRECTION = Part("job_correction", "problem")

_JOB_FINDINGS = Part("job_findings", "findings")

_PLANNER = Part("planner")
_PLANNER_FINDING = Part("planner_finding")


def router_system() -> str:
    """The router's whole system prompt."""
    return _ROUTER.fill()


def workflow_system(mode: Mode, adaptors: str) -> str:
    """The workflow agent's static part. `adaptors` is the catalogue as short lines, or empty."""
    return join(
        _WORKFLOW_ROLE.fill(),
        _OPENFN.fill(),
        _WORKFLOW_REPLY.fill(),
        _WORKFLOW_SCOPE[mode].fill(),
        _VOICE.fill(),
        _WORKFLOW_ADAPTORS.fill(adaptors=adaptors) if adaptors else "",
    )


def workflow_context(
    draft: str, *, evidence: str, read_only: bool, errors: str, page: str | None = None
) -> str:
    """What is particular to this call; evidence comes last, and only when there is any."""
    return join(
        block("existing_workflow", draft) if draft else _WORKFLOW_NEW.fill(),
        block("page", page) if page else "",
        _WORKFLOW_READ_ONLY.fill() if read_only else "",
        join(_WORKFLOW_ERRORS.fill(), block("errors", errors)) if errors else "",
        join(_EVIDENCE.fill(), evidence) if evidence else "",
    )


def workflow_correction(problems: Iterable[str]) -> str:
    """The message that answers a workflow which cannot be used; `problems` are sentences."""
    return _WORKFLOW_CORRECTION.fill(problems=listed(problems))


def job_system(mode: Mode) -> str:
    """The job code agent's static part."""
    return join(_JOB_ROLE.fill(), _JOB_SCOPE[mode].fill(), _VOICE.fill())


def job_context(
    *, outline: str, step: str, adaptor: str, documentation: str, code: str, evidence: str
) -> tuple[str, str, str]:
    """What a job code call is about: evidence, adaptor, and then what fits this call alone.

    Calls of one turn share the evidence and turns about one step the adaptor, so these come first:
    a provider caches beginnings. `outline` is empty in direct mode.
    """
    structure = f"{outline}\n\nFocused step: {inline(step)}" if outline else ""
    return (
        join(_EVIDENCE.fill(), evidence) if evidence else "",
        block("adaptor", adaptor) if adaptor else "",
        join(
            block("workflow_structure", structure) if structure else "",
            block("documentation", documentation) if documentation else "",
            block("user_code", code),
        ),
    )


def job_correction(problem: str) -> str:
    """The result of an `edit_job` that could not be applied; `problem` is a sentence."""
    return _JOB_CORRECTION.fill(problem=inline(problem))


def job_findings(findings: Iterable[str]) -> str:
    """The result of an `edit_job` that was applied and brought `findings`, sentences."""
    return _JOB_FINDINGS.fill(findings=listed(findings))


def planner_system() -> str:
    """The planner's static part."""
    return join(_PLANNER.fill(), _VOICE.fill())


def planner_context(
    page: str | None, outline: str, evidence: str, attached: Sequence[str], finding: str = ""
) -> str:
    """`attached` are the types behind `evidence`: its blocks do not all say theirs.

    `finding` is what an agent found who was asked first. A model wrote it, so it has a block.
    """
    return join(
        place(page, outline),
        join(_PLANNER_FINDING.fill(), block("finding", finding)) if finding else "",
        join(_EVIDENCE.fill(), evidence) if evidence else "",
        attached_types(attached),
    )


def attached_types(types: Sequence[str]) -> str:
    """The types of the attachments of this turn, for those who decide what to do with them."""
    return block("attached", json.dumps(types, ensure_ascii=False)) if types else ""


def place(page: str | None, outline: str) -> str:
    """Where the user is and what the workflow looks like, for router and planner."""
    return join(block("page", page or "(none)"), block("workflow", outline or "(none yet)"))

"""What each agent is told in each mode, composed from parts.

*Subagent mode* is for agents called in a turn (by the router or the planner); *production mode*
for agents that a user addresses directly. Both compositions are pinned by snapshots.
"""

from __future__ import annotations

from typing import Literal

from .part import Part, join

Mode = Literal["subagent", "production"]

_VOICE = Part("voice")
_OPENFN = Part("openfn")
_EVIDENCE = Part("job_evidence")

_ROUTER = Part("router")
_ROUTER_CONTEXT = Part("router_context", "page", "outline")

_WORKFLOW_ROLE = Part("workflow_role")
_WORKFLOW_REPLY = Part("workflow_reply")
_WORKFLOW_SCOPE = {
    "subagent": Part("workflow_scope_subagent"),
    "production": Part("workflow_scope_production"),
}
_WORKFLOW_ADAPTORS = Part("workflow_adaptors", "adaptors")
_WORKFLOW_CONTEXT = Part("workflow_context", "draft")
_WORKFLOW_NEW = Part("workflow_new")
_WORKFLOW_READ_ONLY = Part("workflow_read_only")
_WORKFLOW_ERRORS = Part("workflow_errors", "errors")
_WORKFLOW_CORRECTION = Part("workflow_correction", "problems")

_JOB_ROLE = Part("job_role")
_JOB_SCOPE = {
    "subagent": Part("job_scope_subagent"),
    "production": Part("job_scope_production"),
}
_JOB_STRUCTURE = Part("job_structure", "outline", "step")
_JOB_CONTEXT = Part("job_context", "structure", "adaptor", "code")
_JOB_CORRECTION = Part("job_correction", "problem")

_PLANNER = Part("planner")
_PLANNER_CONTEXT = Part("planner_context", "page", "outline")

_NO_WORKFLOW = "(no workflow yet)"


def router_system() -> str:
    return _ROUTER.fill()


def router_context(page: str | None, outline: str) -> str:
    return _ROUTER_CONTEXT.fill(page=page or "(none)", outline=outline or _NO_WORKFLOW)


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


def workflow_context(draft: str, *, evidence: str, read_only: bool, errors: str) -> str:
    """What is particular to this call; evidence comes last, and only when there is any."""
    return join(
        _WORKFLOW_CONTEXT.fill(draft=draft) if draft else _WORKFLOW_NEW.fill(),
        _WORKFLOW_READ_ONLY.fill() if read_only else "",
        _WORKFLOW_ERRORS.fill(errors=errors) if errors else "",
        join(_EVIDENCE.fill(), evidence) if evidence else "",
    )


def workflow_correction(problems: str) -> str:
    return _WORKFLOW_CORRECTION.fill(problems=problems)


def job_system(mode: Mode) -> str:
    return join(_JOB_ROLE.fill(), _JOB_SCOPE[mode].fill(), _VOICE.fill())


def job_structure(outline: str, step: str) -> str:
    return _JOB_STRUCTURE.fill(outline=outline, step=step)


def job_context(*, structure: str, adaptor: str, code: str, evidence: str) -> str:
    """The step that a job code call is about; `structure` is empty in production mode."""
    context = _JOB_CONTEXT.fill(structure=structure, adaptor=adaptor, code=code).strip()
    return join(context, join(_EVIDENCE.fill(), evidence) if evidence else "")


def job_correction(problem: str) -> str:
    return _JOB_CORRECTION.fill(problem=problem)


def planner_system() -> str:
    return join(_PLANNER.fill(), _VOICE.fill())


def planner_context(page: str | None, outline: str, evidence: str) -> str:
    context = _PLANNER_CONTEXT.fill(page=page or "(none)", outline=outline or _NO_WORKFLOW)
    return join(context, evidence)

"""The agents' tools: their schemas, how their inputs are read, and their results.

A new tool is a `Tool` here, in the list of its agent, and a case where the agent carries it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
)

from global_chat.contract.attachments import block, inline
from global_chat.model.seam import RAW_INPUT, Block, Tool
from global_chat.prompts.compose import Mode
from global_chat.workflow.code_edits import CodeEdit
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Step


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these properties, all of them required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_ATTACHMENTS = {
    **_TEXTS,
    "description": "Types from <attached> to pass on in full; [] for none.",
}

# --- the job code agent's tools

EDIT_JOB = Tool(
    name="edit_job",
    description=(
        "Change the focused step's code. Edits apply in order, each to the result of the one "
        "before. replace: old_code, which occurs exactly once, becomes new_code. rewrite: new_code "
        "is the whole code, old_code null."
    ),
    input_schema=_object(
        code_edits={
            "type": "array",
            "items": _object(
                action={"type": "string", "enum": ["replace", "rewrite"]},
                old_code={"anyOf": [_TEXT, {"type": "null"}]},
                new_code=_TEXT,
            ),
        }
    ),
    strict=True,
)

INSPECT_JOB_CODE = Tool(
    name="inspect_job_code",
    description="Read the current code of steps, by key. Nothing is changed.",
    input_schema=_object(job_keys=_TEXTS),
)

EDIT_WORKFLOW = Tool(
    name="edit_workflow",
    description=(
        "Work on the workflow as a whole: other steps' code, several steps, structure. "
        "goal is everything the user wants, in one or two sentences."
    ),
    input_schema=_object(goal=_TEXT),
)

#: `edit_workflow`, and the name that older recordings call it by.
HANDOVER_TOOLS = frozenset({EDIT_WORKFLOW.name, "inspect_workflow"})

SEARCH_DOCUMENTATION = Tool(
    name="search_documentation",
    description="Search the OpenFn documentation.",
    input_schema=_object(query=_TEXT),
)

JOB_TOOLS: dict[Mode, tuple[Tool, ...]] = {
    "subagent": (EDIT_JOB, SEARCH_DOCUMENTATION, INSPECT_JOB_CODE, EDIT_WORKFLOW),
    "direct": (EDIT_JOB, SEARCH_DOCUMENTATION),
}

# --- the planner's tools

CALL_WORKFLOW_AGENT = Tool(
    name="call_workflow_agent",
    description="Create or change the workflow's structure, without code. Returns what was done.",
    input_schema=_object(
        message={**_TEXT, "description": "What to change, complete in itself."},
        attachments=_ATTACHMENTS,
    ),
)

CALL_JOB_CODE_AGENT = Tool(
    name="call_job_code_agent",
    description=(
        "Write, change or explain the code of one existing step. Calls of one round run side by "
        "side."
    ),
    input_schema=_object(
        job_key={**_TEXT, "description": "The step's key."},
        message={**_TEXT, "description": "What to do in this step, complete in itself."},
        attachments=_ATTACHMENTS,
    ),
)

PLANNER_TOOLS = (CALL_WORKFLOW_AGENT, CALL_JOB_CODE_AGENT, SEARCH_DOCUMENTATION, INSPECT_JOB_CODE)

# --- inputs

M = TypeVar("M", bound=BaseModel)

#: Providers refuse a message of blanks, so such a call is refused before it is sent.
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ToolInputError(Exception):
    """A tool's input cannot be used; the message tells the model what was expected."""


class _ToolInput(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Edit(_ToolInput):
    action: Literal["replace", "rewrite"]
    old_code: str | None = None
    new_code: str


class _EditJob(_ToolInput):
    code_edits: list[_Edit] = Field(min_length=1)


class InspectCall(_ToolInput):
    job_keys: list[str] = Field(validation_alias=AliasChoices("job_keys", "job_key"), min_length=1)

    @field_validator("job_keys", mode="before")
    @classmethod
    def _one_key(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class WorkflowCall(_ToolInput):
    """Input of `call_workflow_agent`. Naming no attachments passes none on.

    Models also write one name without a list, and null for none; both are accepted.
    """

    message: Words
    attachments: list[str] = []

    @field_validator("attachments", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [value.strip()] if value.strip() else []
        return [] if value is None else value


class CodeCall(WorkflowCall):
    """Input of `call_job_code_agent`."""

    job_key: str = Field(validation_alias=AliasChoices("job_key", "job"))


class SearchCall(_ToolInput):
    """Input of `search_documentation`."""

    query: Words


def read_input(model: type[M], use: Block) -> M:
    """The input of a tool use. Raises `ToolInputError`; an input that was cut off is never read."""
    if RAW_INPUT in use:
        raise ToolInputError(f"{use['name']}: the input is not complete JSON. Send it again.")
    try:
        return model.model_validate(use.get("input"))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'input'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise ToolInputError(f"{use['name']}: {faults}.") from None


def code_edits(use: Block) -> tuple[CodeEdit, ...]:
    """The edits of an `edit_job` use. Raises `ToolInputError`."""
    given = read_input(_EditJob, use).code_edits
    return tuple(CodeEdit(e.action, e.old_code, e.new_code) for e in given)


def goal_of(use: Block) -> str | None:
    """The goal of a handover tool use, when it gives one."""
    given = tool_input(use)
    goal = given.get("goal") or given.get("reason") or given.get("message")
    return goal.strip() if isinstance(goal, str) and goal.strip() else None


# --- results


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A tool's result: text for the model, and whether it failed."""

    text: str
    failed: bool = False


def tool_input(use: Block) -> dict[str, Any]:
    """The input of a tool use; empty when it is not the object that it should be."""
    given = use.get("input")
    return given if isinstance(given, dict) else {}


def results(uses: Sequence[Block], outcomes: Sequence[ToolOutcome]) -> tuple[Block, ...]:
    """One `tool_result` for each `tool_use`, in order. Providers refuse an empty text."""
    return tuple(
        {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": outcome.text if outcome.text.strip() else "(nothing)",
            **({"is_error": True} if outcome.failed else {}),
        }
        for use, outcome in zip(uses, outcomes, strict=True)
    )


def unknown_step(name: str, workflow: Workflow) -> str:
    """The reply to a name that fits no step, with the keys that a model can choose from."""
    keys = ", ".join(inline(step.key) for step in workflow.steps)
    known = f"The steps are: {keys}." if keys else "The workflow has no steps yet."
    return f"No step is called {inline(name)!r}. {known}"


def inspect(workflow: Workflow, names: Sequence[str]) -> ToolOutcome:
    """The code of the named steps, for a model; failed when none was found."""
    found = {name: workflow.find_step(name) for name in dict.fromkeys(names)}
    texts = [_shown(step) if step else unknown_step(name, workflow) for name, step in found.items()]
    return ToolOutcome("\n\n".join(texts), failed=not any(found.values()))


def _shown(step: Step) -> str:
    key = inline(step.key)
    if step.code_path:
        return f"The code of {key} is kept in the file {inline(step.code_path)}, which is not here."
    if step.code is None or not step.code.strip():
        return f"{key} has no code yet."
    adaptor = f" ({inline(step.adaptor)})" if step.adaptor else ""
    return f"Code of {key}{adaptor}:\n{block('code', step.code)}"

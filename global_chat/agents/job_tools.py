"""The tools of the job code agent, as schemas and as the values that their inputs hold."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from global_chat.model.seam import Block, Tool
from global_chat.prompts.compose import Mode
from global_chat.workflow.code_edits import CodeEdit

from .tool_results import tool_input

EDIT_JOB = Tool(
    name="edit_job",
    description=(
        "Change the code of the focused step. Edits apply in order, each to the result of the one "
        "before. replace: old_code, which must occur exactly once, becomes new_code. rewrite: "
        "new_code becomes the whole code; old_code is null."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "code_edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "action": {"type": "string", "enum": ["replace", "rewrite"]},
                        "old_code": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                        "new_code": {"type": "string"},
                    },
                    "required": ["action", "old_code", "new_code"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["code_edits"],
        "additionalProperties": False,
    },
    strict=True,
)

INSPECT_JOB_CODE = Tool(
    name="inspect_job_code",
    description="Read the current code of steps, by key. Nothing is changed.",
    input_schema={
        "type": "object",
        "properties": {"job_keys": {"type": "array", "items": {"type": "string"}}},
        "required": ["job_keys"],
        "additionalProperties": False,
    },
)

EDIT_WORKFLOW = Tool(
    name="edit_workflow",
    description=(
        "Work on the workflow as a whole: other steps' code, several steps, structure. "
        "goal is everything the user wants, in one or two sentences."
    ),
    input_schema={
        "type": "object",
        "properties": {"goal": {"type": "string"}},
        "required": ["goal"],
        "additionalProperties": False,
    },
)

#: `edit_workflow`, and the name that older recordings call it by.
HANDOVER_TOOLS = frozenset({EDIT_WORKFLOW.name, "inspect_workflow"})

TOOLS: dict[Mode, tuple[Tool, ...]] = {
    "subagent": (EDIT_JOB, INSPECT_JOB_CODE, EDIT_WORKFLOW),
    "production": (EDIT_JOB,),
}


M = TypeVar("M", bound=BaseModel)


class ToolInputError(Exception):
    """A tool's input cannot be used; the message tells the model what was expected."""


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Edit(_Input):
    action: Literal["replace", "rewrite"]
    old_code: str | None = None
    new_code: str


class _EditJob(_Input):
    code_edits: list[_Edit] = Field(min_length=1)


class InspectInput(_Input):
    job_keys: list[str] = Field(validation_alias=AliasChoices("job_keys", "job_key"), min_length=1)

    @field_validator("job_keys", mode="before")
    @classmethod
    def _one_key(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def read_input(model: type[M], use: Block) -> M:
    """The input of a tool use. Raises `ToolInputError`; an input that was cut off is never read."""
    if "_raw_input" in use:
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

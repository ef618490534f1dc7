"""The planner's tools, as schemas and as the values that their inputs hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from global_chat.model.seam import Tool

from .job_tools import INSPECT_JOB_CODE

_ATTACHMENTS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Types from <attached> to pass on in full; [] for none.",
}


def _tool(name: str, description: str, **properties: dict[str, Any]) -> Tool:
    return Tool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    )


CALL_WORKFLOW_AGENT = _tool(
    "call_workflow_agent",
    "Create or change the workflow's structure, without code. Returns what was done.",
    message={"type": "string", "description": "What to change, complete in itself."},
    attachments=_ATTACHMENTS,
)

CALL_JOB_CODE_AGENT = _tool(
    "call_job_code_agent",
    "Write, change or explain the code of one existing step. Calls of one round run side by side.",
    job_key={"type": "string", "description": "The step's key."},
    message={"type": "string", "description": "What to do in this step, complete in itself."},
    attachments=_ATTACHMENTS,
)

SEARCH_DOCUMENTATION = _tool(
    "search_documentation",
    "Search the OpenFn documentation.",
    query={"type": "string"},
)

TOOLS = (CALL_WORKFLOW_AGENT, CALL_JOB_CODE_AGENT, SEARCH_DOCUMENTATION, INSPECT_JOB_CODE)


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore")


#: Providers refuse a message of blanks, so the planner hears of one before it is sent.
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class WorkflowCall(_Input):
    """Input of `call_workflow_agent`. Naming no attachments passes none on.

    Models also write one name bare, and null for none; the reading takes both as they are meant.
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


class SearchCall(_Input):
    """Input of `search_documentation`."""

    query: Words

"""Tools and output schemas as they go over the wire, and how their inputs are read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from global_chat.agents import router, tools
from global_chat.agents.tools import (
    CodeCall,
    InspectCall,
    SearchCall,
    ToolInputError,
    WorkflowCall,
    code_edits,
    goal_of,
    read_input,
)
from global_chat.agents.workflow_chat import schema
from global_chat.model.seam import Block
from global_chat.workflow.code_edits import CodeEdit

pytestmark = pytest.mark.unit

TOOLS = {tool.name: tool for tool in (*tools.JOB_TOOLS["subagent"], *tools.PLANNER_TOOLS)}
SCHEMAS: dict[str, dict[str, Any]] = {
    "router": router.SCHEMA,
    "workflow agent, subagent": schema("subagent"),
    "workflow agent, direct": schema("direct"),
    **{name: tool.input_schema for name, tool in TOOLS.items()},
}


def use(name: str, input_: Any, **more: Any) -> Block:
    return {"type": "tool_use", "id": "t1", "name": name, "input": input_, **more}


def test_tools_are_what_they_were(snapshot: SnapshotAssertion) -> None:
    assert snapshot == TOOLS


def test_schemas_are_what_they_were(snapshot: SnapshotAssertion) -> None:
    assert snapshot == SCHEMAS


def test_each_agent_has_the_tools_by_which_the_contract_knows_it() -> None:
    assert {t.name for t in tools.PLANNER_TOOLS} == {
        "call_workflow_agent",
        "call_job_code_agent",
        "search_documentation",
        "inspect_job_code",
    }
    assert [t.name for t in tools.JOB_TOOLS["subagent"]] == [
        "edit_job",
        "search_documentation",
        "inspect_job_code",
        "edit_workflow",
    ]
    assert [t.name for t in tools.JOB_TOOLS["direct"]] == ["edit_job", "search_documentation"]


def objects(node: Any) -> list[dict[str, Any]]:
    """Every object schema in a schema."""
    if isinstance(node, list):
        return [found for item in node for found in objects(item)]
    if not isinstance(node, dict):
        return []
    here = [node] if node.get("type") == "object" else []
    return here + [found for item in node.values() for found in objects(item)]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_object_is_closed_and_requires_all_it_has(name: str) -> None:
    for found in objects(SCHEMAS[name]):
        assert found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])


def test_code_edits_are_enforced_by_the_provider() -> None:
    assert tools.EDIT_JOB.strict


@pytest.mark.parametrize("name", ["call_workflow_agent", "call_job_code_agent"])
def test_both_subagents_are_called_with_a_list_of_attachment_types(name: str) -> None:
    found = TOOLS[name].input_schema
    assert found["properties"]["attachments"]["type"] == "array"
    assert "attachments" in found["required"]


def test_giving_the_request_back_is_worded_as_something_one_does() -> None:
    words = tools.EDIT_WORKFLOW.description.lower()
    for giving_up in ("hand", "escalat", "reroute", "planner", "cannot", "transfer", "agent"):
        assert giving_up not in words


# --- reading inputs


def test_edits_are_read_in_order() -> None:
    given_ = [
        {"action": "replace", "old_code": "a", "new_code": "b"},
        {"action": "rewrite", "new_code": "c"},
        {"action": "rewrite", "old_code": None, "new_code": ""},
    ]
    assert code_edits(use("edit_job", {"code_edits": given_})) == (
        CodeEdit("replace", "a", "b"),
        CodeEdit("rewrite", None, "c"),
        CodeEdit("rewrite", None, ""),
    )


@pytest.mark.parametrize(
    "input_",
    [
        None,
        "",
        [],
        {},
        {"code_edits": []},
        {"code_edits": None},
        {"code_edits": "fn(s => s);"},
        {"code_edits": [{"action": "delete", "new_code": ""}]},
        {"code_edits": [{"action": "replace", "old_code": "a"}]},
        {"code_edits": [{"action": "replace", "old_code": "a", "new_code": 5}]},
    ],
)
def test_edits_that_cannot_be_read_say_what_was_expected(input_: Any) -> None:
    with pytest.raises(ToolInputError, match=r"^edit_job: "):
        code_edits(use("edit_job", input_))


def test_an_input_that_was_cut_off_is_never_read() -> None:
    whole = {"message": "x", "job_key": "fetch", "attachments": []}
    with pytest.raises(ToolInputError, match="not complete"):
        read_input(CodeCall, use("call_job_code_agent", whole, _raw_input='{"message": "x"'))


def test_one_key_may_come_without_its_list() -> None:
    for input_ in ({"job_keys": ["a"]}, {"job_keys": "a"}, {"job_key": "a"}):
        assert read_input(InspectCall, use("inspect_job_code", input_)).job_keys == ["a"]


@pytest.mark.parametrize("input_", [{}, {"job_keys": []}, {"job_keys": [1]}, {"job_keys": None}])
def test_no_key_is_no_inspection(input_: Any) -> None:
    with pytest.raises(ToolInputError, match=r"^inspect_job_code: "):
        read_input(InspectCall, use("inspect_job_code", input_))


def test_calls_of_subagents_are_read() -> None:
    found = read_input(
        CodeCall,
        use("x", {"job_key": "fetch", "message": "Do it.", "attachments": ["log"], "mode": 1}),
    )
    assert (found.job_key, found.message, found.attachments) == ("fetch", "Do it.", ["log"])
    assert read_input(WorkflowCall, use("x", {"message": "m"})).attachments == []
    assert (
        read_input(WorkflowCall, use("x", {"message": "m", "attachments": None})).attachments == []
    )


@pytest.mark.parametrize("model", [CodeCall, WorkflowCall, SearchCall])
@pytest.mark.parametrize("input_", [None, [], {}, {"message": " ", "query": "\n", "job_key": "a"}])
def test_a_call_without_its_words_is_refused(model: Any, input_: Any) -> None:
    with pytest.raises(ToolInputError):
        read_input(model, use("x", input_))


@pytest.mark.parametrize("key", ["goal", "reason", "message"])
def test_a_goal_is_found_under_its_older_names_too(key: str) -> None:
    assert goal_of(use("inspect_workflow", {key: " Fix all. "})) == "Fix all."


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda v: (
            st.lists(v, max_size=2)
            | st.dictionaries(st.sampled_from(["goal", "code_edits", "action", "message"]), v)
        ),
        max_leaves=8,
    )
)
def test_no_input_at_all_breaks_a_tool(input_: Any) -> None:
    goal_of(use("edit_workflow", input_))
    for model in (CodeCall, WorkflowCall, SearchCall, InspectCall):
        try:
            read_input(model, use("x", input_))
        except ToolInputError as error:
            assert str(error).endswith(".")
    try:
        code_edits(use("edit_job", input_))
    except ToolInputError as error:
        assert str(error).endswith(".")

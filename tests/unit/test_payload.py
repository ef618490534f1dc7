"""Payloads: every key of PAYLOAD_SPEC.md, and sentences that name the field at fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.attachments import Attachment
from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import JobPayload, Payload, WorkflowPayload, read
from global_chat.contract.response import HistoryEntry

pytestmark = pytest.mark.unit

KEY = "sk-ant-api03-canary7canary8canary9"

WHOLE: dict[str, Any] = {
    "content": "Why did it fail?",
    "workflow_yaml": "name: Visits\njobs: {}\n",
    "page": "workflows/visits/fetch",
    "history": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}],
    "attachments": [{"type": "log", "content": "line"}],
    "options": {"stream": False},
    "meta": {"session_id": "s-1", "user": {"id": "u-1", "persona": "clinic lead"}},
    "metrics_opt_in": True,
    "api_key": KEY,
}


def payload(**changes: Any) -> Payload:
    return read(Payload, {"content": "hi", **changes})


def refusal(data: object, model: type[Any] = Payload) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        read(model, data)
    return caught.value


def test_every_key_of_the_contract_is_read() -> None:
    found = read(Payload, WHOLE)
    assert found.warnings == ()
    assert found.content == WHOLE["content"]
    assert found.workflow_yaml == WHOLE["workflow_yaml"]
    assert found.page == WHOLE["page"]
    assert [t.content for t in found.turns] == ["hi", "Hello."]
    assert found.evidence == (Attachment("log", "line"),)
    assert found.options.stream is False
    assert found.meta.session_id == "s-1"
    assert (found.meta.user.id, found.meta.user.persona) == ("u-1", "clinic lead")
    assert found.metrics_opt_in is True
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == KEY


def test_only_content_is_required_and_the_rest_has_its_default() -> None:
    found = read(Payload, {"content": "hi"})
    assert found.warnings == ()
    assert (found.workflow_yaml, found.page, found.api_key) == (None, None, None)
    assert (found.turns, found.evidence) == ((), ())
    assert found.options.stream is None
    assert found.metrics_opt_in is False


@pytest.mark.parametrize("key", [k for k in WHOLE if k != "content"])
def test_null_is_the_same_as_absent(key: str) -> None:
    assert read(Payload, {"content": "hi", key: None}) == read(Payload, {"content": "hi"})


@pytest.mark.parametrize("part", [{"session_id": None}, {"user": None}, {"user": {"id": None}}])
def test_null_inside_meta_is_absent_too(part: dict[str, Any]) -> None:
    assert payload(meta=part) == payload()


def test_the_key_is_in_no_text_made_of_the_payload() -> None:
    found = read(Payload, WHOLE)
    for text in (repr(found), str(found), found.model_dump_json(), str(found.model_dump())):
        assert KEY not in text
    wrong = refusal({"api_key": [KEY], "history": KEY, "content": {"a": KEY}})
    assert KEY not in str(wrong.as_dict())


# --- what is refused, and how


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (None, "nothing"),
        ([], "a list"),
        ("hello", "a text"),
        (5, "a number"),
        (True, "true or false"),
    ],
)
def test_what_is_no_object_is_refused(data: object, kind: str) -> None:
    error = refusal(data)
    assert error.message.endswith(f"it holds {kind}.")
    assert error.exit_code == 2
    assert "one object" in error.message
    assert "'content'" in error.message


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({}, "content", "is missing"),
        ({"content": None}, "content", "is missing"),
        ({"content": ""}, "content", "is blank"),
        ({"content": " \n\t "}, "content", "is blank"),
        ({"content": ["hi"]}, "content", "must be text"),
        ({"content": "x", "workflow_yaml": {"name": "W"}}, "workflow_yaml", "must be text"),
        ({"content": "x", "history": "hello"}, "history", "must be a list"),
        (
            {"content": "x", "history": [{"role": "system", "content": "a"}]},
            "history[0].role",
            "'user' or 'assistant'",
        ),
        ({"content": "x", "history": [{"role": "user"}]}, "history[0].content", "is missing"),
        (
            {"content": "x", "history": [{"role": "user", "content": 3}]},
            "history[0].content",
            "must be text",
        ),
        ({"content": "x", "attachments": {"log": "a"}}, "attachments", "must be a list"),
        ({"content": "x", "attachments": [{"content": "a"}]}, "attachments[0].type", "is missing"),
        (
            {"content": "x", "attachments": [{"type": "", "content": "a"}]},
            "attachments[0].type",
            "must not be empty",
        ),
        (
            {"content": "x", "attachments": [{"type": "log"}]},
            "attachments[0].content",
            "is missing",
        ),
        (
            {"content": "x", "attachments": [{"type": "log", "content": 5}]},
            "attachments[0].content",
            "must be text or a list or an object.",
        ),
        (
            {"content": "x", "options": {"stream": "perhaps"}},
            "options.stream",
            "must be true or false",
        ),
        ({"content": "x", "meta": {"user": "me"}}, "meta.user", "must be an object"),
        ({"content": "x", "metrics_opt_in": "perhaps"}, "metrics_opt_in", "must be true or false"),
    ],
)
def test_a_wrong_value_is_refused_by_its_field(data: object, field: str, words: str) -> None:
    error = refusal(data)
    assert error.details == {"fields": [field]}
    assert f"'{field}'" in error.message
    assert words in error.message


def test_at_most_five_faults_are_told_and_the_rest_counted() -> None:
    error = refusal({"content": "x", "history": [{"role": "x", "content": "y"}] * 9})
    assert error.message.count("history[") == 5
    assert "4 more" in error.message


def test_unknown_keys_are_warned_about_by_their_place_and_refuse_nothing() -> None:
    found = read(
        Payload,
        {
            "content": "hi",
            "suggest_code": True,
            "options": {"streem": True},
            "meta": {"user": {"name": "x"}},
            "history": [{"role": "user", "content": "a", "id": 1}],
        },
    )
    assert found.content == "hi"
    for key in ("suggest_code", "options.streem", "meta.user.name", "history[0].id"):
        assert any(f"{key!r}" in warning for warning in found.warnings)
    assert len(found.warnings) == 4


# --- history


def test_a_saved_conversation_of_blocks_keeps_its_text_and_nothing_else() -> None:
    saved = [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t0", "content": "old"},
                {"type": "text", "text": "add a log"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t9", "name": "inspect_job_code", "input": {}},
                {"type": "text", "text": "Done."},
            ],
        },
    ]
    assert payload(history=saved).turns == (
        HistoryEntry(role="user", content="add a log"),
        HistoryEntry(role="assistant", content="Looking.\nDone."),
    )


def test_blank_turns_are_left_out() -> None:
    saved = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": " \n "},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x"}]},
        {"role": "assistant", "content": "ok"},
    ]
    assert [t.content for t in payload(history=saved).turns] == ["hi", "ok"]


# --- characters


def test_half_a_character_is_replaced_wherever_it_stands() -> None:
    found = payload(
        content="a\ud83d b",
        page="workflows/\udc00",
        history=[{"role": "user", "content": "\ud800"}],
        attachments=[{"type": "log", "content": {"\ud800": ["\udfff"]}}],
    )
    assert found.content == "a\ufffd b"
    assert found.page == "workflows/\ufffd"
    assert found.turns[0].content == "\ufffd"
    assert found.evidence[0].content == '{\n  "\ufffd": [\n    "\ufffd"\n  ]\n}'


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_every_text_arrives_as_it_was_given(text: str) -> None:
    found = payload(
        content=text,
        workflow_yaml=text,
        page=text,
        history=[{"role": "user", "content": text}],
        attachments=[{"type": text, "content": text}],
    )
    assert (found.content, found.workflow_yaml, found.page) == (text, text, text)
    assert found.turns[0].content == text
    assert found.evidence == (Attachment(text, text),)


@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda v: (
            st.lists(v, max_size=3)
            | st.dictionaries(st.sampled_from([*WHOLE, "role", "type", "user", "x"]), v, max_size=4)
        ),
        max_leaves=15,
    )
)
def test_any_data_is_read_or_refused_with_a_sentence(data: object) -> None:
    try:
        read(Payload, data)
    except BadRequest as error:
        assert error.message.endswith(".")
        json.dumps(error.as_dict())


# --- the subagents' own payloads


def test_the_job_code_agent_s_payload_is_read_whole() -> None:
    found = read(
        JobPayload,
        {
            "content": "why?",
            "context": {
                "expression": "fn(s => s);",
                "adaptor": "@openfn/language-http@7.3.2",
                "page_name": "Fetch",
                "input": {"a": 1},
                "output": ["x", "y"],
                "log": "failed\n",
            },
            "history": [{"role": "user", "content": "hi"}],
        },
    )
    assert found.warnings == ()
    assert found.context.expression == "fn(s => s);"
    assert found.context.evidence == (
        Attachment("run_input", '{\n  "a": 1\n}'),
        Attachment("run_output", "x\ny"),
        Attachment("log", "failed\n"),
    )


@pytest.mark.parametrize("model", [JobPayload, WorkflowPayload])
def test_a_subagent_s_payload_needs_only_content(model: type[Any]) -> None:
    found = read(model, {"content": "hi", "context": None, "errors": None, "read_only": None})
    assert found == read(model, {"content": "hi"})
    assert refusal({}, model).details == {"fields": ["content"]}


def test_the_workflow_agent_s_payload_is_read_whole() -> None:
    found = read(
        WorkflowPayload,
        {"content": "fix", "existing_yaml": "jobs: {}", "errors": ["a", "b"], "read_only": True},
    )
    assert found.warnings == ()
    assert (found.existing_yaml, found.errors, found.read_only) == ("jobs: {}", ["a", "b"], True)

"""Earlier turns as messages: alternating, the user first, nothing blank, nothing altered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.agents.model_calls import OPENING, messages
from global_chat.agents.tools import ToolOutcome, results
from global_chat.contract.names import Usage
from global_chat.contract.payload import Payload, read
from global_chat.contract.response import HistoryEntry
from global_chat.model.anthropic_messages import wire_body
from global_chat.model.seam import Block, Message, ModelRequest, Reply

pytestmark = pytest.mark.unit

entries = st.builds(
    HistoryEntry,
    role=st.sampled_from(["user", "assistant"]),
    content=st.sampled_from(["", " \n ", "first {x}", "  indented\n", "same", "é"]),
)


def turn(role: str, content: str) -> HistoryEntry:
    return HistoryEntry.model_validate({"role": role, "content": content})


def sent(history: list[HistoryEntry], content: str) -> tuple[Message, ...]:
    """The messages of a payload's history and request, as they go over the wire."""
    given_ = [entry.model_dump() for entry in history]
    payload = read(Payload, {"content": content, "history": given_})
    conversation = messages(payload.turns, payload.content)
    body = wire_body(ModelRequest("planner", "m", (), conversation, 10))
    return tuple(Message(m["role"], m["content"]) for m in body["messages"])


def test_the_history_comes_first_and_the_request_last() -> None:
    found = messages([turn("user", "hi"), turn("assistant", "Hello.")], "go on")
    assert found == (
        Message("user", "hi"),
        Message("assistant", "Hello."),
        Message("user", "go on"),
    )


def test_neighbours_of_one_role_become_one_message() -> None:
    found = sent([turn("user", "hi"), turn("assistant", " "), turn("user", "hello?")], "go on")
    assert found == (Message("user", "hi\n\nhello?\n\ngo on"),)


@pytest.mark.parametrize(
    "history",
    [
        [turn("assistant", "Shall I run it hourly?")],
        [turn("user", " "), turn("assistant", "Shall I run it hourly?")],
        [turn("assistant", "\n"), turn("assistant", "Shall I run it hourly?")],
    ],
)
def test_what_the_assistant_says_first_stays_what_the_assistant_said(
    history: list[HistoryEntry],
) -> None:
    assert sent(history, "yes please") == (
        Message("user", OPENING),
        Message("assistant", "Shall I run it hourly?"),
        Message("user", "yes please"),
    )


def test_two_turns_of_the_assistant_in_a_row_become_one_and_lose_nothing() -> None:
    found = messages([turn("assistant", "Welcome."), turn("assistant", "Hourly?")], "yes")
    assert found[1:] == (Message("assistant", "Welcome.\n\nHourly?"), Message("user", "yes"))


def test_a_conversation_that_the_user_opens_has_no_word_on_who_does() -> None:
    assert OPENING not in repr(messages([turn("user", "hi"), turn("assistant", "Hello.")], "go"))
    assert messages([], "go") == (Message("user", "go"),)


@given(st.lists(entries, max_size=8), st.text(min_size=1).filter(str.strip))
def test_every_conversation_is_one_that_providers_accept(
    history: list[HistoryEntry], content: str
) -> None:
    found = sent(history, content)
    roles = [m.role for m in found]
    assert roles == ["user" if i % 2 == 0 else "assistant" for i in range(len(roles))]
    assert roles[-1] == "user"
    assert str(found[-1].content).endswith(content)
    for entry in history:
        said = [str(m.content) for m in found if m.role == entry.role]
        assert not entry.content.strip() or any(entry.content in text for text in said)
    assert all(str(m.content).strip() for m in found)


def reply(*blocks: Block) -> Reply:
    return Reply(blocks, "end_turn", Usage(), "m")


def test_a_reply_goes_back_block_by_block_as_it_came() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s1gn"}
    use = {"type": "tool_use", "id": "t1", "name": "edit_job", "input": {"code_edits": []}}
    text = {"type": "text", "text": " Done.\n"}
    assert reply(thinking, text, use).as_message() == Message("assistant", (thinking, text, use))


def test_internal_notes_do_not_travel() -> None:
    cut = {"type": "tool_use", "id": "t1", "name": "edit_job", "input": {}, "_raw_input": '{"co'}
    assert reply(cut).as_message().content == (
        {"type": "tool_use", "id": "t1", "name": "edit_job", "input": {}},
    )


@pytest.mark.parametrize("blank", ["", " ", "\n\n"])
def test_blank_texts_which_providers_refuse_stay_behind(blank: str) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "edit_job", "input": {}}
    assert reply({"type": "text", "text": blank}, use).as_message().content == (use,)


@pytest.mark.parametrize("blank", ["", " \n "])
def test_a_tool_that_says_nothing_still_has_a_result(blank: str) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "x", "input": {}}
    (result,) = results([use], [ToolOutcome(blank)])
    assert result["tool_use_id"] == "t1"
    assert result["content"].strip()


def test_a_failed_tool_is_marked_and_another_is_not() -> None:
    uses: list[Block] = [
        {"type": "tool_use", "id": i, "name": "x", "input": {}} for i in ("a", "b")
    ]
    found = results(uses, [ToolOutcome("ok"), ToolOutcome("no", failed=True)])
    assert [r["tool_use_id"] for r in found] == ["a", "b"]
    assert "is_error" not in found[0]
    assert found[1]["is_error"] is True


def test_a_result_keeps_the_indentation_of_code() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "inspect_job_code", "input": {}}
    (result,) = results([use], [ToolOutcome("  indented\n    more\n")])
    assert result["content"].startswith("  indented\n    more")

"""The scripted model: which turn answers, what it says, and how it complains."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract import errors
from global_chat.contract.errors import BadRequest, ScriptMismatch, TurnError
from global_chat.contract.names import Usage
from global_chat.model.scripted import ScriptedModel, parse_script, script_from
from global_chat.model.seam import (
    Message,
    ModelEvent,
    ModelRequest,
    Reply,
    SystemPart,
    TextPiece,
    Tool,
)

pytestmark = pytest.mark.unit


def ask(last: str = "hello", **changes: Any) -> ModelRequest:
    plain: dict[str, Any] = {
        "agent": "planner",
        "model": "m",
        "system": (SystemPart("You plan."),),
        "messages": (Message("user", "first"), Message("assistant", "ok"), Message("user", last)),
        "max_tokens": 100,
        "tools": (Tool("search", "Looks things up.", {}),),
    }
    return ModelRequest(**{**plain, **changes})


def playing(**agents: Any) -> ScriptedModel:
    return ScriptedModel(script_from(agents))


async def events_of(model: ScriptedModel, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.complete(request)]


async def reply_of(model: ScriptedModel, request: ModelRequest) -> Reply:
    last = (await events_of(model, request))[-1]
    assert isinstance(last, Reply)
    return last


async def said(model: ScriptedModel, request: ModelRequest) -> str:
    return (await reply_of(model, request)).text


async def test_turns_without_a_condition_answer_in_order() -> None:
    model = playing(planner=[{"text": "one"}, {"text": "two"}])
    assert [await said(model, ask()), await said(model, ask())] == ["one", "two"]


async def test_a_turn_is_chosen_by_agent_and_by_what_the_request_holds() -> None:
    model = playing(
        router=[{"text": "routed"}],
        planner=[
            {"when": {"contains": "cholera", "in": "last"}, "text": "last"},
            {"when": {"contains": ["plan", "You"], "in": "system"}, "text": "system"},
            {"when": {"contains": "first", "lacks": "third", "in": "messages"}, "text": "messages"},
            {"when": {"contains": "Looks things up"}, "text": "tools"},
        ],
    )
    assert await said(model, ask("about cholera")) == "last"
    assert await said(model, ask(agent="router")) == "routed"
    assert await said(model, ask()) == "system"
    assert await said(model, ask()) == "messages"
    assert await said(model, ask("third")) == "tools"
    model.assert_all_used()


async def test_the_texts_of_tool_calls_and_results_count_as_messages() -> None:
    call = {"type": "tool_use", "id": "t", "name": "search", "input": {"query": ["dhis2"]}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "R"}]}
    messages = (Message("user", "x"), Message("assistant", (call,)), Message("user", (result,)))
    model = playing(
        planner=[
            {"when": {"contains": "dhis2", "in": "messages"}, "text": "call"},
            {"when": {"contains": "R", "lacks": "dhis2", "in": "last"}, "text": "result"},
        ]
    )
    assert await said(model, ask(messages=messages)) == "call"
    assert await said(model, ask(messages=messages)) == "result"


async def test_parallel_calls_each_find_their_turn() -> None:
    names = [f"step-{n}" for n in range(20)]
    turns = [{"when": {"contains": f"{name}!"}, "text": name} for name in reversed(names)]
    model = playing(job_code_agent=turns)
    calls = [said(model, ask(f"{name}!", agent="job_code_agent")) for name in names]
    assert await asyncio.gather(*calls) == names


async def test_repeated_turns_answer_as_often_as_they_say() -> None:
    model = playing(planner=[{"text": "thrice", "repeat": 3}, {"text": "always", "repeat": True}])
    assert [await said(model, ask()) for _ in range(5)] == ["thrice"] * 3 + ["always"] * 2
    model.assert_all_used()


async def test_text_arrives_in_pieces_of_the_chosen_size() -> None:
    model = playing(planner=[{"text": "abcdefg", "chunk": 3}])
    assert await events_of(model, ask()) == [
        TextPiece("abc"),
        TextPiece("def"),
        TextPiece("g"),
        Reply(
            ({"type": "text", "text": "abcdefg"},),
            "end_turn",
            Usage(input_tokens=12, output_tokens=8),
            "m",
        ),
    ]


async def test_a_reply_is_sent_as_json_and_null_is_one() -> None:
    model = playing(planner=[{"reply": {"yaml": None, "text": "né"}}, {"reply": None}])
    assert await said(model, ask()) == '{"yaml":null,"text":"né"}'
    assert await said(model, ask()) == "null"


async def test_tool_calls_get_ids_that_are_unique_and_the_same_in_every_run() -> None:
    def script() -> ScriptedModel:
        tools = [{"name": "search", "input": {"q": 1}}, {"name": "search"}]
        return playing(planner=[{"text": "I look.", "tools": tools, "repeat": 2}])

    runs = []
    for model in (script(), script()):
        replies = [await reply_of(model, ask()), await reply_of(model, ask())]
        assert {reply.stop_reason for reply in replies} == {"tool_use"}
        runs.append([use["id"] for reply in replies for use in reply.tool_uses])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 4
    assert replies[0].tool_uses[0]["input"] == {"q": 1}


async def test_raw_blocks_stop_reason_and_usage_are_played_as_given() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3}
    turn = {"content": [block], "stop_reason": "pause_turn", "usage": usage}
    reply = await reply_of(playing(planner=[turn]), ask())
    assert reply == Reply((block,), "pause_turn", Usage(**usage), "m")


async def test_what_a_reader_does_to_a_reply_does_not_reach_the_script() -> None:
    model = playing(planner=[{"tools": [{"name": "x", "input": {"a": [1]}}], "repeat": True}])
    first = await reply_of(model, ask())
    first.tool_uses[0]["input"]["a"].append(2)
    assert (await reply_of(model, ask())).tool_uses[0]["input"] == {"a": [1]}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"status": 401, "type": "authentication_error"}, errors.AuthError),
        ({"status": 529}, errors.Overloaded),
        ({"type": "overloaded_error"}, errors.Overloaded),
        ({"type": "OVERLOADED", "message": "busy"}, errors.Overloaded),
        ({"type": "OUTPUT_TRUNCATED"}, errors.OutputTruncated),
    ],
)
async def test_a_turn_can_fail_as_a_provider_does(
    error: dict[str, Any], expected: type[TurnError]
) -> None:
    with pytest.raises(TurnError) as caught:
        await events_of(playing(planner=[{"error": error}]), ask())
    assert type(caught.value) is expected
    assert caught.value.usage.input_tokens > 0


async def test_a_turn_can_break_after_some_of_its_text() -> None:
    error = {"status": 429, "type": "rate_limit_error", "retry_after": 9, "retry": False}
    model = playing(
        planner=[{"text": "The step calls /a", "chunk": 4, "break_after": 6, "error": error}]
    )
    seen = []
    with pytest.raises(errors.RateLimited) as caught:
        async for event in model.complete(ask()):
            seen.append(event)
    assert seen == [TextPiece("The "), TextPiece("st")]
    assert caught.value.retry_after == 9
    assert not caught.value.retryable


async def test_a_call_that_no_turn_answers_says_what_differs() -> None:
    model = playing(
        planner=[
            {"when": {"contains": ["hello", "absent one", "plan"], "in": "last"}, "text": "far"},
            {"when": {"contains": ["hello", "plan"], "in": "last"}, "text": "near"},
        ]
    )
    with pytest.raises(ScriptMismatch) as caught:
        await events_of(model, ask("x" * 500 + " hello"))
    message = caught.value.message
    assert "planner" in message
    assert "xxx hello'" in message and "x" * 200 not in message
    assert "planner[1]" in message
    assert "'plan' is not in the last message (it is in the system prompt)" in message
    assert caught.value.details["nearest"] == "planner[1]"


async def test_a_call_says_what_should_not_have_been_there() -> None:
    model = playing(planner=[{"when": {"lacks": "hello", "in": "messages"}, "text": "a"}])
    with pytest.raises(ScriptMismatch, match="'hello' is in the messages"):
        await events_of(model, ask())


async def test_a_script_that_is_used_up_says_so() -> None:
    model = playing(planner=[{"text": "one"}])
    await events_of(model, ask())
    with pytest.raises(ScriptMismatch, match="all 1 turns for this agent are used"):
        await events_of(model, ask())
    with pytest.raises(ScriptMismatch, match="it has none for this agent"):
        await events_of(model, ask(agent="router"))


async def test_turns_that_nobody_used_are_complained_about() -> None:
    model = playing(
        router=[{"text": "a"}],
        planner=[{"text": "b", "repeat": 2}, {"text": "c", "repeat": True}, {"text": "d"}],
    )
    await events_of(model, ask())
    unused = ("router[0]", "planner[0] (used 1 of 2 times)", "planner[1]", "planner[2]")
    assert model.unused() == unused
    with pytest.raises(ScriptMismatch, match=r"router\[0\], planner\[0\] \(used 1 of 2 times\)"):
        model.assert_all_used()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("planner:\n  - txet: hi\n", "planner[0].txet is not a known key (did you mean `"),
        ("planer: []\n", "planer is not a known key (did you mean `"),
        ("planner:\n  - {}\n", "planner[0] needs one of"),
        ("planner:\n  - {text: a, reply: 1}\n", "planner[0] has both"),
        ("planner:\n  - {content: [], text: a}\n", "planner[0] 'content' takes the place"),
        ("planner:\n  - {text: a, break_after: 1}\n", "planner[0] 'break_after' needs"),
        ("planner:\n  - {text: a, when: {in: lost}}\n", "planner[0].when.in must be"),
        ("planner:\n  - {text: a, when: {contains: ['']}}\n", "planner[0].when.contains[0]"),
        ("planner:\n  - {text: a, repeat: 0}\n", "planner[0].repeat"),
        ("planner:\n  - {error: {message: x}}\n", "planner[0].error needs a status or a type"),
        ("planner:\n  - {tools: [{input: {}}]}\n", "planner[0].tools[0].name is missing"),
        ("planner:\n  - reply: !!set {a: }\n", "line 2, column 12: The tag"),
        ("- a\n", "must be a mapping from agents"),
        ("", "must be a mapping from agents"),
        ("planner: [", "line 1"),
        ("planner: []\nplanner: []\n", "`planner` occurs twice"),
        ('{"planner": [}', "line 1, column 14"),
        ("{" * 100_000, "nested too deep"),
        ("a: \x00", "U+0000"),
    ],
)
def test_a_faulty_script_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BadRequest) as caught:
        parse_script(text, "demo.yaml")
    assert "demo.yaml" in caught.value.message
    assert words in caught.value.message


async def test_a_script_is_read_from_a_file_of_either_form(tmp_path: Path) -> None:
    for name, text in (
        ("a.yaml", "\ufeffplanner:\n  - text: NO\n"),
        ("a.json", '{"planner": [{"text": "NO"}]}'),
        ("b.yaml", "{planner: [{text: NO}]}"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert await said(ScriptedModel.from_file(path), ask()) == "NO"


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"planner: [{text: \xe9}]")
    for path in (tmp_path / "latin.yaml", tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(BadRequest) as caught:
            ScriptedModel.from_file(path)
        assert str(path) in caught.value.message


@given(text=st.text(), chunk=st.integers(1, 50))
@settings(max_examples=60)
def test_the_pieces_always_make_up_the_text(text: str, chunk: int) -> None:
    model = playing(planner=[{"text": text, "chunk": chunk}])
    events = asyncio.run(events_of(model, ask()))
    assert "".join(e.text for e in events if isinstance(e, TextPiece)) == text
    assert isinstance(events[-1], Reply) and events[-1].text == text

"""Recording: a script that plays back the same, and holds no secret."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract import errors
from global_chat.contract.errors import TurnError
from global_chat.contract.names import AGENT_NAMES, Usage
from global_chat.contract.settings import RetrySettings
from global_chat.model.recording import Recording
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel, parse_script
from global_chat.model.seam import (
    Message,
    ModelEvent,
    ModelRequest,
    Reply,
    SystemPart,
    TextPiece,
)
from global_chat.model.secrets import REMOVED, scrub

pytestmark = pytest.mark.unit

KEY = "key-without-any-known-shape"


class Live:
    """Answers each call with the next reply or error, after a piece of the reply's text."""

    def __init__(self, *answers: Reply | TurnError) -> None:
        self.answers = list(answers)

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        answer = self.answers.pop(0)
        if isinstance(answer, Reply):
            if answer.text:
                yield TextPiece(answer.text)
            yield answer
        else:
            yield TextPiece("half an ans")
            raise answer


def a_reply(*content: dict[str, Any], stop_reason: str | None = None, **usage: int) -> Reply:
    calls = any(block["type"] == "tool_use" for block in content)
    default = "tool_use" if calls else "end_turn"
    return Reply(content, stop_reason or default, Usage(**{"input_tokens": 7, **usage}), "m")


def words(text: str) -> Reply:
    return a_reply({"type": "text", "text": text}, output_tokens=3)


def ask(last: str, agent: Any = "planner", system: str = "You plan.") -> ModelRequest:
    messages = (Message("user", last),)
    return ModelRequest(agent, "m", (SystemPart(system),), messages, 100)


async def outcome(model: Any, request: ModelRequest) -> Any:
    """The reply, or the error's type and words."""
    try:
        return [e async for e in model.complete(request) if isinstance(e, Reply)]
    except TurnError as error:
        return type(error), error.message, error.usage


async def recorded(live: Live, *requests: ModelRequest) -> tuple[str, list[Any]]:
    recording = Recording(live, secrets=(KEY, None, ""))
    outcomes = [await outcome(recording, request) for request in requests]
    return recording.as_yaml(), outcomes


async def played(script: str, *requests: ModelRequest) -> list[Any]:
    model = ScriptedModel(parse_script(script))
    outcomes = [await outcome(model, request) for request in requests]
    model.assert_all_used()
    return outcomes


REPLIES = [
    words("Plain words."),
    words("Two lines\nand a third:\n\n  - indented\n"),
    words('{"destination":"planner","confidence":5,"job_key":null}'),
    words('{ "spaced": "json" }'),
    words('{"twice":1,"twice":2}'),
    words("# looks: [like, yaml]\t\r\n\x1b[31m NO ~ 1.10 \u2028 \x00 \ud7ff 🐱"),
    words("NO"),
    a_reply(),
    a_reply({"type": "text", "text": ""}),
    a_reply({"type": "text", "text": "a", "citations": None}),
    a_reply({"type": "text", "text": "a"}, {"type": "text", "text": "b"}),
    a_reply({"type": "tool_use", "id": "t1", "name": "x", "input": {"job_key": "a", "n": [1.5]}}),
    a_reply(
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "x", "input": {}},
        cache_read_input_tokens=40,
    ),
    a_reply(
        {"type": "tool_use", "id": "t", "name": "x", "input": {}, "_raw_input": '{"a'},
        stop_reason="max_tokens",
    ),
]


@pytest.mark.parametrize("reply", REPLIES)
async def test_a_recording_plays_back_the_same(reply: Reply) -> None:
    request = ask("What happens here?")
    script, outcomes = await recorded(Live(reply), request)
    assert outcomes == [[reply]]
    assert await played(script, request) == outcomes


async def test_structured_output_is_recorded_as_a_value_that_people_can_read() -> None:
    script, _ = await recorded(Live(words('{"yaml":"a: 1\\nb: 2\\n"}')), ask("What now?"))
    assert "reply:\n" in script
    assert "yaml: |\n" in script


async def test_calls_are_picked_out_whatever_their_order() -> None:
    requests = [
        ask("Edit the step.", "job_code_agent", system="code of fetch"),
        ask("Edit the step.", "job_code_agent", system="code of load"),
        ask("Edit the step.\nAnd hurry up!", "job_code_agent", system="code of load"),
        ask("Edit the step."),
    ]
    live = Live(*(words(f"answer {n}") for n in range(4)))
    script, outcomes = await recorded(live, *requests)
    backwards = await played(script, *reversed(requests))
    assert backwards == outcomes[::-1]


async def test_equal_calls_are_answered_in_their_order() -> None:
    requests = [ask("The same again."), ask("The same again.")]
    script, outcomes = await recorded(Live(words("first"), words("second")), *requests)
    assert await played(script, *requests) == outcomes


async def test_a_call_without_words_is_recorded_too() -> None:
    script, outcomes = await recorded(Live(words("ok")), ask("", system=""))
    assert await played(script, ask("", system="")) == outcomes


async def test_parallel_calls_are_recorded_each_with_its_answer() -> None:
    class Echo:
        async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            content = request.messages[-1].content
            await asyncio.sleep(0)
            yield words(f"echo of {content}")

    recording = Recording(Echo())
    requests = [ask(f"question number {n}") for n in range(5)]
    outcomes = await asyncio.gather(*(outcome(recording, request) for request in requests))
    assert await played(recording.as_yaml(), *requests) == outcomes


@pytest.mark.parametrize(
    "error",
    [
        errors.RateLimited("Wait 9 s.", retry_after=9.0),
        errors.ProviderError("Never.", retryable=False),
        errors.AuthError("No."),
    ],
)
async def test_a_failure_is_recorded_and_fails_again(error: TurnError) -> None:
    error.usage = Usage(input_tokens=11, output_tokens=2)
    script, outcomes = await recorded(Live(error), ask("What happens?"))
    assert await played(script, ask("What happens?")) == outcomes


async def test_retries_are_played_back_one_by_one() -> None:
    recording = Recording(Live(errors.Overloaded("busy"), words("whole")))
    settings = RetrySettings(first_wait=0)
    request = ask("What happens?")
    live = [event async for event in Retrying(recording, settings).complete(request)]
    model = ScriptedModel(parse_script(recording.as_yaml()))
    again = [event async for event in Retrying(model, settings).complete(request)]
    assert again == live


async def test_an_abandoned_call_leaves_no_turn() -> None:
    recording = Recording(Live(words("whole")))
    events = recording.complete(ask("hi"))
    await anext(events)
    await events.aclose()
    assert recording.as_data() == {}


async def test_no_secret_is_in_a_recording() -> None:
    leaks = {
        "key": KEY,
        "other": "sk-ant-api03-abcdefghijkl",
        "header": "Authorization: Bearer abcdef0123456789",
        "password": "hunter2hunter2",
        "url": "https://ops:s3cret99@example.org/api",
        "log": "POST /login password=Pa55word! client_secret: 'abcd-efgh'",
    }
    call = {"type": "tool_use", "id": "t", "name": "x", "input": leaks}
    requests = [
        ask(f"my key is {KEY}"),
        ask(f"password=Pa55word!\nuse {KEY} on the second step\n{KEY}"),
    ]
    live = Live(a_reply({"type": "text", "text": f"I saw {KEY}."}, call), errors.AuthError(KEY))
    script, _ = await recorded(live, *requests)
    for secret in (KEY, "sk-ant-", "0123456789", "hunter2", "s3cret99", "Pa55", "abcd-efgh"):
        assert secret not in script
    assert script.count(REMOVED) >= 8
    first, second = await played(script, *requests)
    assert first[0].tool_uses[0]["input"]["url"] == f"https://ops:{REMOVED}@example.org/api"
    assert second[0] is errors.AuthError


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("db_password=Pa55word1", "Pa55"),
        ('dbPassword: "long secret"', "long secret"),
        ('{\\"api_key\\": \\"abcdefgh\\"}', "abcdefgh"),
        ("curl -H 'x-api-key: 0123456789'", "0123456789"),
        ("Authorization: Basic dXNlcjpwYXNz==", "dXNlcjpwYXNz"),
        ("postgres://ops:hunter2@db/x", "hunter2"),
        ("ghp_abcdefghijklmnopqrst", "ghp_"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ],
)
def test_what_looks_like_a_secret_goes(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "get('/a', { headers: { Authorization: `Bearer ${state.configuration.token}` } });",
        "const password = state.configuration.password;",
        "password: $.configuration.password1,",
        "fn(state => ({ ...state, token: state.data.token2 }));",
        "credential: ops@example.org-demo http",
        "Basic authentication is used; the token: string is required.",
        "https://example.org:8080/a@b",
        "risk-assessment-2024-final of task-1234567890abcdef",
        "Set a password and a secret, then say bearer-of-news.",
    ],
)
def test_code_and_prose_about_secrets_stay(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    ("key", "text", "scrubbed"),
    [
        ("test", "the latest test of testing", f"the latest {REMOVED} of testing"),
        ("ollama", "ollama/qwen, not ollama_2", f"{REMOVED}/qwen, not ollama_2"),
        ("ok", "ok, it is ok", "ok, it is ok"),
        ("long-secret", "xlong-secretx", f"x{REMOVED}x"),
    ],
)
def test_a_short_key_goes_only_where_it_is_a_word(key: str, text: str, scrubbed: str) -> None:
    assert scrub(text, (key,)) == scrubbed


texts = st.text(
    st.one_of(
        st.sampled_from("\n\t\r :#-'\"|>{}[]&*!%@`\\\x00\x1b\x85\u2028\ufeff\ud83d🐱é0~"),
        st.characters(),
    ),
    max_size=60,
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(last=texts, text=texts, value=st.dictionaries(texts, values, max_size=3), data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_text_and_any_value_survive(
    last: str, text: str, value: dict[str, Any], data: st.DataObject
) -> None:
    def whole(item: Any) -> Any:
        if isinstance(item, str):
            return scrub(item.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        if isinstance(item, dict):
            return {whole(k): whole(v) for k, v in item.items()}
        return [whole(v) for v in item] if isinstance(item, list) else item

    agent = data.draw(st.sampled_from(AGENT_NAMES))
    call = {"type": "tool_use", "id": "t", "name": "x", "input": value}
    content = ({"type": "text", "text": text}, call)
    script, outcomes = asyncio.run(recorded(Live(a_reply(*content)), ask(last, agent)))
    [[reply]] = asyncio.run(played(script, ask(last, agent)))
    assert list(reply.content) == [whole(block) for block in content]
    assert reply.usage == outcomes[0][0].usage

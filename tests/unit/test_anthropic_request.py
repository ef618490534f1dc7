"""Whatever a request holds, its body keeps the rules of the Messages API."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.texts import PieceJoiner, replace_lone_surrogates
from global_chat.model.anthropic_request import wire_body
from global_chat.model.seam import Message, ModelRequest, SystemPart

pytestmark = pytest.mark.unit

texts = st.text(st.one_of(st.sampled_from(" \n\t\ud83d\ude00\x00"), st.characters()), max_size=12)
blocks = texts.map(lambda text: {"type": "text", "text": text})
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant"]),
    content=st.one_of(texts, st.lists(blocks, max_size=3).map(tuple)),
)


def shown(content: str | tuple[dict[str, Any], ...] | list[dict[str, Any]]) -> list[str]:
    """The texts of a message that are not blank, as they can be sent."""
    if isinstance(content, str):
        content = ({"text": content},)
    return [replace_lone_surrogates(block["text"]) for block in content if block["text"].strip()]


@given(conversation=st.lists(messages, max_size=6), system=st.lists(texts, max_size=3))
@settings(max_examples=150)
def test_any_conversation_becomes_a_valid_one_that_lacks_nothing(
    conversation: list[Message], system: list[str]
) -> None:
    parts = tuple(SystemPart(text, cached=True) for text in system)
    body = wire_body(ModelRequest("planner", "m", parts, tuple(conversation), 10))
    assert json.loads(json.dumps(body, ensure_ascii=False).encode()) == body
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    sent = [text for message in body["messages"] for text in shown(message["content"])]
    wanted = [text for message in conversation for text in shown(message.content)]
    assert sent[len(sent) - len(wanted) :] == wanted
    assert len(sent) - len(wanted) <= 1
    assert [part["text"] for part in body.get("system", [])] == [
        replace_lone_surrogates(text) for text in system if text.strip()
    ]
    blank = [b for m in body["messages"] for b in m["content"] if isinstance(b, dict)]
    assert all(block["text"].strip() for block in blank)


@given(text=texts, cuts=st.lists(st.integers(0, 12), max_size=4))
def test_pieces_join_to_the_text_wherever_it_was_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(text)]
    joiner = PieceJoiner()
    pieces = [joiner.join(text[a:b]) for a, b in itertools.pairwise(edges)]
    assert "".join([*pieces, joiner.rest()]) == replace_lone_surrogates(text)
    for piece in pieces:
        piece.encode()


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys\n"
        "from global_chat.model.anthropic import AnthropicModel\n"
        "AnthropicModel(api_key='k')\n"
        "print([name for name in ('anthropic', 'httpx2', 'ssl') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

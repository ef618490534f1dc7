"""Whatever texts a request holds, its body can be sent."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.texts import PieceJoiner, replace_lone_surrogates
from global_chat.model.anthropic_messages import wire_body
from global_chat.model.seam import Message, ModelRequest, SystemPart

pytestmark = pytest.mark.unit

texts = st.text(st.one_of(st.sampled_from(" \n\t\ud83d\ude00\x00"), st.characters()), max_size=12)


@given(conversation=st.lists(texts, max_size=6), system=st.lists(texts, max_size=3))
@settings(max_examples=150)
def test_any_text_is_sent_as_it_is_but_for_what_cannot_be_sent(
    conversation: list[str], system: list[str]
) -> None:
    parts = tuple(SystemPart(text, cached=True) for text in system)
    messages = tuple(Message("user", text) for text in conversation)
    body = wire_body(ModelRequest("planner", "m", parts, messages, 10))
    assert json.loads(json.dumps(body, ensure_ascii=False).encode()) == body
    assert body["messages"] == [
        {"role": "user", "content": replace_lone_surrogates(text)} for text in conversation
    ]
    assert [part["text"] for part in body.get("system", [])] == [
        replace_lone_surrogates(text) for text in system if text.strip()
    ]


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

"""The workflow agent's reply while it streams: shown exactly once, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.agents.model_calls import VisibleText
from global_chat.agents.workflow_chat import StreamedText, StructureReply, read_reply, schema
from global_chat.contract.events import Event, TextDelta, TextRestarted
from global_chat.prompts.compose import Mode
from global_chat.workflow.patch import PatchRejected
from tests.screen import screen

pytestmark = pytest.mark.unit

MODES = st.sampled_from(["subagent", "direct"])
texts = st.text(
    st.one_of(
        st.sampled_from('ab \n\t"\\/{}[]:,é登😀\u2028\x00`'),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)
yamls = st.none() | st.sampled_from(["name: Visits\njobs: {}\n", '"text": "x"', ""])


class Played:
    """A stream listened to: what was shown, and which reply was asked about."""

    def __init__(self, mode: Mode = "subagent", *, accepts: bool = True) -> None:
        self.events: list[Event] = []
        self.asked: list[StructureReply] = []
        self.visible = VisibleText(self.events.append)
        self._accepts = accepts
        self.listener = StreamedText(self.visible, mode, self._accept)

    def _accept(self, asked: StructureReply) -> bool:
        self.asked.append(asked)
        return self._accepts

    def pieces(self, text: str, *sizes: int) -> Played:
        """Play `text` in pieces of these sizes, over and over."""
        place, turn = 0, 0
        while place < len(text):
            size = sizes[turn % len(sizes)] if sizes else len(text)
            self.listener.piece(text[place : place + size])
            place, turn = place + size, turn + 1
        return self

    @property
    def shown(self) -> str:
        return screen(self.events)


def reply(mode: Mode, *, ascii_only: bool = False, **fields: Any) -> str:
    first = {"handover": None} if mode == "subagent" else {}
    whole = {**first, "remove": [], "yaml": None, "text": "", **fields}
    return json.dumps(whole, ensure_ascii=ascii_only)


sizes = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(MODES, yamls, texts, st.booleans(), sizes)
def test_what_is_shown_is_the_final_text_exactly_once(
    mode: Mode, yaml: str | None, text: str, ascii_only: bool, cuts: list[int]
) -> None:
    whole = reply(mode, ascii_only=ascii_only, yaml=yaml, text=text)
    played = Played(mode).pieces(whole, *cuts)
    final = read_reply(whole).text.strip()
    assert final == text.strip()
    played.listener.finish(final)
    assert played.shown == final
    assert not any(isinstance(e, TextRestarted) for e in played.events)


@settings(max_examples=100, deadline=None)
@given(MODES, texts, texts, st.integers(0, 120), sizes)
def test_a_restart_never_doubles(
    mode: Mode, broken: str, text: str, kept: int, cuts: list[int]
) -> None:
    played = Played(mode).pieces(reply(mode, text=broken)[:kept], *cuts)
    played.listener.restart()
    played.pieces(reply(mode, text=text), *cuts)
    played.listener.finish(text.strip())
    assert played.shown == text.strip()


@settings(max_examples=150, deadline=None)
@given(texts, texts.filter(str.strip), yamls, sizes)
def test_a_handover_shows_nothing(text: str, goal: str, yaml: str | None, cuts: list[int]) -> None:
    played = Played().pieces(reply("subagent", handover=goal, yaml=yaml, text=text), *cuts)
    assert played.events == []
    assert played.asked == []
    assert not played.listener.shown


@settings(max_examples=100, deadline=None)
@given(texts, st.permutations(["handover", "yaml", "text"]), sizes)
def test_keys_in_another_order_are_shown_whole_at_the_end(
    text: str, order: list[str], cuts: list[int]
) -> None:
    values = {"handover": None, "yaml": "name: Visits", "text": text}
    whole = json.dumps({key: values[key] for key in order}, ensure_ascii=False)
    played = Played().pieces(whole, *cuts)
    if order[-1] != "text":
        assert played.events == []
    played.listener.finish(text.strip())
    assert played.shown == text.strip()


def test_the_first_words_are_shown_before_the_last_ones_are_written() -> None:
    whole = reply("subagent", text="I added a step that saves the visits.")
    played = Played().pieces(whole[: whole.index("that")], 3)
    assert played.shown == "I added a step"


def test_long_texts_are_shown_while_they_come_though_not_letter_by_letter() -> None:
    text = "word " * 4000
    played = Played().pieces(reply("subagent", text=text), 5)
    deltas = [e for e in played.events if isinstance(e, TextDelta)]
    assert 50 < len(deltas) < 1500
    assert text.startswith(played.shown)
    assert len(played.shown) > 0.95 * len(text)


@pytest.mark.parametrize("cuts", [(1,), (2, 3), (5,)])
def test_escapes_and_astral_characters_survive_any_cut(cuts: tuple[int, ...]) -> None:
    text = 'a "quoted" \\ back\nslash 😀 é \u2028 end'
    for ascii_only in (True, False):
        whole = reply("subagent", ascii_only=ascii_only, text=text)
        played = Played().pieces(whole, *cuts)
        assert text.startswith(played.shown)
        played.listener.finish(text)
        assert played.shown == text


def test_a_yaml_that_cannot_stand_keeps_the_text_back() -> None:
    played = Played(accepts=False).pieces(reply("subagent", yaml="nonsense", text="Done!"), 4)
    assert played.events == []
    assert [asked.yaml for asked in played.asked] == ["nonsense"]


@pytest.mark.parametrize("yaml", [{"name": "Visits"}, ["jobs"], 5, True])
def test_a_yaml_that_is_no_text_is_left_to_the_end(yaml: object) -> None:
    whole = reply("subagent", yaml=yaml, text="Done!")
    played = Played().pieces(whole, 4)
    assert (played.events, played.asked) == ([], [])
    with pytest.raises(PatchRejected):
        read_reply(whole)


# --- the whole reply


def test_a_handover_may_leave_out_what_it_has_not() -> None:
    for more in ({}, {"yaml": None, "text": None}, {"yaml": "", "text": ""}):
        found = read_reply(json.dumps({"handover": "Fix the code.", **more}))
        assert found.goal == "Fix the code."
        assert not found.text


@pytest.mark.parametrize("blank", [None, "", "  \n", False, 0, []])
def test_a_blank_handover_is_none_in_the_stream_and_at_the_end(blank: object) -> None:
    text = reply("subagent", handover=blank, yaml=None, text="Done.")
    assert read_reply(text).goal is None
    assert Played().pieces(text).shown == "Done."


def test_a_fence_around_the_object_is_taken_off() -> None:
    assert read_reply(f"```json\n{reply('direct', text='Done.')}\n```").text == "Done."


def test_prose_around_a_fenced_yaml_is_read_too_and_its_inner_fences_stay() -> None:
    body = "      const p = `\n      ```json\n      ```\n      `;\n"
    yaml = f"name: Ask\njobs:\n  ask:\n    body: |\n{body}"
    found = read_reply(f"Sure!\n\n```yaml\n{yaml}```\nLet me know if it works!")
    assert (found.yaml, found.text) == (yaml, "Sure!")


@pytest.mark.parametrize(
    "text",
    ["", "Sure, I did that.", "[]", "null", '{"yaml": 5}', '{"text": ["a"]}', '{"text": "cut'],
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(PatchRejected, match="JSON object"):
        read_reply(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_reply(text)
    except PatchRejected as error:
        assert error.problems


def test_handover_comes_first_and_only_in_subagent_mode() -> None:
    assert list(schema("subagent")["properties"]) == ["handover", "remove", "yaml", "text"]
    assert list(schema("direct")["properties"]) == ["remove", "yaml", "text"]

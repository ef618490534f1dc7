"""What holds of every request: names are understood, and nothing is done in part or in a hurry."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from global_chat.offline.reading import normalised
from global_chat.offline.scene import Scene, words
from global_chat.offline.understanding import Wish, understand
from global_chat.workflow.parts import Edge, Step, Trigger

pytestmark = pytest.mark.unit

CODE = "get('/visits', { limit: 500 });\n"
TRIGGER = Trigger("cron", "cron", True, "0 2 * * *")
EDGES = (
    Edge("cron->a", "a", source_trigger="cron", condition_type="always"),
    Edge("a->b", "b", source_step="a", condition_type="on_job_success"),
)
VERBS = (
    "Add",
    "Call",
    "Change",
    "Connect",
    "Delete",
    "Disable",
    "Fetch",
    "Get",
    "Load",
    "Map",
    "Move",
)
VERBS += (
    "Put",
    "Remove",
    "Rename",
    "Replace",
    "Run",
    "Send",
    "Set",
    "Start",
    "Stop",
    "Turn",
    "Use",
)
NAMES = st.text(
    st.sampled_from(string.ascii_letters + string.digits + " -_"), min_size=1, max_size=24
)


def scene(first: str = "Get visits", second: str = "Map rows") -> Scene:
    steps = (Step("a", first, "@openfn/language-http@7.3.2", CODE), Step("b", second, code="fn();"))
    return Scene("Visits", steps, (TRIGGER,), EDGES)


def wishes(request: str, of: Scene) -> list[str]:
    found = understand(request, of)
    return [x.plan.wish for x in found if isinstance(x, Wish) and x.plan]


@pytest.mark.parametrize("verb", VERBS)
def test_a_step_that_is_called_as_a_verb_can_be_renamed_and_removed(verb: str) -> None:
    of = scene(second=verb)
    assert wishes(f"rename {verb} to Collect", of) == [f'rename "{verb}" to "Collect"']
    assert wishes(f"remove {verb}", of) == [f"remove the step {verb}"]
    assert wishes(f"{verb} should only run if Get visits fails", of) == [
        f"run Get visits → {verb} on failure"
    ]


@given(NAMES)
@settings(max_examples=12, deadline=None)
def test_any_name_is_understood_in_quotes(name: str) -> None:
    name = " ".join(name.split())
    assume(words(name) and words(name) not in (["get", "visits"], ["a"], ["b"]))
    of = scene(second=name)
    assert wishes(f'remove the step "{name}"', of) == [f"remove the step {name}"]
    assert wishes(f'rename Get visits to "{name} 2"', of) == [f'rename "Get visits" to "{name} 2"']


@given(st.text(st.sampled_from("bcdfgjkqvwxz"), min_size=4, max_size=9))
@settings(max_examples=6, deadline=None)
def test_nothing_is_done_when_one_word_was_not_understood(word: str) -> None:
    for command in ("run it at 5", "turn off the trigger", "limit 500 -> 200"):
        assert len(wishes(command, scene())) == 1
        assert wishes(f"{command} {word}", scene()) == []
        if not command.startswith("limit"):  # there it may belong to the setting's name
            assert wishes(f"{word} {command}", scene()) == []
        assert wishes(f"{command} and {word} it", scene()) == []


@given(st.text(max_size=80))
@settings(max_examples=20, deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    assert len(normalised(text)) == len(text)
    understand(text, scene())


def test_a_request_longer_than_any_command_is_not_read() -> None:
    for request in ("run it at 5 " * 100_000, "run it at 5 and at 6" + " and at 7" * 100):
        assert understand(request, scene()) == []


def test_names_are_found_whatever_their_case_accents_and_separators_are() -> None:
    of = scene(second="Vérifier les-doublons")
    for name in ("verifier les doublons", "VÉRIFIER LES DOUBLONS", "Verifier_les-doublons"):
        assert wishes(f"remove {name}", of) == ["remove the step Vérifier les-doublons"]


def test_a_misspelled_command_is_put_right_and_a_name_is_not() -> None:
    assert wishes("swich off the triger insted", scene()) == ["switch off the trigger"]
    assert wishes("rename Get visits to Load visists", scene()) == [
        'rename "Get visits" to "Load visists"'
    ]

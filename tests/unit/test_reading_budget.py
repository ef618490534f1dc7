"""Every text that is read has one budget: over it, a sentence says what there is too much of."""

from __future__ import annotations

from pathlib import Path

import pytest

from global_chat.contract.errors import InputError, InvalidWorkflow
from global_chat.disk.reading import read_object
from global_chat.model.scripted import parse_script
from global_chat.replay.cases import BrokenCases, read_case
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

#: Short texts that hold, or would hold with their aliases followed, more than can be read; and what
#: the refusal says.
BOMBS = {
    "aliases": (
        "x0: &a0 [x]\n"
        + "".join(f"x{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)),
        "values, with aliases followed; at most 250,000",
    ),
    "merges": (
        "x0: &a0 {k: 1}\n"
        + "".join(f"x{i}: &a{i} {{<<: *a{i - 1}, k{i}: 1}}\n" for i in range(1, 3_000)),
        "101 levels deep, with aliases followed; at most 100",
    ),
    "itself": ("x: &a {b: [*a]}\n", "inside its own anchor"),
    "its own merge": ("x: &a {<<: *a}\n", "inside its own anchor"),
    "brackets": ("x: " + "[" * 10_000 + "]" * 10_000, "nested too deep"),
    "one alias": (
        "x: &a {" + ", ".join(f"k{i}: v" for i in range(40)) + "}\nsteps:\n" + "- *a\n" * 20_000,
        "at most 250,000",
    ),
    "three sections": ("jobs: &a {a: &b {target_job: a}, b: *a}\ntriggers: *a\n", "its own anchor"),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("kind", ["workflow", "payload", "script", "case"])
def test_what_aliases_make_of_a_short_text_counts(tmp_path: Path, kind: str, name: str) -> None:
    text, words = BOMBS[name]
    path = tmp_path / "case.yaml"
    path.write_text(text)
    with pytest.raises((InputError, BrokenCases)) as caught:
        if kind == "workflow":
            Workflow.read(text)
        elif kind == "script":
            parse_script(text)
        else:
            read_object(path) if kind == "payload" else read_case(path)
    assert words in str(caught.value)


def test_sections_that_are_one_alias_are_read() -> None:
    text = "jobs: &a\n  x: {name: x, type: cron, target_job: x}\ntriggers: *a\nedges: *a\n"
    workflow = Workflow.read(text)
    assert (len(workflow.steps), len(workflow.triggers), len(workflow.edges)) == (1, 1, 1)
    workflow.check()
    assert workflow.changes_to(Workflow.read(None))
    assert workflow.text == text


@pytest.mark.parametrize(
    ("written", "read"),
    [("0o14", 12), ("0x1F", 31), ("0123", 123), ("1_000", "1_000"), ("no", "no"), ("~", None)],
)
def test_a_plain_value_is_the_same_wherever_it_stands(
    tmp_path: Path, written: str, read: object
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(f"v: {written}\n")
    assert read_object(path) == {"v": read}
    reply = parse_script(f"planner:\n- reply: {written}\n").planner[0].reply
    assert reply == read
    trigger = Workflow.read(f"triggers: {{t: {{custom_path: {written}}}}}").triggers[0]
    assert trigger.settings.get("custom_path") == read


def test_a_document_over_its_budget_says_how_much_there_is() -> None:
    with pytest.raises(InvalidWorkflow, match="10,000,001 characters; at most 10,000,000"):
        Workflow.read(" " * 10_000_001)

"""Each line of `offline_requests.txt` and `offline_questions.txt` means what it says it does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from global_chat.knowledge.catalogue import Catalogue
from global_chat.offline.questions import answers_to
from global_chat.offline.scene import Scene
from global_chat.offline.understanding import Wish, understand
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

WORKFLOWS = Path(__file__).parents[2] / "fixtures" / "workflows"


@cache
def scene(name: str, step: str) -> Scene:
    workflow = Workflow.read((WORKFLOWS / f"{name}.yaml").read_bytes().decode("utf-8"))
    return Scene.of(workflow, workflow.find_step(step), Catalogue.load().versions)


def told(request: str, of: Scene) -> str:
    found = understand(request, of)
    if len(found) > 1:
        return "(asks)"
    if not found or not isinstance(found[0], Wish):
        return "-"
    return found[0].plan.wish if found[0].plan else "(nothing)"


def table(file: str) -> Iterator[tuple[str, str, str, str]]:
    name = step = ""
    for line in Path(__file__).with_name(file).read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, step = line.removeprefix("== ").split(" | ")
        elif line and not line.startswith("#"):
            yield name, step, *line.split(" => ")  # type: ignore[misc]


@pytest.mark.parametrize(("name", "step", "request_", "wish"), [*table("offline_requests.txt")])
def test_a_request_means_what_the_table_says(
    name: str, step: str, request_: str, wish: str
) -> None:
    assert told(request_, scene(name, step)) == wish


@pytest.mark.parametrize(("name", "step", "question", "held"), [*table("offline_questions.txt")])
def test_a_question_is_answered_from_the_workflow_or_not_at_all(
    name: str, step: str, question: str, held: str
) -> None:
    said = "\n".join(answer.text for answer in answers_to(question, scene(name, step)))
    assert said == "" if held == "-" else any(words in said for words in held.split("|"))

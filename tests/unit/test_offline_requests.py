"""Each request of `offline_requests.txt` means what its line says, in its workflow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from global_chat.knowledge.catalogue import Catalogue
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


def table() -> Iterator[tuple[str, str, str, str]]:
    name = step = ""
    for line in Path(__file__).with_name("offline_requests.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, step = line.removeprefix("== ").split(" | ")
        elif line and not line.startswith("#"):
            yield name, step, *line.split(" => ")  # type: ignore[misc]


@pytest.mark.parametrize(("name", "step", "request_", "wish"), [*table()])
def test_a_request_means_what_the_table_says(
    name: str, step: str, request_: str, wish: str
) -> None:
    assert told(request_, scene(name, step)) == wish

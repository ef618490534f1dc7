"""Reads the labelled requests: the plain-text files in `requests/` and JSON Lines.

== workflow.yaml [workflow=key] | open page      a step, `settings`, or nothing for the overview
< earlier request                                turns before the next request, oldest first
> earlier answer
+ log, input_dataclip                            attachments of the next request
J the request                                    code of the open step (J:key for another step)
J~P the request                                  the planner would do as well
W the request                                    structure
P the request                                    planner
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from global_chat.contract.errors import InvalidWorkflow
from global_chat.offline.router import Question
from global_chat.offline.scene import Scene
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page

ROOT = Path(__file__).parent.parent
_DESTINATIONS = {"J": "job_code_agent", "W": "workflow_agent", "P": "planner"}


@dataclass(frozen=True)
class Example:
    """One labelled request. `group` is the file's name."""

    question: Question
    destination: str
    job_key: str | None
    also_ok: frozenset[str]
    group: str


def scene_of(workflow: str | None, page: str | None) -> Scene:
    """The scene as the router sees it: without code."""
    if not workflow:
        return Scene.of_outline("")
    path = ROOT / "fixtures" / "workflows" / workflow
    try:
        document = Workflow.read(path.read_bytes().decode("utf-8"), page)
    except InvalidWorkflow:  # a project, and the page does not say which workflow
        return Scene.of_outline("")
    return Scene.of_outline(document.outline(), Page.parse(page).step)


def read_jsonl(path: Path) -> list[Example]:
    found = []
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        page = case["page"]
        question = Question(
            case["content"],
            Page.parse(page),
            scene_of(case["workflow"], page),
            tuple(h["content"] for h in case.get("history", [])[-2:]),
            tuple(a["type"] for a in case.get("attachments", [])),
        )
        also = frozenset(case["also_ok"])
        found.append(Example(question, case["destination"], case["job_key"], also, path.stem))
    return found


def read_requests(path: Path) -> list[Example]:
    found: list[Example] = []
    scene, page = Scene.of_outline(""), Page()
    recent: list[str] = []
    attached: tuple[str, ...] = ()
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            scene, page = _place(line.removeprefix("== "))
        elif line.startswith(("< ", "> ")):
            recent.append(line[2:])
        elif line.startswith("+ "):
            attached = tuple(part.strip() for part in line[2:].split(","))
        elif line[:1] in _DESTINATIONS:
            label, _, content = line.partition(" ")
            question = Question(content, page, scene, tuple(recent[-2:]), attached)
            found.append(_example(label, question, path.stem))
            recent, attached = [], ()
    return found


def _place(text: str) -> tuple[Scene, Page]:
    file, _, opened = (part.strip() for part in text.partition("|"))
    if file == "none":
        return Scene.of_outline(""), Page()
    file, _, workflow = file.partition(" workflow=")
    name = workflow or file.split(".")[0]
    page = f"workflows/{name}/{opened}".rstrip("/")
    return scene_of(file, page), Page.parse(page)


def _example(label: str, question: Question, group: str) -> Example:
    destination = _DESTINATIONS[label[0]]
    also = frozenset({"planner"}) if label.endswith("~P") else frozenset()
    key = label.removesuffix("~P").partition(":")[2]
    found = question.scene.named(key) if key else [question.scene.open_step]
    step = found[0] if len(found) == 1 else None
    if destination == "job_code_agent" and step is None:
        raise ValueError(f"{question.content!r} names no step of its workflow: {key!r}")
    job_key = step.key if step and destination == "job_code_agent" else None
    return Example(question, destination, job_key, also, group)


def all_examples() -> list[Example]:
    """The repository's cases first, then the requests that were written for training."""
    own = [e for p in sorted((ROOT / "training/requests").glob("*.txt")) for e in read_requests(p)]
    cases = read_jsonl(ROOT / "fixtures/routing.jsonl")
    return cases + read_jsonl(ROOT / "benchmarks/requests/open.jsonl") + own

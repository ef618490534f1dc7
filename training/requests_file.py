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

from global_chat.offline.request.outline import Outline, read_outline
from global_chat.offline.request.questions import Question, find_step
from global_chat.workflow.document import Workflow
from global_chat.workflow.outline_lines import outline_lines
from global_chat.workflow.parts import Page

ROOT = Path(__file__).parent.parent
_DESTINATIONS = {"J": "job_code_agent", "W": "workflow_agent", "P": "planner"}


@dataclass(frozen=True)
class Example:
    """One labelled request. `group` keeps public cases and our own apart."""

    question: Question
    destination: str
    job_key: str | None
    also_ok: frozenset[str]
    group: str

    @property
    def name(self) -> str:
        return self.question.content


def outline_of(workflow: str | None, page: str | None) -> Outline:
    if not workflow:
        return Outline()
    path = ROOT / "fixtures" / "workflows" / workflow
    document = Workflow.read(path.read_bytes().decode("utf-8"), page)
    return read_outline(
        outline_lines(document.name, document.steps, document.triggers, document.edges)
    )


def read_jsonl(path: Path) -> list[Example]:
    found = []
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        question = Question(
            case["content"],
            Page.parse(case["page"]),
            outline_of(case["workflow"], case["page"]),
            tuple((h["role"], h["content"]) for h in case["history"][-2:]),
            tuple(a["type"] for a in case.get("attachments", [])),
        )
        found.append(
            Example(
                question,
                case["destination"],
                case["job_key"],
                frozenset(case["also_ok"]),
                path.stem,
            )
        )
    return found


def read_requests(path: Path) -> list[Example]:
    found: list[Example] = []
    outline, page = Outline(), Page()
    recent: list[tuple[str, str]] = []
    attached: tuple[str, ...] = ()
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            outline, page = _place(line.removeprefix("== "))
        elif line.startswith("< "):
            recent.append(("user", line[2:]))
        elif line.startswith("> "):
            recent.append(("assistant", line[2:]))
        elif line.startswith("+ "):
            attached = tuple(part.strip() for part in line[2:].split(","))
        elif line[:1] in _DESTINATIONS:
            label, _, content = line.partition(" ")
            question = Question(content, page, outline, tuple(recent[-2:]), attached)
            found.append(_example(label, question, path.stem))
            recent, attached = [], ()
    return found


def _place(text: str) -> tuple[Outline, Page]:
    file, _, opened = (part.strip() for part in text.partition("|"))
    if file == "none":
        return Outline(), Page()
    file, _, workflow = file.partition(" workflow=")
    name = workflow or file.split(".")[0]
    page = f"workflows/{name}/{opened}".rstrip("/")
    return outline_of(file, page), Page.parse(page)


def _example(label: str, question: Question, group: str) -> Example:
    destination = _DESTINATIONS[label[0]]
    also = frozenset({"planner"}) if label.endswith("~P") else frozenset()
    key = label.removesuffix("~P").partition(":")[2]
    step = find_step(question.outline, key) if key else question.open_step
    if destination == "job_code_agent" and step is None:
        raise ValueError(f"{question.content!r} names no step of its workflow: {key!r}")
    job_key = step.key if step and destination == "job_code_agent" else None
    return Example(question, destination, job_key, also, group)


def all_examples() -> list[Example]:
    """Public cases first, then our own."""
    own = [e for p in sorted((ROOT / "training/requests").glob("*.txt")) for e in read_requests(p)]
    return read_jsonl(ROOT / "fixtures/routing.jsonl") + own

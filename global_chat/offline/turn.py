"""One turn without a model: what the request says is done, asked back, answered or refused.

It works on the workflow as a value. What it did is computed from the two documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from global_chat.agents.knowledge import Knowledge
from global_chat.agents.visible import say
from global_chat.agents.work_done import changes_between
from global_chat.contract.attachments import FIELD_OF_TYPE, check_size
from global_chat.contract.errors import InvalidWorkflow
from global_chat.contract.events import Changes, Emit, StepDiff, Stitched, Warned, WorkflowChanged
from global_chat.contract.payload import Payload
from global_chat.contract.response import Artifact, HistoryEntry, Response, ResponseMeta
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page
from global_chat.workflow.patch import PatchRejected

from .logs import explain
from .nearest import suggestions
from .plans import Plan, codes_after
from .questions import Answer, quoted_lines
from .reading import LONGEST_REQUEST, languages_of, vocabulary
from .scene import Scene, plain
from .understanding import Wish, understand

#: How every answer ends that leaves the workflow as it was, although something else was wanted.
NOTHING = "Nothing was changed."
#: More readings than this are not spelled out.
_MOST_READINGS = 4


@dataclass(frozen=True, slots=True)
class Done:
    """What a turn comes to: its text, and the document as it now stands."""

    text: str
    workflow: Workflow
    diffs: tuple[StepDiff, ...] = ()
    warnings: tuple[str, ...] = ()


async def take_turn(payload: Payload, knowledge: Knowledge, emit: Emit) -> Response:
    """Answer `payload`. Events go to `emit`; no agent is invoked and no model is asked.

    Whoever frames the turn tells of its beginning and end. Raises a `TurnError`.
    """
    check_size(payload.evidence)
    before = Workflow.read(payload.workflow_yaml, payload.page)
    done = await _answer(payload, before, knowledge)
    for diff in done.diffs:
        emit(Stitched(diff.name, *changed_lines(diff.before, diff.after)))
    changed = done.workflow.text != before.text
    if changed:
        emit(WorkflowChanged(done.workflow.text))
    say(emit, done.text)
    for warning in done.warnings:
        emit(Warned(warning))
    if changed:
        summary = changes_between(before, done.workflow)
        emit(Changes(done.workflow.text, done.diffs, summary))
    return Response(
        response=done.text,
        attachments=[Artifact(content=done.workflow.text)] if changed else [],
        history=[
            *payload.turns,
            HistoryEntry(role="user", content=payload.content),
            HistoryEntry(role="assistant", content=done.text),
        ],
        meta=ResponseMeta(agents=[]),
    )


async def _answer(payload: Payload, workflow: Workflow, knowledge: Knowledge) -> Done:
    step = workflow.find_step(Page.parse(payload.page).step)
    scene = Scene.of(workflow, step.key if step else None, knowledge.adaptor_versions())
    found = understand(payload.content, scene)
    plans = [w.plan for w in found if isinstance(w, Wish) and w.plan]
    logs = [a.content for a in payload.evidence if FIELD_OF_TYPE.get(a.type) == "run_logs"]
    if len(found) == 1 and plans:
        return _carried_out(workflow, plans[0], knowledge)
    if len(found) > 1 and plans:
        return Done(_which(plans), workflow)
    if found and isinstance(found[0], Wish):
        return Done(f"Nothing to do: the request only says what is to stay. {NOTHING}", workflow)
    if logs and (told := explain("\n".join(logs), scene)):
        return Done(told, workflow)
    if answers := [a.text for a in found if isinstance(a, Answer)]:
        return Done("\n\n".join(answers[:_MOST_READINGS]), workflow)
    return Done(await _not_understood(payload.content, scene, knowledge), workflow)


def _carried_out(workflow: Workflow, plan: Plan, knowledge: Knowledge) -> Done:
    """All of a plan, or nothing of it and why."""
    names = {step.key: step for step in workflow.steps}
    after, diffs = workflow, []
    try:
        for key, code in codes_after(workflow, plan.code).items():
            after = after.with_code(key, code)
            diffs.append(StepDiff(key, names[key].name, names[key].code or "", code))
        patched = after.apply(plan.patch, knowledge.adaptor_versions(), unknown_adaptors=True)
    except PatchRejected as refused:
        return Done(f"I cannot {plan.wish}. {' '.join(refused.problems)} {NOTHING}", workflow)
    except InvalidWorkflow as refused:
        return Done(f"I cannot {plan.wish}. {refused.message} {NOTHING}", workflow)
    lines = changes_between(workflow, patched.workflow)
    if not lines:
        return Done(f"This is so already. {NOTHING}", workflow)
    text = "\n".join(["Done:", "", *(f"- {line}" for line in lines)])
    return Done(text, patched.workflow, tuple(diffs), patched.warnings)


def _which(plans: Sequence[Plan]) -> str:
    """The question which of several readings is meant."""
    lines = [f"- {plan.wish}" for plan in plans[:_MOST_READINGS]]
    more = len(plans) - _MOST_READINGS
    lines += [f"- or one of {more} more"] if more > 0 else []
    return "\n".join(["This can mean several things. Which of them?", "", *lines, "", NOTHING])


async def _not_understood(content: str, scene: Scene, knowledge: Knowledge) -> str:
    if len(content) > LONGEST_REQUEST:
        said = f"Without a model I read requests of up to {LONGEST_REQUEST:,} characters."
        return f"{said} {NOTHING}"
    if not scene.steps and not is_question(content, scene):
        return f"The workflow is empty: building one needs a model. {NOTHING}"
    if is_question(content, scene):
        if quoted := quoted_lines(scene, content):
            return quoted.text
        if passage := await _documented(content, scene, knowledge):
            return passage
        if not scene.steps:
            return f"The workflow is empty: it has no steps yet. {NOTHING}"
        return f"I did not understand this question. {_can(content, scene)} {NOTHING}"
    return f"I did not understand all of this, so I did none of it. {_can(content, scene)} {NOTHING}"


def _can(content: str, scene: Scene) -> str:
    first, second = suggestions(content, scene)
    return f"Without a model I can do this, for example: {first}; {second}."


def is_question(content: str, scene: Scene) -> bool:
    """Whether a text asks rather than wants."""
    words = plain(content).split()
    asking = vocabulary(languages_of(content, scene)[0]).forms.get("QUESTION_WORD", ())
    return "?" in content or any(" ".join(words).startswith(f"{form} ") for form in asking)


_ABOUT_HERE = re.compile(r"\b(?:this|here|our|my|we|it)\b", re.IGNORECASE)
_HEADING = re.compile(r"^## (?P<title>.+)\nSource: (?P<source>.+)\n+", re.MULTILINE)


async def _documented(content: str, scene: Scene, knowledge: Knowledge) -> str | None:
    """The passage of the documentation that answers best; None for a question about this workflow."""
    named = any(step.name.lower() in content.lower() for step in scene.steps)
    if named or _ABOUT_HERE.search(content):
        return None
    passage = next(_passages(await knowledge.search(content)), None)
    if passage is None:
        return None
    title, source, text = passage
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
    return f"The documentation says this under “{title}”:\n\n{quoted}\n\nSource: {source}"


def _passages(text: str) -> Iterator[tuple[str, str, str]]:
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        yield head["title"], head["source"], text[head.end() : end]

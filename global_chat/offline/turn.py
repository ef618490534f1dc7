"""One turn without a model: what the request says is done, asked back, answered or refused.

It works on the workflow as a value. What it did is computed from the two documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from global_chat.agents.context import Knowledge, show
from global_chat.agents.work_done import NOTHING, changes_between
from global_chat.contract.attachments import FIELD_OF_TYPE, check_size
from global_chat.contract.errors import InvalidWorkflow
from global_chat.contract.events import Changes, Emit, StepDiff, Stitched, Warned, WorkflowChanged
from global_chat.contract.payload import Payload
from global_chat.contract.response import Artifact, Response
from global_chat.workflow.changes import changed_lines
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page
from global_chat.workflow.patch import PatchRejected

from .answers import Answer, code_meant, in_order, quoted_lines
from .logs import explain
from .plans import Plan, codes_after
from .questions import is_question, unknown_words
from .reading import LONGEST_REQUEST, classes_in, languages_of
from .scene import Scene, stem, system_of, words
from .understanding import Wish, understand

#: More readings than this are not spelled out.
_MOST_READINGS = 4
#: Classes of words that speak of what happened in a run.
_OF_RUNS = frozenset({"WHY", "FAILS", "ON_FAILURE", "LOGS"})
#: The share of a question's words that a passage must have.
_LEAST_SHARE = 0.6
_ABOUT_HERE = re.compile(r"\b(?:this|here|our|my|we|it)\b", re.IGNORECASE)
_HEADING = re.compile(r"^## (?P<title>.+)\nSource: (?P<source>.+)\n+", re.MULTILINE)


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
    changed = done.workflow.text != before.text
    for diff in done.diffs:
        emit(Stitched(diff.name, *changed_lines(diff.before, diff.after)))
    if changed:
        emit(WorkflowChanged(done.workflow.text))
    show(emit, done.text)
    for warning in done.warnings:
        emit(Warned(warning))
    if changed:
        summary = changes_between(before, done.workflow)
        emit(Changes(done.workflow.text, done.diffs, summary))
    return Response(
        response=done.text,
        attachments=[Artifact(content=done.workflow.text)] if changed else [],
        history=payload.history_with(done.text),
    )


async def _answer(payload: Payload, workflow: Workflow, knowledge: Knowledge) -> Done:
    step = workflow.find_step(Page.parse(payload.page).step)
    scene = Scene.of(workflow, step, knowledge.adaptor_versions())
    found = understand(payload.content, scene)
    plans = [wish.plan for wish in found if isinstance(wish, Wish) and wish.plan]
    logs = [a.content for a in payload.evidence if FIELD_OF_TYPE.get(a.type) == "run_logs"]
    if plans:
        if len(found) == 1:
            return _carried_out(workflow, plans[0], knowledge)
        return Done(_which(plans), workflow)
    if found and isinstance(found[0], Wish):
        return Done(f"The request only says what is to stay as it is. {NOTHING}", workflow)
    answers = [answer.text for answer in found if isinstance(answer, Answer)]
    # With a log, a question is about the run, unless it plainly is about something else.
    language = languages_of(payload.content, scene)[0]
    of_run = not answers or not _OF_RUNS.isdisjoint(classes_in(payload.content, language))
    if logs and of_run and (told := explain("\n".join(logs), scene)):
        return Done(told, workflow)
    if answers:
        return Done("\n\n".join(answers[:_MOST_READINGS]), workflow)
    return Done(await _not_understood(payload.content, scene, knowledge), workflow)


def _carried_out(workflow: Workflow, plan: Plan, knowledge: Knowledge) -> Done:
    """All of a plan, or nothing of it and why."""
    steps = {step.key: step for step in workflow.steps}
    codes = codes_after({key: step.code or "" for key, step in steps.items()}, plan.code)
    diffs = [StepDiff(k, steps[k].name, steps[k].code or "", code) for k, code in codes.items()]
    after = workflow
    try:
        for key, code in codes.items():
            after = after.with_code(key, code)
        patched = after.apply(plan.patch, knowledge.adaptor_versions(), unknown_adaptors=True)
    except (PatchRejected, InvalidWorkflow) as refused:
        return Done(f"I cannot {plan.wish}. {refused} {NOTHING}", workflow)
    lines = changes_between(workflow, patched.workflow)
    if not lines:
        return Done(f"It is like that already. {NOTHING}", workflow)
    text = "\n".join(["Done:", "", *(f"- {line}" for line in lines)])
    return Done(text, patched.workflow, tuple(diffs), patched.warnings)


def _which(plans: Sequence[Plan]) -> str:
    """The question which of several readings is meant."""
    lines = [f"- {plan.wish}" for plan in plans[:_MOST_READINGS]]
    more = len(plans) - _MOST_READINGS
    lines += [f"- or one of {more} more"] if more > 0 else []
    return "\n".join(["This can mean several things. Which of them?", "", *lines, "", NOTHING])


# ---- what is not understood


async def _not_understood(content: str, scene: Scene, knowledge: Knowledge) -> str:
    if len(content) > LONGEST_REQUEST:
        said = f"Without a model I read requests of up to {LONGEST_REQUEST:,} characters."
        return f"{said} {NOTHING}"
    asks = is_question(content, scene)
    if asks and (quoted := quoted_lines(scene, unknown_words(content, scene))):
        here = code_meant(scene, content)
        return "\n\n".join([quoted.text, here.text] if here else [quoted.text])
    if asks and (passage := await _documented(content, scene, knowledge)):
        return passage
    if not scene.steps:
        return (
            f"The workflow is empty: it has no steps yet, and building one needs a model. {NOTHING}"
        )
    why = "this question" if asks else "all of this, so I did none of it"
    first, second = suggestions(content, scene)
    can = f"Without a model I can do this, for example: {first}; {second}. {NOTHING}"
    meant = code_meant(scene, content) if asks else None
    shown = f"\n\n{meant.text}\n\n" if meant else " "
    return f"I did not understand {why}.{shown}{can}"


async def _documented(content: str, scene: Scene, knowledge: Knowledge) -> str | None:
    """The passage of the documentation that answers best, under its own title.

    None for a question about this workflow.
    """
    named = any(step.name.lower() in content.lower() for step in scene.steps)
    asked = {stem(word) for word in unknown_words(content, scene)}
    if named or not asked or (scene.steps and _ABOUT_HERE.search(content)):
        return None
    found = await knowledge.search(content)
    heads = list(_HEADING.finditer(found))
    if not heads:
        return None
    text = found[heads[0].end() : heads[1].start() if heads[1:] else len(found)].strip()
    in_title = asked & {stem(word) for word in words(heads[0]["title"])}
    in_text = asked & {stem(word) for word in words(text)}
    if not in_title or len(in_title | in_text) < _LEAST_SHARE * len(asked):
        return None
    quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    title, source = heads[0]["title"], heads[0]["source"]
    return f"The documentation says this under “{title}”:\n\n{quoted}\n\nSource: {source}"


def suggestions(request: str, scene: Scene) -> tuple[str, str]:
    """The two requests that can be carried out here and share most words with the given one."""
    asked = {stem(word) for word in words(request)}

    def unlike(example: tuple[str, str]) -> int:
        return -len(asked & {stem(word) for word in words(" ".join(example))})

    best, second, *_ = sorted(_examples(request, scene), key=unlike)
    return f"`{best[0]}`", f"`{second[0]}`"


def _examples(request: str, scene: Scene) -> Iterator[tuple[str, str]]:
    """Requests for this workflow, each with the words that people use for the same thing."""
    said = " ".join(words(request))
    steps = in_order(scene)
    named = [step for step in steps if " ".join(words(step.name)) in said] or steps
    here, last = named[0], named[-1]
    if any(trigger.type == "cron" for trigger in scene.triggers):
        yield (
            "run it every weekday at 7",
            "schedule cron daily time hour when start often every day",
        )
    if any(trigger.enabled is not False for trigger in scene.triggers):
        yield "turn off the trigger", "disable stop pause switch enable on webhook"
    yield f'rename "{here.name}" to "New name"', "call name title"
    yield f"remove the step {last.name}", "delete drop get rid of"
    yield f'add an empty http step called "New step" after {last.name}', "insert create new put"
    for edge in (edge for edge in scene.into(last.key) if edge.source_step):
        source = scene.title(edge.source_step)
        yield (
            f"{last.name} should only run if {source} fails",
            "condition path always success error",
        )
        yield f"turn off the path to {last.name}", "disable branch skip switch edge"
    if system := system_of(here.adaptor):
        yield f"use {system}@latest in {here.name}", "adaptor version upgrade pin switch"
    yield f"what does {here.name} do?", "explain describe question"
    yield "when does this run?", "question schedule"
    for step in [step for step in scene.coded if step in named][:1]:
        code = scene.code(step.key)
        for setting in code.settings[:3]:
            value = code.text[setting.start : setting.end]
            wish = f"in {step.name} change {setting.name} from {value} to …"
            yield wish, "set value limit replace instead text"
        if any(True for _ in code.logs()):
            yield f"remove the console.log lines in {step.name}", "log print debug"

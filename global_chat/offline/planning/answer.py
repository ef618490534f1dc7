"""The planner's next move: tool calls, or the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..language.folding import composed, folded
from ..language.lexicon import has
from ..language.masking import mask
from ..language.saying import Voice
from ..logs.telling import tell
from ..request.outline import read_outline
from ..request.outline_draft import draft_of
from ..structure.adaptor_list import AdaptorList
from ..structure.answer import understood
from ..structure.building import is_new_workflow, wants_code
from ..structure.draft import Draft
from ..structure.questions import is_question, is_structure_question
from .coding import StepEdit, Unclear, edits
from .explaining import asked_key, explain_key, explain_workflow, passages
from .reading import Situation, inspected_code

_THIS = re.compile(
    r"(?i)\b(?:this (?:step|one|job)|the (?:open|current) step|cette [eé]tape|celle-ci"
    r"|ce step|est[ea] (?:paso|etapa)|est[ea] (?:passo|etapa)|hatua hii|this(?= to\b)"
    r"|here)\b"
)
_THIS_ADAPTOR = re.compile(
    r"(?i)\b(?:this|cet|est[ea]|ese)\s+(adapt[oe]r|adaptateur|adaptador)(?: of this step)?\b"
)
_AND = re.compile(r"(?i)\s*(?:,\s*|;\s*|\.\s+|\s)(?:and|et|y|e|na|then|also)\s+|[;,]\s+|\.\s+")


@dataclass(frozen=True, slots=True)
class Move:
    """What the planner does next: call tools, or end on a text."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def next_move(situation: Situation) -> Move:
    """Decide by what is known so far. Without tools, or when all is done, an answer."""
    voice = Voice(situation.content)
    called = [*situation.ran("call_workflow_agent"), *situation.ran("call_job_code_agent")]
    if situation.ran("search_documentation"):
        return Move(
            passages(situation.ran("search_documentation")[-1].result, situation.content, voice)
        )
    if called:
        return _after_calls(situation, voice)
    if situation.ran("inspect_job_code"):
        return _after_inspection(situation, voice)
    if not situation.tools_allowed:
        return Move(voice.cannot("not_understood"))
    return _first(situation, voice)


def _first(situation: Situation, voice: Voice) -> Move:
    content, outline = situation.content, situation.outline
    plain = folded(composed(content.strip()))
    if (
        situation.log
        and not _structural(situation, content)
        and (told := tell(situation.log, list(outline.steps), voice))
    ):
        fix = re.search(r"\b(?:fix|correct whatever|repair|arregl|corrig)", plain)
        return Move(f"{told}\n\n{voice.say('no_fix')}" if fix else told)
    if not outline.steps:
        return _without_workflow(content, plain)
    if is_new_workflow(plain) and not is_question(plain):
        return Move(voice.cannot("new_in_old"))
    if _is_documentation(situation, plain):
        return Move(calls=(("search_documentation", {"query": content}),))
    if is_structure_question(plain):
        return Move(calls=(_structure(_with_names(situation, content)),))
    if not is_question(plain):
        message = _structural(situation, content)
        if message:
            return Move(calls=(_structure(message),))
    if not (is_question(plain) or has("explain", plain)) and _is_vague(plain):
        return Move(voice.say("what_is_wanted"))
    keys = [step.key for step in outline.steps if step.has_code]
    if not keys:
        return Move(voice.cannot("needs_code"))
    return Move(calls=(("inspect_job_code", {"job_keys": keys}),))


def _without_workflow(content: str, plain: str) -> Move:
    if is_question(plain) or (has("documentation", plain) and not is_new_workflow(plain)):
        return Move(calls=(("search_documentation", {"query": content}),))
    return Move(calls=(_structure(content),))


def _structure(message: str) -> tuple[str, dict[str, Any]]:
    return "call_workflow_agent", {"message": message, "attachments": []}


def _is_documentation(situation: Situation, plain: str) -> bool:
    """A question about OpenFn itself: it names no step and nothing of this workflow."""
    if not is_question(plain) and not has("documentation", plain):
        return False
    masked = mask(situation.content, situation.outline.steps)
    own = masked.steps or any(item.value.startswith("state.") for item in masked.values)
    about_this = re.search(
        (
            r"\b(?:this|our|the) (?:workflow|flow|step)|\b(?:esta?|este|o|el|ce"
            r"|cette) (?:flujo|fluxo|workflow|paso|passo|flux|etape)|hii|\bwe\b|it do\b"
        ),
        plain,
    )
    return has("documentation", plain) and not own and not about_this


def _is_vague(plain: str) -> bool:
    return (
        len(plain.split()) <= 7
        and has("vague", plain)
        and not any(has(c, plain) for c in ("logging", "fields", "limits", "comments"))
    )


def _structural(situation: Situation, content: str) -> str | None:
    """The request with the open step named in it, when it is structure and all understood."""
    text = _with_names(situation, content)
    key = situation.open_step.key if situation.open_step else None
    found = understood(text, _draft(situation), AdaptorList.of_catalogue(), key)
    return text if found and not any(f == "cannot:needs_code" for f in found) else None


def _with_names(situation: Situation, content: str) -> str:
    step = situation.open_step
    if step is None:
        return content
    content = _THIS_ADAPTOR.sub(lambda m: f'{m[1]} "{step.name}"', content)
    return _THIS.sub(lambda _: f'"{step.name}"', content)


def _draft(situation: Situation) -> Draft:
    return Draft.of(draft_of(situation.outline))


def _after_inspection(situation: Situation, voice: Voice) -> Move:
    codes: dict[str, str] = {}
    for run in situation.ran("inspect_job_code"):
        codes |= inspected_code(run)
    content = situation.content
    plain = folded(composed(content.strip()))
    if is_question(plain) or (has("explain", plain) and not has("add", plain)):
        key = asked_key(content, codes)
        text = (
            explain_key(key, situation.outline, codes, voice)
            if key
            else explain_workflow(content, situation.outline, codes, voice)
        )
        return Move(text)
    try:
        found = edits(content, situation.outline.steps, codes)
        return (
            Move(calls=tuple(_code(edit) for edit in found))
            if situation.tools_allowed
            else Move(voice.cannot("not_understood"))
        )
    except Unclear as reason:
        both = _both(situation, codes) if situation.tools_allowed else ()
        if both:
            return Move(calls=both)
        return Move(voice.cannot(reason.phrase, **reason.values))


def _both(situation: Situation, codes: dict[str, str]) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A request in two parts, one of structure and one of code, each understood by itself."""
    for match in _AND.finditer(situation.content):
        first, second = situation.content[: match.start()], situation.content[match.end() :]
        for structure, code in ((first, second), (second, first)):
            message = _structural(situation, structure)
            if not message:
                continue
            try:
                found = edits(code, situation.outline.steps, codes)
            except Unclear:
                continue
            return (_structure(message), *(_code(edit) for edit in found))
    return ()


def _code(edit: StepEdit) -> tuple[str, dict[str, Any]]:
    return "call_job_code_agent", {"job_key": edit.key, "message": edit.message, "attachments": []}


def _after_calls(situation: Situation, voice: Voice) -> Move:
    """Starter code for the steps of a new workflow, when code was asked for; else the answer."""
    structure = situation.ran("call_workflow_agent")
    coded = situation.ran("call_job_code_agent")
    built = [r for r in structure if r.result.startswith("Done:") and not situation.outline.steps]
    plain = folded(composed(situation.content))
    if built and not coded and wants_code(plain) and situation.tools_allowed:
        steps = read_outline(built[-1].result).steps
        calls = tuple(_code(StepEdit(s.key, "Write starter code.")) for s in steps)
        return Move(calls=calls)
    return Move(_answer(situation, voice))


def _answer(situation: Situation, voice: Voice) -> str:
    """What the tools reported, each result's own first paragraph, by step."""
    names = {step.key: step.name for step in situation.outline.steps}
    parts = []
    for run in situation.runs:
        if run.name not in ("call_workflow_agent", "call_job_code_agent"):
            continue
        done, _, text = run.result.partition("\n\nIts answer: ")
        text = text.strip() or done
        if run.failed:
            text = voice.cannot("needs_code")
        if run.name == "call_job_code_agent":
            key = str(run.arguments.get("job_key"))
            text = f"- {names.get(key, key)}: {text}"
        parts.append(text)
    return "\n".join(dict.fromkeys(parts)) or voice.cannot("not_understood")

"""The workflow agent's whole reply: handover, YAML and text."""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from global_chat.contract.errors import TurnError
from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Page
from global_chat.workflow.patch import PatchRejected
from global_chat.workflow.patching.reply import read_patch

from ..language.masking import mask
from ..language.saying import Voice
from . import adaptor_changes, adding, conditions, moving, paths, removing, renaming, triggers
from .adaptor_list import AdaptorList
from .asking import Ask, CannotDo, NeedsPage, is_idle
from .building import build
from .draft import Draft
from .questions import answer_question

#: In this order: what names steps by "remove" or "rename" must be read before what only moves them.
_COMMANDS = (
    adding.add,
    renaming.rename,
    triggers.switch,
    paths.disconnect,
    paths.connect,
    removing.remove,
    adaptor_changes.adaptors,
    triggers.trigger_type,
    moving.reorder,
    conditions.condition,
    triggers.schedule,
)


@dataclass(frozen=True, slots=True)
class StructureReply:
    """What the agent replies. A handover has neither text nor YAML."""

    text: str = ""
    yaml: str | None = None
    handover: str | None = None
    remove: list[str] = field(default_factory=list)


def change(
    content: str, draft_text: str, adaptors: AdaptorList, page: str | None
) -> StructureReply:
    """Do what `content` asks of the workflow in `draft_text`, completely or not at all.

    `page` is where the user is, when the prompt says it. A request about the open step that no
    page goes with, and one that needs code, is handed over.
    """
    voice = Voice(content)
    try:
        draft = Draft(draft_text)
    except (ValueError, yaml.YAMLError):
        return StructureReply(voice.cannot("not_understood"))
    try:
        ask = _ask(content, draft, adaptors, page)
        question = answer_question(ask, voice)
        if question:
            return StructureReply(question)
        if not draft.jobs:
            build(ask)
            return StructureReply(_told(ask, voice), draft.write())
        for command in _COMMANDS:
            command(ask)
    except NeedsPage:
        return StructureReply(handover=content)
    except CannotDo as reason:
        if reason.phrase == "needs_code" and draft.jobs:
            return StructureReply(handover=content)
        return StructureReply(voice.cannot(reason.phrase, **reason.values))
    if not ask.said:
        return StructureReply(voice.cannot("not_understood"))
    if not is_idle(ask):
        return StructureReply(voice.cannot("only_part"))
    changed = draft.write()
    if not _will_be_merged(draft_text, changed):
        return StructureReply(voice.cannot("not_understood"))
    return StructureReply(_told(ask, voice), changed, remove=removed(draft_text, changed))


def _told(ask: Ask, voice: Voice) -> str:
    return " ".join(voice.say(phrase, **values) for phrase, values in ask.said)


def _will_be_merged(before: str, after: str) -> bool:
    """Whether the merge will take the change: what it holds back is not said as done."""
    workflow = Workflow.read(before)
    try:
        return bool(workflow.apply(read_patch(after, removed(before, after), workflow)).changes)
    except (PatchRejected, TurnError):
        return False


def removed(before: str, after: str) -> list[str]:
    """What `after` leaves out of `before`, two drafts, as a reply's `remove`."""
    old, new = Workflow.read(before), Workflow.read(after)
    gone = [f"jobs.{k}" for k in {s.key for s in old.steps} - {s.key for s in new.steps}]
    return gone + [f"edges.{k}" for k in {e.key for e in old.edges} - {e.key for e in new.edges}]


def understood(
    content: str, draft: Draft, adaptors: AdaptorList, open_key: str | None
) -> tuple[str, ...]:
    """The phrases of what `content` asks of the structure, empty when it is not all understood.

    For whoever wants to know whether a request is about structure; `draft` may be changed by it.
    """
    masked = mask(content, draft.steps(), plain_words=adaptors.names)
    ask = Ask(masked, draft, open_key, adaptors)
    try:
        for command in _COMMANDS:
            command(ask)
    except NeedsPage:
        return ()
    except CannotDo as reason:
        return (f"cannot:{reason.phrase}",)
    return tuple(phrase for phrase, _ in ask.said) if is_idle(ask) else ()


def _ask(content: str, draft: Draft, adaptors: AdaptorList, page: str | None) -> Ask:
    found = draft.steps()
    name = Page.parse(page).step
    open_key = name if name in draft.jobs else None
    if name and open_key is None:
        named = [step.key for step in found if step.name == name]
        open_key = named[0] if len(named) == 1 else None
    masked = mask(content, found, plain_words=adaptors.names)
    return Ask(masked, draft, open_key, adaptors, Page.parse(page).settings)

"""What the offline model answers in the place of each agent, from the rendered request alone."""

from __future__ import annotations

import json
import re

from global_chat.model.seam import ModelRequest

from .code.answer import CodeReply, CodeTask
from .code.answer import reply as code_reply
from .code.hunks import edits_between
from .language.saying import Voice
from .planning.answer import next_move
from .planning.reading import read_situation
from .replying import Said
from .request.blocks import first_blocks
from .request.outline import read_outline
from .routing import answer as routing
from .structure.adaptor_list import AdaptorList
from .structure.answer import StructureReply, change

_CORRECTION = "The workflow you returned cannot be used:"
_READ_ONLY = "open for reading only"
_FOCUS = re.compile(r"^Focused step: (?P<key>\S+)(?: \((?P<name>.*)\))?$", re.MULTILINE)


def answer(request: ModelRequest) -> Said:
    """The reply to a request; the agent is known by the schema or by the tools."""
    schema = (request.output_schema or {}).get("properties", {})
    tools = {tool.name for tool in request.tools}
    if "destination" in schema:
        return Said(routing.as_json(routing.decide(request)))
    if "yaml" in schema:
        return _structure(request, subagent="handover" in schema)
    if "edit_job" in tools:
        return _code(request, subagent="edit_workflow" in tools)
    if "call_workflow_agent" in tools:
        move = next_move(read_situation(request))
        return Said(move.text, move.calls)
    return Said(Voice("").cannot("not_understood"))


def _blocks(request: ModelRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in request.system:
        for tag, text in first_blocks(part.text).items():
            found.setdefault(tag, text)
    return found


def _asked(request: ModelRequest) -> str:
    """The user's request: the last message that is text and no correction of ours."""
    texts = [m.content for m in request.messages if m.role == "user" and isinstance(m.content, str)]
    texts = [text for text in texts if not text.startswith(_CORRECTION)]
    return texts[-1] if texts else ""


def _structure(request: ModelRequest, *, subagent: bool) -> Said:
    """`{handover?, yaml, text}`. A correction gets the same reply again, which confirms it."""
    content = _asked(request)
    blocks = _blocks(request)
    static = "\n".join(part.text for part in request.system)
    said = change(
        content, blocks.get("existing_workflow", ""), AdaptorList.read(static), blocks.get("page")
    )
    if said.yaml is not None and _READ_ONLY in static:
        said = StructureReply(said.text)
    if said.handover and not subagent:
        said = StructureReply(Voice(content).cannot("not_understood"))
    fields: dict[str, object] = {"handover": said.handover} if subagent else {}
    fields["remove"] = list(said.remove)
    return Said(json.dumps({**fields, "yaml": said.yaml, "text": said.text}, ensure_ascii=False))


def _code(request: ModelRequest, *, subagent: bool) -> Said:
    """Text, with `edit_job` when code changes, or `edit_workflow` to hand over."""
    content = _asked(request)
    if not isinstance(request.messages[-1].content, str):
        return Said(Voice(content).cannot("not_understood"))  # an edit of ours was refused
    blocks = _blocks(request)
    code = blocks.get("user_code", "")
    said = code_reply(_task(content, code, blocks))
    if said.handover and not (subagent and request.tools_allowed):
        name = Voice(content).cannot("elsewhere", step=_task(content, code, blocks).name)
        said = CodeReply(name)
    if said.handover:
        return Said("", (("edit_workflow", {"goal": said.handover}),))
    if said.code is None or not request.tools_allowed:
        return Said(said.text)
    edits = edits_between(code, said.code)
    return Said(said.text, (("edit_job", {"code_edits": edits}),))


def _task(content: str, code: str, blocks: dict[str, str]) -> CodeTask:
    structure = blocks.get("workflow_structure", "")
    focus = _FOCUS.search(structure)
    outline = read_outline(structure)
    key = focus["key"] if focus else ""
    step = outline.by_key.get(key)
    return CodeTask(
        content=content,
        code=code,
        key=key,
        name=(step.name if step else "")
        or (focus["name"] if focus and focus["name"] else key)
        or "this step",
        adaptor=step.adaptor if step else "",
        documentation=blocks.get("adaptor", ""),
        steps=outline.steps,
        log=blocks.get("run_logs", ""),
    )

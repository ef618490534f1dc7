"""What the planner knows at a round: the request, the outline, the evidence, the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from global_chat.model.seam import ModelRequest
from global_chat.workflow.parts import Page

from ..request.blocks import first_blocks, read_blocks
from ..request.outline import Outline, OutlineStep, read_outline
from ..request.questions import find_step


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool that was called in this turn, and what came of it."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that the planner decides by."""

    content: str
    page: Page = field(default_factory=Page)
    outline: Outline = field(default_factory=Outline)
    log: str = ""
    history: tuple[str, ...] = ()
    runs: tuple[ToolRun, ...] = ()
    tools_allowed: bool = True

    @property
    def open_step(self) -> OutlineStep | None:
        return find_step(self.outline, self.page.step)

    def ran(self, name: str) -> list[ToolRun]:
        """The runs of one tool."""
        return [run for run in self.runs if run.name == name]


def read_situation(request: ModelRequest) -> Situation:
    """The situation in a planner's request."""
    blocks: dict[str, str] = {}
    for part in request.system:
        blocks |= {k: v for k, v in first_blocks(part.text).items() if k not in blocks}
    asked = [m.content for m in request.messages if m.role == "user" and isinstance(m.content, str)]
    return Situation(
        content=asked[-1] if asked else "",
        page=Page.parse(blocks.get("page")),
        outline=read_outline(blocks.get("workflow", "")),
        log=blocks.get("run_logs", ""),
        history=tuple(asked[:-1]),
        runs=tuple(_runs(request)),
        tools_allowed=request.tools_allowed,
    )


def _runs(request: ModelRequest) -> Sequence[ToolRun]:
    uses: dict[str, dict[str, Any]] = {}
    found: list[ToolRun] = []
    for message in request.messages:
        if isinstance(message.content, str):
            uses, found = {}, []  # an earlier turn's tools are not this turn's
            continue
        for block in message.content:
            if block.get("type") == "tool_use":
                uses[block["id"]] = block
            elif block.get("type") == "tool_result" and (use := uses.get(block["tool_use_id"])):
                content = block.get("content")
                text = content if isinstance(content, str) else ""
                found.append(
                    ToolRun(use["name"], use.get("input") or {}, text, bool(block.get("is_error")))
                )
    return found


def inspected_code(run: ToolRun) -> dict[str, str]:
    """The code that an inspection showed, by the key that was asked for."""
    codes: dict[str, str] = {}
    for tag, text in read_blocks(run.result):
        if tag == "code":
            before = run.result[: run.result.find(text)].rstrip()
            line = before.splitlines()[-2] if len(before.splitlines()) > 1 else before
            for key in run.arguments.get("job_keys", []):
                if line.startswith(f"Code of {key} (") or line.startswith(f"Code of {key}:"):
                    codes[str(key)] = text
    return codes

"""What the router is asked, as a value."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from global_chat.model.seam import ModelRequest
from global_chat.workflow.parts import Page

from .blocks import first_blocks
from .outline import Outline, OutlineStep, read_outline


@dataclass(frozen=True, slots=True)
class Question:
    """A request as the router sees it. `recent` are (role, text) pairs, oldest first."""

    content: str
    page: Page = field(default_factory=Page)
    outline: Outline = field(default_factory=Outline)
    recent: tuple[tuple[str, str], ...] = ()
    attached: tuple[str, ...] = ()

    @property
    def open_step(self) -> OutlineStep | None:
        """The step that is open on the page."""
        return find_step(self.outline, self.page.step)


def find_step(outline: Outline, name: str | None) -> OutlineStep | None:
    """The step of exactly this key, else of exactly this name, else None."""
    if not name:
        return None
    if name in outline.by_key:
        return outline.by_key[name]
    named = [step for step in outline.steps if step.name == name]
    return named[0] if len(named) == 1 else None


def read_question(request: ModelRequest) -> Question:
    """The question in a router's request. What is missing stays empty."""
    text = request.messages[-1].content if request.messages else ""
    blocks = first_blocks(text if isinstance(text, str) else "")
    outline = blocks.get("workflow", "")
    return Question(
        content=blocks.get("request", text if isinstance(text, str) and not blocks else ""),
        page=Page.parse(blocks.get("page")),
        outline=read_outline(outline),
        recent=_turns(blocks.get("recent_turns", "")),
        attached=_types(blocks.get("attached", "[]")),
    )


def _turns(text: str) -> tuple[tuple[str, str], ...]:
    turns: list[tuple[str, str]] = []
    for line in text.splitlines():
        role, colon, rest = line.partition(": ")
        if colon and role in ("user", "assistant"):
            turns.append((role, rest))
        elif turns:
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line}")
    return tuple(turns)


def _types(text: str) -> tuple[str, ...]:
    try:
        types = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(t) for t in types) if isinstance(types, list) else ()

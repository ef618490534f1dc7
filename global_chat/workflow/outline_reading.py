"""Reads an outline back into the parts that it was written from, for who knows nothing but it.

The other direction is `outline_lines`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from global_chat.workflow.parts import Edge, Step, Trigger

_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s",]+)'
_STEP = re.compile(
    rf"step (?P<key>{_WORD}) (?P<name>{_WORD})(?P<adaptor> \S+)? \[(?P<code>has code|empty)\]"
    r"(?P<paths> -> .*)?"
)
_TRIGGER = re.compile(rf"trigger (?P<key>{_WORD}) \[(?P<what>[^\]]*)\](?P<paths> -> .*)?")
_TARGET = re.compile(_WORD)
_CONDITION = re.compile(r'if (?:("(?:[^"\\]|\\.)*"): )?(.*)', re.DOTALL)
_TYPES = {"": "always", "success": "on_job_success", "failure": "on_job_failure"}
#: Stands for code that an outline does not show.
SOME_CODE = "fn(state => state);"


@dataclass(slots=True)
class Outlined:
    """The parts of a workflow as far as an outline shows them."""

    name: str = ""
    steps: list[Step] = field(default_factory=list)
    triggers: list[Trigger] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def read_outline(text: str) -> Outlined:
    """The parts of an outline; lines that are no part of one are passed over."""
    found = Outlined()
    for line in text.splitlines():
        if line.startswith("workflow "):
            found.name = _unquoted(line.removeprefix("workflow "))
        elif match := _STEP.fullmatch(line):
            key, adaptor = _unquoted(match["key"]), (match["adaptor"] or "").strip()
            code = SOME_CODE if match["code"] == "has code" else None
            found.steps.append(Step(key, _unquoted(match["name"]), adaptor, code))
            found.edges += _edges(match["paths"], step=key)
        elif match := _TRIGGER.fullmatch(line):
            key = _unquoted(match["key"])
            first, *rest = match["what"].split(", ")
            kind, _, cron = first.partition(" ")
            found.triggers.append(Trigger(key, kind, "off" not in rest, cron or None))
            found.edges += _edges(match["paths"], trigger=key)
    return found


def _edges(text: str | None, step: str | None = None, trigger: str | None = None) -> Iterator[Edge]:
    for target, told in _paths(text):
        off = told == "off" or told.endswith(", off")
        note = re.sub(r"(?:, )?off$", "", told) if off else told
        condition = _CONDITION.fullmatch(note)
        yield Edge(
            f"{step or trigger}->{target}",
            target,
            source_trigger=trigger,
            source_step=step,
            condition_type="js_expression" if condition else _TYPES.get(note, note),
            condition_expression=condition[2] if condition else None,
            condition_label=_unquoted(condition[1]) if condition and condition[1] else None,
            enabled=not off,
        )


def _paths(text: str | None) -> Iterator[tuple[str, str]]:
    """Targets with what is said of the path to each."""
    rest = (text or "").removeprefix(" -> ")
    while target := _TARGET.match(rest):
        rest = rest[target.end() :]
        note = ""
        if rest.startswith(" ("):
            end = _closing(rest)
            note, rest = rest[2:end], rest[end + 1 :]
        yield _unquoted(target[0]), note
        rest = rest.removeprefix(", ")


def _closing(text: str) -> int:
    """Where the parenthesis that opens `text` closes: conditions hold parentheses themselves."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and depth == 0:
            return index
    return len(text)


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')

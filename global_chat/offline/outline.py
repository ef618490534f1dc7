"""The outline of a workflow, read back from the lines that prompts show into a scene without code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from global_chat.workflow.parts import Edge, Step, Trigger

from .scene import Scene

_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s",]+)'
_STEP = re.compile(
    rf"step (?P<key>{_WORD}) (?P<name>{_WORD})(?P<adaptor> \S+)? \[(?P<code>has code|empty)\]"
    r"(?P<paths> -> .*)?"
)
_TRIGGER = re.compile(rf"trigger (?P<key>{_WORD}) \[(?P<what>[^\]]*)\](?P<paths> -> .*)?")
_TARGET = re.compile(_WORD)
_TYPES = {"": "always", "success": "on_job_success", "failure": "on_job_failure"}
#: Stands for code that is not shown.
_SOME_CODE = "fn(state => state);"


def read_outline(text: str, open_step: str | None = None) -> Scene:
    """The scene of an outline; lines that are no part of one are passed over."""
    name, steps, triggers = "", list[Step](), list[Trigger]()
    edges: list[Edge] = []
    for line in text.splitlines():
        if line.startswith("workflow "):
            name = _unquoted(line.removeprefix("workflow "))
        elif match := _STEP.fullmatch(line):
            key, code = _unquoted(match["key"]), _SOME_CODE if match["code"] == "has code" else None
            steps.append(Step(key, _unquoted(match["name"]), (match["adaptor"] or "").strip(), code))
            edges += _edges(match["paths"], step=key)
        elif match := _TRIGGER.fullmatch(line):
            key = _unquoted(match["key"])
            triggers.append(_trigger(key, match["what"]))
            edges += _edges(match["paths"], trigger=key)
    named = [s.key for s in steps if open_step in (s.key, s.name)]
    open_key = named[0] if len(named) == 1 else None
    return Scene(name, steps, triggers, edges, open_step=open_key, blind=True)


def _trigger(key: str, what: str) -> Trigger:
    first, *rest = what.split(", ")
    kind, _, cron = first.partition(" ")
    return Trigger(key, kind, "off" not in rest, cron or None)


def _edges(text: str | None, step: str | None = None, trigger: str | None = None) -> Iterator[Edge]:
    for target, note in _paths(text):
        off = note == "off" or note.endswith(", off")
        note = re.sub(r"(?:, )?off$", "", note) if off else note
        label, condition = None, None
        if note.startswith("if "):
            told = re.fullmatch(r'if (?:("(?:[^"\\]|\\.)*"): )?(.*)', note)
            label, condition = (told[1], told[2]) if told else (None, note)
        type_ = "js_expression" if condition else _TYPES.get(note, note)
        yield Edge(
            f"{step or trigger}->{target}",
            target,
            source_trigger=trigger,
            source_step=step,
            condition_type=type_,
            condition_expression=condition,
            condition_label=_unquoted(label) if label else None,
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

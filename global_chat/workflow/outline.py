"""The outline: what a model may know of a workflow without its code, one line a part; and
reading it back into parts, for who knows nothing else.

    workflow "Visit sync"
    trigger cron [cron 0 8 * * *, on] -> fetch
    step fetch "Fetch visits" @openfn/language-http@6.5.4 [has code] -> load (success)
    step load "Load" @openfn/language-common@latest [empty]

It is written from the parts alone, so that neither code nor ids nor comments can get into it,
wherever they sit in the document. A trigger shows the settings that say what it does, where they
are not the app's defaults: `[webhook, replies after_completion, on]`, `[cron 0 8 * * *, cursor
fetch, on]`. A path without a note always runs; one that is switched off says so. Models pay for
every character, so nothing is said twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from global_chat.workflow.forms.settings import CURSOR, KAFKA
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.nodes import Value

_PLAIN_KEY = re.compile(r"[\w.@-]+\Z")
_NOTES = {"always": "", "on_job_success": "success", "on_job_failure": "failure"}

#: Texts of a document that are this long are no names; they are cut, in characters.
LONGEST_TEXT = 300


def outline_lines(
    name: str | None, steps: Sequence[Step], triggers: Sequence[Trigger], edges: Sequence[Edge]
) -> str:
    """The outline of one workflow, without a newline at the end."""
    lines = [f"workflow {_quoted(name)}"] if name else []
    by_trigger: dict[str | None, list[Edge]] = {}
    by_source: dict[str | None, list[Edge]] = {}
    for edge in edges:
        by_trigger.setdefault(edge.source_trigger, []).append(edge)
        by_source.setdefault(edge.source_step, []).append(edge)
    keys = {step.key for step in steps}
    for trigger in triggers:
        out = _paths(by_trigger.get(trigger.key, []))
        lines.append(f"trigger {_key(trigger.key)} [{_trigger(trigger, keys)}]{out}")
    for step in steps:
        adaptor = f" {_cut(step.adaptor)}" if step.adaptor else ""
        mark = "[has code]" if step.has_code or step.code_path else "[empty]"
        out = _paths(by_source.get(step.key, []))
        lines.append(f"step {_key(step.key)} {_quoted(step.name)}{adaptor} {mark}{out}")
    return "\n".join(lines)


def _trigger(trigger: Trigger, keys: Collection[str]) -> str:
    cron = f" {_cut(trigger.cron_expression)}" if trigger.cron_expression else ""
    state = {True: ["on"], False: ["off"], None: []}[trigger.enabled]
    words = [f"{_cut(trigger.type or 'no type')}{cron}", *_settings(trigger, keys), *state]
    return ", ".join(words)


def _settings(trigger: Trigger, keys: Collection[str]) -> Iterator[str]:
    """The settings that the trigger's type has, where they are not the app's defaults."""
    if trigger.type == "webhook":
        reply = trigger.settings.get("webhook_reply")
        if reply not in (None, "before_start"):
            yield f"replies {_bare(reply)}"
        codes = trigger.settings.get("webhook_response_config")
        for key, code in codes.items() if isinstance(codes, dict) else ():
            if type(code) is int:
                yield f"{_bare(key)} {code}"
        if path := trigger.settings.get("custom_path"):
            yield f"path {_bare(path)}"
    elif trigger.type == "cron":
        cursor = trigger.settings.get(CURSOR)
        # An id in its place, or anything else, says nothing to who reads.
        if isinstance(cursor, str) and cursor in keys:
            yield f"cursor {_key(cursor)}"
    elif trigger.type == "kafka":
        kafka = trigger.settings.get(KAFKA)
        topics = kafka.get("topics") if isinstance(kafka, dict) else None
        if isinstance(topics, list) and topics:
            yield f"topics {' '.join(map(_bare, topics))}"


def _bare(value: Value) -> str:
    """A value without what would end the brackets that it stands in."""
    return _cut(str(value)).replace("[", "(").replace("]", ")")


def _paths(edges: Iterable[Edge]) -> str:
    found = [_path(edge) for edge in edges]
    return f" -> {', '.join(found)}" if found else ""


def _path(edge: Edge) -> str:
    kind = edge.condition_type or "always"
    if kind == "js_expression":
        label = f"{_quoted(edge.condition_label)}: " if edge.condition_label else ""
        note = f"if {label}{_cut((edge.condition_expression or '').strip())}"
    else:
        note = _NOTES.get(kind, _cut(kind))
    notes = [text for text in (note, "off" if edge.enabled is False else "") if text]
    target = _key(edge.target or "?")
    return f"{target} ({', '.join(notes)})" if notes else target


def _key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) else _quoted(key)


def _quoted(text: str | None) -> str:
    return json.dumps(_cut(text or ""), ensure_ascii=False)


def _cut(text: str | None) -> str:
    """One line, and no longer than a name can be."""
    flat = " ".join((text or "").split())
    return flat if len(flat) <= LONGEST_TEXT else flat[:LONGEST_TEXT] + "…"


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
    for target, told in _outlined_paths(text):
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


def _outlined_paths(text: str | None) -> Iterator[tuple[str, str]]:
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

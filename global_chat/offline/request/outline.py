"""The outline of a workflow, read back from the lines that prompts show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^\s",]+)'
_STEP = re.compile(
    rf"step (?P<key>{_WORD}) (?P<name>{_WORD})(?P<adaptor> \S+)? \[(?P<code>has code|empty)\]"
    r"(?P<paths> -> .*)?"
)
_TRIGGER = re.compile(rf"trigger (?P<key>{_WORD}) \[(?P<what>[^\]]*)\](?P<paths> -> .*)?")
_TARGET = re.compile(_WORD)


@dataclass(frozen=True, slots=True)
class OutlinePath:
    """A path to `target`. `note` is empty when it always runs, else what the outline says."""

    target: str
    note: str = ""

    @property
    def is_off(self) -> bool:
        return self.note == "off" or self.note.endswith(", off")


@dataclass(frozen=True, slots=True)
class OutlineStep:
    """A step as the outline shows it."""

    key: str
    name: str
    adaptor: str = ""
    has_code: bool = True
    paths: tuple[OutlinePath, ...] = ()

    @property
    def system(self) -> str:
        """The short name of its adaptor: `http`."""
        return self.adaptor.rpartition("language-")[2].partition("@")[0]


@dataclass(frozen=True, slots=True)
class OutlineTrigger:
    """What starts the workflow. `what` is its description, such as `cron 0 8 * * *, on`."""

    key: str
    what: str
    paths: tuple[OutlinePath, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A workflow's outline; without steps there is no workflow yet."""

    name: str = ""
    steps: tuple[OutlineStep, ...] = ()
    triggers: tuple[OutlineTrigger, ...] = ()
    by_key: dict[str, OutlineStep] = field(default_factory=dict)

    def sources(self, key: str) -> tuple[str, ...]:
        """The steps that lead to step `key`."""
        return tuple(s.key for s in self.steps if any(p.target == key for p in s.paths))

    def order(self) -> list[OutlineStep]:
        """The steps in the order in which a run reaches them, breadth first; the rest last."""
        ahead = [p.target for t in self.triggers for p in t.paths]
        seen: dict[str, OutlineStep] = {}
        while ahead:
            key = ahead.pop(0)
            if key in self.by_key and key not in seen:
                seen[key] = self.by_key[key]
                ahead += [p.target for p in self.by_key[key].paths]
        return [*seen.values(), *(s for s in self.steps if s.key not in seen)]


def read_outline(text: str) -> Outline:
    """The outline in `text`; lines that are no part of one are passed over."""
    name, steps, triggers = "", [], []
    for line in text.splitlines():
        if line.startswith("workflow "):
            name = _unquoted(line.removeprefix("workflow "))
        elif match := _STEP.fullmatch(line):
            steps.append(
                OutlineStep(
                    _unquoted(match["key"]),
                    _unquoted(match["name"]),
                    (match["adaptor"] or "").strip(),
                    match["code"] == "has code",
                    tuple(_paths(match["paths"])),
                )
            )
        elif match := _TRIGGER.fullmatch(line):
            paths = tuple(_paths(match["paths"]))
            triggers.append(OutlineTrigger(_unquoted(match["key"]), match["what"], paths))
    return Outline(name, tuple(steps), tuple(triggers), {s.key: s for s in steps})


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')


def _paths(text: str | None) -> Iterator[OutlinePath]:
    rest = (text or "").removeprefix(" -> ")
    while target := _TARGET.match(rest):
        rest = rest[target.end() :]
        note = ""
        if rest.startswith(" ("):
            end = _closing(rest)
            note, rest = rest[2:end], rest[end + 1 :]
        yield OutlinePath(_unquoted(target[0]), note)
        rest = rest.removeprefix(", ")


def _closing(text: str) -> int:
    """Where the parenthesis that opens `text` closes: conditions hold parentheses themselves."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and depth == 0:
            return index
    return len(text)

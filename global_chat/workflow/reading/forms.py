"""What every form of a workflow is read into: its parts, each with its place in the source.

A `Layout` is one workflow. `jobs_form` and `steps_form` read one each, `project` finds the
workflows of a text and picks the page's. Whoever edits the text works from the places; whoever
only reads works from the parts, and knows no form.
"""

from __future__ import annotations

import re
from collections.abc import Sized
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.nodes import (
    Content,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    resolve,
    text_of,
)
from global_chat.yaml.refusals import refusal
from global_chat.yaml.source import Source

P = TypeVar("P", Step, Trigger, Edge)

#: More steps or edges than this are not a workflow: aliases can make millions out of a short text.
MAX_PARTS = 20_000

#: What a body holds whose code is in a file: a path, which no code looks like.
_SCRIPT = re.compile(r"\.{0,2}/(?![/*])[^\r\n]*\.js|[^\s'\"`(){};,=]+\.js")


@dataclass(frozen=True, slots=True)
class Placed(Generic[P]):
    """A part and where it stands.

    `node` is its value as written: a mapping, an alias, or a scalar (a null job; the target of
    `next: load`). `entry` is its key with that value; None for the items of a list and for the
    scalar after `next:`. `holder` is the mapping or list that it stands in; for an edge of the
    steps form that is the map under `next`, or the step's own mapping for `next: load`.
    """

    part: P
    node: Node
    entry: Entry | None
    holder: Mapping | Sequence

    @property
    def mapping(self) -> Mapping | None:
        """Its keys, an alias followed; None when the value is null or a plain target."""
        content = resolve(self.node)
        return content if isinstance(content, Mapping) else None


@dataclass(frozen=True, slots=True)
class Layout:
    """One workflow of a text. `root` is the mapping that holds `jobs:` or `steps:`; `entry` is its
    entry in a project's mapping of workflows, `key` what names it there. `body_key` is the key
    that holds a step's code. `start` is the key of the step or trigger that `start:` names."""

    form: Literal["jobs", "steps"]
    root: Mapping
    name: str | None
    id: str | None
    steps: tuple[Placed[Step], ...]
    triggers: tuple[Placed[Trigger], ...]
    edges: tuple[Placed[Edge], ...]
    key: str | None = None
    entry: Entry | None = None
    start: str | None = None

    @property
    def body_key(self) -> str:
        return "body" if self.form == "jobs" else "expression"

    def step(self, key: str) -> Placed[Step] | None:
        """The step with exactly this key."""
        return next((s for s in self.steps if s.part.key == key), None)


def check_number(parts: Sized) -> None:
    """Raises InvalidWorkflow when there are more than `MAX_PARTS`."""
    if len(parts) > MAX_PARTS:
        raise unusable(f"The workflow document has more than {MAX_PARTS:,} steps or paths.")


def code_of(body: Content | None) -> str | None:
    """A body's text with `\\n` line ends; None when it is absent, null or no text."""
    if not isinstance(body, Scalar):
        return None
    return body.text.replace("\r\n", "\n") if "\r" in body.text else body.text


def code_path_of(body: Content | None) -> str | None:
    """The script that a body names in the place of code: `./load.js`, or `path: ./load.js`."""
    if isinstance(body, Mapping):
        return text_of(body, "path")
    return body.text if isinstance(body, Scalar) and _SCRIPT.fullmatch(body.text) else None


def key_text(source: Source, entry: Entry) -> str:
    """A key's literal text. Raises InvalidWorkflow for a key that is a list or a mapping."""
    key = resolve(entry.key)
    if not isinstance(key, Scalar):
        raise refusal(source, entry.start, "A key must be a text.")
    return key.text


def section(source: Source, root: Mapping, name: str) -> list[Entry]:
    """The entries of `jobs`, `triggers` or `edges`; none when it is absent, null or an empty list.

    Raises InvalidWorkflow when it is something else than a mapping, or has too many entries.
    """
    entry = root.own.get(name)
    value = resolve(entry.value) if entry else None
    if isinstance(value, Mapping):
        check_number(value.entries)
        return value.entries
    if entry and value and not is_nothing(value):
        raise refusal(source, entry.value.start, f"`{name}` must hold a mapping of names to parts.")
    return []


def is_nothing(value: Content) -> bool:
    """Null, or a list with no items."""
    return (
        value.is_null
        if isinstance(value, Scalar)
        else isinstance(value, Sequence) and not value.items
    )


def mapping_or_null(source: Source, node: Node, what: str) -> Mapping | None:
    """The node's mapping, or None for null. Raises InvalidWorkflow for anything else."""
    content = resolve(node)
    if isinstance(content, Mapping):
        return content
    if isinstance(content, Scalar) and content.is_null:
        return None
    raise refusal(source, node.start, f"{what} must be a mapping of keys to values.")


def unusable(message: str) -> InvalidWorkflow:
    """A refusal of the whole text, which has no place in it."""
    return InvalidWorkflow(message, details={"line": 1, "column": 1})

"""What every form of a workflow is read into, and what a form is.

A `Layout` is one workflow with its places in the source, a `Plan` what is to become of it. A `Form`
reads the one from a text and writes the other into it. Whoever edits the text works from the
places; whoever only reads works from the parts, and knows no form.
"""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.node_edits import NodeEdits
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
from global_chat.yaml.writing import Data

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

    form: Form
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
        return self.form.body_key

    def step(self, key: str) -> Placed[Step] | None:
        """The step with exactly this key."""
        return next((s for s in self.steps if s.part.key == key), None)


@dataclass(frozen=True, slots=True)
class Planned(Generic[P]):
    """One part of the result: `new` is what it will be, `placed` where it stands, None for a new
    one."""

    placed: Placed[P] | None
    new: P

    @property
    def old(self) -> P | None:
        """What it was."""
        return self.placed.part if self.placed else None

    @property
    def changes(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole result. A part of the document that no planned part comes from is removed. New
    parts stand behind the part after which they are to be written.

    `name` is the workflow's new name, None to leave it. `start` is the part with which the
    workflow begins, in a form that says so.
    """

    name: str | None
    steps: tuple[Planned[Step], ...]
    triggers: tuple[Planned[Trigger], ...]
    edges: tuple[Planned[Edge], ...]
    start: str | None = None
    warnings: tuple[str, ...] = ()


Kind = Literal["workflow", "step", "trigger", "edge"]


@dataclass(frozen=True, slots=True)
class Form:
    """How one form of document is read and written. A new one is a new file, and a place in
    `project.FORMS`.

    `sections` are the keys by which a workflow is of this form. `structure` holds every key under
    which parts stand or are referred to, `known` the keys that the app and its command line write,
    `held` those that a part's fields are read from. `conditions` are the types of a path's
    condition, `named` the expressions that are another way to write one. In a form that
    `is_list`, steps and triggers share their keys, and the key of a path is what it joins.
    """

    sections: tuple[str, ...]
    body_key: str
    structure: frozenset[str]
    known: abc.Mapping[Kind, frozenset[str]]
    held: abc.Mapping[Kind, frozenset[str]]
    conditions: tuple[str, ...]
    named: abc.Mapping[str, str]
    is_list: bool
    read: Callable[[Source, Mapping, str | None, Entry | None], Layout]
    write: Callable[[NodeEdits, Layout, Plan], None]


def words(text: str) -> frozenset[str]:
    """The words of a text: keys, mostly."""
    return frozenset(text.split())


def write_section(
    edits: NodeEdits,
    layout: Layout,
    name: str,
    parts: abc.Sequence[Placed[Any]],
    planned: abc.Sequence[Planned[Any]],
    whole: Callable[[Any], dict[str, Data]],
    order: abc.Sequence[str] = (),
) -> None:
    """Take the parts that no planned one comes from out of the section `name`, and put new ones in.

    A new one, which is `whole` of its part, goes behind the one that it follows in the plan, or
    behind the last one that stays when it comes first. A missing section goes where `order` has it.
    """
    staying = {id(plan.placed) for plan in planned if plan.placed}
    fresh = {plan.new.key: whole(plan.new) for plan in planned if not plan.placed}
    root = layout.root
    section = root.own.get(name)
    if not fresh and len(staying) == len(parts):
        return
    if section and section.value is not resolve(section.value):
        raise edits.refuse(section, f"`{name}` is shared by an alias")
    if not staying:
        anew: Data = [*fresh.values()] if layout.form.is_list else {**fresh}
        if section:
            edits.set_value(root, section, anew)
        else:
            edits.put(root, None, root, {name: anew}, order)
        return
    for placed in parts:
        if id(placed) not in staying:
            edits.remove(placed.holder, placed.entry or placed.node)
    after = next(placed for placed in reversed(parts) if id(placed) in staying)
    for plan in planned:
        if plan.placed:
            after = plan.placed
        elif isinstance(after.holder, Mapping):
            edits.add(after.holder, plan.new.key, fresh[plan.new.key], after.entry)
        else:
            edits.add_item(after.holder, fresh[plan.new.key], after.node)


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

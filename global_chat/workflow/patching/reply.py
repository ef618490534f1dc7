"""From a model's reply to the patch that it holds, whatever stands around the YAML.

A reply is the `yaml` and the `remove` of the workflow agent's answer. A whole workflow is a patch
too: parts that equal the document's are no change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import normalize

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.drafting import (
    edge_fields,
    placeholder_owner,
    step_fields,
    trigger_fields,
)
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patch import Fields, Patch, PatchRejected
from global_chat.workflow.patching.planned import TEXTS
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import (
    Entry,
    Mapping,
    Node,
    Scalar,
    Value,
    data_of,
    entries_of,
    resolve,
)
from global_chat.yaml.source import Source

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

#: A patch longer than this, in characters, is not one: the largest workflow known has 400 kB.
MAX_CHARACTERS = 2_000_000
#: How many new parts of one section a patch can bring.
MAX_NEW = 1_000

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+-]*)[ \t]*\r?$", re.MULTILINE)
#: A value that models forget to quote, so that the YAML does not parse.
_UNQUOTED = re.compile(
    r"^([ \t]*(?:name|adaptor|condition_expression|condition_label):[ \t]+)"
    r"([^\s'\"|>\[{#].*?)[ \t]*$",
    re.MULTILINE,
)
_FIRST_KEY = re.compile(r"^(?:name|jobs|triggers|edges)[ \t]*:", re.MULTILINE)
_SECTIONS = ("jobs", "triggers", "edges")
_WHAT = {"jobs": "step", "triggers": "trigger", "edges": "path"}
_IDS = {"jobs": "job", "triggers": "trigger", "edges": "edge"}
#: Fields in which a `#` may well be part of the text.
_FREE_TEXTS = frozenset({"name", "condition_expression", "condition_label"})

Part: TypeAlias = "Step | Trigger | Edge"


def read_patch(yaml: str | None, remove: Sequence[str], workflow: Workflow) -> Patch:
    """The patch for `workflow` in a reply. `yaml` may be fenced or stand in prose; None or blank
    when the reply only removes.

    Raises `PatchRejected` when it cannot be read, with line and column where that is so, or when it
    gives the whole workflow but for some parts and does not say that they are to go.
    """
    removed = tuple(dict.fromkeys(_section_name(name) for name in remove if name.strip()))
    if yaml is None or not yaml.strip():
        return Patch(remove=removed)
    if len(yaml) > MAX_CHARACTERS:
        raise PatchRejected(
            f"The YAML of the reply has {len(yaml):,} characters; at most {MAX_CHARACTERS:,} can "
            "be read. Give only what is new or different."
        )
    source, root = _composed(yaml)
    reading = _Reading(source, workflow)
    try:
        given = reading.sections(root)
    except InvalidWorkflow as error:  # a value that holds itself, or too many others
        raise PatchRejected(error.message) from None
    reading.check_copies(given)
    patch = Patch(
        reading.name(root), given["jobs"], given["triggers"], given["edges"], remove=removed
    )
    reading.check_whole(patch)
    if reading.problems:
        raise PatchRejected(*reading.problems)
    return patch


def _section_name(name: str) -> str:
    """`steps.KEY` and the like as `jobs.KEY`: what is meant is plain."""
    section, dot, key = name.strip().partition(".")
    usual = {"job": "jobs", "step": "jobs", "steps": "jobs", "path": "edges", "paths": "edges"}
    usual |= {"edge": "edges", "trigger": "triggers"}
    return f"{usual.get(section, section)}{dot}{key}"


def _composed(reply: str) -> tuple[Source, Mapping]:
    refusal: InvalidWorkflow | None = None
    for text in _candidates(reply):
        source = Source(text)
        try:
            node = compose(source)
        except InvalidWorkflow as error:
            refusal = refusal or error
            continue
        root = resolve(node) if node else None
        if isinstance(root, Mapping):
            return source, root
        if node is None or (isinstance(root, Scalar) and root.is_null):
            return source, Mapping(0, 0, False)
    if refusal is None or not _FIRST_KEY.search(reply):
        raise PatchRejected(
            "The `yaml` of the reply holds no part of a workflow. Give what is new or different "
            "under `name`, `jobs`, `triggers` and `edges`, or null."
        )
    raise PatchRejected(refusal.message.replace("The workflow document", "The YAML of the reply"))


def _candidates(reply: str) -> Iterator[str]:
    """What the YAML may be: all of the reply, what a fence holds, what follows some prose, or the
    reply with quotes around what needs them."""
    yield reply
    first, fence = _FIRST_KEY.search(reply), _FENCE.search(reply)
    if first and first.start() and (fence is None or first.start() < fence.start()):
        yield reply[first.start() :]
    for text in _fenced(reply):
        if _FIRST_KEY.search(text):
            yield text
    yield _UNQUOTED.sub(lambda found: f"{found[1]}{json.dumps(found[2])}", reply)


def _fenced(reply: str) -> Iterator[str]:
    """What stands in each fence, unindented.

    A fence closes at the first bare fence as far to the left as the opening one.
    """
    opening = _FENCE.search(reply)
    while opening:
        closing = re.compile(rf"^{opening[1]}{opening[2]}[ \t]*\r?$", re.MULTILINE)
        end = closing.search(reply, opening.end())
        inside = reply[opening.end() : end.start() if end else len(reply)].lstrip("\r\n")
        yield re.sub(rf"^{opening[1]}", "", inside, flags=re.MULTILINE)
        opening = _FENCE.search(reply, end.end()) if end else None


@dataclass(slots=True)
class _Reading:
    source: Source
    workflow: Workflow
    problems: list[str] = field(default_factory=list)

    def name(self, root: Mapping) -> str | None:
        entry = root.own.get("name")
        value = resolve(entry.value) if entry else None
        if entry is None or (isinstance(value, Scalar) and value.is_null):
            return None
        text = self._value("name", entry, "the workflow")
        if not isinstance(text, str):
            self.problems.append("The `name` of the workflow must be text.")
            return None
        return text.strip() or None

    def sections(self, root: Mapping) -> dict[str, dict[str, Fields]]:
        """The parts of the reply by section and key; a document's key in the document's form."""
        found: dict[str, dict[str, Fields]] = {}
        for section in _SECTIONS:
            there = {part.key for part in self._parts(section)}
            found[section] = {
                _own_key(key, there): fields for key, fields in self._section(root, section)
            }
        for entry in root.entries:
            key = resolve(entry.key)
            text = key.text if isinstance(key, Scalar) else "?"
            if text in ("steps", "workflows") or (not root.own.keys() & {*_SECTIONS, "name"}):
                self.problems.append(
                    f"`{text[:80]}` is not a part of what you were shown. Give what is new or "
                    "different under `name`, `jobs`, `triggers` and `edges`."
                )
                break
        return found

    def _parts(self, section: str) -> Sequence[Part]:
        parts: dict[str, Sequence[Part]] = {
            "jobs": self.workflow.steps,
            "triggers": self.workflow.triggers,
            "edges": self.workflow.edges,
        }
        return parts[section]

    def _section(self, root: Mapping, section: str) -> Iterator[tuple[str, Fields]]:
        entry = root.own.get(section)
        value = resolve(entry.value) if entry else None
        if value is None or (isinstance(value, Scalar) and value.is_null):
            return
        if not isinstance(value, Mapping):
            self.problems.append(
                f"`{section}` must be a mapping of keys to parts, as you were shown it; it is a "
                f"{'list' if not isinstance(value, Scalar) else 'text'}."
            )
            return
        if len(value.entries) > len(self._parts(section)) + MAX_NEW:
            self.problems.append(
                f"`{section}` has {len(value.entries):,} entries; at most {MAX_NEW:,} new ones can "
                "be added at once."
            )
            return
        for part in value.entries:
            key = resolve(part.key)
            fields = resolve(part.value)
            name = key.text if isinstance(key, Scalar) else ""
            if not isinstance(key, Scalar):
                self.problems.append(f"A key under `{section}` must be text.")
            elif isinstance(fields, Mapping):
                what = f"the {_WHAT[section]} `{name[:80]}`"
                yield name, {k: self._value(k, e, what) for k, e in entries_of(fields).items()}
            else:
                self.problems.append(
                    f"`{section}.{name[:80]}` must be a mapping of fields to values. To take the "
                    f"{_WHAT[section]} out, list it in `remove`."
                )

    def _value(self, name: str, entry: Entry, what: str) -> Value:
        """The value of a field. Text stands for itself: `1.0` and `no` under `name` are names."""
        node = resolve(entry.value)
        if name in TEXTS and isinstance(node, Scalar) and not node.is_null:
            self._check_comment(name, entry.value, what)
            return node.text
        # A placeholder that lost its quotes reads as a list.
        text = self.source.text[node.start : node.end]
        return text if name in TEXTS and placeholder_owner(text) else data_of(node)

    def _check_comment(self, name: str, node: Node, what: str) -> None:
        """Text that goes on behind ` #` is a comment to YAML: half of it would be lost unseen."""
        plain = isinstance(node, Scalar) and not node.style
        rest = self.source.text[node.end : self.source.line_end(node.end)]
        if plain and name in _FREE_TEXTS and rest.strip().startswith("#"):
            self.problems.append(
                f"`{name}` of {what} ends where ` #` begins a comment. Put the whole value in "
                "quotes if that belongs to it, else leave the comment out."
            )

    def check_copies(self, given: dict[str, dict[str, Fields]]) -> None:
        """A new part that carries another one's placeholder: a rename, or a copy of code."""
        for section, parts in given.items():
            there = {part.key for part in self._parts(section)}
            for key, fields in parts.items():
                if key in there:
                    continue
                for name, kind in (("id", _IDS[section]), ("body", "code")):
                    owner = placeholder_owner(str(fields.get(name) or ""))
                    if owner and owner.kind == kind and owner.key in there:
                        self.problems.append(
                            f"`{section}.{key}` is new, but its `{name}` is that of `{owner.key}`. "
                            f"To rename a {_WHAT[section]}, keep its key and change its `name`; a "
                            f"new one gets no `id`{' and an empty body' * (section == 'jobs')}."
                        )
                        break

    def check_whole(self, patch: Patch) -> None:
        """A reply that repeats the workflow but for some parts: whether they are to go is unsaid.

        It repeats the workflow when half of its parts, the name among them, are there as they are;
        parts of a section of which it repeats nothing are simply not mentioned.
        """
        unsaid: list[str] = []
        same, total = 0, 0
        if self.workflow.name:
            same, total = int(patch.name == self.workflow.name), 1
        joined = {_joins(fields) for fields in patch.edges.values()}
        for section, given in zip(
            _SECTIONS, (patch.jobs, patch.triggers, patch.edges), strict=True
        ):
            repeated, left_out = 0, list[str]()
            for part in self._parts(section):
                total += 1
                shown = _shown(part)
                if part.key in given:
                    repeated += {k: v for k, v in given[part.key].items() if k in shown} == shown
                elif not (section == "edges" and _joins(shown) in joined):
                    left_out.append(f"{section}.{part.key}")
            same += repeated
            unsaid += left_out if repeated else []
        gone = set(patch.remove)
        unsaid = [n for n in unsaid if n not in gone and not self._goes_with(n, patch.remove)]
        if unsaid and 2 * same >= total:
            names = ", ".join(f"`{name}`" for name in unsaid[:20])
            self.problems.append(
                f"The reply repeats the workflow but leaves out {names}. List in `remove` what is "
                "to go; and give only what is new or different, for what is not mentioned stays."
            )

    def _goes_with(self, name: str, remove: Sequence[str]) -> bool:
        """Whether a path goes with a step or trigger that is removed."""
        section, _, key = name.partition(".")
        edge = next((e for e in self.workflow.edges if e.key == key), None)
        if section != "edges" or edge is None:
            return False
        ends = {f"jobs.{edge.target}", f"jobs.{edge.source_step}"}
        return bool((ends | {f"triggers.{edge.source_trigger}"}) & set(remove))


def _own_key(key: str, there: set[str]) -> str:
    """The key as the document writes it, where only the encoding of its characters differs."""
    if key in there:
        return key
    same = [own for own in there if normalize("NFC", own) == normalize("NFC", key)]
    return same[0] if len(same) == 1 else key


def _shown(part: Part) -> dict[str, Value]:
    if isinstance(part, Step):
        return step_fields(part)
    return trigger_fields(part) if isinstance(part, Trigger) else edge_fields(part)


def _joins(fields: Fields) -> tuple[Value, ...]:
    return tuple(
        value if isinstance(value, str) else None
        for value in map(fields.get, ("source_trigger", "source_job", "target_job"))
    )

"""From a model's reply to the patch that it holds, whatever stands around the YAML.

A reply is the `yaml` and the `remove` of the workflow agent's answer. A whole workflow is a patch
too: parts that equal the document's are no change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from unicodedata import normalize

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.drafting import fields_of, placeholder_owner
from global_chat.workflow.parts import Edge
from global_chat.workflow.patch import Fields, Patch, PatchRejected
from global_chat.workflow.patching.given import SECTIONS, TEXTS
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Entry, Mapping, Node, Scalar, Value, data_of, entries_of, resolve
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
#: Fields in which a `#` may well be part of the text.
_FREE_TEXTS = frozenset({"name", "condition_expression", "condition_label"})


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
        given = {section: dict(reading.section(root, section)) for section in SECTIONS}
    except InvalidWorkflow as error:  # a value that holds itself, or too many others
        raise PatchRejected(error.message) from None
    patch = Patch(reading.name(root), **given, remove=removed)
    problems = [
        *reading.problems,
        *_unknown_sections(root),
        *_copies(patch, reading.there),
        *_left_out(patch, reading.there, workflow),
    ]
    if problems:
        raise PatchRejected(*problems)
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


class _Reading:
    """Reads the parts of a reply; a document's key is taken as the document writes it."""

    def __init__(self, source: Source, workflow: Workflow) -> None:
        self.source = source
        self.problems: list[str] = []
        self.there: dict[str, dict[str, Fields]] = {
            "jobs": {part.key: fields_of(part) for part in workflow.steps},
            "triggers": {part.key: fields_of(part) for part in workflow.triggers},
            "edges": {part.key: fields_of(part) for part in workflow.edges},
        }

    def name(self, root: Mapping) -> str | None:
        entry = root.own.get("name")
        text = self._value("name", entry, "the workflow") if entry else None
        if text is not None and not isinstance(text, str):
            self.problems.append("The `name` of the workflow must be text.")
        return text.strip() or None if isinstance(text, str) else None

    def section(self, root: Mapping, section: str) -> Iterator[tuple[str, Fields]]:
        """The parts of a section, each key with its fields."""
        entry, what = root.own.get(section), SECTIONS[section]
        value = resolve(entry.value) if entry else None
        if value is None or (isinstance(value, Scalar) and value.is_null):
            return
        if not isinstance(value, Mapping):
            self.problems.append(
                f"`{section}` must be a mapping of keys to parts, as you were shown it; it is a "
                f"{'text' if isinstance(value, Scalar) else 'list'}."
            )
            return
        if len(value.entries) > len(self.there[section]) + MAX_NEW:
            self.problems.append(
                f"`{section}` has {len(value.entries):,} entries; at most {MAX_NEW:,} new ones can "
                "be added at once."
            )
            return
        for part in value.entries:
            key, fields = resolve(part.key), resolve(part.value)
            if not isinstance(key, Scalar):
                self.problems.append(f"A key under `{section}` must be text.")
            elif isinstance(fields, Mapping):
                called = f"the {what} `{key.text[:80]}`"
                values = {k: self._value(k, e, called) for k, e in entries_of(fields).items()}
                yield _own_key(key.text, self.there[section]), values
            else:
                self.problems.append(
                    f"`{section}.{key.text[:80]}` must be a mapping of fields to values. To take "
                    f"the {what} out, list it in `remove`."
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


def _own_key(key: str, there: dict[str, Fields]) -> str:
    """The key as the document writes it, where only the encoding of its characters differs."""
    if key in there or key.isascii():
        return key
    same = [own for own in there if normalize("NFC", own) == normalize("NFC", key)]
    return same[0] if len(same) == 1 else key


def _unknown_sections(root: Mapping) -> Iterator[str]:
    """A sentence on what is no part of a patch: a document in another form, or no workflow."""
    for entry in root.entries:
        key = resolve(entry.key)
        text = key.text if isinstance(key, Scalar) else "?"
        if text in ("steps", "workflows") or not root.own.keys() & {*SECTIONS, "name"}:
            yield (
                f"`{text[:80]}` is not a part of what you were shown. Give what is new or "
                "different under `name`, `jobs`, `triggers` and `edges`."
            )
            return


def _copies(patch: Patch, there: dict[str, dict[str, Fields]]) -> Iterator[str]:
    """A sentence on every new part with another one's placeholder: a rename, or a copy of code."""
    for section, what in SECTIONS.items():
        kinds = {"id": section.removesuffix("s"), "body": "code"}
        for key, fields in getattr(patch, section).items():
            owners = [(n, placeholder_owner(str(fields.get(n) or ""))) for n in kinds]
            for name, owner in owners if key not in there[section] else ():
                if owner and owner.kind == kinds[name] and owner.key in there[section]:
                    yield (
                        f"`{section}.{key}` is new, but its `{name}` is that of `{owner.key}`. To "
                        f"rename a {what}, keep its key and change its `name`; a new one gets no "
                        f"`id`{' and an empty body' * (section == 'jobs')}."
                    )
                    break


def _left_out(
    patch: Patch, there: dict[str, dict[str, Fields]], workflow: Workflow
) -> Iterator[str]:
    """A sentence on what a reply leaves out that repeats the workflow otherwise: is it to go?

    It repeats the workflow when half of its parts, the name among them, are there as they are;
    parts of a section of which it repeats nothing are simply not mentioned.
    """
    same, total = int(patch.name == workflow.name is not None), int(workflow.name is not None)
    joined = {_joins(fields) for fields in patch.edges.values()}
    gone = set(patch.remove) | {f"edges.{e.key}" for e in workflow.edges if _goes(e, patch.remove)}
    unsaid: list[str] = []
    for section, parts in there.items():
        given = getattr(patch, section)
        repeated = sum(shown.items() <= given.get(key, {}).items() for key, shown in parts.items())
        same, total = same + repeated, total + len(parts)
        missing = [
            f"{section}.{key}"
            for key, shown in parts.items()
            if key not in given and not (section == "edges" and _joins(shown) in joined)
        ]
        unsaid += [name for name in missing if repeated and name not in gone]
    if unsaid and 2 * same >= total:
        yield (
            f"The reply repeats the workflow but leaves out "
            f"{', '.join(f'`{name}`' for name in unsaid[:20])}. List in `remove` what is to go; "
            "and give only what is new or different, for what is not mentioned stays."
        )


def _goes(edge: Edge, remove: Sequence[str]) -> bool:
    """Whether a path goes with a step or trigger that is removed."""
    ends = {f"jobs.{edge.target}", f"jobs.{edge.source_step}", f"triggers.{edge.source_trigger}"}
    return not ends.isdisjoint(remove)


def _joins(fields: Fields) -> tuple[str, ...]:
    return tuple(str(fields.get(end)) for end in ("source_trigger", "source_job", "target_job"))

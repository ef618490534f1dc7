"""What a patch gives, in the terms of one document: checked, and without what is no change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from global_chat.workflow.checking.part_rules import did_you_mean
from global_chat.workflow.drafting import edge_fields, fields_of, placeholder_owner
from global_chat.workflow.forms.jobs import JOBS
from global_chat.workflow.forms.layout import Kind, Layout, Placed
from global_chat.workflow.forms.settings import KAFKA, secrets_in, settings_by_name
from global_chat.workflow.parts import Edge, Step
from global_chat.workflow.patch import Fields, Patch
from global_chat.yaml.nodes import Value, text_of


@dataclass(slots=True)
class Findings:
    """What planning comes upon: `problems` reject the patch, `warnings` go with its result."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def fresh_id(ids: Iterable[str | None], old: Layout) -> str | None:
    """An id for a new part where its siblings, whose `ids` are given, have ids; without siblings,
    where any part of the document has one."""
    siblings = tuple(ids)
    relevant = siblings or (
        *(placed.part.id for placed in old.steps),
        *(placed.part.id for placed in old.triggers),
        *(placed.part.id for placed in old.edges),
    )
    return str(uuid4()) if any(relevant) else None


#: What a part of each section of a patch is called.
SECTIONS = {"jobs": "step", "triggers": "trigger", "edges": "path"}
_EDGE_FIELDS = frozenset(edge_fields(Edge("", "t", "t", "t", "t", "t", "t", enabled=True)))
#: Fields that hold text. In a reply they count as they stand, whatever they look like.
TEXTS = (_EDGE_FIELDS - {"enabled"}) | frozenset(
    {"name", "adaptor", "body", "id", "type", "cron_expression", "custom_path", "webhook_reply"}
    | {"cron_cursor", "cron_cursor_job", "cron_cursor_job_id"}
)
_MAPPINGS = frozenset({"webhook_response_config", KAFKA, "kafka"})
#: The ends of a path that are steps.
STEP_ENDS = ("source_job", "target_job")


def sections(
    layout: Layout, patch: Patch
) -> dict[str, tuple[dict[str, Fields], dict[str, Fields]]]:
    """By section: the document's parts by key with the fields that they have, and the patch's."""
    there: dict[str, tuple[Placed[Any], ...]]
    there = {"jobs": layout.steps, "triggers": layout.triggers, "edges": layout.edges}
    given = {"jobs": patch.jobs, "triggers": patch.triggers, "edges": patch.edges}
    return {
        section: ({p.part.key: fields_of(p.part) for p in parts}, dict(given[section]))
        for section, parts in there.items()
    }


def in_own_terms(layout: Layout, patch: Patch) -> Patch:
    """The patch without the fields that say what the document says.

    What says nothing of `enabled` is switched on, an id never changes, and a placeholder means no
    change. New steps are known by their names where the document's are.
    """
    parts = {
        section: {
            key: {k: v for k, v in fields.items() if not _repeats(k, v, there.get(key))}
            for key, fields in given.items()
        }
        for section, (there, given) in sections(layout, patch).items()
    }
    if layout.steps and all(goes_by_name(placed) for placed in layout.steps):
        there = {placed.part.key for placed in layout.steps}
        names = {k: str(f.get("name") or k).strip() for k, f in patch.jobs.items()}
        taken = there | names.keys()
        keys = {k: n for k, n in names.items() if k not in there and n not in taken}
        parts["jobs"] = {keys.get(key, key): fields for key, fields in parts["jobs"].items()}
        for fields in parts["edges"].values():
            fields |= {
                end: keys.get(str(fields[end]), fields[end]) for end in STEP_ENDS if end in fields
            }
    return replace(patch, jobs=parts["jobs"], triggers=parts["triggers"], edges=parts["edges"])


def _repeats(name: str, value: Value, shown: Fields | None) -> bool:
    if shown is None:
        return False
    unsaid = name == "id" or (name == "body" and placeholder_owner(str(value)) is not None)
    return unsaid or value == shown.get(name, True if name == "enabled" else None)


def goes_by_name(placed: Placed[Step]) -> bool:
    """Whether a step's key is its name: an item of a list that has no `id`."""
    return placed.entry is None and bool(placed.mapping and text_of(placed.mapping, "id") is None)


def wrong_types(patch: Patch) -> Iterator[str]:
    """A sentence for every field that has the wrong type."""
    for section, what in SECTIONS.items():
        for key, fields in getattr(patch, section).items():
            for name, value in fields.items():
                right = (
                    (isinstance(value, bool), "true or false")
                    if name == "enabled"
                    else (isinstance(value, dict), "a mapping")
                    if name in _MAPPINGS
                    else (isinstance(value, str) or name not in TEXTS, "text")
                )
                if value is not None and not right[0]:
                    yield f"`{name}` of the {what} `{key[:80]}` must be {right[1]}."


def wrong_removals(layout: Layout, patch: Patch) -> Iterator[str]:
    """A sentence for everything that cannot be removed: it is not there, or it is changed."""
    groups = sections(layout, patch)
    for name in dict.fromkeys(patch.remove):
        section, _, key = name.partition(".")
        if section not in groups:
            yield (
                f"`{name[:80]}` in `remove` does not say what it is: write `jobs.KEY`, "
                "`triggers.KEY` or `edges.KEY`."
            )
        elif key not in groups[section][0]:
            yield not_there(SECTIONS[section], key, groups[section][0], "It cannot be removed")
        elif groups[section][1].get(key):
            yield (
                f"`{name}` is removed and changed at once. Leave it out of `remove` or of the YAML."
            )


_FIELDS: dict[str, tuple[Kind, frozenset[str]]] = {
    "jobs": ("step", frozenset({"id", "name", "adaptor", "body"})),
    "triggers": ("trigger", frozenset({"id", "name", "type", "enabled", "cron_expression"})),
    "edges": ("edge", _EDGE_FIELDS | {"id"}),
}


def _left_over(patch: Patch) -> Iterator[tuple[str, str, list[str]]]:
    """Section, key and fields of every part with fields that a patch does not set."""
    for section, (kind, own) in _FIELDS.items():
        for key, fields in getattr(patch, section).items():
            extra = [
                name for name, value in fields.items() if value is not None and name not in own
            ]
            extra = [n for n in extra if kind != "trigger" or not settings_by_name({n: ""})]
            yield section, key, extra


def _is_known(layout: Layout, section: str, name: str) -> bool:
    kind = _FIELDS[section][0]
    known = JOBS.known[kind] | layout.form.known[kind]
    return name in known or name.startswith("x-")


def unknown_fields(layout: Layout, patch: Patch) -> Iterator[str]:
    """A sentence for every field that there is not."""
    for section, key, extra in _left_over(patch):
        what, own = SECTIONS[section], _FIELDS[section][1]
        for name in extra:
            if not _is_known(layout, section, name):
                yield (
                    f"`{name[:80]}` is not a field of a {what}, so nothing was done with it at "
                    f"`{key[:80]}`. {did_you_mean(name, own) or f'It has {_listed(own)}.'}"
                )


def unset_fields(layout: Layout, patch: Patch) -> Iterator[str]:
    """A sentence for every part with fields that only the app sets, secrets among them."""
    for section, key, extra in _left_over(patch):
        secret = secrets_in(patch.triggers[key]) if section == "triggers" else []
        unset = [n for n in extra if n not in secret and _is_known(layout, section, n)] + secret
        if unset:
            were = "was" if len(unset) == 1 else "were"
            yield (
                f"{_listed(unset)} of the {SECTIONS[section]} {key} {were} not set: that is done "
                "in the app."
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def not_there(what: str, key: str, there: Iterable[str], rest: str) -> str:
    """The sentence on a key that no part has: the nearest one, or which there are."""
    keys = list(there)
    listed = _listed(keys[:20]) + (" …" if len(keys) > 20 else "")
    hint = f"The {what}s are {listed}." if keys else f"There is no {what} yet."
    return f"There is no {what} `{key[:80]}`. {rest}. {did_you_mean(key, keys) or hint}"

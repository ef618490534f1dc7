"""Writes single keys of a part, and whole parts into the section that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.workflow.patching.node_edits import NodeEdits
from global_chat.workflow.patching.planned import Planned
from global_chat.workflow.reading.forms import Placed
from global_chat.yaml import nodes
from global_chat.yaml.nodes import Entry, Node, Scalar, find, resolve
from global_chat.yaml.writing import Data

P = TypeVar("P", Step, Trigger, Edge)

#: New values by key; None takes the key away, a mapping says what changes inside of one.
Values = Mapping[str, Data]


def put(
    edits: NodeEdits,
    holder: Node,
    entry: Entry | None,
    node: Node,
    values: Values,
    order: Sequence[str] = (),
) -> None:
    """Give the mapping `node` new values. A key that it has not goes where `order` has it.

    A part that is null (`entry` in `holder`) becomes a mapping. One that is an alias is refused:
    the edit would change every part that shares it.
    """
    if not values:
        return
    if isinstance(node, nodes.Mapping) and node.entries:
        for key, value in values.items():
            _put_one(edits, node, key, value, [k for k in order if values.get(k, "") is not None])
    elif isinstance(node, Scalar | nodes.Mapping) and entry and isinstance(holder, nodes.Mapping):
        edits.set_value(holder, entry, without_nulls(values))
    else:
        raise edits.refuse(node, "what stands there is shared with another part by an alias")


def without_nulls(values: Values) -> dict[str, Data]:
    """The values that are there, of mappings inside as well."""
    return {
        key: without_nulls(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not None
    }


def _put_one(
    edits: NodeEdits, mapping: nodes.Mapping, key: str, value: Data, order: Sequence[str]
) -> None:
    own = mapping.own.get(key)
    if value is None and own:
        edits.remove(mapping, own)
    elif value is None:
        if find(mapping, key):
            raise edits.refuse(mapping, f"`{key}` comes from a mapping that others share")
    elif own and isinstance(value, dict) and isinstance(own.value, nodes.Mapping):
        put(edits, mapping, own, own.value, value)
    elif own:
        edits.set_value(mapping, own, without_nulls(value) if isinstance(value, dict) else value)
    else:
        staying = [e for e in mapping.entries if text_of_key(e) in order]
        before = order[: order.index(key)] if key in order else order
        earlier = [e for e in staying if text_of_key(e) in before]
        new = without_nulls(value) if isinstance(value, dict) else value
        edits.add(mapping, key, new, (earlier or staying or mapping.entries)[-1])


def text_of_key(entry: Entry) -> str:
    key = resolve(entry.key)
    return key.text if isinstance(key, Scalar) else ""


def write_section(
    edits: NodeEdits,
    root: nodes.Mapping,
    name: str,
    parts: Sequence[Placed[P]],
    planned: Sequence[Planned[P]],
    data: Callable[[P], dict[str, Data]],
    sections: Sequence[str],
) -> None:
    """Take the parts that no planned one comes from out of the mapping `name`, and put new ones in.

    A new part stands behind the one that it follows in the plan. `sections` is the order in which
    `root` has its sections, for one that has to be begun.
    """
    stays = {id(plan.old) for plan in planned if plan.old}
    gone = [placed for placed in parts if id(placed.part) not in stays]
    fresh = {plan.new.key: data(plan.new) for plan in planned if not plan.old}
    section = root.own.get(name)
    if (gone or fresh) and section and section.value is not resolve(section.value):
        raise edits.refuse(section, f"`{name}` is shared by an alias")
    if len(gone) == len(parts):
        if section and (gone or fresh):
            edits.set_value(root, section, dict(fresh))
        elif fresh:
            ahead = sections[: sections.index(name)]
            found = [e for e in root.entries if text_of_key(e) in ahead]
            edits.add(root, name, dict(fresh), (found or root.entries)[-1])
        return
    for placed in gone:
        if placed.entry:
            edits.remove(placed.holder, placed.entry)
    for after, new in placements(parts, planned):
        if isinstance(after.holder, nodes.Mapping):
            edits.add(after.holder, new.key, fresh[new.key], after.entry)


def placements(
    parts: Sequence[Placed[P]], planned: Iterable[Planned[P]]
) -> list[tuple[Placed[P], P]]:
    """Every new part with the part of the document behind which it goes: the one that it follows
    in the plan; the last one that stays, when it comes first. There must be one that stays."""
    by_part = {id(placed.part): placed for placed in parts}
    plans = list(planned)
    staying = {id(plan.old) for plan in plans if plan.old}
    after = next(placed for placed in reversed(parts) if id(placed.part) in staying)
    found: list[tuple[Placed[P], P]] = []
    for plan in plans:
        if plan.old:
            after = by_part[id(plan.old)]
        else:
            found.append((after, plan.new))
    return found

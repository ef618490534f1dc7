"""Compares a patched document with its plan before anybody gets it.

What was planned must be there, and everything else must say what it said. A difference is a bug in
this program: nothing is handed out then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from global_chat.workflow.forms.layout import Layout, Placed, Plan, Planned
from global_chat.workflow.forms.settings import SETTING_KEYS
from global_chat.workflow.parts import Edge
from global_chat.yaml.nodes import Mapping, Node, Scalar, Sequence, resolve

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow

#: Keys of a part that the plan may change; all others of a part that stays are compared.
_PLANNED_KEYS = frozenset(
    {
        *("id", "name", "adaptor", "adaptors", "type", "cron_expression", "enabled"),
        *("source_trigger", "source_job", "target_job", "condition_type"),
        *("condition_expression", "condition_label", "next"),
        *("openfn", "condition", "expression", "label", "disabled"),
        *SETTING_KEYS,
    }
)
_PLANNED_EXTRA = frozenset({"uuid", "cron", "cron_expression", "enabled", *SETTING_KEYS})
_NOTHING = Mapping(0, 0, False)


def differences(before: Workflow, after: Workflow, plan: Plan) -> list[str]:
    """Differences between `after` and the planned result; empty when there are none."""
    old, new = before.layout, after.layout
    if new is None:
        return ["there is no workflow"]
    found = [
        *_unlike("step", plan.steps, new.steps),
        *_unlike("trigger", plan.triggers, new.triggers),
        *_unlike("path", plan.edges, new.edges),
    ]
    if new.name != (plan.name if plan.name is not None else old and old.name):
        found.append("the name of the workflow")
    if old and new.start != plan.start:
        found.append("`start`")
    if old:
        found += _disturbed(before, after, old, new, plan)
    return found


def _unlike(kind: str, planned: Iterable[Planned[Any]], placed: Iterable[Placed[Any]]) -> list[str]:
    plans = list(planned)
    fresh = {plan.new.key for plan in plans if not plan.old}
    wanted = {_comparable(plan.new, fresh) for plan in plans}
    there = {_comparable(p.part, fresh) for p in placed}
    return [f"the {kind} {part.key}" for part in sorted(wanted ^ there, key=lambda p: str(p.key))]


def _comparable(part: Any, fresh: set[str]) -> Any:
    """The part without its line. Texts that the styles of YAML end differently compare without
    blanks at the end; code does so in new parts only."""
    loose: dict[str, Any] = {
        name: value.strip() or None
        for name in ("condition_expression", "cron_expression")
        if isinstance(value := getattr(part, name, None), str)
    }
    if hasattr(part, "condition_type"):
        loose["condition_type"] = part.condition_type or "always"
        loose["enabled"] = part.enabled is not False
    if getattr(part, "code", None) and part.key in fresh:
        loose["code"] = part.code.rstrip()
    return replace(part, line=0, **loose)


def _disturbed(
    before: Workflow, after: Workflow, old: Layout, new: Layout, plan: Plan
) -> list[str]:
    """What changed without being planned: other keys of parts, of the workflow, of the document."""
    found: list[str] = []
    there: dict[tuple[str, str], Placed[Any]] = {}
    for kind, parts in _groups(new):
        there |= {(kind, placed.part.key): placed for placed in parts}
    places: dict[int, Placed[Any]] = {}
    for _, parts in _groups(old):
        places |= {id(placed.part): placed for placed in parts}
    for kind, planned in (("s", plan.steps), ("t", plan.triggers), ("e", plan.edges)):
        for one in planned:
            was = places[id(one.old)].mapping if one.old else None
            now = there.get((kind, one.new.key))
            moved = kind == "e" and old.form.is_list and _source(one.old) != _source(one.new)
            if was and not moved and not (now and _same_part(was, now.mapping or _NOTHING)):
                found.append(f"other keys of {one.new.key}")
    if not _same(old.root, new.root, old.form.structure | {"name"}):
        found.append("other keys of the workflow")
    in_project = old.root is not before.root
    if in_project and not _same(before.root, after.root, frozenset(), (old.root, new.root)):
        found.append("other parts of the document")
    return found


def _groups(layout: Layout) -> tuple[tuple[str, tuple[Placed[Any], ...]], ...]:
    return ("s", layout.steps), ("t", layout.triggers), ("e", layout.edges)


def _source(part: Any) -> tuple[str | None, ...]:
    return (part.source_trigger, part.source_step) if isinstance(part, Edge) else ()


def _same_part(was: Mapping, now: Mapping) -> bool:
    """Whether two mappings of a part say the same, apart from what a plan may change."""
    extra = [m.own["openfn"].value if "openfn" in m.own else None for m in (was, now)]
    inner = [m if isinstance(resolve(m) if m else None, Mapping) else _NOTHING for m in extra]
    return _same(was, now, _PLANNED_KEYS) and _same(inner[0], inner[1], _PLANNED_EXTRA)


def _scalar(node: Scalar) -> tuple[str, bool, str | None]:
    return node.text, bool(node.style), node.tag


def _same(
    one: Node | None,
    other: Node | None,
    except_keys: frozenset[str],
    except_pair: tuple[Node, Node] | None = None,
) -> bool:
    """Whether two nodes say the same, `except_keys` at the top and a pair of nodes aside.

    Aliases are followed, each pair of nodes once, so that loops end.
    """
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Node | None, Node | None, frozenset[str]]] = [(one, other, except_keys)]
    while waiting:
        left, right, skipped = waiting.pop()
        a, b = (resolve(left) if left else None), (resolve(right) if right else None)
        if (id(a), id(b)) in seen or (except_pair and (a, b) == except_pair):
            continue
        seen.add((id(a), id(b)))
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            if (a.text, a.is_null, bool(a.style), a.tag) != (
                b.text,
                b.is_null,
                bool(b.style),
                b.tag,
            ):
                return False
        elif isinstance(a, Sequence) and isinstance(b, Sequence):
            if len(a.items) != len(b.items):
                return False
            waiting += ((x, y, frozenset[str]()) for x, y in zip(a.items, b.items, strict=True))
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.own.keys() - skipped != b.own.keys() - skipped:
                return False
            waiting += (
                (a.own[key].value, b.own[key].value, frozenset[str]())
                for key in a.own.keys() - skipped
            )
        elif a is not b:
            return False
    return True

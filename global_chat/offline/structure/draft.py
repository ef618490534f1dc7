"""The workflow that the agent is given, as something to change and to write back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from ..language.folding import squeezed

EMPTY_BODY = "// Add operations here"
_SUCCESS, _FAILURE, _ALWAYS, _EXPRESSION = (
    "on_job_success",
    "on_job_failure",
    "always",
    "js_expression",
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in pairs if not tag.endswith(":timestamp")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step's key and name, for finding it in words."""

    key: str
    name: str


class Draft:
    """A workflow in the canonical form, changed in place. Raises ValueError when it is none."""

    def __init__(self, text: str) -> None:
        loaded = yaml.load(text, Loader=_Loader) if text.strip() else {}
        if not isinstance(loaded, dict):
            raise ValueError("not a workflow")
        self._set(loaded)

    @classmethod
    def of(cls, root: dict[str, Any]) -> Draft:
        """A draft from its parts."""
        draft = cls("")
        draft._set(root)
        return draft

    def _set(self, root: dict[str, Any]) -> None:
        self.root: dict[str, Any] = root
        for part in ("jobs", "triggers", "edges"):
            if not isinstance(self.root.get(part), dict):
                self.root[part] = {}

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        return self.root["jobs"]  # type: ignore[no-any-return]

    @property
    def triggers(self) -> dict[str, dict[str, Any]]:
        return self.root["triggers"]  # type: ignore[no-any-return]

    @property
    def edges(self) -> dict[str, dict[str, Any]]:
        return self.root["edges"]  # type: ignore[no-any-return]

    def write(self) -> str:
        """The whole workflow as YAML."""
        named = {"name": self.root["name"], **self.root} if "name" in self.root else self.root
        text: str = yaml.dump(
            named, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=10**6
        )
        return text

    def steps(self) -> list[DraftStep]:
        """The steps in the order in which a run reaches them."""
        return [DraftStep(key, self.name(key)) for key in self.order()]

    def name(self, key: str) -> str:
        return str(self.jobs[key].get("name") or key)

    def order(self) -> list[str]:
        """Keys in the order of a run, breadth first; what is not reached comes last."""
        ahead = [str(e.get("target_job")) for e in self.edges.values() if e.get("source_trigger")]
        seen: dict[str, None] = {}
        while ahead:
            key = ahead.pop(0)
            if key in self.jobs and key not in seen:
                seen[key] = None
                ahead += [str(e["target_job"]) for _, e in self.outgoing(key)]
        return [*seen, *(key for key in self.jobs if key not in seen)]

    def incoming(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        return [(k, e) for k, e in self.edges.items() if e.get("target_job") == key]

    def outgoing(self, key: str) -> list[tuple[str, dict[str, Any]]]:
        return [(k, e) for k, e in self.edges.items() if e.get("source_job") == key]

    def between(self, source: str, target: str) -> tuple[str, dict[str, Any]] | None:
        """The path from one step to another, if there is one."""
        return next(((k, e) for k, e in self.outgoing(source) if e["target_job"] == target), None)

    def trigger(self) -> tuple[str, dict[str, Any]] | None:
        """The trigger, when there is exactly one."""
        return next(iter(self.triggers.items())) if len(self.triggers) == 1 else None

    def last_step(self) -> str | None:
        """The end of the main chain: the step without a way on, along paths that are no alarms."""
        ends = [
            key
            for key in self.order()
            if not any(not is_failure(e) for _, e in self.outgoing(key))
            and not (self.incoming(key) and all(is_failure(e) for _, e in self.incoming(key)))
        ]
        return ends[0] if len(ends) == 1 else self._end_of_main_chain()

    def _end_of_main_chain(self) -> str | None:
        """Follows the plain paths from the trigger; None where the way forks."""
        starts = [str(e["target_job"]) for e in self.edges.values() if e.get("source_trigger")]
        key = starts[0] if len(starts) == 1 else None
        seen = set()
        while key and key not in seen:
            seen.add(key)
            onward = [e for _, e in self.outgoing(key) if not is_failure(e) and is_on(e)]
            plain = [e for e in onward if e.get("condition_type") != _EXPRESSION] or onward
            if not onward:
                return key
            key = str(plain[0]["target_job"]) if len(plain) == 1 else None
        return None

    def connect(self, source: str, target: str, condition: str, **more: Any) -> None:
        """Add a path from a step, or replace its condition when it is there."""
        found = self.between(source, target)
        edge: dict[str, Any] = (
            dict(found[1]) if found else {"source_job": source, "target_job": target}
        )
        for name in ("condition_type", "condition_expression", "condition_label"):
            edge.pop(name, None)
        edge["condition_type"] = condition
        edge.update(more)
        edge.setdefault("enabled", True)
        self.edges[found[0] if found else self.edge_key(source, target)] = edge

    def edge_key(self, source: str, target: str) -> str:
        key, number = f"{source}->{target}", 1
        while key in self.edges:
            number += 1
            key = f"{source}->{target}-{number}"
        return key

    def add_step(self, name: str, adaptor: str) -> str:
        """A new empty step; its key. The name must be free."""
        key = new_key(name, self.jobs)
        self.jobs[key] = {"name": name, "adaptor": adaptor, "body": EMPTY_BODY}
        return key

    def remove_step(self, key: str) -> None:
        """The step and its paths."""
        for edge_key, _ in [*self.incoming(key), *self.outgoing(key)]:
            self.edges.pop(edge_key, None)
        del self.jobs[key]

    def is_free(self, name: str) -> bool:
        """Whether no step has this name, or one that differs only in case and punctuation."""
        wanted = squeezed(name)
        return all(squeezed(s.name) != wanted and squeezed(s.key) != wanted for s in self.steps())

    def using(self, adaptor: str) -> list[str]:
        """Keys of the steps that use the adaptor with this short name."""
        return [
            key for key in self.order() if short_adaptor(self.jobs[key].get("adaptor")) == adaptor
        ]


def is_failure(edge: dict[str, Any]) -> bool:
    return edge.get("condition_type") == _FAILURE


def is_on(edge: dict[str, Any]) -> bool:
    return edge.get("enabled") is not False


def short_adaptor(adaptor: object) -> str:
    """`@openfn/language-http@7.3.2` → `http`."""
    return str(adaptor or "").rpartition("language-")[2].partition("@")[0]


def new_key(name: str, taken: dict[str, Any]) -> str:
    """A key as the app makes it: the name with hyphens, and free."""
    base = re.sub(r"[^\w]+", "-", name).strip("-") or "step"
    key, number = base, 1
    while key in taken:
        number += 1
        key = f"{base}-{number}"
    return key


def conditions(edge: dict[str, Any]) -> dict[str, Any]:
    """What decides whether a path is taken, to be given to another path."""
    names = ("condition_type", "condition_expression", "condition_label")
    return {name: edge[name] for name in names if edge.get(name) is not None}

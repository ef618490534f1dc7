"""A change to a workflow's structure, as a value: what is new, what differs, and what goes.

Whatever changes structure makes one: the workflow agent's reply is read into it, the offline
commands build it. `Workflow.apply` carries it out. What a patch does not mention stays. Parts are
identified by their key, and by nothing else. Rules: section 4 of the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from global_chat.yaml.nodes import Value

#: New values of one part by field, in the words of the app's export (`source_job`, `target_job`,
#: `condition_type` …) whatever form the document has. None takes a field away.
Fields: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Patch:
    """`name` is the workflow's new name. `remove` holds `jobs.KEY`, `triggers.KEY`, `edges.KEY`.

    A key that the workflow has not is a new part: a step needs an `adaptor`, a trigger a `type`, a
    path its two ends. A step that is removed takes its paths with it. A step keeps its key when its
    `name` changes.
    """

    name: str | None = None
    jobs: Mapping[str, Fields] = field(default_factory=dict)
    triggers: Mapping[str, Fields] = field(default_factory=dict)
    edges: Mapping[str, Fields] = field(default_factory=dict)
    remove: tuple[str, ...] = ()


class PatchRejected(Exception):
    """A patch that cannot be applied; nothing was changed.

    `problems` are sentences that name the part and say what to do. They are in the patch's terms:
    for a model to correct by, or for an engineer. There are at most `MAX_PROBLEMS` of them, none
    longer than `MAX_SENTENCE` characters.
    """

    MAX_PROBLEMS = 20
    MAX_SENTENCE = 500

    def __init__(self, *problems: str) -> None:
        told = [
            text if len(text) <= self.MAX_SENTENCE else text[: self.MAX_SENTENCE - 1] + "…"
            for text in dict.fromkeys(problems[: self.MAX_PROBLEMS])
        ]
        if (more := len(problems) - self.MAX_PROBLEMS) > 0:
            told.append(f"There are {more:,} more problems of this kind.")
        super().__init__(" ".join(told))
        self.problems = tuple(told)

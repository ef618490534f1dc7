"""The workflow document as a value: what the rest of the program holds and asks.

`Workflow` is a thin face. Reading is in `source`, `compose`, `nodes` (text to node tree), `forms`,
`jobs_form`, `steps_form`, `project` (nodes to parts); each method's work is in the module it calls.
For editors of the text, `source` and `layout` give every part's place in it.
"""

from __future__ import annotations

from collections import abc
from contextlib import suppress
from functools import cached_property

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow import changes as changing
from global_chat.workflow import drafting, finding
from global_chat.workflow.checking import check as checking
from global_chat.workflow.forms.layout import Layout, check_number
from global_chat.workflow.forms.project import Place, places, select
from global_chat.workflow.outline import outline_lines
from global_chat.workflow.parts import Edge, Page, Problem, Step, Trigger
from global_chat.workflow.patch import Patch
from global_chat.workflow.patching import apply as patching
from global_chat.workflow.stitching import stitch as stitching
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Mapping, Node, Scalar, resolve
from global_chat.yaml.source import Source


class Workflow:
    """One workflow, in the text that holds it. Immutable: methods return a new one.

    `text` is the whole source exactly as given, `page` the page it was read for. For editing by
    place there are `source`, `root` (the node tree), `layout` (the parts with their places, None
    when there is no document yet) and `layouts` (of every workflow of a project, this one too).
    """

    def __init__(
        self, source: Source, page: str | None = None, position: int | None = None
    ) -> None:
        self.source = source
        self.text = source.text
        self.page = page
        self.root = _document(source)
        self.layout: Layout | None = None
        self._places: tuple[Place, ...] = ()
        self._selected: Place | None = None
        if self.root:
            self._places = places(source, self.root)
            self._selected = (
                select(self._places, Page.parse(page).workflow)
                if position is None
                else self._places[position]
            )
            self.layout = self._selected.read(source)

    @classmethod
    def read(cls, text: str | None, page: str | None = None) -> Workflow:
        """Read a document. None, blank text, only comments, `null`, `{}`: the empty workflow.

        In a project file `page` selects the workflow. Raises InvalidWorkflow, with line and column,
        when the text cannot be parsed, is no workflow, or the page selects none of several.
        """
        return cls(Source(text or ""), page)

    def with_text(self, text: str) -> Workflow:
        """This workflow in an edited text, which holds the same workflows in the same order.

        It is found by its position: the edit may have changed the name that the page goes by.
        Raises as `read` does.
        """
        return Workflow(Source(text), self.page, self._position)

    @property
    def _position(self) -> int | None:
        return next((n for n, place in enumerate(self._places) if place is self._selected), None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no workflow yet. The text may still hold comments."""
        return self.layout is None

    @property
    def name(self) -> str | None:
        return self.layout.name if self.layout else None

    @property
    def start(self) -> str | None:
        """The key of the step or trigger that the portability form's `start:` names."""
        return self.layout.start if self.layout else None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(p.part for p in self.layout.steps) if self.layout else ()

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        return tuple(p.part for p in self.layout.triggers) if self.layout else ()

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return tuple(p.part for p in self.layout.edges) if self.layout else ()

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """Every workflow of the text that can be read, in order."""
        found: list[Layout] = []
        steps = 0
        for place in self._places:
            layout = self.layout if place is self._selected else _readable(place, self.source)
            if layout:
                found.append(layout)
                steps += len(layout.steps)
                check_number(range(steps))
        return tuple(found)

    def find_step(self, name: str | None) -> Step | None:
        """The step that `name` picks out: exact key, exact name, then the fold; else None."""
        return finding.find_step(self.steps, name)

    def outline(self) -> str:
        """What a model may know of the workflow: no code, no ids, no comments."""
        return outline_lines(self.name, self.steps, self.triggers, self.edges)

    def draft(self) -> str:
        """The workflow as the workflow agent sees it: placeholders for every body and id."""
        return drafting.draft(self.name, self.steps, self.triggers, self.edges)

    def with_code(self, key: str, code: str) -> Workflow:
        """Stitch: only the bytes of that step's body change; the same code gives the same document.

        Raises KeyError for a key that no step has, InvalidWorkflow when the body is in a file.
        """
        return stitching.stitch(self, key, code)

    def apply(
        self,
        patch: Patch,
        adaptors: abc.Mapping[str, abc.Collection[str]] | None = None,
        *,
        unknown_adaptors: bool = False,
    ) -> patching.Patched:
        """Carry out a change of structure; see `patching.apply`, which says what it raises."""
        return patching.apply(self, patch, adaptors, unknown_adaptors=unknown_adaptors)

    def check(
        self,
        adaptors: abc.Mapping[str, abc.Collection[str]] | None = None,
        facts: checking.FactsOf | None = None,
    ) -> tuple[Problem, ...]:
        """What is wrong with the workflow; see `checking.check`."""
        return checking.check(self, adaptors, facts)

    def changes_to(self, other: Workflow) -> tuple[str, ...]:
        """What `other` has changed, one line a change, in workflow terms."""
        return changing.changes(self, other)


def _document(source: Source) -> Node | None:
    """The root node, or None when nothing is there but blanks, comments, null or `{}`."""
    root = compose(source)
    content = resolve(root) if root else None
    nothing = isinstance(content, Scalar) and content.is_null
    return None if nothing or (isinstance(content, Mapping) and not content.entries) else root


def _readable(place: Place, source: Source) -> Layout | None:
    with suppress(InvalidWorkflow):
        return place.read(source)
    return None

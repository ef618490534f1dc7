"""The workflow document as a value: what the rest of the program holds and asks.

`Workflow` is a thin face: the `yaml` room reads a text to nodes, `forms` these to parts, and each
method's work is in the module it calls. For editors of the text, `source` and `layout` give every
part's place in it.
"""

from __future__ import annotations

from collections import Counter, abc
from contextlib import suppress
from functools import cached_property

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow import changes as changing
from global_chat.workflow import drafting, finding, stitching
from global_chat.workflow.checking import check as checking
from global_chat.workflow.forms.layout import Layout, check_number
from global_chat.workflow.forms.project import Place, places, select
from global_chat.workflow.outline import outline_lines
from global_chat.workflow.parts import Edge, Page, Problem, Step, Trigger
from global_chat.workflow.patch import Patch
from global_chat.workflow.patching import apply as patching
from global_chat.yaml.compose import compose
from global_chat.yaml.data import Path
from global_chat.yaml.nodes import Mapping, Node, Scalar, resolve
from global_chat.yaml.source import Source


class Workflow:
    """One workflow, in the text that holds it. Immutable: methods return a new one.

    `text` is the whole source exactly as given, `page` the page it was read for. For editing by
    place there are `source`, `root` (the node tree), `layout` (the parts with their places, None
    when there is no document yet) and `layouts` (of every workflow of a project, this one too).
    """

    def __init__(
        self,
        source: Source,
        root: Node | None,
        found: tuple[Place, ...],
        selected: Place | None,
        page: str | None,
    ) -> None:
        self.source = source
        self.text = source.text
        self.page = page
        self.root = root
        self.layout: Layout | None = selected.read(source) if selected else None
        self._places = found
        self._selected = selected

    @classmethod
    def read(
        cls, text: str | None, page: str | None = None, position: int | None = None
    ) -> Workflow:
        """Read a document. None, blank text, only comments, `null`, `{}`: the empty workflow.

        In a project file `page` selects the workflow, or else its `position` in the file. Raises
        InvalidWorkflow, with line and column, when the text cannot be parsed, is no workflow, or
        the page selects none of several.
        """
        source, root, found = _document(text or "")
        if not found:
            return cls(source, root, found, None, page)
        wanted = Page.parse(page).workflow
        selected = select(found, wanted) if position is None else found[position]
        return cls(source, root, found, selected, page)

    @classmethod
    def every(cls, text: str) -> tuple[tuple[str | None, Workflow], ...]:
        """Every workflow of a text with what its project calls it; None in a file of its own.

        Raises as `read` does, and when two workflows of a project cannot be told apart.
        """
        source, root, found = _document(text)
        often = Counter(place.key for place in found)
        for key in (key for key, times in often.items() if times > 1):
            select(found, key)
        if not found:
            return ((None, cls(source, root, found, None, None)),)
        pages = [f"workflows/{place.key}" if len(found) > 1 else None for place in found]
        return tuple(
            (place.key, cls(source, root, found, place, page))
            for place, page in zip(found, pages, strict=True)
        )

    def with_text(self, text: str) -> Workflow:
        """This workflow in an edited text, which holds the same workflows in the same order.

        It is found by its position: the edit may have changed the name that the page goes by.
        Raises as `read` does.
        """
        here = (n for n, place in enumerate(self._places) if place is self._selected)
        return Workflow.read(text, self.page, next(here, None))

    @property
    def path(self) -> Path:
        """What leads to the workflow in its text: nothing, or `workflows` and its key or index."""
        return self._selected.path if self._selected else ()

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
        code_of: abc.Collection[str] | None = None,
    ) -> tuple[Problem, ...]:
        """What is wrong with the workflow; see `checking.check`."""
        return checking.check(self, adaptors, facts, code_of)

    def changes_to(self, other: Workflow) -> tuple[str, ...]:
        """What `other` has changed, one line a change, in workflow terms."""
        return changing.changes(self, other)


def _document(text: str) -> tuple[Source, Node | None, tuple[Place, ...]]:
    """A text with its root node, None when nothing is there but blanks, comments, null or `{}`, and
    the places of its workflows."""
    source = Source(text)
    root = compose(source)
    content = resolve(root) if root else None
    nothing = isinstance(content, Scalar) and content.is_null
    if nothing or (isinstance(content, Mapping) and not content.entries):
        root = None
    return source, root, places(source, root) if root else ()


def _readable(place: Place, source: Source) -> Layout | None:
    with suppress(InvalidWorkflow):
        return place.read(source)
    return None

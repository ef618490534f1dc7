"""The workflow document as a value: what the rest of the program holds and asks.

`Workflow` is a thin face. Reading is in `source`, `compose`, `nodes` (text to node tree), `forms`,
`jobs_form`, `steps_form`, `project` (nodes to parts); each method's work is in the module it calls.
For editors of the text, `source` and `layout` give every part's place in it.
"""

from __future__ import annotations

from functools import cached_property

from . import finding
from .compose import compose
from .forms import Layout
from .nodes import Mapping, Node, Scalar, resolve
from .parts import Edge, Page, Step, Trigger
from .project import Place, places, select
from .source import Source


class Workflow:
    """One workflow, in the text that holds it. Immutable: methods return a new one.

    `text` is the whole source exactly as given. `page` is the page it was read for.
    `source` and `layout` are for editing by place; `layout` is None when there is no document yet.
    `places` are all workflows of the text, this one included.
    """

    def __init__(self, source: Source, page: str | None, root: Node | None) -> None:
        self.source = source
        self.text = source.text
        self.page = page
        self.root = root
        self.places: tuple[Place, ...] = places(source, root) if root else ()
        self.layout: Layout | None = None
        if self.places:
            self.layout = select(self.places, Page.parse(page).workflow).read(source)

    @classmethod
    def read(cls, text: str | None, page: str | None = None) -> Workflow:
        """Read a document. None, blank text, only comments, `null`, `{}`: the empty workflow.

        In a project file `page` selects the workflow. Raises InvalidWorkflow, with line and column,
        when the text cannot be parsed, is no workflow, or the page selects none of several.
        """
        source = Source(text or "")
        root = compose(source)
        return cls(source, page, None if root is None or _holds_nothing(root) else root)

    @property
    def is_empty(self) -> bool:
        """Whether there is no workflow yet. The text may still hold comments."""
        return self.layout is None

    @property
    def name(self) -> str | None:
        return self.layout.name if self.layout else None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(p.part for p in self.layout.steps) if self.layout else ()

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        return tuple(p.part for p in self.layout.triggers) if self.layout else ()

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return tuple(p.part for p in self.layout.edges) if self.layout else ()

    def find_step(self, name: str | None) -> Step | None:
        """The step that `name` picks out: exact key, exact name, then the fold; else None."""
        return finding.find_step(self.steps, name)


def _holds_nothing(root: Node) -> bool:
    content = resolve(root)
    if isinstance(content, Mapping):
        return not content.entries
    return isinstance(content, Scalar) and content.is_null

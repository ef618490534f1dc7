"""The library and the catalogue as the texts that agents' prompts hold.

reference = Reference(Library(folder, registry=..., offline=...))
reference.adaptor_lines()                       # for the workflow agent
await reference.adaptor_docs("http@7.3.2", "send a PUT request")   # for the job code agent
await reference.search("fetch only new submissions")               # for the planner
reference.notes()                               # what the trace should say about it
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .library import Library
from .search import Passage

_LONGEST_PASSAGE = 4_000  # characters
_NOTHING = (
    "Nothing in the documentation answers this. Try other words, or answer from what you know."
)


class Reference:
    """What agents may look up. It fits the `Knowledge` seam of the agents."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._notes: list[str] = []

    def adaptor_lines(self) -> str:
        """The catalogue as short lines."""
        return self._library.catalogue.lines()

    def adaptor_versions(self) -> Mapping[str, Collection[str]]:
        """Known versions by package name."""
        return self._library.catalogue.versions

    async def adaptor_docs(self, specifier: str, request: str) -> str:
        """What an adaptor offers, the parts that the request is about first."""
        found = await self._library.adaptor_docs(specifier, request)
        if found.note:
            self._notes.append(found.note)
        return found.text or specifier

    async def search(self, query: str) -> str:
        """Passages that answer `query`, with titles and sources."""
        return passages_text(await self._library.search(query))

    def notes(self) -> tuple[str, ...]:
        """Sentences for the trace, each once: missing docs, a database that was rebuilt."""
        return tuple(dict.fromkeys((*self._library.notes, *self._notes)))


def passages_text(passages: Sequence[Passage]) -> str:
    """Passages as a model reads them: a heading with the title, the source, the text."""
    if not passages:
        return _NOTHING
    return "\n\n".join(
        f"## {p.title}\nSource: {p.source}\n\n{_shortened(p.text)}" for p in passages
    )


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_PASSAGE:
        return text
    cut = text.rfind("\n", 0, _LONGEST_PASSAGE)
    return text[: cut if cut > 0 else _LONGEST_PASSAGE] + "\n(the rest is left out)"

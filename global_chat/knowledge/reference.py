"""The library and the catalogue as the texts that agents' prompts hold.

reference = Reference(Library(folder, registry=..., offline=...))
reference.adaptor_lines()                       # for the workflow agent
await reference.adaptor_docs("http@7.3.2", "send a PUT request")   # for the job code agent
await reference.passages("retry on a 503", "http@7.3.2")           # likewise
await reference.search("fetch only new submissions")               # for whoever asks
reference.operations_of("http@7.3.2")           # for the checker of job code
reference.notes()                               # what the trace should say about it
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from global_chat.contract.adaptor_facts import AdaptorFacts
from global_chat.contract.specifier import parse_specifier

from .library import Library
from .search import PROMPT_FLOOR, Passage

_LONGEST_PASSAGE = 4_000  # characters
_MOST_PASSAGES = 3
_MOST_FOR_PROMPT = 3_500  # characters of all passages that nobody asked for
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

    def operations_of(self, specifier: str) -> AdaptorFacts | None:
        """What code for this adaptor may call; None when that is not known."""
        return self._library.catalogue.facts(specifier)

    async def adaptor_docs(self, specifier: str, request: str) -> str:
        """What an adaptor offers; the request counts only when that is too long to be shown."""
        found = await self._library.adaptor_docs(specifier, request)
        if found.note:
            self._notes.append(found.note)
        return found.text or specifier

    async def passages(self, request: str, adaptor: str) -> str:
        """At most three passages that fit a request and the step's adaptor; "" when none fits well.

        3,500 characters at most, whole passages only, each with its title and its page.
        """
        named = parse_specifier(adaptor)
        found = await self._library.search(
            request, _MOST_PASSAGES, PROMPT_FLOOR, named.name if named else ""
        )
        kept: list[str] = []
        for passage in found:
            text = "\n\n".join([*kept, _as_text(passage)])
            if len(text) <= _MOST_FOR_PROMPT:
                kept.append(_as_text(passage))
                self._notes.append(f"The code agent reads {passage.source}.")
        return "\n\n".join(kept)

    async def search(self, query: str) -> str:
        """Passages that answer `query`, with titles and sources."""
        found = await self._library.search(query)
        sources = ", ".join(dict.fromkeys(passage.source for passage in found))
        self._notes.append(f"A search of the documentation found {sources or 'nothing'}.")
        return passages_text(found)

    def notes(self) -> tuple[str, ...]:
        """Sentences for the trace, each once: what was used, and what was missing or rebuilt."""
        return tuple(dict.fromkeys((*self._library.notes, *self._notes)))


def passages_text(passages: Sequence[Passage]) -> str:
    """Passages as a model reads them: a heading with the title, the source, the text."""
    return "\n\n".join(_as_text(passage) for passage in passages) or _NOTHING


def _as_text(passage: Passage) -> str:
    return f"## {passage.title}\nSource: {passage.source}\n\n{_shortened(passage.text)}"


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_PASSAGE:
        return text
    cut = text.rfind("\n", 0, _LONGEST_PASSAGE)
    return text[: cut if cut > 0 else _LONGEST_PASSAGE] + "\n(the rest is left out)"

"""The library: everything that can be looked up, in one SQLite file in the user's cache.

    library = Library(cache_folder(os.environ), registry=registry_address(os.environ))
    found = await library.search("a cron cursor that survives a failed run")
    found[0].title, found[0].source, found[0].text
    docs = await library.adaptor_docs("@openfn/language-http@7.3.2", "send a PUT request")
    docs.text      # for the <adaptor> block; "" when the step has no adaptor
    docs.note      # a sentence for the trace, or None

Opening costs nothing: the file is opened, and the handbook indexed, when they are first needed. The
rest (`add`, `remove`, `status`, `sync`) is for the `docs` commands. `Reference` gives all of it as
the texts that agents' prompts hold.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path

from global_chat.contract.adaptor_facts import AdaptorFacts
from global_chat.contract.errors import BadRequest
from global_chat.contract.specifier import Specifier, parse_specifier

from .adaptor_docs import AdaptorDocs
from .adaptor_text import AdaptorText
from .adaptors import AdaptorLookup, AdaptorShelf, Synced, SyncResult
from .catalogue import CATALOGUE_FILE, Adaptor, Catalogue
from .pages import (
    SUFFIXES,
    Document,
    Page,
    Section,
    digest_of,
    folder_documents,
    handbook_documents,
    handbook_files,
)
from .search import PROMPT_FLOOR, SEARCH_FLOOR, Floor, Passage, search_passages, source_of
from .store import (
    IndexReport,
    Store,
    index_source,
    read_setting,
    remove_source,
    write_settings,
)

_LONGEST_PASSAGE = 4_000  # characters
_MOST_PASSAGES = 3
_MOST_FOR_PROMPT = 3_500  # characters of all passages that nobody asked for
_NOTHING = (
    "Nothing in the documentation answers this. Try other words, or answer from what you know."
)


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One source of passages. `kind` is handbook, catalogue, folder or adaptor."""

    kind: str
    name: str
    pages: int
    passages: int
    indexed_at: str


@dataclass(frozen=True, slots=True)
class Status:
    """What the library holds. `path` is None when it lives in memory only; `size` is in bytes.

    `adaptors` are those that were synced, and when. `synced` is the registry that turns go on
    using, None before the first sync.
    """

    path: Path | None
    size: int
    sources: tuple[SourceStatus, ...]
    adaptors: Mapping[Specifier, date]
    synced: Synced | None = None


class Library:
    """See the module. `folder` None keeps everything in memory; `offline` never asks a registry.

    `fetch_seconds` bounds what a turn waits for docs that are missing.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        registry: str | None = None,
        offline: bool = False,
        fetch_seconds: float = 4.0,
    ) -> None:
        self._store = Store(folder)
        self._catalogue = Catalogue.load()
        self._shelf = AdaptorShelf(self._store)
        self._adaptors = AdaptorLookup(
            self._shelf, self._catalogue, registry, fetch_seconds, offline=offline
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about a database that was rebuilt or cannot be written; usually none."""
        return tuple(self._store.notes)

    @property
    def persistent(self) -> bool:
        """Whether the next process will still have what this one stores."""
        return self._store.path is not None

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue, with the versions that a registry has told of."""
        return self._catalogue.with_versions(self._store.adaptor_versions())

    async def search(
        self,
        query: str,
        limit: int = 5,
        floor: Floor = SEARCH_FLOOR,
        adaptor: str | None = None,
    ) -> tuple[Passage, ...]:
        """The passages that answer a question, best first; none when nothing fits.

        `adaptor` restricts them to what fits code for it; see `search_passages`.
        """

        def work(connection: sqlite3.Connection) -> tuple[Passage, ...]:
            self._refresh(connection)
            return search_passages(connection, query, limit, floor, adaptor)

        return await asyncio.to_thread(self._store.run, work)

    async def adaptor_docs(self, specifier: str, request: str) -> AdaptorText:
        """What is known about a step's adaptor, the parts that the request is about first.

        Missing docs are asked of the registry once, within `fetch_seconds`; it never raises.
        """
        return await self._adaptors.text(specifier, request)

    async def sync(
        self, specifiers: Iterable[str] = (), tell: Callable[[SyncResult], None] = lambda _: None
    ) -> tuple[SyncResult, ...]:
        """Fetch adaptors' docs; without specifiers, the newest of each adaptor that is stored.

        `tell` is called with each result as it is known. A failure of one is its result, not an
        exception. Raises `BadRequest` when no registry is configured.
        """
        return await self._adaptors.sync(tuple(specifiers), tell)

    def add(self, path: Path) -> IndexReport:
        """Index a folder of Markdown or MDX, or one such file; only what changed since last time.

        Raises `BadRequest` when there is nothing to read.
        """
        root = path.expanduser().resolve()
        if not root.exists():
            raise BadRequest(f"There is no file or folder {path}.")
        if root.is_file() and root.suffix.lower() not in SUFFIXES:
            raise BadRequest(f"{path} is not a page of Markdown ({', '.join(SUFFIXES)}).")

        def work(connection: sqlite3.Connection) -> IndexReport:
            skipped: list[str] = []
            documents = folder_documents(root, skipped)
            report = index_source(connection, "folder", str(root), documents)
            if not report.added + report.changed + report.removed + report.unchanged:
                why = f" Left out: {'; '.join(skipped[:3])}." if skipped else ""
                raise BadRequest(f"{path} holds no Markdown (.md, .mdx) to index.{why}")
            return replace(report, skipped=tuple(skipped))

        return self._store.run(work)

    def page(self, source: str) -> str:
        """All passages of the page that a passage's `source` names, in order.

        The handbook's pages may be named without folder and ending: `cursors`. Raises `BadRequest`
        when there is no such page, with those that are like it.
        """

        def work(connection: sqlite3.Connection) -> str:
            self._refresh(connection)
            query = """SELECT page.id, kind, source.name, path FROM page
                       JOIN source ON source.id = source_id"""
            pages = {source_of(*row[1:]): row[0] for row in connection.execute(query)}
            wanted = (source, f"handbook/{source}", f"handbook/{source}.md")
            found = next((pages[name] for name in wanted if name in pages), None)
            if found is None:
                near = get_close_matches(wanted[-1], pages, n=3, cutoff=0.7)
                instead = f" Do you mean {', '.join(near)}?" if near else ""
                raise BadRequest(f"There is no page {source}.{instead}")
            passages = "SELECT title, text FROM passage WHERE page_id = ? ORDER BY id"
            texts = connection.execute(passages, (found,))
            return "\n\n".join(f"## {title}\n\n{text}" for title, text in texts)

        return self._store.run(work)

    def remove(self, name: str) -> str:
        """Forget a folder or file that was added, by its path, or an adaptor that was synced.

        Returns what was forgotten. Raises `BadRequest` when there is nothing of this name.
        """
        status = self.status()
        known = [source.name for source in status.sources if source.kind == "folder"]
        paths = {name, str(Path(name).expanduser().resolve())}
        added = next((path for path in known if path in paths), None)
        if added:
            self._store.run(lambda connection: remove_source(connection, added))
            return added
        if gone := self._shelf.remove(name):
            return ", ".join(map(str, gone))
        known += map(str, status.adaptors)
        instead = f" There are: {', '.join(known)}." if known else " Nothing was added or synced."
        raise BadRequest(f"{name} was neither added nor synced.{instead}")

    def status(self) -> Status:
        """What is indexed and stored."""
        query = """SELECT kind, name, count(DISTINCT page.id), count(passage.id), indexed_at
                   FROM source LEFT JOIN page ON page.source_id = source.id
                   LEFT JOIN passage ON passage.page_id = page.id
                   GROUP BY source.id ORDER BY kind <> 'folder', kind, name"""
        self._store.run(self._refresh)
        sources = tuple(SourceStatus(*row) for row in self._store.rows(query))
        adaptors, synced = self._shelf.stored(), self._shelf.synced()
        return Status(self._store.path, self._store.size(), sources, adaptors, synced)

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()

    def _refresh(self, connection: sqlite3.Connection) -> None:
        """Index the handbook and the catalogue unless they are, as this program has them."""
        shipped = [*handbook_files().values(), CATALOGUE_FILE.read_bytes()]
        digest = digest_of(b"\0".join(shipped))
        if read_setting(connection, "handbook") == digest:
            return
        index_source(connection, "handbook", "handbook", handbook_documents())
        pages = [
            _page(adaptor, self._catalogue.docs(adaptor.package)) for adaptor in self._catalogue
        ]
        index_source(connection, "catalogue", "catalogue", pages)
        write_settings(connection, {"handbook": digest})


def _page(adaptor: Adaptor, docs: AdaptorDocs | None) -> Document:
    """A short page on an adaptor: what system it is for and what it can do."""
    system = adaptor.system or adaptor.name
    lines = [f"Adaptor {adaptor.specifier} connects to {system}."]
    if docs is not None:
        signatures = [op.signature for op in docs.operations if op.kind == "operation"]
        lines.append("Operations: " + ", ".join(f"`{name}`" for name in signatures))
    text = "\n".join(lines)
    page = Page(f"{system} adaptor", adaptor.name, (Section(f"{system} adaptor", text),))
    return Document(adaptor.name, digest_of(text.encode()), lambda: page)


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

"""Pages into the database: only what is new or changed, and nothing of what has gone."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal

from .embeddings import load_embedder
from .markdown import Page, Section

Kind = Literal["handbook", "catalogue", "folder", "adaptor"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Document:
    """One page to index: its place in its source, a digest of what it was made from, itself."""

    path: str
    digest: str
    page: Page


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing a source did, in pages, and how many passages the source now has."""

    name: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    skipped: tuple[str, ...] = ()

    def with_skipped(self, skipped: Iterable[str]) -> IndexReport:
        """The same report that also says what was left out and why."""
        return replace(self, skipped=tuple(skipped))


def digest_of(content: bytes) -> str:
    """The digest by which a page is known to be unchanged."""
    return sha256(content).hexdigest()


def index_source(
    connection: sqlite3.Connection,
    kind: Kind,
    name: str,
    documents: Iterable[Document],
    known: Set[str] = frozenset(),
) -> IndexReport:
    """Make a source hold exactly these documents, in the caller's transaction.

    `known` names paths that are still there and unchanged although no document is given for them;
    it is looked at when all documents have been read.
    """
    source = _source(connection, kind, name)
    stored = digests(connection, name)
    changed = added = 0
    seen: set[str] = set()
    for document in documents:
        seen.add(document.path)
        before = stored.get(document.path)
        if before == document.digest:
            continue
        if before is not None:
            changed += 1
            _remove_page(connection, source, document.path)
        else:
            added += 1
        _add_page(connection, source, document)
    gone = stored.keys() - seen - known
    for path in gone:
        _remove_page(connection, source, path)
    query = "SELECT count(*) FROM passage JOIN page ON page.id = page_id WHERE source_id = ?"
    passages: int = connection.execute(query, (source,)).fetchone()[0]
    unchanged = len(stored) - changed - len(gone)
    return IndexReport(name, added, changed, unchanged, len(gone), passages)


def digests(connection: sqlite3.Connection, name: str) -> dict[str, str]:
    """Digests of a source's pages, by path."""
    query = "SELECT path, digest FROM page JOIN source ON source.id = source_id WHERE name = ?"
    return dict(connection.execute(query, (name,)).fetchall())


def remove_source(connection: sqlite3.Connection, name: str) -> bool:
    """Forget a source and its passages; whether there was one."""
    return connection.execute("DELETE FROM source WHERE name = ?", (name,)).rowcount > 0


def _source(connection: sqlite3.Connection, kind: Kind, name: str) -> int:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    query = """INSERT INTO source (kind, name, indexed_at) VALUES (?, ?, ?)
               ON CONFLICT (name) DO UPDATE SET indexed_at = excluded.indexed_at RETURNING id"""
    source: int = connection.execute(query, (kind, name, now)).fetchone()[0]
    return source


def _remove_page(connection: sqlite3.Connection, source: int, path: str) -> None:
    connection.execute("DELETE FROM page WHERE source_id = ? AND path = ?", (source, path))


def _add_page(connection: sqlite3.Connection, source: int, document: Document) -> None:
    page = document.page
    query = "INSERT INTO page (source_id, path, title, digest) VALUES (?, ?, ?, ?)"
    row = (source, document.path, page.title, document.digest)
    page_id = connection.execute(query, row).lastrowid
    for number, (section, vectors) in enumerate(zip(page.sections, _vectors(page), strict=True)):
        passage = connection.execute(
            "INSERT INTO passage (page_id, title, keywords, text) VALUES (?, ?, ?, ?)",
            (page_id, section.title, _keywords(page, section, first=number == 0), section.text),
        ).lastrowid
        connection.executemany(
            "INSERT INTO vector (passage_id, whole, vector) VALUES (?, ?, ?)",
            [(passage, whole, vector) for whole, vector in vectors],
        )


def _keywords(page: Page, section: Section, *, first: bool) -> str:
    """Words to find a section by that are not in its text; the page's own belong to its first.

    Names in camel case are taken apart: `getSubmissions` is found by "submissions".
    """
    names = sorted(set(re.findall(r"\b[a-z]+[A-Z]\w*", f"{section.title} {section.text}")))
    own = (page.keywords, *page.asked) if first else ()
    return " ".join([*own, *(_CAMEL.sub(" ", name) for name in names)])


def _vectors(page: Page) -> list[list[tuple[bool, bytes]]]:
    """For each section its vectors: one of the whole, one of each phrase that stands for it.

    Short phrases are closer to a question than a whole passage is. They are the title and, for a
    page's first section, the page's keywords and what is asked about it.
    """
    embedder = load_embedder()
    if embedder is None or not page.sections:
        return [[] for _ in page.sections]
    own = [text for text in (page.keywords, *page.asked) if text]
    phrases = [[s.title, *(own if n == 0 else ())] for n, s in enumerate(page.sections)]
    wholes = [f"{s.title}. {page.keywords}. {s.text}" for s in page.sections]
    texts = [text for whole, some in zip(wholes, phrases, strict=True) for text in (whole, *some)]
    packed = iter(embedder.embed(texts).astype("float16"))
    return [
        [(number == 0, next(packed).tobytes()) for number in range(1 + len(some))]
        for some in phrases
    ]

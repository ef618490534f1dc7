"""Adaptor docs in the database: stored by version, with what a registry has told and refused."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import ValidationError

from .adaptor_docs import AdaptorDocs, Operation
from .pages import Document, Page, Section, digest_of
from .registry import Listing
from .specifier import Specifier, newest
from .store import Store, index_source

_MISS_SECONDS = 6 * 3600.0  # a version that could not be fetched is not asked for again until then


class AdaptorShelf:
    """What is stored about adaptors."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, wanted: Specifier) -> AdaptorDocs | None:
        """The docs of exactly this version; None when they are not stored, or not readable."""
        query = "SELECT docs FROM adaptor WHERE package = ? AND version = ?"
        row = self._store.run(
            lambda c: c.execute(query, (wanted.package, wanted.version)).fetchone()
        )
        try:
            return AdaptorDocs.model_validate_json(row[0]) if row else None
        except ValidationError:
            return None

    def stored(self, package: str | None = None) -> list[Specifier]:
        """Versions whose docs are stored, of one package or of all."""
        query = "SELECT package, version FROM adaptor WHERE ?1 IS NULL OR package = ?1"
        rows = self._store.run(lambda c: c.execute(query, (package,)).fetchall())
        return [Specifier(*row) for row in rows]

    def known_versions(self) -> Mapping[str, set[str]]:
        """Versions that a registry has told of, by package."""
        query = "SELECT package, version FROM adaptor_version"
        found: dict[str, set[str]] = {}
        for package, version in self._store.run(lambda c: c.execute(query).fetchall()):
            found.setdefault(package, set()).add(version)
        return found

    def put(self, docs: AdaptorDocs, listing: Listing) -> None:
        """Store docs, make those of a package's newest version searchable, note its versions."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (docs.package, docs.version, docs.model_dump_json(), now)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO adaptor VALUES (?, ?, ?, ?)", row)
            missed = "DELETE FROM adaptor_miss WHERE package = ? AND version = ?"
            connection.execute(missed, row[:2])
            _note_versions(connection, listing)
            query = "SELECT version FROM adaptor WHERE package = ?"
            versions = [version for (version,) in connection.execute(query, (docs.package,))]
            if newest(versions) == docs.version:
                index_source(connection, "adaptor", docs.package, _documents(docs))

        self._store.run(work)

    def missed(self, wanted: Specifier) -> bool:
        """Whether fetching this version has failed not long ago."""
        query = "SELECT 1 FROM adaptor_miss WHERE package = ? AND version = ? AND asked_at > ?"
        row = (wanted.package, wanted.version or "", time.time() - _MISS_SECONDS)
        return self._store.run(lambda c: c.execute(query, row).fetchone()) is not None

    def put_miss(self, wanted: Specifier, listing: Listing | None) -> None:
        """Remember that fetching failed, and what versions there are if that much was learned."""
        row = (wanted.package, wanted.version or "", time.time())

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO adaptor_miss VALUES (?, ?, ?)", row)
            if listing is not None:
                _note_versions(connection, listing)

        self._store.run(work)


def _note_versions(connection: sqlite3.Connection, listing: Listing) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO adaptor_version VALUES (?, ?)",
        [(listing.package, version) for version in listing.releases],
    )


def _documents(docs: AdaptorDocs) -> list[Document]:
    """One page for each of the adaptor's own operations, for the search."""
    return [_document(docs, operation) for operation in docs.operations if not operation.common]


def _document(docs: AdaptorDocs, operation: Operation) -> Document:
    title = f"{docs.label or docs.package}: {operation.signature}"
    parameters = [f"- `{p.name}`: {p.description}" for p in operation.parameters if p.description]
    examples = [f"```js\n{e.code}\n```" for e in operation.examples[:2] if e.code]
    text = "\n\n".join(filter(None, [operation.description, "\n".join(parameters), *examples]))
    page = Page(title, Specifier(docs.package).name, (Section(title, text or title),))
    digest = digest_of(f"{docs.version}\0{title}\0{text}".encode())
    return Document(f"{docs.version}/{operation.name}", digest, page)

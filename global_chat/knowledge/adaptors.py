"""Adaptor docs for a step: what is stored, else fetched once, else what the catalogue knows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from global_chat.contract.errors import BadRequest, TimedOut, TurnError
from global_chat.contract.specifier import Specifier, nearest_version, newest, parse_specifier

from .adaptor_docs import AdaptorDocs, Operation
from .adaptor_text import AdaptorText, render_catalogue, render_package, written
from .catalogue import COLLECTIONS, Catalogue
from .pages import Document, Page, Section, digest_of
from .registry import HOW_TO_SET, Listing, Registry, without_login
from .store import Store, index_source, read_setting, write_settings

_SYNC_SECONDS = 60.0  # for one adaptor when somebody asked for it
_AT_ONCE = 4
_MISS_SECONDS = 6 * 3600.0  # a version that could not be fetched is not asked for again until then

_STORED = TypeAdapter(AdaptorDocs)  # docs to JSON and back


@dataclass(frozen=True, slots=True)
class Stored:
    """Docs that were fetched, and when."""

    docs: AdaptorDocs
    day: date


@dataclass(frozen=True, slots=True)
class Synced:
    """The registry that `docs sync` used last, without a login, and when."""

    registry: str
    day: date


class AdaptorShelf:
    """What is stored about adaptors."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, wanted: Specifier) -> Stored | None:
        """The docs of exactly this version; None when they are not stored, or not readable."""
        query = "SELECT docs, stored_at FROM adaptor WHERE package = ? AND version = ?"
        row = self._store.run(
            lambda c: c.execute(query, (wanted.package, wanted.version)).fetchone()
        )
        try:
            if row is None:
                return None
            day = datetime.fromisoformat(row[1]).date()
            return Stored(_STORED.validate_json(row[0]), day)
        except (ValidationError, ValueError):
            return None

    def synced(self) -> Synced | None:
        """The registry that was used by the last `docs sync` that got something."""

        def work(connection: sqlite3.Connection) -> Synced | None:
            address = read_setting(connection, "registry")
            day = read_setting(connection, "synced_on")
            return Synced(address, date.fromisoformat(day)) if address and day else None

        return self._store.run(work)

    def put_synced(self, registry: str) -> None:
        """Remember the registry for later turns."""
        now = datetime.now(UTC).date().isoformat()
        values = {"registry": without_login(registry), "synced_on": now}
        self._store.run(lambda connection: write_settings(connection, values))

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
        row = (docs.package, docs.version, _STORED.dump_json(docs).decode(), now)

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


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What became of one adaptor: its specifier, and how many operations or why it failed."""

    specifier: str
    outcome: Literal["stored", "already stored", "failed"]
    operations: int = 0
    error: TurnError | None = None


class AdaptorLookup:
    """Finds adaptor docs.

    Missing ones are asked of `registry`, else of the registry of the last sync; of none `offline`.
    """

    def __init__(
        self,
        shelf: AdaptorShelf,
        catalogue: Catalogue,
        registry: str | None,
        fetch_seconds: float,
        *,
        offline: bool,
    ) -> None:
        self._shelf = shelf
        self._catalogue = catalogue
        self._registry = registry
        self._offline = offline
        self._fetch_seconds = fetch_seconds
        self._fetching = asyncio.Lock()

    async def text(self, specifier: str, request: str) -> AdaptorText:
        """What is known about the adaptor of a step, for one request."""
        wanted = parse_specifier(specifier)
        if wanted is None:
            note = f"The step's adaptor {specifier!r} is not the name of an adaptor."
            return AdaptorText("", note=note if specifier and specifier.strip() else None)
        wanted = await asyncio.to_thread(self._resolved, wanted)
        stored = await asyncio.to_thread(self._shelf.get, wanted)
        failure = None
        if stored is None and not self._offline:
            stored, failure = await self._fetch_once(wanted)
        if stored is not None:
            return self._from_package(stored, request)
        return await asyncio.to_thread(self._nearest, wanted, request, failure)

    async def sync(
        self, specifiers: tuple[str, ...], tell: Callable[[SyncResult], None]
    ) -> tuple[SyncResult, ...]:
        """Fetch and store docs; see `Library.sync`."""
        address = await asyncio.to_thread(self._address)
        if address is None:
            raise BadRequest(HOW_TO_SET)
        names = specifiers or tuple(sorted({stored.package for stored in self._shelf.stored()}))
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(registry: Registry, name: str) -> SyncResult:
            async with gate:
                result = await self._synced(registry, name)
            tell(result)
            return result

        async with Registry(address) as registry, asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(registry, name)) for name in names]
        results = tuple(task.result() for task in tasks)
        if any(result.error is None for result in results):
            await asyncio.to_thread(self._shelf.put_synced, address)
        return results

    def _address(self) -> str | None:
        """The registry to ask: the configured one, else the one that was used before."""
        if self._offline or self._registry:
            return None if self._offline else self._registry
        synced = self._shelf.synced()
        return synced.registry if synced else None

    async def _synced(self, registry: Registry, name: str) -> SyncResult:
        wanted = parse_specifier(name)
        if wanted is None:
            error = BadRequest(f"{name!r} is not the name of an adaptor, such as http@7.3.2.")
            return SyncResult(name, "failed", error=error)
        try:
            async with asyncio.timeout(_SYNC_SECONDS):
                listing = await registry.listing(wanted.package)
                exact = Specifier(wanted.package, wanted.version or listing.latest)
                stored = await asyncio.to_thread(self._shelf.get, exact)
                docs = stored.docs if stored else await registry.docs(listing, exact)
            await asyncio.to_thread(self._shelf.put, docs, listing)
        except TimeoutError:
            late = TimedOut(f"The package registry did not deliver {wanted} in time.")
            return SyncResult(str(wanted), "failed", error=late)
        except TurnError as error:
            return SyncResult(str(wanted), "failed", error=error)
        outcome: Literal["stored", "already stored"] = "already stored" if stored else "stored"
        return SyncResult(docs.specifier, outcome, len(docs.operations))

    async def _fetch_once(self, wanted: Specifier) -> tuple[Stored | None, str | None]:
        """Docs from the registry, or why there are none; nothing at all when asked a while ago."""
        address = await asyncio.to_thread(self._address)
        if address is None:
            return None, None
        async with self._fetching:
            stored = await asyncio.to_thread(self._shelf.get, wanted)
            if stored is not None or await asyncio.to_thread(self._shelf.missed, wanted):
                return stored, None
            listing = None
            try:
                async with asyncio.timeout(self._fetch_seconds), Registry(address) as registry:
                    listing = await registry.listing(wanted.package)
                    docs = await registry.docs(listing, wanted)
                await asyncio.to_thread(self._shelf.put, docs, listing)
                return Stored(docs, datetime.now(UTC).date()), None
            except TimeoutError:
                why = f"The package registry did not deliver {wanted} in time."
            except TurnError as error:
                why = error.message
            await asyncio.to_thread(self._shelf.put_miss, wanted, listing)
            return None, why

    def _resolved(self, wanted: Specifier) -> Specifier:
        """The same adaptor with a version: the newest known one when none is wanted."""
        if wanted.version:
            return wanted
        return Specifier(wanted.package, newest(self._known(wanted.package)))

    def _known(self, package: str) -> set[str]:
        catalogued = self._catalogue.versions.get(package, ())
        return self._shelf.known_versions().get(package, set()) | set(catalogued)

    def _nearest(self, wanted: Specifier, request: str, failure: str | None) -> AdaptorText:
        """The best that is known without the wanted docs: another version's, or the catalogue's."""
        adaptor = self._catalogue.get(wanted.package)
        stored = [found.version or "" for found in self._shelf.stored(wanted.package)]
        version = nearest_version(wanted.version, stored)
        other = self._shelf.get(Specifier(wanted.package, version)) if version else None
        exact = adaptor is not None and adaptor.version == wanted.version
        if other is not None and not (exact and _major(version) != _major(wanted.version)):
            return self._from_package(other, request, wanted, failure)
        docs = self._catalogue.docs(wanted.package)
        if docs is None:
            near = self._catalogue.nearest(str(wanted))
            instead = f" The nearest known one is {near}." if near else ""
            text = f"{wanted}: no adaptor of this name is known.{instead}"
            add = f"If it exists, `global-chat docs sync {wanted.name}` adds it."
            return AdaptorText(text, note=_note(text, add, failure))
        remark = "" if exact else _remark(wanted, docs.version)
        text = render_catalogue(docs, self._catalogue.date, self._collections, request, remark)
        used = f"{docs.specifier} is described by the list of {written(self._catalogue.date)}."
        return AdaptorText(text, docs.specifier, _note(used, remark, failure))

    def _from_package(
        self,
        stored: Stored,
        request: str,
        wanted: Specifier | None = None,
        failure: str | None = None,
    ) -> AdaptorText:
        known = self._catalogue.docs(stored.docs.package)
        exact = known is not None and wanted is not None and known.version == wanted.version
        docs = stored.docs.completed(known, exact=exact)
        remark = _remark(wanted, docs.version) if wanted else ""
        text = render_package(docs, self._collections, request, remark)
        used = f"{docs.specifier} is described by its own documentation, fetched on "
        return AdaptorText(
            text, docs.specifier, _note(f"{used}{written(stored.day)}.", remark, failure)
        )

    @property
    def _collections(self) -> AdaptorDocs:
        docs = self._catalogue.docs(COLLECTIONS)
        assert docs is not None, "the catalogue that ships has it"
        return docs


def _note(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _remark(wanted: Specifier, version: str | None) -> str:
    return (
        f"The step uses version {wanted.version}, whose documentation is not known. This describes "
        f"{version}, the nearest known version: details may differ."
    )


def _major(version: str | None) -> str:
    return (version or "").partition(".")[0]

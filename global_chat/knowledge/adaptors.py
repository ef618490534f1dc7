"""Adaptor docs for a step: what is stored, else fetched once, else what the catalogue knows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from global_chat.contract.errors import BadRequest, TimedOut, TurnError
from global_chat.contract.specifier import Specifier, nearest_version, newest, parse_specifier

from .adaptor_docs import AdaptorDocs, Operation
from .adaptor_text import AdaptorText, render_catalogue, render_package, written
from .catalogue import Catalogue
from .pages import Document, Page, Section, digest_of
from .registry import HOW_TO_SET, Listing, Registry, open_registry, without_login
from .store import Store, index_source, remove_source, write_settings

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
        self.store = store

    def get(self, wanted: Specifier) -> Stored | None:
        """The docs of exactly this version; None when they are not stored, or not readable."""
        query = "SELECT docs, stored_at FROM adaptor WHERE package = ? AND version = ?"
        for docs, day in self.store.rows(query, wanted.package, wanted.version):
            with suppress(ValidationError, ValueError):
                return Stored(_STORED.validate_json(docs), datetime.fromisoformat(day).date())
        return None

    def synced(self) -> Synced | None:
        """The registry that was used by the last `docs sync` that got something."""
        settings = dict(self.store.rows("SELECT name, value FROM setting"))
        if "registry" not in settings:
            return None
        return Synced(settings["registry"], date.fromisoformat(settings["synced_on"]))

    def put_synced(self, registry: str) -> None:
        """Remember the registry for later turns."""
        values = {"registry": without_login(registry), "synced_on": _now()[:10]}
        self.store.run(lambda connection: write_settings(connection, values))

    def stored(self, package: str | None = None) -> dict[Specifier, date]:
        """Versions whose docs are stored, of one package or of all, and when they were."""
        query = """SELECT package, version, stored_at FROM adaptor
                   WHERE ?1 IS NULL OR package = ?1 ORDER BY 1, 2"""
        rows = self.store.rows(query, package)
        return {Specifier(*row): datetime.fromisoformat(day).date() for *row, day in rows}

    def put(self, docs: AdaptorDocs, listing: Listing) -> None:
        """Store docs, make those of a package's newest version searchable, note its versions."""
        row = (docs.package, docs.version, _STORED.dump_json(docs).decode(), _now())
        self.store.rows("INSERT OR REPLACE INTO adaptor VALUES (?, ?, ?, ?)", *row)
        self.store.rows("DELETE FROM adaptor_miss WHERE package = ? AND version = ?", *row[:2])
        self._note_versions(listing)
        self._index(docs.package)

    def remove(self, name: str) -> list[Specifier]:
        """Forget the docs of one version, or of all when none is named, and say of which."""
        wanted = parse_specifier(name)
        stored = self.stored(wanted.package) if wanted else ()
        gone = [found for found in stored if wanted and wanted.version in (None, found.version)]
        if wanted and gone:
            query = "DELETE FROM {} WHERE package = ?1 AND (?2 IS NULL OR version = ?2)"
            for table in ("adaptor", "adaptor_version", "adaptor_miss"):
                self.store.rows(query.format(table), wanted.package, wanted.version)
            self._index(wanted.package)
        return gone

    def missed(self, wanted: Specifier) -> bool:
        """Whether fetching this version has failed not long ago."""
        query = "SELECT 1 FROM adaptor_miss WHERE package = ? AND version = ? AND asked_at > ?"
        since = time.time() - _MISS_SECONDS
        return bool(self.store.rows(query, wanted.package, wanted.version or "", since))

    def put_miss(self, wanted: Specifier, listing: Listing | None) -> None:
        """Remember that fetching failed, and what versions there are if that much was learned."""
        row = (wanted.package, wanted.version or "", time.time())
        self.store.rows("INSERT OR REPLACE INTO adaptor_miss VALUES (?, ?, ?)", *row)
        if listing is not None:
            self._note_versions(listing)

    def _note_versions(self, listing: Listing) -> None:
        query = "INSERT OR IGNORE INTO adaptor_version VALUES (?, ?)"
        rows = [(listing.package, version) for version in listing.releases]
        self.store.run(lambda connection: connection.executemany(query, rows))

    def _index(self, package: str) -> None:
        """Make the newest stored version of a package searchable, and no other."""
        version = newest(found.version or "" for found in self.stored(package))
        stored = self.get(Specifier(package, version))

        def work(connection: sqlite3.Connection) -> None:
            if stored is None:
                remove_source(connection, package)
            else:
                index_source(connection, "adaptor", package, _documents(stored.docs))

        self.store.run(work)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
    return Document(f"{docs.version}/{operation.name}", digest, lambda: page)


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

        async with open_registry(address) as registry, asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(registry, name)) for name in names]
        results = tuple(task.result() for task in tasks)
        if any(result.error is None for result in results):
            await asyncio.to_thread(self._shelf.put_synced, address)
        return results

    def _address(self) -> str | None:
        """The registry to ask: the configured one, else the one that was used before."""
        if self._offline:
            return None
        synced = None if self._registry else self._shelf.synced()
        return synced.registry if synced else self._registry

    async def _synced(self, registry: Registry, name: str) -> SyncResult:
        wanted = parse_specifier(name)
        if wanted is None:
            error = BadRequest(f"{name!r} is not the name of an adaptor, such as http@7.3.2.")
            return SyncResult(name, "failed", error=error)
        before = await asyncio.to_thread(self._shelf.stored, wanted.package)
        try:
            docs = (await self._fetched(registry, wanted, _SYNC_SECONDS)).docs
        except TurnError as failure:
            return SyncResult(str(wanted), "failed", error=failure)
        known = Specifier(docs.package, docs.version) in before
        own = [operation for operation in docs.operations if not operation.common]
        return SyncResult(docs.specifier, "already stored" if known else "stored", len(own))

    async def _fetch_once(self, wanted: Specifier) -> tuple[Stored | None, str | None]:
        """Docs from the registry, or why there are none; nothing at all when asked a while ago."""
        address = await asyncio.to_thread(self._address)
        if address is None:
            return None, None
        async with self._fetching:
            stored = await asyncio.to_thread(self._shelf.get, wanted)
            if stored is not None or await asyncio.to_thread(self._shelf.missed, wanted):
                return stored, None
            try:
                async with open_registry(address) as registry:
                    return await self._fetched(registry, wanted, self._fetch_seconds), None
            except TurnError as error:
                return None, error.message

    async def _fetched(self, registry: Registry, wanted: Specifier, seconds: float) -> Stored:
        """Docs that are stored now; a version that cannot be had is not asked for again soon."""
        listing = None
        try:
            async with asyncio.timeout(seconds):
                listing = await registry.listing(wanted.package)
                exact = Specifier(wanted.package, wanted.version or listing.latest)
                stored = await asyncio.to_thread(self._shelf.get, exact)
                docs = stored.docs if stored else await registry.docs(listing, exact)
        except (TimeoutError, TurnError) as error:
            await asyncio.to_thread(self._shelf.put_miss, wanted, listing)
            if isinstance(error, TurnError):
                raise
            message = f"The package registry did not deliver {wanted} in time."
            raise TimedOut(message) from error
        await asyncio.to_thread(self._shelf.put, docs, listing)
        return Stored(docs, datetime.now(UTC).date())

    def _resolved(self, wanted: Specifier) -> Specifier:
        """The same adaptor with a version: the newest known one when none is wanted."""
        known = self._catalogue.with_versions(self._shelf.store.adaptor_versions()).versions
        return Specifier(wanted.package, wanted.version or newest(known.get(wanted.package, ())))

    def _nearest(self, wanted: Specifier, request: str, failure: str | None) -> AdaptorText:
        """The best that is known without the wanted docs: another version's, or the catalogue's."""
        adaptor = self._catalogue.get(wanted.package)
        stored = [found.version or "" for found in self._shelf.stored(wanted.package)]
        near = nearest_version(wanted.version, stored)
        other = self._shelf.get(Specifier(wanted.package, near)) if near else None
        exact = adaptor is not None and adaptor.version == wanted.version
        if adaptor and near and _major(near) != _major(wanted.version):
            near = nearest_version(wanted.version, (near, adaptor.version))
        if other is not None and near == other.docs.version:
            return self._from_package(other, request, wanted, failure)
        docs = self._catalogue.docs(wanted.package)
        if docs is None:
            near = self._catalogue.nearest(str(wanted))
            instead = f" The nearest known one is {near}." if near else ""
            text = f"{wanted}: no adaptor of this name is known.{instead}"
            add = f"If it exists, `global-chat docs sync {wanted.name}` adds it."
            return AdaptorText(text, note=_note(text, add, failure))
        remark = "" if exact else _remark(wanted, docs.version)
        text = render_catalogue(docs, self._catalogue, request, remark)
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
        text = render_package(docs, self._catalogue, request, remark)
        used = f"{docs.specifier} is described by its own documentation, fetched on "
        return AdaptorText(
            text, docs.specifier, _note(f"{used}{written(stored.day)}.", remark, failure)
        )


def _note(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _remark(wanted: Specifier, version: str | None) -> str:
    return (
        f"The step uses version {wanted.version}, whose documentation is not known. This describes "
        f"{version}, the nearest known version: details may differ."
    )


def _major(version: str | None) -> str:
    return (version or "").partition(".")[0]

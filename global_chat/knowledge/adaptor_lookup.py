"""Adaptor docs for a step: what is stored, else fetched once, else the nearest that is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from global_chat.contract.errors import BadRequest, TimedOut, TurnError

from .adaptor_docs import AdaptorDocs
from .adaptor_shelf import AdaptorShelf
from .adaptor_text import AdaptorText, render_docs, render_signatures
from .catalogue import Catalogue
from .places import HOW_TO_SET
from .registry import Registry
from .specifier import Specifier, nearest_version, newest, parse_specifier

_SYNC_SECONDS = 60.0  # for one adaptor when somebody asked for it
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What became of one adaptor: its specifier, and how many operations or why it failed."""

    specifier: str
    outcome: Literal["stored", "already stored", "failed"]
    operations: int = 0
    error: TurnError | None = None


class AdaptorLookup:
    """Finds adaptor docs. `registry` None means that none is asked."""

    def __init__(
        self, shelf: AdaptorShelf, catalogue: Catalogue, registry: str | None, fetch_seconds: float
    ) -> None:
        self._shelf = shelf
        self._catalogue = catalogue
        self._registry = registry
        self._fetch_seconds = fetch_seconds
        self._fetching = asyncio.Lock()

    async def text(self, written: str, request: str) -> AdaptorText:
        """What is known about the adaptor of a step, for one request."""
        wanted = parse_specifier(written)
        if wanted is None:
            note = f"The step's adaptor {written!r} is not the name of an adaptor."
            return AdaptorText("", note=note if written and written.strip() else None)
        wanted = await asyncio.to_thread(self._resolved, wanted)
        docs = await asyncio.to_thread(self._shelf.get, wanted)
        failure = None
        if docs is None and self._registry:
            docs, failure = await self._fetch_once(wanted)
        if docs is not None:
            return AdaptorText(render_docs(docs, request), docs.specifier)
        return await asyncio.to_thread(self._nearest, wanted, request, failure)

    async def sync(
        self, written: tuple[str, ...], tell: Callable[[SyncResult], None]
    ) -> tuple[SyncResult, ...]:
        """Fetch and store docs; see `Library.sync`."""
        if self._registry is None:
            raise BadRequest(HOW_TO_SET)
        names = written or tuple(sorted({stored.package for stored in self._shelf.stored()}))
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(registry: Registry, name: str) -> SyncResult:
            async with gate:
                result = await self._synced(registry, name)
            tell(result)
            return result

        async with Registry(self._registry) as registry, asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(registry, name)) for name in names]
        return tuple(task.result() for task in tasks)

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
                docs = stored or await registry.docs(listing, exact)
            await asyncio.to_thread(self._shelf.put, docs, listing)
        except TimeoutError:
            late = TimedOut(f"The package registry did not deliver {wanted} in time.")
            return SyncResult(str(wanted), "failed", error=late)
        except TurnError as error:
            return SyncResult(str(wanted), "failed", error=error)
        outcome: Literal["stored", "already stored"] = "already stored" if stored else "stored"
        return SyncResult(docs.specifier, outcome, len(docs.operations))

    async def _fetch_once(self, wanted: Specifier) -> tuple[AdaptorDocs | None, str | None]:
        """Docs from the registry, or why there are none; nothing at all when asked a while ago."""
        assert self._registry is not None
        async with self._fetching:
            docs = await asyncio.to_thread(self._shelf.get, wanted)
            if docs is not None or await asyncio.to_thread(self._shelf.missed, wanted):
                return docs, None
            listing = None
            try:
                async with (
                    asyncio.timeout(self._fetch_seconds),
                    Registry(self._registry) as registry,
                ):
                    listing = await registry.listing(wanted.package)
                    docs = await registry.docs(listing, wanted)
                await asyncio.to_thread(self._shelf.put, docs, listing)
                return docs, None
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
        """The best that is known without the wanted docs: another version's, or signatures."""
        adaptor = self._catalogue.get(wanted.package)
        stored = [found.version or "" for found in self._shelf.stored(wanted.package)]
        version = nearest_version(wanted.version, stored)
        docs = self._shelf.get(Specifier(wanted.package, version)) if version else None
        exact = adaptor is not None and adaptor.version == wanted.version
        if docs is not None and not (exact and _major(version) != _major(wanted.version)):
            note = f"Docs of {wanted} are not known; {docs.specifier} is described. {failure or ''}"
            return AdaptorText(
                render_docs(docs, request, _remark(wanted, version)), docs.specifier, note.strip()
            )
        if adaptor is None:
            near = self._catalogue.nearest(str(wanted))
            instead = f" The nearest known one is {near}." if near else ""
            text = f"{wanted}: no adaptor of this name is known.{instead}"
            return AdaptorText(text, note=f"{text} {failure or ''}".strip())
        if exact:
            return AdaptorText(render_signatures(adaptor, request), adaptor.specifier, failure)
        note = f"{wanted} is not known; {adaptor.specifier} is described. {failure or ''}".strip()
        remark = _remark(wanted, adaptor.version)
        return AdaptorText(render_signatures(adaptor, request, remark), adaptor.specifier, note)


def _remark(wanted: Specifier, version: str | None) -> str:
    return (
        f"The step uses version {wanted.version}, whose documentation is not known. This describes "
        f"{version}, the nearest known version: details may differ."
    )


def _major(version: str | None) -> str:
    return (version or "").partition(".")[0]

"""An npm registry: which one is asked, which versions a package has, one version's files, verified.

Every call is bounded by the caller's `asyncio.timeout`. Failures are the contract's errors, and no
message names the registry's full address, which may carry a login.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urlsplit

from global_chat.contract.errors import (
    AuthError,
    BadRequest,
    ConnectionFailed,
    Forbidden,
    NotFound,
    ProviderError,
    TimedOut,
    TurnError,
)
from global_chat.contract.specifier import Specifier, nearest_version, newest

from .adaptor_docs import AdaptorDocs
from .adaptor_package import LARGEST_ARCHIVE, read_json, read_members, read_package, verify

if TYPE_CHECKING:
    import httpx2

#: How to name a registry, for a message when none is.
HOW_TO_SET = (
    "No package registry is configured. Set GLOBAL_CHAT_REGISTRY to its address, or "
    "`registry=` in your .npmrc file."
)

_LARGEST_NPMRC = 100_000  # characters
_LARGEST_LISTING = 10_000_000  # bytes of a package's list of versions
_SILENCE = 20.0  # seconds
_REDIRECTS = 3
_NOT_SET = ("", "undefined", "null")  # what npm prints for a setting that has no value


def registry_address(environ: Mapping[str, str]) -> str | None:
    """The configured npm registry's address, without a slash at its end; None when there is none.

    In this order: `GLOBAL_CHAT_REGISTRY`, npm's own variable `npm_config_registry`, and the user's
    `.npmrc`, where a registry for the `@openfn` scope comes before the general one. No token is
    read from that file: only registries that answer without a login are used.
    """
    lowered = {name.lower(): value for name, value in environ.items()}
    named = environ.get("GLOBAL_CHAT_REGISTRY") or lowered.get("npm_config_registry")
    if named:
        return clean_address(named)
    home = Path(environ.get("HOME") or Path.home())
    settings = _npmrc(Path(lowered.get("npm_config_userconfig") or home / ".npmrc"), environ)
    return clean_address(settings.get("@openfn:registry") or settings.get("registry"))


def clean_address(address: str | None) -> str | None:
    """An address in its plain form, None when there is none.

    What is not the address of a web server stays as it is: asking it fails, with a sentence.
    """
    text = (address or "").strip().strip("\"'")
    parts = _web_address(text)
    if parts is None:
        return text if text not in _NOT_SET else None
    return parts._replace(query="", fragment="").geturl().rstrip("/")


def _web_address(text: str) -> SplitResult | None:
    """The parts of an http(s) address; None when it is not one."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if known else None


def _npmrc(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The registry lines of an .npmrc file, with `${NAME}` filled in; empty when unreadable."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:_LARGEST_NPMRC]
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {
        key.strip(): re.sub(r"\$\{(\w+)\}", lambda name: environ.get(name[1], ""), value.strip())
        for key, value in pairs
        if key.strip() in ("registry", "@openfn:registry")
    }


def without_login(address: str) -> str:
    """The address without a name and a password, to be shown and stored."""
    parts = _web_address(address)
    if parts is None:
        return "an address that cannot be used"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


@dataclass(frozen=True, slots=True)
class Release:
    """One version in a registry: where its archive is and what it must hash to."""

    version: str
    archive: str
    integrity: str | None
    shasum: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """A package's releases by version, and the version that the registry calls the latest."""

    package: str
    releases: Mapping[str, Release]
    latest: str | None


@asynccontextmanager
async def open_registry(address: str) -> AsyncIterator[Registry]:
    """A connection to one registry. Raises `BadRequest` for what is not a web server's address."""
    parts = _web_address(address)
    if parts is None:
        raise BadRequest("The address of the package registry is not an http(s) address.")
    # 0.1 s, and only fetching documentation needs it.
    import httpx2  # noqa: PLC0415

    async with httpx2.AsyncClient(
        timeout=_SILENCE, follow_redirects=True, max_redirects=_REDIRECTS
    ) as client:
        yield Registry(client, address.rstrip("/"), parts.hostname or "")


@dataclass(frozen=True, slots=True)
class Registry:
    """See `open_registry`."""

    _client: httpx2.AsyncClient
    _address: str
    _host: str

    async def listing(self, package: str) -> Listing:
        """What the registry has of a package. Raises `NotFound` when that is nothing."""
        url = f"{self._address}/{quote(package, safe='@')}"
        accept = "application/vnd.npm.install-v1+json, application/json;q=0.9"
        content = await self._get(url, accept, _LARGEST_LISTING, package)
        return _listing(content, package, self._address)

    async def docs(self, listing: Listing, wanted: Specifier) -> AdaptorDocs:
        """The documentation of one version; of the latest when none is wanted.

        Raises `NotFound` with the nearest version when the registry does not have it.
        """
        version = wanted.version or listing.latest or newest(listing.releases)
        release = listing.releases.get(version or "")
        if release is None:
            near = nearest_version(wanted.version, listing.releases)
            instead = f" The nearest is {near}." if near else ""
            raise NotFound(f"The registry has no version {version} of {wanted.package}.{instead}")
        content = await self._get(release.archive, "*/*", LARGEST_ARCHIVE, str(wanted))
        # In a thread, so that the caller's time-out holds whatever the archive is like.
        return await asyncio.to_thread(_read, content, listing.package, release)

    async def _get(self, url: str, accept: str, largest: int, what: str) -> bytes:
        import httpx2  # noqa: PLC0415  as in open_registry

        try:
            async with self._client.stream("GET", url, headers={"accept": accept}) as response:
                if response.status_code != 200:
                    raise self._refusal(response.status_code, what)
                content = bytearray()
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > largest:
                        raise ProviderError(f"The registry's answer for {what} is too large.")
                return bytes(content)
        except httpx2.TimeoutException as error:
            raise TimedOut(f"The package registry {self._host} did not answer in time.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise ConnectionFailed(
                f"The package registry {self._host} cannot be reached ({type(error).__name__})."
            ) from error

    def _refusal(self, status: int, what: str) -> TurnError:
        if status == 404:
            return NotFound(f"The package registry {self._host} has no {what}.")
        if status in (401, 403):
            kind = AuthError if status == 401 else Forbidden
            return kind(
                f"The package registry {self._host} asks for a login, which is not supported."
            )
        return ProviderError(f"The package registry {self._host} answered {status} for {what}.")


def _read(content: bytes, package: str, release: Release) -> AdaptorDocs:
    verify(content, release.integrity, release.shasum)
    docs = read_package(read_members(content), package, release.version)
    if not any(operation.kind == "operation" for operation in docs.operations):
        raise ProviderError(f"{docs.specifier} documents no operation, so it was not stored.")
    return docs


def _listing(content: bytes, package: str, address: str) -> Listing:
    data = read_json(content)
    versions = data.get("versions") if isinstance(data, dict) else None
    if not isinstance(versions, dict):
        raise ProviderError(f"The registry's answer for {package} cannot be read.")
    releases = {
        version: release
        for version, entry in versions.items()
        if isinstance(entry, dict) and (release := _release(version, entry, package, address))
    }
    tags = data.get("dist-tags")
    latest = tags.get("latest") if isinstance(tags, dict) else None
    return Listing(package, releases, latest if latest in releases else newest(releases))


def _release(version: str, entry: dict[str, Any], package: str, address: str) -> Release | None:
    dist = entry.get("dist")
    if not isinstance(dist, dict):
        return None
    archive = dist.get("tarball")
    if not isinstance(archive, str) or not _same_origin(archive, address):
        # A mirror may repeat another registry's address; only the configured one is asked.
        name = package.rpartition("/")[2]
        archive = f"{address}/{quote(package, safe='@/')}/-/{name}-{quote(version)}.tgz"
    integrity, shasum = dist.get("integrity"), dist.get("shasum")
    return Release(
        version,
        archive,
        integrity if isinstance(integrity, str) else None,
        shasum if isinstance(shasum, str) else None,
    )


def _same_origin(url: str, address: str) -> bool:
    try:
        one, other = urlsplit(url), urlsplit(address)
        return (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)
    except ValueError:
        return False

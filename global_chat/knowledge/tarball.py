"""Reading an npm package's archive in memory: verified first, bounded, nothing ever written.

The archive comes from a network and is treated as hostile: its size, its size unpacked, the number
of its members and the size of each are capped, and only regular files with expected names are read.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import tarfile
import zlib
from base64 import b64decode
from binascii import Error as Base64Error

from global_chat.contract.errors import ProviderError

LARGEST_ARCHIVE = 20_000_000  # bytes, packed; the largest adaptor is about 2,000,000
LARGEST_UNPACKED = 80_000_000  # bytes
LARGEST_MEMBER = 4_000_000  # bytes
MOST_MEMBERS = 5_000

_STRENGTH = ("sha512", "sha384", "sha256")  # strongest first; weaker ones prove nothing
_WANTED = re.compile(r"package\.json|ast\.json|types/(?:[\w-]+/){0,3}[\w.-]+\.d\.ts")


def verify(archive: bytes, integrity: str | None, shasum: str | None) -> None:
    """Check an archive against what the registry says of it.

    `integrity` is a list of subresource hashes, of which the strongest kind counts; `shasum` is the
    SHA-1 that old packages have instead. Raises `ProviderError` when neither fits.
    """
    hashes = [entry.partition("-")[::2] for entry in (integrity or "").split()]
    for algorithm in _STRENGTH:
        expected = [value.partition("?")[0] for name, value in hashes if name == algorithm]
        if expected:
            actual = hashlib.new(algorithm, archive).digest()
            if any(hmac.compare_digest(actual, _decoded(value)) for value in expected):
                return
            raise ProviderError("The package's content is not what the registry announced.")
    if shasum and not hashes:
        actual_hex = hashlib.sha1(archive, usedforsecurity=False).hexdigest()
        if hmac.compare_digest(actual_hex, shasum.lower()):
            return
        raise ProviderError("The package's content is not what the registry announced.")
    raise ProviderError("The registry gives no checksum for the package, so it was not read.")


def read_members(archive: bytes) -> dict[str, bytes]:
    """The files of a package that describe it, by their path inside it.

    Raises `ProviderError` when the archive is broken or larger than the limits above.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_unpacked(archive)), mode="r:") as tar:
            for count, member in enumerate(tar):
                if count == MOST_MEMBERS:
                    raise ProviderError("The package holds too many files.")
                # Every package has one folder around everything, under whatever name.
                _, _, path = member.name.removeprefix("./").partition("/")
                if not member.isreg() or not _WANTED.fullmatch(path) or path in found:
                    continue
                if member.size > LARGEST_MEMBER:
                    raise ProviderError(f"The package's {path} is too large.")
                file = tar.extractfile(member)
                found[path] = file.read(LARGEST_MEMBER) if file else b""
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError) as error:
        raise ProviderError("The package's archive cannot be read.") from error
    return found


def _unpacked(archive: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    content = unpacker.decompress(archive, LARGEST_UNPACKED + 1)
    if len(content) > LARGEST_UNPACKED:
        raise ProviderError("The package is too large when unpacked.")
    if not unpacker.eof:
        raise ProviderError("The package's archive is cut off.")
    return content


def _decoded(value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError):
        return b""

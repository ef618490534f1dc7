"""Names of adaptors as people and workflows write them: `http`, `@openfn/language-http@7.3.2`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

PREFIX = "@openfn/language-"

_SPECIFIER = re.compile(
    r"(?P<package>(?:@[a-z0-9~-][\w.~-]*/)?[a-z0-9~-][\w.~-]*)(?:@(?P<version>[^@\s]+))?", re.ASCII
)
_VERSION = re.compile(
    r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]*)?"
)
_LONGEST = 214  # npm's own limit on a package name, in characters


@dataclass(frozen=True, slots=True)
class Specifier:
    """An adaptor's package, and the version that is meant; None means the latest."""

    package: str
    version: str | None = None

    @property
    def name(self) -> str:
        """The short name: `http` for `@openfn/language-http`."""
        return self.package.removeprefix(PREFIX)

    def __str__(self) -> str:
        return f"{self.package}@{self.version or 'latest'}"


def parse_specifier(text: str | None) -> Specifier | None:
    """Read an adaptor as written in a workflow or on a command line; None when it is not one.

    `http`, `language-http` and `@openfn/language-http` are the same package. A missing version,
    `latest` and a range such as `^7.0.0` or `7.x` all mean the latest.
    """
    found = as_written(text)
    if found is None:
        return None
    exact = found.version if found.version and _VERSION.fullmatch(found.version) else None
    return Specifier(found.package, exact)


def as_written(text: str | None) -> Specifier | None:
    """The same with the version as it is written, whatever it is."""
    found = _SPECIFIER.fullmatch((text or "").strip()[: 2 * _LONGEST])
    if found is None or len(found["package"]) > _LONGEST or ".." in found["package"]:
        return None
    package = found["package"]
    if not package.startswith("@"):
        package = PREFIX + package.removeprefix("language-")
    return Specifier(package, found["version"])


def version_order(version: str) -> tuple[int, int, int, bool, str]:
    """A sort key for versions: numbers by value, a pre-release before its release."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (-1, -1, -1, False, version)
    major, minor, patch, pre = found.groups()
    return (int(major), int(minor), int(patch), pre is None, pre or "")


def newest(versions: Iterable[str]) -> str | None:
    """The newest release; a pre-release only when there is nothing else. None when empty."""
    return max(versions, key=lambda v: (version_order(v)[3], version_order(v)), default=None)


def nearest_version(wanted: str | None, known: Iterable[str]) -> str | None:
    """The known version closest to the wanted one: by major, then minor, then patch.

    Of two equally far, the newer. With nothing wanted, the newest.
    """
    if wanted is None:
        return newest(known)
    target = version_order(wanted)

    def distance(version: str) -> tuple[object, ...]:
        order = version_order(version)
        apart = tuple(abs(a - b) for a, b in zip(order[:3], target[:3], strict=True))
        return (version != wanted, *apart, tuple(-number for number in order[:3]), not order[3])

    return min(known, key=distance, default=None)

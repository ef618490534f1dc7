"""Whether a step's adaptor is written as the app writes it, and is one that exists."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

_SPEC = re.compile(r"(?P<name>@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*)(?:@(?P<version>[^\s@]+))?")
_SHORT = re.compile(
    r"(?:(?P<scoped>@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*)|(?:language-)?(?P<short>[A-Za-z0-9][\w.-]*))"
    r"(?:@(?P<version>[^\s@]+))?"
)
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:[-+].*)?")
#: Versions that name a moving target.
_TAGS = frozenset({"latest", "next", "local"})


def adaptor_problem(
    adaptor: str, known: Mapping[str, Collection[str]] | None
) -> tuple[str, str, str | None] | None:
    """Rule, message and suggestion for an adaptor that is not right; None for one that is.

    `known` holds the versions of every package by its name; None checks the writing only. A
    version older than all known ones is believed: catalogues begin somewhere.
    """
    spec = _SPEC.fullmatch(adaptor.strip())
    if spec is None:
        message = f"{adaptor!r} is not an adaptor."
        return "adaptor-format", message, _nearest(adaptor, known) or _LIKE_THIS
    name, version = spec["name"], spec["version"]
    if known and name not in known:
        return "adaptor-unknown", f"There is no adaptor {name}.", _nearest(name, known)
    if version is None:
        suggestion = f"Write {name}@latest, or a version such as {_newest(known, name)}."
        return "adaptor-format", f"The adaptor {name} has no version.", suggestion
    if not known or version in _TAGS or version in known[name] or not known[name]:
        return None
    asked, versions = _numbers(version), sorted(map(_numbers, known[name]))
    if asked and asked < versions[0]:
        return None
    message = f"The adaptor {name} has no version {version}."
    return "adaptor-version", message, f"The newest known is {_newest(known, name)}."


def package_of(specifier: str) -> str:
    """`@openfn/language-http` of `@openfn/language-http@7.3.2`."""
    return specifier.strip()[:1] + specifier.strip()[1:].split("@")[0]


def full_specifier(given: str, known: Mapping[str, Collection[str]] | None) -> str:
    """`given` as the app writes it: `http@7.3.2` and `http` become `@openfn/language-http@7.3.2`.

    A version that is missing is the newest known one, else `latest`. What is no adaptor at all
    stays as it is.
    """
    spec = _SHORT.fullmatch(given.strip())
    if spec is None:
        return given.strip()
    name = spec["scoped"] or f"@openfn/language-{spec['short'].lower()}"
    newest = _newest(known, name) if known and known.get(name) else "latest"
    return f"{name}@{spec['version'] or newest}"


_LIKE_THIS = "Adaptors are written like @openfn/language-http@latest."


def _numbers(version: str) -> tuple[int, ...]:
    match = _NUMBERS.fullmatch(version)
    return tuple(int(part) for part in match.groups()) if match else ()


def _newest(known: Mapping[str, Collection[str]] | None, name: str) -> str:
    versions = known.get(name, ()) if known else ()
    return max(versions, key=_numbers, default="1.0.0")


def _nearest(name: str, known: Mapping[str, Collection[str]] | None) -> str | None:
    """The package whose own name, without the part that all share, is most like `name`'s."""
    short = {full.rsplit("/", 1)[-1].removeprefix("language-"): full for full in known or ()}
    wanted = name.lower().rsplit("/", 1)[-1].removeprefix("language-").split("@")[0].strip()
    found = get_close_matches(wanted, short, n=1, cutoff=0.6)
    return f"Did you mean {short[found[0]]}?" if found else None

"""Whether a step's adaptor is written as the app writes it, and is one that exists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from global_chat.contract.specifier import PREFIX, as_written, newest, version_order

#: Versions that name a moving target.
_TAGS = frozenset({"latest", "next", "local"})
_LIKE_THIS = "Adaptors are written like @openfn/language-http@latest."


def adaptor_problem(
    adaptor: str, known: Mapping[str, Collection[str]] | None
) -> tuple[str, str, str | None] | None:
    """Rule, message and suggestion for an adaptor that is not right; None for one that is.

    `known` holds the versions of every package by its name; None checks the writing only. A
    version older than all known ones is believed: catalogues begin somewhere.
    """
    spec = as_written(adaptor) if adaptor.lstrip().startswith("@") else None
    if spec is None:
        message = f"{adaptor!r} is not an adaptor."
        return "adaptor-format", message, _nearest(adaptor, known) or _LIKE_THIS
    name, version = spec.package, spec.version
    if known and name not in known:
        return "adaptor-unknown", f"There is no adaptor {name}.", _nearest(name, known)
    versions = (known or {}).get(name, ())
    latest = newest(versions) or "1.0.0"
    if version is None:
        suggestion = f"Write {name}@latest, or a version such as {latest}."
        return "adaptor-format", f"The adaptor {name} has no version.", suggestion
    if not versions or version in _TAGS or version in versions:
        return None
    if (0,) < version_order(version) < min(map(version_order, versions)):
        return None
    message = f"The adaptor {name} has no version {version}."
    return "adaptor-version", message, f"The newest known is {latest}."


def full_specifier(given: str, known: Mapping[str, Collection[str]] | None) -> str:
    """`given` as the app writes it: `http@7.3.2` and `http` become `@openfn/language-http@7.3.2`.

    A version that is missing is the newest known one, else `latest`. What is no adaptor at all
    stays as it is.
    """
    spec = as_written(given) or as_written(given.lower())
    if spec is None:
        return given.strip()
    latest = newest((known or {}).get(spec.package, ()))
    return f"{spec.package}@{spec.version or latest or 'latest'}"


def _nearest(name: str, known: Mapping[str, Collection[str]] | None) -> str | None:
    """The package whose own name, without the part that all share, is most like `name`'s."""
    short = {full.removeprefix(PREFIX).rsplit("/", 1)[-1]: full for full in known or ()}
    wanted = name.lower().rsplit("/", 1)[-1].removeprefix("language-").split("@")[0].strip()
    found = get_close_matches(wanted, short, n=1, cutoff=0.6)
    return f"Did you mean {short[found[0]]}?" if found else None

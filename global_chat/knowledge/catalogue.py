"""The adaptors that exist: names, systems, versions and operations, known before any download.

    catalogue = Catalogue.load()
    catalogue.versions["@openfn/language-http"]    # {"7.3.2"}
    catalogue.lines()                              # short lines for a prompt
    catalogue.find("Kobo form submissions")        # (the kobotoolbox adaptor, ...)
    catalogue.nearest("@openfn/language-htpp@7.3.2")  # "@openfn/language-http@7.3.2"
    catalogue.problem("@openfn/language-htpp")     # a sentence for a warning, or None

It is read from `data/adaptors.tsv` beside this file and needs no database. Versions that a library
has learned from a registry can be added with `with_versions`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property
from pathlib import Path

from .specifier import Specifier, nearest_version, newest, parse_specifier, version_order

#: The shipped data: package, version, system, operations, separated by tabs.
CATALOGUE_FILE = Path(__file__).parent / "data" / "adaptors.tsv"
_WORD = re.compile(r"[^\W_]+")
_LONGEST_QUESTION = 300  # characters of it that are looked at
_CLOSE_ENOUGH = 0.72  # of 1.0: "htpp" finds "http", "commcore" finds "commcare", "zebra" nothing


@dataclass(frozen=True, slots=True)
class Adaptor:
    """One adaptor of the catalogue. `operations` are signatures such as `get(path, options)`."""

    package: str
    version: str
    system: str
    operations: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The short name: `http`."""
        return Specifier(self.package).name

    @property
    def specifier(self) -> str:
        """What a workflow writes: `@openfn/language-http@7.3.2`."""
        return f"{self.package}@{self.version}"


class Catalogue:
    """Every known adaptor, by package, in alphabetical order."""

    def __init__(
        self, adaptors: Iterable[Adaptor], more: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._adaptors = {a.package: a for a in sorted(adaptors, key=lambda a: a.name)}
        self._more = dict(more or {})

    @classmethod
    def load(cls) -> Catalogue:
        """The catalogue that ships with the program. Takes a few milliseconds."""
        rows = CATALOGUE_FILE.read_text(encoding="utf-8").splitlines()[1:]
        return cls(_adaptor(row) for row in rows if row.strip())

    def with_versions(self, more: Mapping[str, Collection[str]]) -> Catalogue:
        """The same catalogue that also knows the given versions, by package."""
        return Catalogue(self._adaptors.values(), more)

    def __iter__(self) -> Iterator[Adaptor]:
        return iter(self._adaptors.values())

    @cached_property
    def versions(self) -> Mapping[str, Collection[str]]:
        """Known versions by package. Older versions than these exist too."""
        known = {a.package: {a.version} for a in self._adaptors.values()}
        for package, versions in self._more.items():
            known.setdefault(package, set()).update(versions)
        return known

    def get(self, specifier: str) -> Adaptor | None:
        """The adaptor that a specifier names, whatever its version; None when there is none."""
        found = parse_specifier(specifier)
        return self._adaptors.get(found.package) if found else None

    def operations(self, package: str) -> tuple[str, ...]:
        """Signatures of an adaptor's operations; empty when it or they are not known."""
        adaptor = self.get(package)
        return adaptor.operations if adaptor else ()

    def lines(self) -> str:
        """Short lines for a prompt: `name@version`, and the system where the name hides it."""
        rows = []
        for adaptor in self._adaptors.values():
            plain = _fold(adaptor.system) in ("", _fold(adaptor.name))
            latest = newest(self.versions[adaptor.package])
            rows.append(f"{adaptor.name}@{latest}" + ("" if plain else f" ({adaptor.system})"))
        return "\n".join(rows)

    def find(self, system_words: str, limit: int = 5) -> tuple[Adaptor, ...]:
        """The adaptors that best match words such as a system's name; best first, maybe none."""
        words = [_fold(word) for word in _WORD.findall(system_words[:_LONGEST_QUESTION])]
        scored = [(_score(adaptor, words), adaptor) for adaptor in self._adaptors.values()]
        ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return tuple(adaptor for _, adaptor in ranked[:limit])

    def nearest(self, specifier: str) -> str | None:
        """The closest known specifier, the given one included; None when nothing is close."""
        wanted = parse_specifier(specifier)
        package = self._nearest_package(wanted, specifier)
        if package is None:
            return None
        version = wanted.version if wanted and wanted.package == package else None
        return f"{package}@{nearest_version(version, self.versions[package])}"

    def problem(self, specifier: str) -> str | None:
        """Why a workflow should not use this adaptor, as a sentence with the nearest real one.

        A version older than the newest known is taken to exist, because the catalogue does not list
        them all; one that is newer, or an unknown package, is a problem. None when all is well.
        """
        wanted = parse_specifier(specifier)
        near = self.nearest(specifier)
        instead = f" The nearest known one is {near}." if near else ""
        if wanted is None or wanted.package not in self.versions:
            return f"No adaptor {specifier!r} is known.{instead}"
        latest = newest(self.versions[wanted.package])
        if wanted.version and latest and version_order(wanted.version) > version_order(latest):
            return f"No version {wanted.version} of {wanted.package} is known.{instead}"
        return None

    def _nearest_package(self, wanted: Specifier | None, text: str) -> str | None:
        known = self.versions
        if wanted and wanted.package in known:
            return wanted.package
        name = (
            wanted.name
            if wanted
            else re.sub(r"@[^@/]*$", "", text.strip().lower())[:_LONGEST_QUESTION]
        )
        names = {Specifier(package).name: package for package in known}
        close = get_close_matches(name.lower(), names, n=1, cutoff=_CLOSE_ENOUGH)
        if close:
            return names[close[0]]
        found = self.find(name, limit=1)
        return found[0].package if found else None


def _adaptor(row: str) -> Adaptor:
    package, version, system, operations = [*row.split("\t"), "", "", ""][:4]
    return Adaptor(
        package.strip(),
        version.strip(),
        system.strip(),
        tuple(part.strip() for part in operations.split(" | ") if part.strip()),
    )


def _fold(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()


def _score(adaptor: Adaptor, words: list[str]) -> float:
    """How well one adaptor fits: its name counts most, then its system, then its operations."""
    name, system = _fold(adaptor.name), [_fold(word) for word in _WORD.findall(adaptor.system)]
    operations = " ".join(adaptor.operations).casefold()
    joined = "".join(words)
    total = 6.0 if name and name == joined else 0.0
    for word in words:
        if len(word) < 3:
            continue
        if word == name or word in system:
            total += 4
        elif len(word) > 3 and (name.startswith(word) or (len(name) > 3 and word.startswith(name))):
            total += 3
        elif len(word) > 4 and SequenceMatcher(None, word, name).ratio() >= 0.8:
            total += 2
        elif len(word) > 4 and word in operations:
            total += 0.5
    return total

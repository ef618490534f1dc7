"""The adaptors that exist: names, versions, operations and options, known before any download.

    catalogue = Catalogue.load()
    catalogue.versions["@openfn/language-http"]       # {"7.3.2"}
    catalogue.lines()                                 # short lines for a prompt
    catalogue.docs("http")                            # everything known about it
    catalogue.facts("@openfn/language-http@7.3.2")    # the same as names, for a checker of code
    catalogue.nearest("@openfn/language-htpp@7.3.2")  # "@openfn/language-http@7.3.2"

It is read from `data/adaptors.bin`: a line with an index, which is all that most turns need, and
after it one compressed JSON object an adaptor, which is read when somebody asks about it. (A zip
file would do, but `zipfile` takes longer to import than all of this.) To build it from a file of
JSON lines:

    python -m global_chat.knowledge.catalogue operations.jsonl 2026-08-20
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from global_chat.contract.adaptor_facts import AdaptorFacts, OperationFacts
from global_chat.contract.specifier import (
    PREFIX,
    Specifier,
    nearest_version,
    newest,
    parse_specifier,
)

from .adaptor_docs import AdaptorDocs, NameList, Operation, Parameter

CATALOGUE_FILE = Path(__file__).parent / "data" / "adaptors.bin"
#: The adaptor that most others include functions of.
COMMON = f"{PREFIX}common"
#: The adaptor whose operations every step has.
COLLECTIONS = f"{PREFIX}collections"
_WORD = re.compile(r"[^\W_]+")
_LONGEST_NAME = 300  # characters of it that are looked at
_CLOSE_ENOUGH = 0.72  # of 1.0: "htpp" finds "http", "commcore" finds "commcare", "zebra" nothing
_BEGINNING = 3  # characters; "kobo" finds "kobotoolbox"


@dataclass(frozen=True, slots=True)
class Adaptor:
    """One line of the index. `system` is what people call the system, "" where the name says it."""

    package: str
    version: str
    system: str

    @property
    def name(self) -> str:
        """The short name: `http`."""
        return Specifier(self.package).name

    @property
    def specifier(self) -> str:
        """What a workflow writes: `@openfn/language-http@7.3.2`."""
        return f"{self.package}@{self.version}"


class Catalogue:
    """Every known adaptor, by package, in alphabetical order. `date` says of when it is."""

    def __init__(
        self,
        adaptors: Iterable[Adaptor],
        date: date,
        more: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._adaptors = {a.package: a for a in sorted(adaptors, key=lambda a: a.name)}
        self.date = date
        self._more = dict(more or {})

    @classmethod
    @cache
    def load(cls) -> Catalogue:
        """The catalogue that ships with the program. Takes about a millisecond."""
        index = _index()
        adaptors = (Adaptor(package, *row[:2]) for package, row in index["adaptors"].items())
        return cls(adaptors, date.fromisoformat(index["date"]))

    def with_versions(self, more: Mapping[str, Collection[str]]) -> Catalogue:
        """The same catalogue that also knows the given versions, by package."""
        return Catalogue(self._adaptors.values(), self.date, more)

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

    def docs(self, specifier: str) -> AdaptorDocs | None:
        """What is known about an adaptor, whatever version is asked for; None when it is unknown.

        The version that is described is the result's own.
        """
        adaptor = self.get(specifier)
        return _docs(adaptor.package) if adaptor else None

    def facts(self, specifier: str) -> AdaptorFacts | None:
        """What a checker of code needs; None when the adaptor or its major version is unknown."""
        wanted, docs = parse_specifier(specifier), self.docs(specifier)
        if wanted is None or docs is None:
            return None
        version = wanted.version or docs.version
        if version.partition(".")[0] != docs.version.partition(".")[0]:
            return None
        return _facts(docs, exact=version == docs.version)

    def lines(self) -> str:
        """Short lines for a prompt: `name@version`, and the system where the name hides it."""
        rows = []
        for adaptor in self._adaptors.values():
            plain = _fold(adaptor.system) in ("", _fold(adaptor.name))
            latest = newest(self.versions[adaptor.package])
            rows.append(f"{adaptor.name}@{latest}" + ("" if plain else f" ({adaptor.system})"))
        # What only a registry has told of is an adaptor too.
        for package in sorted(self._more.keys() - self._adaptors.keys()):
            rows.append(f"{Specifier(package).name}@{newest(self.versions[package])}")
        return "\n".join(rows)

    def nearest(self, specifier: str) -> str | None:
        """The known specifier closest to one, which may be itself; None when nothing is close."""
        wanted = parse_specifier(specifier)
        written = wanted.name if wanted else re.sub(r"@[^@/]*$", "", specifier.strip())
        name = written.lower().rpartition("/")[2][:_LONGEST_NAME]
        names = {_fold(a.system): a.package for a in self._adaptors.values() if a.system}
        names |= {Specifier(package).name: package for package in self.versions}
        close = get_close_matches(name, names, n=1, cutoff=_CLOSE_ENOUGH)
        if not close and len(name) > _BEGINNING:
            close = [known for known in names if known.startswith(name)]
        if not close:
            return None
        package = names[close[0]]
        version = wanted.version if wanted and wanted.package == package else None
        return f"{package}@{nearest_version(version, self.versions[package])}"


def _fold(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()


def _index() -> Any:
    """`date`, and under `adaptors` version, system and place (start, length) by package."""
    with CATALOGUE_FILE.open("rb") as file:
        return json.loads(file.readline())


def _entry(package: str) -> Any:
    start, length = _index()["adaptors"][package][2:]
    with CATALOGUE_FILE.open("rb") as file:
        file.readline()
        file.seek(start, 1)
        return json.loads(zlib.decompress(file.read(length)))


@cache
def _docs(package: str) -> AdaptorDocs:
    entry = _entry(package)
    includes = entry["includes"]
    return AdaptorDocs(
        package=package,
        version=entry["version"],
        label=entry["label"] or "",
        operations=tuple(_operation(operation) for operation in entry["operations"]),
        common=tuple(includes["names"]) if includes else (),
        also=tuple(
            NameList(source=also["from"], names=tuple(also["names"]))
            for also in entry.get("also_includes", ())
        ),
        namespaces=tuple(
            NameList(
                source=space["name"],
                names=tuple(space.get("names", ())),
                alias_of=space.get("alias_of", ""),
            )
            for space in entry.get("namespaces", ())
        ),
        other_exports=tuple(entry.get("other_exports", ())),
        configuration=tuple(key["name"] for key in entry["configuration"]),
    )


def _operation(entry: Mapping[str, Any]) -> Operation:
    state = entry.get("state")
    space = entry["namespace"]
    return Operation(
        name=f"{space}.{entry['name']}" if space else entry["name"],
        kind=entry["kind"],
        parameters=tuple(_parameter(parameter) for parameter in entry["params"]),
        state=None
        if state is None
        else tuple(Parameter(name=k, type="" if t is True else t) for k, t in state.items()),
        callback=bool(entry.get("callback")),
        deprecated=bool(entry.get("deprecated")),
    )


def _parameter(entry: Mapping[str, Any]) -> Parameter:
    return Parameter(
        name=entry["name"],
        type=str(entry["type"] or ""),
        optional=entry.get("optional"),
        variadic=bool(entry.get("variadic")),
        keys=tuple(_parameter(key) for key in entry.get("keys", ())),
        from_code=entry.get("keys_from") == "code",
    )


@cache
def _facts(docs: AdaptorDocs, exact: bool) -> AdaptorFacts:
    collections = () if docs.package == COLLECTIONS else _docs(COLLECTIONS).operations
    by_kind: dict[str, list[Operation]] = {"operation": [], "function": [], "reader": []}
    for operation in (*docs.operations, *collections):
        by_kind[operation.kind].append(operation)
    top_level = {op.name for op in _docs(COMMON).operations if op.kind == "operation"}
    helpers = {op.name for op in by_kind["function"]} | set(docs.other_exports)
    by_source = {space.source: space for space in docs.namespaces}
    for space in docs.namespaces:
        real = by_source.get(space.alias_of, space)
        helpers |= {f"{space.source}.{name}" for name in real.names}
    dotted = {op.name.partition(".")[0] for op in docs.operations if "." in op.name}
    others = {name for also in docs.also for name in also.names}
    return AdaptorFacts(
        specifier=docs.specifier,
        exact=exact,
        operations={
            op.name: OperationFacts(_writes_data(op), op.callback) for op in by_kind["operation"]
        },
        common=frozenset(docs.common),
        common_operations=frozenset(docs.common) & top_level,
        helpers=frozenset(helpers),
        readers=frozenset(op.name for op in by_kind["reader"]),
        others=frozenset(others - {"*"}),
        namespaces=frozenset({"collections"} | dotted | by_source.keys()),
        open_ended="*" in others,
    )


def _writes_data(operation: Operation) -> bool | None:
    if operation.state is None:
        return None
    return any(key.name.partition(".")[0] == "data" for key in operation.state)


def pack(source: Path, day: date, target: Path = CATALOGUE_FILE) -> None:
    """Write the packed catalogue from JSON lines, one adaptor a line, which are of `day`.

    The same lines make the same bytes. Raises `KeyError` when a line lacks what is read here.
    """
    adaptors: dict[str, list[Any]] = {}
    content = b""
    for line in source.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        packed = zlib.compress(text.encode(), 9)
        place = [len(content), len(packed)]
        adaptors[row["adaptor"]] = [row["version"], row["label"] or "", *place]
        content += packed
    index = {"date": day.isoformat(), "adaptors": adaptors}
    target.write_bytes(json.dumps(index, ensure_ascii=False).encode() + b"\n" + content)


if __name__ == "__main__":
    pack(Path(sys.argv[1]), date.fromisoformat(sys.argv[2]))

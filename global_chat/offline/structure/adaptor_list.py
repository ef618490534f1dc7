"""The adaptors that the workflow agent's prompt lists, found by name or by the system's name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from global_chat.knowledge.catalogue import Catalogue

from ..language.folding import folded, squeezed, word_set

_LINE = re.compile(
    r"^(?P<name>[a-z][\w-]*)[@ ](?P<version>[\w.-]+)(?: \((?P<system>.+)\))?$", re.MULTILINE
)
#: Other names by which people call systems, and words that mean "no system, only reshaping".
_ALIASES = {
    "kobo": "kobotoolbox", "postgres": "postgresql", "psql": "postgresql", "pg": "postgresql",
    "google sheet": "googlesheets", "google sheets": "googlesheets", "gsheet": "googlesheets",
    "gsheets": "googlesheets", "spreadsheet": "googlesheets", "sheet": "googlesheets",
    "sheets": "googlesheets", "dhis": "dhis2", "sf": "salesforce", "sql server": "mssql",
    "rest": "http", "rest api": "http", "hl7 fhir": "fhir", "opencr": "fhir", "mongo": "mongodb",
    "commcare hq": "commcare", "go.data": "godata", "momo": "mtn-momo", "mtn": "mtn-momo",
    "cht": "cht", "whatsapp": "whatsapp", "open mrs": "openmrs", "big query": "bigquery",
    "survey cto": "surveycto", "rapid pro": "rapidpro", "google drive": "googledrive",
    "hoja de calculo": "googlesheets", "planilha": "googlesheets",
    "folha de calculo": "googlesheets",
    "feuille google": "googlesheets", "sftp": "sftp", "ftp": "sftp", "s3": "aws-s3",
}  # fmt: skip
_EVERYDAY = word_set("ping maximo hive inform memento mogli claude gemini magpi facebook")


@dataclass(frozen=True, slots=True)
class AdaptorList:
    """Newest versions by short name, and short names by what the systems are called."""

    versions: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> AdaptorList:
        """Read the lines `name@version (System)` out of a prompt; other lines are passed over."""
        versions: dict[str, str] = {}
        names: dict[str, str] = {}
        for match in _LINE.finditer(text):
            if not re.match(r"\d", match["version"]):
                continue
            name = match["name"]
            versions[name] = match["version"]
            names[name] = name
            if match["system"]:
                names.setdefault(folded(match["system"]), name)
        for alias, name in _ALIASES.items():
            if name in versions:
                names.setdefault(alias, name)
        return cls(versions, names)

    @classmethod
    @cache
    def of_catalogue(cls) -> AdaptorList:
        """Every adaptor of the catalogue that ships with the program."""
        return cls.read(Catalogue.load().lines())

    @property
    def titles(self) -> dict[str, str]:
        """Systems as people write them, by the adaptors' short names."""
        return {adaptor.name: adaptor.system for adaptor in Catalogue.load()}

    def specifier(self, name: str, version: str | None = None) -> str:
        """What a workflow writes for this short name."""
        return f"@openfn/language-{name}@{version or self.versions.get(name, 'latest')}"

    def mentioned(self, plain: str) -> list[tuple[str, int, int]]:
        """Adaptors named in folded text, by place: short name, start, end. Longest names first."""
        found: list[tuple[str, int, int]] = []
        for spoken in sorted(self.names, key=len, reverse=True):
            pattern = re.escape(spoken).replace(r"\ ", r"[\s-]?")
            for match in re.finditer(
                rf"(?<![\w@/-])(?:@openfn/language-|language-)?{pattern}(?![\w])", plain
            ):
                if any(match.start() < end and start < match.end() for _, start, end in found):
                    continue
                found.append((self.names[spoken], match.start(), match.end()))
        return sorted(found, key=lambda item: item[1])

    def named(self, text: str) -> str | None:
        """The adaptor that a text is the name of, however it is written."""
        wanted = squeezed(text)
        return next((n for spoken, n in self.names.items() if squeezed(spoken) == wanted), None)


def is_everyday(name: str) -> bool:
    """Whether an adaptor's name is a word that means something else too."""
    return name in _EVERYDAY

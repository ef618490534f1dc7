"""The SQLite file that holds passages and adaptor docs, and what goes into it and out of it.

It is a cache: everything in it can be made again, so a file that cannot be used is deleted and
built anew. Where nothing can be written, the same data lives in memory for this process.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeVar

from .pages import Document, Page, Section

T = TypeVar("T")
Kind = Literal["handbook", "catalogue", "folder", "adaptor"]

#: Raised by one whenever the tables below or what is stored in them changes.
SCHEMA_VERSION = 3

_FILE = "knowledge.db"
_SUFFIXES = ("", "-wal", "-shm")
_BUSY_SECONDS = 5.0
# The file may be sound, but this process cannot write it. Every other failure means damage.
_NO_WRITING = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
}

_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS source (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL UNIQUE, indexed_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY,
    source_id INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
    path TEXT NOT NULL, title TEXT NOT NULL, digest TEXT NOT NULL, adaptors TEXT NOT NULL,
    UNIQUE (source_id, path)
);
CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    title TEXT NOT NULL, keywords TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passage_of_page ON passage (page_id);
CREATE VIRTUAL TABLE IF NOT EXISTS passage_text USING fts5 (
    title, keywords, text,
    content='passage', content_rowid='id', tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TRIGGER IF NOT EXISTS passage_added AFTER INSERT ON passage BEGIN
    INSERT INTO passage_text (rowid, title, keywords, text)
    VALUES (new.id, new.title, new.keywords, new.text);
END;
CREATE TRIGGER IF NOT EXISTS passage_removed AFTER DELETE ON passage BEGIN
    INSERT INTO passage_text (passage_text, rowid, title, keywords, text)
    VALUES ('delete', old.id, old.title, old.keywords, old.text);
END;
CREATE TABLE IF NOT EXISTS adaptor (
    package TEXT NOT NULL, version TEXT NOT NULL, docs TEXT NOT NULL, stored_at TEXT NOT NULL,
    PRIMARY KEY (package, version)
);
CREATE TABLE IF NOT EXISTS adaptor_version (
    package TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY (package, version)
);
CREATE TABLE IF NOT EXISTS adaptor_miss (
    package TEXT NOT NULL, version TEXT NOT NULL, asked_at REAL NOT NULL,
    PRIMARY KEY (package, version)
);
PRAGMA user_version = {SCHEMA_VERSION};
"""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Store:
    """One connection, shared by threads one at a time, opened when it is first needed.

    `folder` None keeps everything in memory. `notes` says, in sentences for the user, what did not
    go as hoped: a rebuilt file, a cache that cannot be written.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = folder / _FILE if folder else None
        self.notes: list[str] = []
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in one transaction and return what it returns.

        When the file cannot be used, it is replaced, by a new one or by memory, and the work is
        done once more.
        """
        with self._lock:
            try:
                return self._work(work)
            except (sqlite3.DatabaseError, UnicodeDecodeError, OSError) as error:
                if self.path is None:
                    raise
                self._recover(error)
                return self._work(work)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Every row that a query gives."""
        return self.run(lambda connection: connection.execute(query, values).fetchall())

    def adaptor_versions(self) -> dict[str, set[str]]:
        """Versions that a registry has told of, by package."""
        found: dict[str, set[str]] = {}
        for package, version in self.rows("SELECT package, version FROM adaptor_version"):
            found.setdefault(package, set()).add(version)
        return found

    def size(self) -> int:
        """Bytes on disk, what is written but not yet merged included; 0 in memory."""
        files = (Path(f"{self.path}{suffix}") for suffix in _SUFFIXES) if self.path else ()
        return sum(file.stat().st_size for file in files if file.is_file())

    def close(self) -> None:
        """Let go of the file. A later `run` opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._open()
        with self._connection:
            return work(self._connection)

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return _with_tables(_connect(":memory:"))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(str(self.path))
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            return _with_tables(connection)
        except BaseException:
            connection.close()
            raise

    def _recover(self, error: Exception) -> None:
        """Make the next attempt possible, with a new file or in memory, and say what is lost."""
        assert self.path is not None
        path, damaged = self.path, _is_damage(error)
        self.close()
        folders = _read(path, _folders) or ()
        if damaged and _deleted(path):
            again = f" Add your own documentation again: {', '.join(folders)}." if folders else ""
            self.notes.append(
                f"The documentation database could not be used and was built anew.{again}"
            )
            return
        self.path = None
        self._connection = memory = self._open()
        self.notes.append(
            f"The documentation database {path} cannot be written; what is learned in this run is "
            "not kept. Set GLOBAL_CHAT_CACHE to a folder that can be written."
        )
        if not damaged:
            _read(path, lambda file: _with_tables(file).backup(memory))


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=_BUSY_SECONDS, check_same_thread=False, uri=uri)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _with_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, with the tables made when there are none.

    Raises `sqlite3.DatabaseError` when another version of this program made them.
    """
    if _version(connection) == 0:
        # Of two processes that start at once the second waits, and then makes nothing.
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    if _version(connection) != SCHEMA_VERSION:
        raise sqlite3.DatabaseError("made by another version of this program")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _is_damage(error: Exception) -> bool:
    if isinstance(error, OSError):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    return not (isinstance(code, int) and code & 0xFF in _NO_WRITING)


def _read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """What can be read of a file that is not to be written; None when nothing can."""
    try:
        with closing(_connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as file:
            return work(file)
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def _folders(file: sqlite3.Connection) -> list[str]:
    return [name for (name,) in file.execute("SELECT name FROM source WHERE kind = 'folder'")]


def _deleted(path: Path) -> bool:
    try:
        for suffix in _SUFFIXES:
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    except OSError:
        return False
    return True


def cache_folder(environ: Mapping[str, str]) -> Path:
    """`GLOBAL_CHAT_CACHE` when it is set, else this program's folder in the user's cache."""
    if named := environ.get("GLOBAL_CHAT_CACHE"):
        return Path(named).expanduser()
    # Only whoever opens the database needs it.
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("global-chat", appauthor=False)


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing a source did, in pages, and how many passages the source now has."""

    name: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    skipped: tuple[str, ...] = ()


def index_source(
    connection: sqlite3.Connection, kind: Kind, name: str, documents: Iterable[Document]
) -> IndexReport:
    """Make a source hold exactly these documents, in the caller's transaction."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    query = """INSERT INTO source (kind, name, indexed_at) VALUES (?, ?, ?)
               ON CONFLICT (name) DO UPDATE SET indexed_at = excluded.indexed_at RETURNING id"""
    source: int = connection.execute(query, (kind, name, now)).fetchone()[0]
    query = "SELECT path, digest FROM page WHERE source_id = ?"
    gone: dict[str, str] = dict(connection.execute(query, (source,)).fetchall())
    count = Counter[str]()
    for document in documents:
        before = gone.pop(document.path, None)
        what = "added" if before is None else "changed"
        what = "unchanged" if before == document.digest else what
        count[what] += 1
        if what == "changed":
            _remove_page(connection, source, document.path)
        if what != "unchanged":
            _add_page(connection, source, document)
    for path in gone:
        _remove_page(connection, source, path)
    query = "SELECT count(*) FROM passage JOIN page ON page.id = page_id WHERE source_id = ?"
    passages: int = connection.execute(query, (source,)).fetchone()[0]
    counts = (count["added"], count["changed"], count["unchanged"])
    return IndexReport(name, *counts, len(gone), passages)


def remove_source(connection: sqlite3.Connection, name: str) -> None:
    """Forget a source and its passages."""
    connection.execute("DELETE FROM source WHERE name = ?", (name,))


def read_setting(connection: sqlite3.Connection, name: str) -> str | None:
    """What was stored under this name."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def write_settings(connection: sqlite3.Connection, values: Mapping[str, str]) -> None:
    """Store values by name, in place of those of the same names."""
    connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", values.items())


def _remove_page(connection: sqlite3.Connection, source: int, path: str) -> None:
    connection.execute("DELETE FROM page WHERE source_id = ? AND path = ?", (source, path))


def _add_page(connection: sqlite3.Connection, source: int, document: Document) -> None:
    page = document.read()
    query = "INSERT INTO page (source_id, path, title, digest, adaptors) VALUES (?, ?, ?, ?, ?)"
    row = (source, document.path, page.title, document.digest, " ".join(page.adaptors))
    page_id = connection.execute(query, row).lastrowid
    connection.executemany(
        "INSERT INTO passage (page_id, title, keywords, text) VALUES (?, ?, ?, ?)",
        [
            (page_id, section.title, _keywords(page, section, first=number == 0), section.text)
            for number, section in enumerate(page.sections)
        ],
    )


def _keywords(page: Page, section: Section, *, first: bool) -> str:
    """Words to find a section by that are not in its text; the page's own belong to its first.

    Names in camel case are taken apart: `getSubmissions` is found by "submissions".
    """
    names = sorted(set(re.findall(r"\b[a-z]+[A-Z]\w*", f"{section.title} {section.text}")))
    own = (page.keywords, *page.asked) if first else ()
    return " ".join([*own, *(_CAMEL.sub(" ", name) for name in names)])

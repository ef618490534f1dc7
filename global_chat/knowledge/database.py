"""The SQLite file that holds passages and adaptor docs: opened, made, replaced when damaged.

It is a cache: everything in it can be made again. So a file that is damaged or of another schema
is replaced, and when nothing can be written the same data lives in memory for this process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import TypeVar

T = TypeVar("T")

#: Raised by one whenever the tables below or what is stored in them changes.
SCHEMA_VERSION = 1

_FILE = "knowledge.db"
_SUFFIXES = ("", "-wal", "-shm")
_BUSY_SECONDS = 5.0
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
# Of a file whose pages hold together while what is in them does not, SQLite says no more than this.
_GARBLED = (
    "Could not decode to UTF-8", "no such table", "no such column", "unsupported file format"
)  # fmt: skip
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
    path TEXT NOT NULL, title TEXT NOT NULL, digest TEXT NOT NULL,
    UNIQUE (source_id, path)
);
CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page ON DELETE CASCADE,
    title TEXT NOT NULL, keywords TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passage_of_page ON passage (page_id);
CREATE TABLE IF NOT EXISTS vector (
    passage_id INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE,
    whole INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS vector_of_passage ON vector (passage_id, whole);
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


class Database:
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

        When the file turns out to be damaged it is replaced, when it cannot be written its content
        is taken into memory, and the work is then done again, once.
        """
        with self._lock:
            try:
                return self._work(work)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if not self._recover(error):
                    raise
                return self._work(work)

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
            return _prepared(_connect(":memory:"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return self._in_memory()
        connection = _connect(str(self.path))
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _version(connection) not in (0, SCHEMA_VERSION):
                connection.close()
                try:
                    self._replace("was made by another version of this program")
                except OSError:
                    return self._in_memory(copied=False)
                connection = _connect(str(self.path))
                connection.execute("PRAGMA journal_mode = WAL")
            return _prepared(connection)
        except (sqlite3.Error, UnicodeDecodeError):
            connection.close()
            raise

    def _recover(self, error: Exception) -> bool:
        """Make the next attempt possible; False when the error is about something else."""
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else None
        garbled = isinstance(error, UnicodeDecodeError) or str(error).startswith(_GARBLED)
        if self.path is None:
            return False
        if primary in _DAMAGE or garbled:
            self.close()
            try:
                self._replace("was damaged")
            except OSError:
                self._connection = self._in_memory(copied=False)
            return True
        if primary in _NO_WRITING:
            self.close()
            self._connection = self._in_memory()
            return True
        return False

    def _replace(self, why: str) -> None:
        """Remove the file, and name the folders that have to be added again."""
        assert self.path is not None
        folders = _folders(self.path)
        for suffix in _SUFFIXES:
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        again = f" Add your own documentation again: {', '.join(folders)}." if folders else ""
        self.notes.append(f"The documentation database {why} and was made anew.{again}")

    def _in_memory(self, *, copied: bool = True) -> sqlite3.Connection:
        """A copy of the file in memory, or an empty database when there is no usable file."""
        path, self.path = self.path, None
        self.notes.append(
            f"The documentation database {path} cannot be written; what is learned in this run is "
            "not kept. Set GLOBAL_CHAT_CACHE to a folder that can be written."
        )
        memory = _connect(":memory:")
        if copied and path is not None and path.is_file():
            try:
                with _connect(f"file:{path}?mode=ro&immutable=1", uri=True) as file:
                    file.backup(memory)
                file.close()
                if _version(memory) == SCHEMA_VERSION:
                    return memory
            except (sqlite3.Error, UnicodeDecodeError):
                pass
            memory.close()
            memory = _connect(":memory:")
        return _prepared(memory)


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=_BUSY_SECONDS, check_same_thread=False, uri=uri)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, with the tables made when they are missing."""
    if _version(connection) == 0:
        # Of two processes that start at once the second waits, and then makes nothing.
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    return connection


def _folders(path: Path) -> list[str]:
    """Folders that an old or damaged file lists, as far as it can still be read."""
    try:
        with _connect(f"file:{path}?mode=ro&immutable=1", uri=True) as file:
            rows = file.execute("SELECT name FROM source WHERE kind = 'folder'").fetchall()
        file.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return []
    return [name for (name,) in rows]

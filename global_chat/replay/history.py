"""Runs and their results in one small SQLite file, written as they come: a crash loses none."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from global_chat.contract.errors import BadRequest

from .result import Evidence, Result

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    ended TEXT,
    backend TEXT NOT NULL,
    selection TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS results (
    run INTEGER NOT NULL REFERENCES runs (id),
    "case" TEXT NOT NULL,
    number INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    status TEXT NOT NULL,
    result TEXT NOT NULL,
    evidence BLOB,
    PRIMARY KEY (run, "case", number)
) WITHOUT ROWID;
"""

_RUNS = "SELECT id, started, ended, backend, selection FROM runs"
_COUNTED_BACK = re.compile(r"last(?:~(\d{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `selection` says what was run and how; `ended` is None for one that was cut off."""

    id: int
    started: str
    ended: str | None
    backend: str
    selection: str


class History:
    """The file of runs. Not for more than one thread.

    Every method raises `BadRequest` when the file cannot be read or written: it may be damaged, of
    another version of this program, or on a disk that is full.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises `BadRequest` when that is not possible."""
        self._path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path)
            # Each result is on its own; losing the last ones in a power cut costs those cases.
            self._database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
            self._database.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong with the file, as a sentence that names it."""
        try:
            yield
        except ValidationError:
            raise BadRequest(
                f"The history {self._path} holds results that this version of the program cannot "
                "read. Name another file with --history."
            ) from None
        except (sqlite3.Error, OSError, zlib.error, UnicodeDecodeError) as error:
            raise BadRequest(f"The history {self._path} cannot be used: {error}.") from None

    def begin(self, backend: str, selection: str) -> Run:
        """A new run."""
        with self._told(), self._database:
            cursor = self._database.execute(
                "INSERT INTO runs (started, backend, selection) VALUES (?, ?, ?)",
                (_now(), backend, selection),
            )
        return self.run(str(cursor.lastrowid))

    def resume(self, backend: str, selection: str) -> Run:
        """The last run of the same selection, to go on with; a new one when there is none."""
        with self._told():
            row = self._database.execute(
                "SELECT id FROM runs WHERE backend = ? AND selection = ? ORDER BY id DESC LIMIT 1",
                (backend, selection),
            ).fetchone()
        return self.run(str(row[0])) if row else self.begin(backend, selection)

    def end(self, run: Run) -> None:
        """Say that nothing of the run is left to do."""
        with self._told(), self._database:
            self._database.execute("UPDATE runs SET ended = ? WHERE id = ?", (_now(), run.id))

    def add(self, run: Run, result: Result, evidence: Evidence | None = None) -> None:
        """Keep one result, in place of an earlier one of the same case."""
        packed = None if evidence is None else zlib.compress(evidence.model_dump_json().encode())
        with self._told(), self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    run.id,
                    result.case,
                    result.number,
                    result.fingerprint,
                    result.status,
                    result.model_dump_json(),
                    packed,
                ),
            )

    def done(self, run: Run) -> set[tuple[str, int, str]]:
        """Case, number and fingerprint of every result that stands."""
        return {(r.case, r.number, r.fingerprint) for r in self.results(run) if r.stands}

    def results(self, run: Run, case: str | None = None) -> Iterator[Result]:
        """The results of a run, or of one case in it, by case and number, one after the other."""
        one, given = ("", (run.id,)) if case is None else ('AND "case" = ?', (run.id, case))
        query = f'SELECT result FROM results WHERE run = ? {one} ORDER BY "case", number'
        with self._told():
            for (row,) in self._database.execute(query, given):
                yield Result.model_validate_json(row)

    def evidence(self, run: Run, result: Result) -> Evidence | None:
        """What was kept of a failure."""
        with self._told():
            row = self._database.execute(
                'SELECT evidence FROM results WHERE run = ? AND "case" = ? AND number = ?',
                (run.id, result.case, result.number),
            ).fetchone()
            if row is None or row[0] is None:
                return None
            return Evidence.model_validate_json(zlib.decompress(row[0]))

    def run(self, name: str) -> Run:
        """The run that `name` means: its number, `last`, or `last~1` for the one before.

        Raises `BadRequest` when there is none.
        """
        which, given = "WHERE CAST(id AS TEXT) = ?", name
        if counted := _COUNTED_BACK.fullmatch(name):
            which, given = "ORDER BY id DESC LIMIT 1 OFFSET CAST(? AS INTEGER)", counted[1] or "0"
        with self._told():
            row = self._database.execute(f"{_RUNS} {which}", (given,)).fetchone()
        if row is None:
            raise BadRequest(
                f"There is no run {name!r} in {self._path}. A run is its number, `last` or "
                "`last~1`; `global-chat replay history` lists them."
            )
        return Run(*row)

    def runs(self) -> list[Run]:
        """Every run, the newest first."""
        with self._told():
            return [Run(*row) for row in self._database.execute(f"{_RUNS} ORDER BY id DESC")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

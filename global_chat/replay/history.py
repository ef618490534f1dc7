"""Runs and their results in one small SQLite file, written as they come: a crash loses none."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

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


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `selection` says what was run and how; `ended` is None for one that was cut off."""

    id: int
    started: str
    ended: str | None
    backend: str
    selection: str


class History:
    """The file of runs. Not for more than one thread."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises `BadRequest` when that is not possible."""
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path)
            # Each result is on its own; losing the last ones in a power cut costs those cases.
            self._database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
            self._database.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise BadRequest(f"The history {path} cannot be used: {error}.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def begin(self, backend: str, selection: str) -> Run:
        """A new run."""
        with self._database:
            cursor = self._database.execute(
                "INSERT INTO runs (started, backend, selection) VALUES (?, ?, ?)",
                (_now(), backend, selection),
            )
        return self.run(str(cursor.lastrowid))

    def resume(self, backend: str, selection: str) -> Run:
        """The last run of the same selection, to go on with; a new one when there is none."""
        row = self._database.execute(
            "SELECT id FROM runs WHERE backend = ? AND selection = ? ORDER BY id DESC LIMIT 1",
            (backend, selection),
        ).fetchone()
        return self.run(str(row[0])) if row else self.begin(backend, selection)

    def end(self, run: Run) -> None:
        """Say that nothing of the run is left to do."""
        with self._database:
            self._database.execute("UPDATE runs SET ended = ? WHERE id = ?", (_now(), run.id))

    def add(self, run: Run, result: Result, evidence: Evidence | None = None) -> None:
        """Keep one result, in place of an earlier one of the same case."""
        packed = None if evidence is None else zlib.compress(evidence.model_dump_json().encode())
        with self._database:
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
        rows = self._database.execute(
            'SELECT "case", number, fingerprint FROM results WHERE run = ? AND status <> ?',
            (run.id, "stopped"),
        )
        return set(rows)

    def results(self, run: Run, case: str | None = None) -> Iterator[Result]:
        """The results of a run, or of one case in it, by case and number, one after the other."""
        one, given = ("", (run.id,)) if case is None else ('AND "case" = ?', (run.id, case))
        query = f'SELECT result FROM results WHERE run = ? {one} ORDER BY "case", number'
        for (row,) in self._database.execute(query, given):
            yield Result.model_validate_json(row)

    def evidence(self, run: Run, result: Result) -> Evidence | None:
        """What was kept of a failure."""
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
        number, back = name, 0
        if name.startswith("last"):
            number, _, steps = name.partition("~")
            back = int(steps) if steps.isdigit() else 0
        query = "SELECT id, started, ended, backend, selection FROM runs "
        if number == "last":
            found = self._database.execute(f"{query} ORDER BY id DESC LIMIT 1 OFFSET ?", (back,))
        else:
            found = self._database.execute(
                f"{query} WHERE id = ?", (int(number) if number.isdigit() else -1,)
            )
        row = found.fetchone()
        if row is None:
            raise BadRequest(
                f"There is no run {name!r} in {self._path}. A run is its number, `last` or "
                "`last~1`; `global-chat replay history` lists them."
            )
        return Run(*row)

    def runs(self) -> list[Run]:
        """Every run, the newest first."""
        rows = self._database.execute(
            "SELECT id, started, ended, backend, selection FROM runs ORDER BY id DESC"
        )
        return [Run(*row) for row in rows]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

"""Runs and their results in one small SQLite file, written as they come: a crash loses none."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from global_chat.contract.errors import BadRequest

from .result import EVIDENCE, Result

_SCHEMA = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, started TEXT, ended TEXT, backend TEXT, selection TEXT
);
CREATE TABLE IF NOT EXISTS case_results (
    run INTEGER, "case" TEXT, number INTEGER, result TEXT, PRIMARY KEY (run, "case", number)
) WITHOUT ROWID;
"""

_RUN = "id, started, ended, backend, selection"
_COUNTED_BACK = re.compile(r"last(?:~(\d{1,9}))?", re.ASCII)


class Run(NamedTuple):
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
        """Open or make the file."""
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path)
            self._database.executescript(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def _unusable(self, why: object) -> BadRequest:
        another = "Name another file with --history."
        return BadRequest(f"The history {self._path} cannot be used: {why}. {another}")

    def _query(self, query: str, *values: object) -> list[Any]:
        try:
            with self._database:
                return self._database.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._unusable(error) from None

    def begin(self, backend: str, selection: str) -> Run:
        """A new run. What passed in earlier runs keeps its figures and loses its evidence."""
        paths = ", ".join(f"'$.{name}'" for name in EVIDENCE)
        self._query(
            f"UPDATE case_results SET result = json_remove(result, {paths}) WHERE "
            "json_valid(result) AND json_extract(result, '$.status') = 'passed'"
        )
        query = f"INSERT INTO runs (started, backend, selection) VALUES (?, ?, ?) RETURNING {_RUN}"
        return Run(*self._query(query, _now(), backend, selection)[0])

    def resume(self, backend: str, selection: str) -> Run:
        """The last run of the same selection, to go on with; a new one when there is none."""
        same = (run for run in self.runs() if run[-2:] == (backend, selection))
        return next(same, None) or self.begin(backend, selection)

    def earlier(self, run: Run, most: int) -> list[tuple[Run, list[Result]]]:
        """The last runs of the same selection before `run`, with their results, the oldest first.

        Runs of another version of the program are left out.
        """
        found: list[tuple[Run, list[Result]]] = []
        for one in self.runs():
            if one.id < run.id and one[-2:] == run[-2:] and len(found) < most:
                with contextlib.suppress(BadRequest):
                    found.append((one, self.results(one)))
        return found[::-1]

    def end(self, run: Run) -> None:
        """Mark the run as complete."""
        self._query("UPDATE runs SET ended = ? WHERE id = ?", _now(), run.id)

    def add(self, run: Run, result: Result) -> None:
        """Keep one result, in place of an earlier one of the same case."""
        written = result.model_dump_json(exclude_defaults=True)
        query = "INSERT OR REPLACE INTO case_results VALUES (?, ?, ?, ?)"
        self._query(query, run.id, result.case, result.number, written)

    def results(self, run: Run) -> list[Result]:
        """The results of a run, by case and number."""
        query = 'SELECT result FROM case_results WHERE run = ? ORDER BY "case", number'
        try:
            return [Result.model_validate_json(text) for (text,) in self._query(query, run.id)]
        except ValidationError:
            raise self._unusable("its results are of another version of the program") from None

    def runs(self) -> list[Run]:
        """Every run, the newest first."""
        return [Run(*row) for row in self._query(f"SELECT {_RUN} FROM runs ORDER BY id DESC")]

    def run(self, name: str) -> Run:
        """The run that `name` means: its number, `last`, or `last~1` for the one before.

        Raises `BadRequest` when there is none.
        """
        found = [run for run in self.runs() if str(run.id) == name]
        if counted := _COUNTED_BACK.fullmatch(name):
            found = self.runs()[int(counted[1] or 0) :]
        if not found:
            raise BadRequest(
                f"There is no run {name!r} in {self._path}. A run is its number, `last` or "
                "`last~1`; `global-chat replay history` lists them."
            )
        return found[0]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

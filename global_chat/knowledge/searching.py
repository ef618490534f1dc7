"""Which passages answer a question: by words (BM25), by meaning (embeddings), and both fused.

The two rankings are fused by reciprocal rank: a passage scores 1 / (60 + rank) in each that has it.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .embeddings import DIMENSIONS, load_embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Method = Literal["fused", "words", "meaning"]

_CANDIDATES = 50  # passages of each ranking that take part in the fusion
_FUSION = 60  # the usual constant of reciprocal rank fusion: how little the very first ranks weigh
_WHOLE = 0.5  # how much a passage's whole text counts beside its closest phrase
_PER_PAGE = 2  # passages of one page in a result, so that a long page does not fill it
_LONGEST_QUERY = 2_000  # characters
_TITLE, _KEYWORDS, _TEXT = 4.0, 2.0, 1.0  # BM25 weights of the columns

# Words that say nothing about the subject, in the languages that questions come in.
_STOP_WORDS = Path(__file__).parent / "data" / "stop_words.txt"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of documentation: its trail of headings, where it is from, and its text."""

    title: str
    source: str
    text: str


class Vectors:
    """All vectors as matrices, kept until the database changes.

    A passage's closeness to a question is that of its closest phrase, and half that of the whole.
    """

    def __init__(self) -> None:
        self._state: tuple[int, int, int] | None = None
        self._ids: NDArray[np.int64] | None = None
        self._starts: NDArray[np.int64] | None = None
        self._phrases: NDArray[np.float32]
        self._wholes: NDArray[np.float32]

    def nearest(self, connection: sqlite3.Connection, query: str) -> list[int]:
        """Ids of the passages whose meaning is closest to the query's, closest first."""
        embedder = load_embedder()
        if embedder is None:
            return []
        import numpy as np  # noqa: PLC0415  0.1 s, and most turns search nothing

        self._load(connection)
        if self._ids is None or self._starts is None or not len(self._ids):
            return []
        wanted = embedder.embed([query])[0]
        closeness = np.maximum.reduceat(_products(self._phrases, wanted), self._starts)
        closeness += _WHOLE * _products(self._wholes, wanted)
        count = min(_CANDIDATES, len(closeness))
        best = np.argpartition(-closeness, count - 1)[:count]
        ordered = best[np.argsort(-closeness[best], kind="stable")]
        return [int(self._ids[index]) for index in ordered if closeness[index] > 0]

    def _load(self, connection: sqlite3.Connection) -> None:
        version: int = connection.execute("PRAGMA data_version").fetchone()[0]
        state = (id(connection), version, connection.total_changes)
        if state == self._state:
            return
        import numpy as np  # noqa: PLC0415  0.1 s, and most turns search nothing

        query = "SELECT passage_id, vector FROM vector WHERE whole = ? ORDER BY passage_id"
        phrases = connection.execute(query, (False,)).fetchall()
        wholes = connection.execute(query, (True,)).fetchall()
        owners = np.array([row[0] for row in phrases], dtype=np.int64)
        self._ids, self._starts = np.unique(owners, return_index=True)
        self._phrases, self._wholes = _matrix(phrases), _matrix(wholes)
        self._state = state


def _products(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The matrix times the vector, on one thread.

    `@` would share the work among threads, which on a busy machine takes forty times as long.
    """
    import numpy as np  # noqa: PLC0415  0.1 s, and most turns search nothing

    products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return products


def _matrix(rows: Sequence[tuple[int, bytes]]) -> NDArray[np.float32]:
    import numpy as np  # noqa: PLC0415  0.1 s, and most turns search nothing

    joined = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16)
    return joined.reshape(-1, DIMENSIONS).astype(np.float32)


def search_passages(
    connection: sqlite3.Connection,
    vectors: Vectors,
    query: str,
    limit: int,
    method: Method = "fused",
) -> tuple[Passage, ...]:
    """At most `limit` passages, best first; none for a query without words."""
    query = query[:_LONGEST_QUERY]
    if not re.search(r"\w", query) or limit < 1:
        return ()
    rankings = []
    if method != "meaning":
        rankings.append(_by_words(connection, query))
    if method != "words":
        rankings.append(vectors.nearest(connection, query))
    return _passages(connection, _fuse(rankings), limit)


def _by_words(connection: sqlite3.Connection, query: str) -> list[int]:
    words = list(dict.fromkeys(re.findall(r"\w+", query.casefold())))
    telling = [word for word in words if word not in _stop_words()] or words
    match = " OR ".join(f'"{word}"' for word in telling)
    rows = connection.execute(
        f"""SELECT rowid FROM passage_text WHERE passage_text MATCH ?
            ORDER BY bm25(passage_text, {_TITLE}, {_KEYWORDS}, {_TEXT}) LIMIT {_CANDIDATES}""",
        (match,),
    )
    return [row[0] for row in rows]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP_WORDS.read_text(encoding="utf-8").split())


def _fuse(rankings: Sequence[Sequence[int]]) -> list[int]:
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, passage in enumerate(ranking, start=1):
            scores[passage] += 1 / (_FUSION + rank)
    return sorted(scores, key=lambda passage: -scores[passage])


def _passages(
    connection: sqlite3.Connection, ranked: Sequence[int], limit: int
) -> tuple[Passage, ...]:
    found: list[Passage] = []
    per_page: Counter[int] = Counter()
    query = """SELECT page.id, kind, source.name, path, passage.title, text FROM passage
               JOIN page ON page.id = page_id JOIN source ON source.id = source_id
               WHERE passage.id = ?"""
    for passage in ranked:
        page, kind, name, path, title, text = connection.execute(query, (passage,)).fetchone()
        per_page[page] += 1
        if per_page[page] <= _PER_PAGE:
            found.append(Passage(title, _source(kind, name, path), text))
        if len(found) == limit:
            break
    return tuple(found)


def _source(kind: str, name: str, path: str) -> str:
    """Where a passage is from, as one would write it: a file's path, or an adaptor's specifier."""
    if kind == "adaptor":
        return f"{name}@{path.partition('/')[0]}"
    return f"{name}/{path}"

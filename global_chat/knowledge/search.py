"""Which passages answer a question: by words (BM25), in the languages that people ask in.

Passages are in English. Words of a French, Spanish or Portuguese question are looked up in a small
vocabulary of the field, and their English meanings count like words of the question. Words that
say nothing about the subject are left out.

A passage is only an answer when it is about enough of what was asked: see `Floor`.
"""

from __future__ import annotations

import math
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"

_CANDIDATES = 50  # passages that are looked at more closely
_PER_PAGE = 2  # passages of one page in a result, so that a long page does not fill it
_LONGEST_QUERY = 2_000  # characters
_MOST_WORDS = 60
_TITLE, _KEYWORDS, _TEXT = 4.0, 2.0, 1.0  # BM25 weights of the columns
_SHORTEST_STEM = 3
_OWN_PAGE = 1.5  # how much more a page about the step's own adaptor counts


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of documentation: its trail of headings, where it is from, and its text."""

    title: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Floor:
    """What a passage must reach to be shown: a strength, and a part of the best one's strength.

    The strength is BM25's score times how much of the question the passage has words for, 0 to 1,
    where rare words weigh more. So a long question is not answered by one word of it, and one
    of a single word is.
    """

    strength: float
    of_best: float


# Both were set on the questions of `benchmarks/knowledge.py`. Of 50 that have nothing to do with
# the subject the first shows something for 17, the second for 2.
#: For a search that somebody asked for.
SEARCH_FLOOR = Floor(1.1, of_best=0.2)
#: For passages that nobody asked for, which cost a reader's attention when they do not fit.
PROMPT_FLOOR = Floor(4.5, of_best=0.6)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a question with its meanings, the passages that have one, and what it weighs."""

    forms: tuple[str, ...]
    passages: frozenset[int]
    weight: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage, BM25's score by which it is ranked, and the strength that a floor looks at.

    `adaptors` are those that its page is about; None for a page that nobody wrote.
    """

    passage: Passage
    page: int
    adaptors: Sequence[str] | None
    score: float
    strength: float


def search_passages(
    connection: sqlite3.Connection,
    query: str,
    limit: int,
    floor: Floor = SEARCH_FLOOR,
    adaptor: str | None = None,
) -> tuple[Passage, ...]:
    """At most `limit` passages that answer `query`, best first; none when nothing does.

    With `adaptor`, a short name such as `http`, only pages that people wrote are searched, and of
    those about adaptors only the ones about this adaptor.
    """
    candidates = _candidates(connection, _words(connection, query))
    if adaptor is not None:
        candidates = [_for_adaptor(c) for c in candidates if _fits(c, adaptor)]
    best = max((c.strength for c in candidates), default=0.0)
    least = max(floor.strength, floor.of_best * best)
    per_page: Counter[int] = Counter()
    found = []
    for candidate in sorted(candidates, key=lambda c: -c.score):
        if candidate.strength >= least and per_page[candidate.page] < _PER_PAGE:
            per_page[candidate.page] += 1
            found.append(candidate.passage)
    return tuple(found[:limit])


def _words(connection: sqlite3.Connection, query: str) -> list[_Word]:
    """The words of a question that say something about its subject."""
    found = dict.fromkeys(re.findall(r"\w+", _folded(query[:_LONGEST_QUERY])))
    telling = [word for word in found if word not in _stop_words()][:_MOST_WORDS]
    count: int = connection.execute("SELECT count(*) FROM passage").fetchone()[0]
    words = []
    for word in telling:
        forms = (word, *meanings(word))
        having = frozenset(_matching(connection, forms))
        # The inverse document frequency that BM25 uses; a word that no passage has weighs most.
        weight = math.log(1 + (count - len(having) + 0.5) / (len(having) + 0.5))
        words.append(_Word(forms, having, weight))
    return words


def _candidates(connection: sqlite3.Connection, words: Sequence[_Word]) -> list[_Candidate]:
    forms = [form for word in words if word.passages for form in word.forms]
    if not forms:
        return []
    rows = connection.execute(
        f"""SELECT found.id, score, page.id, kind, adaptors, source.name, path, passage.title, text
            FROM (SELECT rowid AS id, -bm25(passage_text, {_TITLE}, {_KEYWORDS}, {_TEXT}) AS score
                  FROM passage_text WHERE passage_text MATCH ?
                  ORDER BY score DESC LIMIT {_CANDIDATES}) AS found
            JOIN passage ON passage.id = found.id JOIN page ON page.id = page_id
            JOIN source ON source.id = source_id""",
        (_any_of(forms),),
    )
    total = sum(word.weight for word in words)
    found = []
    for number, score, page, kind, adaptors, name, path, title, text in rows:
        covered = sum(word.weight for word in words if number in word.passages) / total
        passage = Passage(title, source_of(kind, name, path), text)
        about = adaptors.split() if kind in ("handbook", "folder") else None
        found.append(_Candidate(passage, page, about, score, score * covered))
    return found


def _fits(candidate: _Candidate, adaptor: str) -> bool:
    about = candidate.adaptors
    return about is not None and (not about or adaptor in about)


def _for_adaptor(candidate: _Candidate) -> _Candidate:
    more = _OWN_PAGE if candidate.adaptors else 1.0
    return replace(candidate, score=candidate.score * more, strength=candidate.strength * more)


def _matching(connection: sqlite3.Connection, forms: Collection[str]) -> list[int]:
    rows = connection.execute(
        "SELECT rowid FROM passage_text WHERE passage_text MATCH ?", (_any_of(forms),)
    )
    return [row[0] for row in rows]


def _any_of(forms: Collection[str]) -> str:
    """FTS5's syntax for any of these words, which hold nothing but letters and digits."""
    return " OR ".join(f'"{form}"' for form in dict.fromkeys(forms))


def _folded(text: str) -> str:
    """Lower case, without accents: as people type, and as the index has it."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset((_DATA / "stop_words.txt").read_text(encoding="utf-8").split())


def meanings(word: str) -> tuple[str, ...]:
    """What a word means in English, if the vocabulary has it: itself, or its longest stem.

    The word may have accents and capitals. Empty for a word that is not in the vocabulary.
    """
    vocabulary, word = _vocabulary(), _folded(word)
    stems = (f"{word[:end]}*" for end in range(len(word), _SHORTEST_STEM - 1, -1))
    return next((vocabulary[form] for form in (word, *stems) if form in vocabulary), ())


@cache
def _vocabulary() -> dict[str, tuple[str, ...]]:
    """English words by words of other languages; one that ends in `*` is the beginning of words."""
    found: dict[str, tuple[str, ...]] = {}
    for line in (_DATA / "vocabulary.tsv").read_text(encoding="utf-8").splitlines():
        english, _, others = line.partition("\t")
        for other in others.split():
            found[other] = (*found.get(other, ()), *english.split())
    return found


def source_of(kind: str, name: str, path: str) -> str:
    """Where a passage is from, as one would write it: a file's path, or an adaptor's specifier."""
    if kind == "adaptor":
        return f"{name}@{path.partition('/')[0]}"
    return f"{name}/{path}"

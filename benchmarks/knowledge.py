"""How well and how fast documentation is found. Run it as `python -m benchmarks.knowledge`.

The questions are in `questions.tsv`, each with the handbook page that answers it. They were written
apart from the pages, the way people in the field ask, in three sets: the search was tuned on the
first, the second and the third were written after that. Words that pages turned out to lack were
then added to them, so no set is unseen today. Before that, the fused recall@5 was 0.90 on the
second set and 0.91 on the third.
"""

from __future__ import annotations

import asyncio
import csv
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from global_chat.knowledge.handbook import handbook_files
from global_chat.knowledge.library import Library
from global_chat.knowledge.searching import Method

QUESTIONS = Path(__file__).parent / "questions.tsv"
METHODS: tuple[Method, ...] = ("words", "meaning", "fused")
_FILES, _SECTIONS = 500, 20  # 10,000 passages


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the name of the handbook page that answers it."""

    set: str
    topic: str
    page: str
    question: str


@dataclass(frozen=True, slots=True)
class Score:
    """How often the right page came first, came among five, and the mean of 1 / its rank."""

    recall_at_1: float
    recall_at_5: float
    mean_reciprocal_rank: float
    missed: tuple[Question, ...] = ()


def read_questions() -> list[Question]:
    """Every question of the data file."""
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Question(**row) for row in rows]


async def score(library: Library, questions: Sequence[Question], method: Method) -> Score:
    """Ask every question with one method."""
    ranks: list[int] = []
    missed: list[Question] = []
    for question in questions:
        found = [p.source for p in await library.search(question.question, 5, method)]
        wanted = f"handbook/{question.page}.md"
        if wanted in found:
            ranks.append(found.index(wanted) + 1)
        else:
            missed.append(question)
    total = len(questions)
    first = sum(rank == 1 for rank in ranks)
    return Score(
        first / total, len(ranks) / total, sum(1 / r for r in ranks) / total, tuple(missed)
    )


async def quality(verbose: bool) -> None:
    """Print recall and mean reciprocal rank, by method, by set and by topic."""
    library, questions = Library(None), read_questions()
    _row("questions", "recall@1", "recall@5", "MRR")
    for name in ("all", *dict.fromkeys(q.set for q in questions)):
        chosen = [q for q in questions if name in ("all", q.set)]
        for method in METHODS:
            result = await score(library, chosen, method)
            label = f"{name} ({len(chosen)}), {method}"
            _row(label, *_numbers(result))
    for topic in dict.fromkeys(q.topic for q in questions):
        chosen = [q for q in questions if q.topic == topic]
        result = await score(library, chosen, "fused")
        _row(f"{topic} ({len(chosen)}), fused", *_numbers(result))
        for question in result.missed if verbose else ():
            _row(f"    missed: {question.page}: {question.question}")


async def speed() -> None:
    """Print how fast pages are indexed, and how long a question takes with 10,000 passages."""
    with tempfile.TemporaryDirectory() as temporary:
        docs, cache = Path(temporary, "docs"), Path(temporary, "cache")
        library = Library(cache)
        started = time.perf_counter()
        await library.search("warm up")
        _row("first search, handbook indexed", f"{time.perf_counter() - started:.2f} s")
        _write_pages(docs)
        started = time.perf_counter()
        report = library.add(docs)
        elapsed = time.perf_counter() - started
        _row(f"indexing {report.passages:,} passages", f"{report.passages / elapsed:,.0f} a second")
        started = time.perf_counter()
        library.add(docs)
        _row("indexing again, nothing changed", f"{time.perf_counter() - started:.2f} s")
        await library.search("warm up")
        times = []
        for question in read_questions():
            started = time.perf_counter()
            await library.search(question.question)
            times.append((time.perf_counter() - started) * 1000)
        _row("a question, warm, median", f"{statistics.median(times):.1f} ms")
        _row("a question, warm, 95 of 100", f"{statistics.quantiles(times, n=20)[-1]:.1f} ms")
        _row("database", f"{library.status().size / 1e6:.0f} MB")
        library.close()


def _write_pages(folder: Path) -> None:
    """Pages of sentences like the handbook's, with words of their own, always the same."""
    chance = random.Random(5)
    words = re.findall(r"[a-z]{3,}", b" ".join(handbook_files().values()).decode())
    words += [f"{chance.choice(words)}{chance.choice(words)}" for _ in range(20_000)]
    folder.mkdir()
    for number in range(_FILES):
        sections = (
            "## {}\n\n{}.".format(*(" ".join(chance.choices(words, k=k)) for k in (4, 150)))
            for _ in range(_SECTIONS)
        )
        Path(folder, f"{number}.md").write_text(f"# Page {number}\n\n" + "\n\n".join(sections))


def _numbers(result: Score) -> tuple[str, str, str]:
    values = (result.recall_at_1, result.recall_at_5, result.mean_reciprocal_rank)
    one, five, mean = (f"{value:.3f}" for value in values)
    return one, five, mean


def _row(label: str, *cells: str) -> None:
    sys.stdout.write(f"{label:<34}" + "".join(f"{cell:>16}" for cell in cells) + "\n")


if __name__ == "__main__":
    asyncio.run(quality("--verbose" in sys.argv))
    _row("")
    asyncio.run(speed())

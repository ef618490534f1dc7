"""How well and how fast documentation is found. Run it as `python -m benchmarks.knowledge`.

`unseen_questions.tsv` holds 60 questions that were written without sight of the pages: a third the
way one asks, a third paraphrased without the pages' words, a third in French, Spanish or
Portuguese, each with the handbook pages that answer it. `questions.tsv` holds 320 that were written
apart from the pages; the search was tuned on its first set, and words that pages turned out to lack
were then added to them.

Search goes by words alone. On the unseen questions, without a floor, BM25 reached recall@5 0.933,
static word embeddings 0.900 and both fused by reciprocal rank 0.983. With the vocabulary for the
three languages BM25 reaches 0.967: embeddings, which took 138 MB of packages, could add 0.033 at
most, and were dropped. The floor costs some of it: see what this prints.

`adaptor_questions.tsv` holds 60 requests to write code, written from the list of operations alone,
with the names that decide whether the code is right: are they in what the code agent reads about
the adaptor? With `--sync` the docs of these adaptors are fetched from the npm registry, and those
that the registry has are counted.

`unrelated_questions.txt` holds questions that the documentation has nothing for. The floors of
`knowledge/search.py` were set on them.
"""

from __future__ import annotations

import asyncio
import csv
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from global_chat.cli.docs import npm_registry
from global_chat.knowledge.library import Library
from global_chat.knowledge.pages import handbook_files
from global_chat.knowledge.registry import registry_address
from global_chat.knowledge.search import PROMPT_FLOOR, SEARCH_FLOOR

_FOLDER = Path(__file__).parent
_FILES, _SECTIONS = 500, 20  # 10,000 passages


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the handbook pages that answer it, and the group that it is counted in."""

    group: str
    pages: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Score:
    """How often a right page came first, came among five, and the mean of 1 / its rank."""

    recall_at_1: float
    recall_at_5: float
    mean_reciprocal_rank: float
    missed: tuple[Question, ...] = ()


def read_questions() -> list[Question]:
    """The questions that the search and the pages were improved with."""
    return [Question(row["set"], (row["page"],), row["question"]) for row in _rows("questions.tsv")]


def read_unseen() -> list[Question]:
    """The questions that were written without sight of the pages."""
    return [
        Question(
            "fr, es, pt" if len(row["kind"]) == 2 else row["kind"],
            tuple(row["pages"].split(",")),
            row["question"],
        )
        for row in _rows("unseen_questions.tsv")
    ]


def read_unrelated() -> list[str]:
    """Questions that the documentation has nothing for."""
    return (_FOLDER / "unrelated_questions.txt").read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A request to write code for an adaptor, and the names that the code cannot do without."""

    adaptor: str
    request: str
    facts: tuple[str, ...]


def read_code_requests() -> list[CodeRequest]:
    """The requests that were written from the list of operations."""
    return [
        CodeRequest(row["adaptor"], row["request"], tuple(row["facts"].split("|")))
        for row in _rows("adaptor_questions.tsv")
    ]


async def unanswered(library: Library, requests: Sequence[CodeRequest]) -> list[str]:
    """The requests for which a name is missing in the adaptor's text, with the names."""
    found = []
    for asked in requests:
        adaptor = library.catalogue.get(asked.adaptor)
        docs = await library.adaptor_docs(adaptor.specifier if adaptor else "", asked.request)
        missing = [fact for fact in asked.facts if fact not in docs.text]
        if missing:
            found.append(f"{', '.join(missing)}: {asked.request}")
    return found


def _rows(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


async def score(library: Library, questions: Sequence[Question]) -> Score:
    """Ask every question."""
    ranks: list[int] = []
    missed: list[Question] = []
    for question in questions:
        found = [p.source for p in await library.search(question.question)]
        wanted = {f"handbook/{page}.md" for page in question.pages}
        rank = next((n for n, source in enumerate(found, start=1) if source in wanted), None)
        if rank is None:
            missed.append(question)
        else:
            ranks.append(rank)
    total = len(questions)
    first = sum(rank == 1 for rank in ranks)
    return Score(
        first / total, len(ranks) / total, sum(1 / r for r in ranks) / total, tuple(missed)
    )


async def quality(verbose: bool) -> None:
    """Print recall and mean reciprocal rank by group, and how much is shown for nothing."""
    library = Library(None)
    _row("questions", "recall@1", "recall@5", "MRR")
    for name, questions in (("unseen", read_unseen()), ("seen", read_questions())):
        for group in ("all", *dict.fromkeys(q.group for q in questions)):
            chosen = [q for q in questions if group in ("all", q.group)]
            result = await score(library, chosen)
            _row(f"{name}, {group} ({len(chosen)})", *_numbers(result))
            for question in result.missed if verbose and group != "all" else ():
                _row(f"    missed: {', '.join(question.pages)}: {question.question}")
    unrelated = read_unrelated()
    for name, floor in (("search", SEARCH_FLOOR), ("prompt", PROMPT_FLOOR)):
        shown = [q for q in unrelated if await library.search(q, 1, floor)]
        _row(f"unrelated, shown by {name}", f"{len(shown)} of {len(unrelated)}")


async def adaptors(sync: bool) -> None:
    """Print how often the deciding names are in an adaptor's text."""
    requests, library = read_code_requests(), Library(None, offline=True)
    label = "code, default install"
    if sync:
        library = Library(None, registry=registry_address(os.environ) or npm_registry())
        results = await library.sync(sorted({asked.adaptor for asked in requests}))
        stored = {result.specifier.rpartition("@")[0] for result in results if not result.error}
        requests = [asked for asked in requests if asked.adaptor in stored]
        label = f"code, {len(stored)} adaptors synced"
    missed = await unanswered(library, requests)
    part = 1 - len(missed) / max(1, len(requests))
    _row(f"{label} ({len(requests)})", f"{part:.3f}")
    for line in missed:
        _row(f"    missed: {line}")


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
    asyncio.run(adaptors(sync=False))
    if "--sync" in sys.argv:
        asyncio.run(adaptors(sync=True))
    _row("")
    asyncio.run(speed())

"""Fits the offline router and writes its weights: `python training/router.py`.

    python training/router.py               fit on all but the held-out part
    python training/router.py --check       cross-validate only; print how often it is right
    python training/router.py --held-out    besides, measure on the held-out part

The held-out part is a seventh of our own requests, chosen by a hash of their text. It is only for
the last measurement: whoever looks at its errors and writes more requests spoils it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from fit import conditional, multinomial
from global_chat.knowledge.embeddings import load_embedder
from requests_file import Example, all_examples

from global_chat.offline.routing.classifier import DESTINATIONS, Guess, Weights, decide
from global_chat.offline.routing.features import features
from global_chat.offline.routing.reading import read
from global_chat.offline.routing.steps import candidates

Array = NDArray[np.float64]

WEIGHTS = Path(__file__).parent.parent / "global_chat/offline/routing/weights.tsv"
EMBEDDING_SCALE = 1.5
PUBLIC_WEIGHT = 2.0
ROUNDS, STEP_ROUNDS = 120, 80
#: A word must be in this many requests, another feature in as many, to get a weight.
LEAST_WORDS, LEAST_OTHERS = 3, 3
PUBLIC = "routing"


@dataclass(frozen=True)
class Row:
    """One example as numbers."""

    example: Example
    found: dict[str, float]
    vector: NDArray[np.float32]
    steps: dict[str, dict[str, float]]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def is_held_out(example: Example) -> bool:
    digest = hashlib.sha256(example.question.content.encode()).hexdigest()
    return example.group != PUBLIC and int(digest, 16) % 7 == 0


def rows_of(examples: Sequence[Example]) -> list[Row]:
    embedder = load_embedder()
    if embedder is None:
        raise SystemExit("wordllama's weights are not installed.")
    readings = [read(example.question) for example in examples]
    vectors = embedder.embed([reading.masked for reading in readings])
    return [
        Row(example, features(reading), vector, candidates(reading))
        for example, reading, vector in zip(examples, readings, vectors, strict=True)
    ]


def fit(rows: Sequence[Row]) -> Weights:
    """Weights for destinations and for steps."""
    counts = Counter(name for row in rows for name in row.found)
    least = {True: LEAST_WORDS, False: LEAST_OTHERS}
    names = sorted(n for n, c in counts.items() if c >= least[n[:2] in ("w:", "b:")])
    index = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names) + len(rows[0].vector)))
    for i, row in enumerate(rows):
        for name, value in row.found.items():
            if name in index:
                matrix[i, index[name]] = value
        matrix[i, len(names) :] = row.vector * EMBEDDING_SCALE
    labels = [DESTINATIONS.index(row.example.destination) for row in rows]  # type: ignore[arg-type]
    weight = np.array([PUBLIC_WEIGHT if r.example.group == PUBLIC else 1.0 for r in rows])
    solved = multinomial(matrix, labels, 3, np.ones(matrix.shape[1]), weight, ROUNDS)
    return Weights(
        destination={name: tuple(solved[i]) for name, i in index.items()},
        step=_fit_steps(rows),
        embedding=tuple(tuple(row) for row in solved[len(names) :]),
        embedding_scale=EMBEDDING_SCALE,
        sharpness=1.0,
    )


def _fit_steps(rows: Sequence[Row]) -> dict[str, float]:
    asked = [r for r in rows if r.example.job_key in r.steps]
    names = sorted({name for r in asked for found in r.steps.values() for name in found})
    groups = [
        np.array([[found.get(n, 0.0) for n in names] for found in r.steps.values()]) for r in asked
    ]
    chosen = [list(r.steps).index(r.example.job_key or "") for r in asked]
    solved = conditional(groups, chosen, 1.0, STEP_ROUNDS)
    return dict(zip(names, map(float, solved), strict=True))


def sharpened(weights: Weights, sharpness: float) -> Weights:
    return Weights(
        weights.destination, weights.step, weights.embedding, weights.embedding_scale, sharpness
    )


@dataclass(frozen=True)
class Outcome:
    """What a fitted router said of an example it had not seen."""

    example: Example
    right: bool
    accepted: bool
    chance: float
    confidence: int
    destination_right: bool


def outcome(row: Row, weights: Weights) -> Outcome:
    example = row.example
    said = (
        decide(row.found, row.vector.tolist(), row.steps, weights)
        if row.steps
        else Guess("planner", None, 1.0)
    )
    right = (said.destination, said.job_key) == (example.destination, example.job_key)
    accepted = right or said.destination in example.also_ok
    return Outcome(
        example,
        right,
        accepted,
        said.chance,
        said.confidence,
        said.destination == example.destination,
    )


def cross_validate(rows: Sequence[Row], folds: int, group: str, sharpness: float) -> list[Outcome]:
    """Each example of `group` is judged by weights that were fitted without it."""
    order = np.random.default_rng(0).permutation(
        [i for i, r in enumerate(rows) if (r.example.group == PUBLIC) == (group == PUBLIC)]
    )
    found = []
    for fold in np.array_split(order, folds):
        left_out = set(fold.tolist())
        weights = sharpened(fit([r for i, r in enumerate(rows) if i not in left_out]), sharpness)
        found += [outcome(rows[i], weights) for i in fold]
    return found


def calibration_error(outcomes: Sequence[Outcome], *, by_confidence: bool) -> float:
    """Expected calibration error: of the chances in ten bins, or of confidence / 5 in five."""
    said = [o.confidence / 5 if by_confidence else o.chance for o in outcomes]
    bins: dict[int, list[int]] = {}
    for i, chance in enumerate(said):
        bins.setdefault(
            int(min(0.999, chance) * 10) if not by_confidence else round(chance * 5), []
        ).append(i)
    return sum(
        abs(sum(said[i] for i in b) - sum(outcomes[i].accepted for i in b)) / len(outcomes)
        for b in bins.values()
    )


def best_sharpness(rows: Sequence[Row]) -> float:
    """The factor by which scores give the likeliest chances."""
    outcomes: list[tuple[float, float]] = []
    for sharpness in (0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.7, 2.0):
        judged = _judged(rows, sharpness)
        loss = 0.0
        for public in (True, False):  # both kinds count alike, however many there are
            of_kind = [(ok, c) for ok, c, is_public in judged if is_public == public]
            loss -= float(np.mean([np.log(max(c if ok else 1 - c, 1e-6)) for ok, c in of_kind]))
        outcomes.append((loss, sharpness))
    return min(outcomes)[1]


_CACHE: list[tuple[Row, Weights]] = []


def _judged(rows: Sequence[Row], sharpness: float) -> list[tuple[bool, float, bool]]:
    if not _CACHE:
        order = np.random.default_rng(1).permutation(len(rows))
        for fold in np.array_split(order, 4):
            left_out = set(fold.tolist())
            weights = fit([r for i, r in enumerate(rows) if i not in left_out])
            _CACHE.extend((rows[i], weights) for i in fold)
    found = [outcome(row, sharpened(weights, sharpness)) for row, weights in _CACHE]
    return [(o.accepted, o.chance, o.example.group == PUBLIC) for o in found]


def report(title: str, outcomes: Sequence[Outcome]) -> str:
    count = len(outcomes)
    return (
        f"{title}: {count} requests, strict {sum(o.right for o in outcomes) / count:.3f}, with the "
        f"accepted alternatives {sum(o.accepted for o in outcomes) / count:.3f}, destination alone "
        f"{sum(o.destination_right for o in outcomes) / count:.3f}, calibration error "
        f"{calibration_error(outcomes, by_confidence=False):.3f} (by confidence "
        f"{calibration_error(outcomes, by_confidence=True):.3f})"
    )


def write(weights: Weights) -> None:
    lines = [
        *(
            "\t".join(("destination", n, *(f"{x:.3f}" for x in w)))
            for n, w in sorted(weights.destination.items())
        ),
        *(f"step\t{n}\t{w:.3f}" for n, w in sorted(weights.step.items())),
        *(
            "\t".join(("embedding", str(i), *(f"{x:.3f}" for x in w)))
            for i, w in enumerate(weights.embedding)
        ),
        f"setting\tembedding_scale\t{weights.embedding_scale}",
        f"setting\tsharpness\t{weights.sharpness}",
    ]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="measure, write nothing")
    parser.add_argument("--held-out", action="store_true", help="measure on the held-out part too")
    parser.add_argument("--errors", action="store_true", help="print what was wrong")
    given = parser.parse_args()
    examples = all_examples()
    rows = rows_of([e for e in examples if not is_held_out(e)])
    sharpness = best_sharpness(rows)
    if given.check or given.held_out:
        public = cross_validate(rows, 10, PUBLIC, sharpness)
        say(report("Public cases, cross-validated", public))
        if given.errors:
            for o in public:
                if not o.accepted:
                    say(f"  {o.example.destination} {o.example.job_key} | {o.example.name[:100]}")
    weights = sharpened(fit(rows), sharpness)
    if given.held_out:
        held = [outcome(r, weights) for r in rows_of([e for e in examples if is_held_out(e)])]
        say(report("Held-out requests of our own", held))
    if not given.check:
        write(weights)
        say(f"{len(rows)} requests, sharpness {sharpness}, {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

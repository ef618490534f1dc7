"""Fits the offline router and writes its weights: `python training/router.py`.

    python training/router.py               fit and write the weights
    python training/router.py --check       cross-validate only; print how often it is right

Fitted are the classifier's weights alone: what the grammar reads needs none.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from fit import conditional, multinomial
from requests_file import Example, all_examples

from global_chat.offline.router import (
    DESTINATIONS,
    Guess,
    Weights,
    candidates,
    features,
    guess,
)

Array = NDArray[np.float64]

WEIGHTS = Path(__file__).parent.parent / "global_chat/offline/weights.tsv"
#: A word or a pair of words must be in this many requests to get a weight.
LEAST = 4
#: Weights that move a score by less than this are left out.
SMALLEST = 0.12
RIDGE, ROUNDS = 2.0, 120


@dataclass(frozen=True)
class Row:
    """One example as numbers."""

    example: Example
    found: dict[str, float]


def rows_of(examples: Sequence[Example]) -> list[Row]:
    return [Row(e, features(e.question)) for e in examples if e.question.scene.steps]


def fit(rows: Sequence[Row]) -> Weights:
    """Weights for destinations and for steps."""
    counts = Counter(name for row in rows for name in row.found)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    index = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for name, value in row.found.items():
            if name in index:
                matrix[i, index[name]] = value
    labels = [DESTINATIONS.index(row.example.destination) for row in rows]  # type: ignore[arg-type]
    weight = np.array([row.example.weight for row in rows])
    solved = multinomial(matrix, labels, 3, np.full(matrix.shape[1], RIDGE), weight, ROUNDS)
    plain = {n: tuple(solved[i]) for n, i in index.items() if np.abs(solved[i]).max() > SMALLEST}
    return Weights(plain, _fit_steps(rows), 1.0)


def _fit_steps(rows: Sequence[Row]) -> dict[str, float]:
    asked = [r.example for r in rows if r.example.job_key]
    steps = [candidates(example.question) for example in asked]
    names = sorted({name for of in steps for found in of.values() for name in found})
    groups = [np.array([[f.get(n, 0.0) for n in names] for f in of.values()]) for of in steps]
    chosen = [list(of).index(e.job_key or "") for of, e in zip(steps, asked, strict=True)]
    return dict(zip(names, map(float, conditional(groups, chosen, 1.0, 80)), strict=True))


def is_right(example: Example, said: Guess) -> bool:
    """Whether a decision is accepted."""
    same = (said.destination, said.job_key) == (example.destination, example.job_key)
    return same or said.destination in example.also_ok


def cross_validated(rows: Sequence[Row], folds: int, group: str) -> list[tuple[bool, float]]:
    """Of each example of `group`: whether weights fitted without it were right, and how sure."""
    order = np.random.default_rng(0).permutation(
        [i for i, r in enumerate(rows) if r.example.group == group]
    )
    found = []
    for fold in np.array_split(order, folds):
        left_out = set(fold.tolist())
        weights = fit([r for i, r in enumerate(rows) if i not in left_out])
        for i in fold:
            said = guess(rows[i].example.question, weights)
            found.append((is_right(rows[i].example, said), said.chance))
    return found


def best_sharpness(found: Sequence[tuple[bool, float]], weights: Weights) -> float:
    """How much sure decisions should say so: chances and results are to agree on the whole."""
    said = sum(chance for _, chance in found) / len(found)
    right = sum(ok for ok, _ in found) / len(found)
    return round(weights.sharpness * (1 + 2 * (right - said)), 2)


def write(weights: Weights) -> None:
    lines = [f"setting\tsharpness\t{weights.sharpness:g}"]
    for name, row in weights.plain.items():
        lines.append(f"plain\t{name}\t" + "\t".join(f"{x:.3f}" for x in row))
    lines += [f"step\t{name}\t{value:.3f}" for name, value in weights.step.items()]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Fits the offline router.")
    parser.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    given = parser.parse_args()
    rows = rows_of(all_examples())
    found = []
    for group in ("routing", "open"):
        of_group = cross_validated(rows, 5, group)
        right = sum(ok for ok, _ in of_group)
        say(f"Classifier, {group}: {right}/{len(of_group)} ({right / len(of_group):.2f})")
        found += of_group
    if not given.check:
        weights = fit(rows)
        write(weights.sharpened(best_sharpness(found, weights)))
        say(
            f"{len(rows)} requests, {len(weights.plain)} features, {WEIGHTS.stat().st_size:,} bytes"
        )


if __name__ == "__main__":
    main()

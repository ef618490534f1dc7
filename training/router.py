"""Fits the offline router and writes its weights: `python training/router.py`.

    python training/router.py               fit and write the weights
    python training/router.py --check       cross-validate only; print how often it is right

Fitted are the classifier's weights alone: what the grammar reads needs none.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from requests_file import Example, all_examples

from global_chat.offline.router import (
    DESTINATIONS,
    Features,
    Guess,
    Weights,
    candidates,
    decide,
    features,
    guess,
    softmax,
)

WEIGHTS = Path(__file__).parent.parent / "global_chat/offline/weights.tsv"
#: A feature must be in this many requests to get a weight, and move a score by this to keep it.
LEAST, SMALLEST = 4, 0.1
RIDGE, ROUNDS, RATE, FOLDS = 3.0, 3, 0.3, 5
#: The requests that are like those of users: they count more, and are what is measured.
MEASURED, COUNT = ("routing", "open"), 4.0

Options = Sequence[Mapping[str, float]]


def descend(examples: Sequence[tuple[Options, int, float]]) -> dict[str, float]:
    """A weight for each feature, by logistic regression: of an example's options one is right.

    The steps get smaller with a feature's own gradients (AdaGrad), so that rare features count.
    """
    weights: defaultdict[str, float] = defaultdict(float)
    spent: defaultdict[str, float] = defaultdict(lambda: 1e-6)
    order, chance = list(examples), random.Random(0)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for options, right, counts in order:
            scores = [sum(weights[n] * v for n, v in option.items()) for option in options]
            for place, likely in enumerate(softmax(scores)):
                error = counts * (likely - (place == right))
                for name, value in options[place].items():
                    slope = error * value + RIDGE * weights[name] / len(order)
                    spent[name] += slope * slope
                    weights[name] -= RATE * slope / math.sqrt(spent[name])
    return weights


class Rows:
    """The examples with their features."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = [e for e in examples if e.question.scene.steps]
        found = [features(example.question) for example in self.examples]
        counts = Counter(name for row in found for name in row)
        self.found = [{n: v for n, v in row.items() if counts[n] >= LEAST} for row in found]

    def fit(self, left_out: frozenset[int] = frozenset(), sharpness: float = 1.0) -> Weights:
        """Weights for destinations and for steps."""
        places, steps = list[tuple[Options, int, float]](), list[tuple[Options, int, float]]()
        for number, (example, found) in enumerate(zip(self.examples, self.found, strict=True)):
            if number in left_out:
                continue
            counts = COUNT if example.group in MEASURED else 1.0
            options = [{f"{d} {name}": v for name, v in found.items()} for d in range(3)]
            places.append((options, DESTINATIONS.index(example.destination), counts))
            if example.job_key:
                of: dict[str, Features] = candidates(example.question)
                steps.append(([*of.values()], [*of].index(example.job_key), counts))
        solved = descend(places)
        names = {name.partition(" ")[2] for name in solved}
        plain = {n: tuple(solved[f"{d} {n}"] for d in range(3)) for n in sorted(names)}
        kept = {name: row for name, row in plain.items() if max(map(abs, row)) >= SMALLEST}
        return Weights(kept, dict(descend(steps)), sharpness)

    def cross_validated(self, group: str) -> list[tuple[bool, bool, float]]:
        """Of each example of `group`, by weights that were fitted without it: whether the
        classifier was right, whether it was with what the grammar reads, and how sure it was."""
        of_group = [n for n, e in enumerate(self.examples) if e.group == group]
        random.Random(0).shuffle(of_group)
        found = []
        for fold in range(FOLDS):
            left_out = of_group[fold::FOLDS]
            weights = self.fit(frozenset(left_out))
            for example in (self.examples[n] for n in left_out):
                said = guess(example.question, weights)
                whole = is_right(example, decide(example.question, weights))
                found.append((is_right(example, said), whole, said.chance))
        return found


def is_right(example: Example, said: Guess) -> bool:
    """Whether a decision is accepted."""
    same = (said.destination, said.job_key) == (example.destination, example.job_key)
    return same or said.destination in example.also_ok


def write(weights: Weights) -> None:
    lines = [f"setting\tsharpness\t{weights.sharpness:g}"]
    for name, row in weights.plain.items():
        lines.append(f"plain\t{name}\t" + "\t".join(f"{x:.2f}" for x in row))
    lines += [f"step\t{name}\t{value:.2f}" for name, value in weights.step.items()]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Fits the offline router.")
    parser.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    given = parser.parse_args()
    rows = Rows(all_examples())
    found = []
    for group in MEASURED:
        of_group = rows.cross_validated(group)
        alone, whole = (sum(row[n] for row in of_group) / len(of_group) for n in (0, 1))
        sys.stdout.write(
            f"{group}: {alone:.2f} by the classifier alone, {whole:.2f} with what the grammar "
            f"reads, of {len(of_group)} requests that the weights had not seen\n"
        )
        found += of_group
    # Chances and results are to agree on the whole.
    surplus = sum(right - chance for right, _, chance in found) / len(found)
    if not given.check:
        write(rows.fit(sharpness=round(1 + 2 * surplus, 2)))


if __name__ == "__main__":
    main()

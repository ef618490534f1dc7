"""The fitted weights, and what they make of a request: a destination with a chance, and a step.

The weights are in `weights.tsv` beside this file, one row a feature, written by the training
script. Rows are grouped by their first column: `destination` (a weight for each of three), `step`
(one weight), `embedding` (three a dimension), `setting`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from global_chat.contract.names import Destination

from ..request.questions import Question
from .features import features
from .reading import Features, read
from .steps import candidates

DESTINATIONS: tuple[Destination, ...] = ("job_code_agent", "workflow_agent", "planner")


@dataclass(frozen=True, slots=True)
class Weights:
    """What training found. `sharpness` and `doubt` turn scores into chances that hold."""

    destination: dict[str, tuple[float, ...]]
    step: dict[str, float]
    embedding: tuple[tuple[float, ...], ...]
    embedding_scale: float
    sharpness: float


@dataclass(frozen=True, slots=True)
class Guess:
    """A decision. `chance` is how likely destination and step are both right, 0 to 1."""

    destination: Destination
    job_key: str | None
    chance: float

    @property
    def confidence(self) -> int:
        """1 to 5: how many times in five a guess like this is right."""
        return min(5, max(1, round(self.chance * 5)))


@cache
def load_weights() -> Weights:
    """The weights that ship with the program."""
    destination: dict[str, tuple[float, ...]] = {}
    step: dict[str, float] = {}
    embedding: list[tuple[float, ...]] = []
    settings: dict[str, float] = {}
    for line in (files(__package__) / "weights.tsv").read_text("utf-8").splitlines():
        group, name, *values = line.split("\t")
        numbers = tuple(float(value) for value in values)
        if group == "destination":
            destination[name] = numbers
        elif group == "step":
            step[name] = numbers[0]
        elif group == "embedding":
            embedding.append(numbers)
        elif group == "setting":
            settings[name] = numbers[0]
    return Weights(
        destination, step, tuple(embedding), settings["embedding_scale"], settings["sharpness"]
    )


def guess(question: Question, weights: Weights | None = None) -> Guess:
    """Where a request goes and which step it means. Without steps there is only the planner."""
    weights = weights or load_weights()
    if not question.outline.steps:
        return Guess("planner", None, 1.0)
    reading = read(question)
    return decide(features(reading), (), candidates(reading), weights)


def decide(
    found: Features, vector: Sequence[float], steps: dict[str, Features], weights: Weights
) -> Guess:
    """The decision on a request that is there as numbers."""
    scores = _scores(found, vector, weights)
    chances = softmax([score * weights.sharpness for score in scores])
    step_chances = softmax(
        [sum(weights.step.get(n, 0.0) * v for n, v in of.items()) for of in steps.values()]
    )
    best = max(range(len(step_chances)), key=lambda i: step_chances[i])
    place = max(range(3), key=lambda i: chances[i])
    chance = chances[place]
    if DESTINATIONS[place] != "job_code_agent":
        return Guess(DESTINATIONS[place], None, chance)
    return Guess("job_code_agent", list(steps)[best], chance * step_chances[best])


def _scores(found: Features, vector: Sequence[float], weights: Weights) -> list[float]:
    scores = [0.0, 0.0, 0.0]
    for name, value in found.items():
        row = weights.destination.get(name)
        if row is not None:
            for index in range(3):
                scores[index] += row[index] * value
    if len(vector) != len(weights.embedding):  # fitted for other embeddings: words alone decide
        return scores
    for value, row in zip(vector, weights.embedding, strict=True):
        for index in range(3):
            scores[index] += value * weights.embedding_scale * row[index]
    return scores


def softmax(scores: list[float]) -> list[float]:
    """Scores as chances that sum to one."""
    top = max(scores, default=0.0)
    raised = [math.exp(score - top) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]

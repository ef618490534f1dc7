"""Multinomial and conditional logistic regression in plain numpy, for a few thousand rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def minimise(loss: Callable[[Array], tuple[float, Array]], start: Array, rounds: int) -> Array:
    """L-BFGS with backtracking, which is made for smooth convex losses such as these."""
    weights = start.ravel().copy()

    def at(x: Array) -> tuple[float, Array]:
        value, slope = loss(x.reshape(start.shape))
        return value, slope.ravel()

    value, slope = at(weights)
    steps: list[tuple[Array, Array]] = []
    for _ in range(rounds):
        direction = -_inverse_hessian_times(slope, steps)
        size, downhill = 1.0, float(slope @ direction)
        while size > 1e-8:
            new = weights + size * direction
            new_value, new_slope = at(new)
            if new_value <= value + 1e-4 * size * downhill:
                break
            size /= 2
        step, change = new - weights, new_slope - slope
        if float(step @ change) > 1e-12:
            steps = [*steps[-9:], (step, change)]
        if abs(value - new_value) < 1e-7 * max(1.0, abs(value)):
            weights = new
            break
        weights, value, slope = new, new_value, new_slope
    return weights.reshape(start.shape)


def _inverse_hessian_times(slope: Array, steps: list[tuple[Array, Array]]) -> Array:
    """The two-loop recursion."""
    direction, factors = slope.copy(), []
    for step, change in reversed(steps):
        factor = float(step @ direction) / float(step @ change)
        factors.append(factor)
        direction -= factor * change
    if steps:
        step, change = steps[-1]
        direction *= float(step @ change) / float(change @ change)
    for (step, change), factor in zip(steps, reversed(factors), strict=True):
        direction += step * (factor - float(change @ direction) / float(step @ change))
    return direction


def softmax(scores: Array) -> Array:
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Array = shifted / shifted.sum(axis=-1, keepdims=True)
    return result


def multinomial(
    rows: Array, labels: Sequence[int], classes: int, penalty: Array, weights: Array, rounds: int
) -> Array:
    """Weights (columns × classes). `penalty` is the ridge of each column, `weights` of each row."""
    wanted = np.eye(classes)[np.asarray(labels)]
    total = weights.sum()

    def loss(w: Array) -> tuple[float, Array]:
        chances = softmax(rows @ w)
        slope = rows.T @ ((chances - wanted) * weights[:, None]) + penalty[:, None] * w
        value = -float(weights @ np.log((chances * wanted).sum(axis=1) + 1e-12))
        value += 0.5 * float((penalty[:, None] * w * w).sum())
        return value / total, slope / total

    return minimise(loss, np.zeros((rows.shape[1], classes)), rounds)


def conditional(groups: Sequence[Array], chosen: Sequence[int], ridge: float, rounds: int) -> Array:
    """One weight a column, for choosing one row of each group."""
    longest = max(len(group) for group in groups)
    padded = np.zeros((len(groups), longest, groups[0].shape[1]))
    there = np.zeros((len(groups), longest), dtype=bool)
    for i, group in enumerate(groups):
        padded[i, : len(group)], there[i, : len(group)] = group, True
    right = padded[np.arange(len(groups)), chosen]

    def loss(w: Array) -> tuple[float, Array]:
        chances = softmax(np.where(there, padded @ w, -1e9))
        slope = np.einsum("gs,gsc->c", chances, padded) - right.sum(axis=0) + ridge * w
        value = -float(np.log(chances[np.arange(len(groups)), chosen] + 1e-12).sum())
        return (value + 0.5 * ridge * float(w @ w)) / len(groups), slope / len(groups)

    return minimise(loss, np.zeros(padded.shape[2]), rounds)

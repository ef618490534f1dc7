"""How sure a measured rate is."""

from __future__ import annotations

import math

#: The 97.5th percentile of the normal distribution: a 95 % interval has it on both sides.
Z_95 = 1.959963984540054


def wilson(passed: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a rate, as two numbers from 0 to 1.

    Unlike the textbook interval it is right for few runs and for rates near 0 and 1. Without any
    run nothing is known: 0 to 1.
    """
    if total == 0:
        return 0.0, 1.0
    rate, z2 = passed / total, Z_95**2
    middle = (rate + z2 / (2 * total)) / (1 + z2 / total)
    spread = Z_95 / (1 + z2 / total) * math.sqrt(rate * (1 - rate) / total + z2 / (4 * total**2))
    # At the ends the formula is exact and floating point is not.
    low = 0.0 if passed == 0 else middle - spread
    high = 1.0 if passed == total else middle + spread
    return low, high

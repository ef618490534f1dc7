"""How long it takes to start: bare Python, `global-chat --help`, and the official SDK's import.

Absolute times drift from machine to machine and from minute to minute, so each round runs all of
them side by side, and what counts is how they compare with bare Python in the same round.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 7
COMMAND = str(Path(sys.executable).with_name("global-chat"))
PYTHON = "bare Python"

#: What is started. The import of the SDK is what a turn with a live model pays once.
STARTED = {
    PYTHON: [sys.executable, "-c", "pass"],
    "global-chat --help": [COMMAND, "--help"],
    "global-chat run --help": [COMMAND, "run", "--help"],
    "import anthropic": [sys.executable, "-c", "import anthropic"],
}


def seconds(command: list[str]) -> float:
    """The time from starting a process to its end."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure() -> dict[str, list[float]]:
    """The times of each command over `ROUNDS` rounds, after one that fills the disk's cache."""
    rounds = [[seconds(c) for c in STARTED.values()] for _ in range(ROUNDS + 1)]
    return {
        name: list(times)
        for name, times in zip(STARTED, zip(*rounds[1:], strict=True), strict=True)
    }


def main() -> None:
    """Print the table."""
    times = measure()
    bare = times[PYTHON]
    row = "{:<24}{:>10}{:>12}{:>16}\n"
    sys.stdout.write(row.format("start-up", "median s", "x Python", "s over Python"))
    for name, measured in times.items():
        pairs = list(zip(measured, bare, strict=True))
        sys.stdout.write(
            row.format(
                name,
                f"{statistics.median(measured):.3f}",
                f"{statistics.median(one / other for one, other in pairs):.1f}",
                f"{statistics.median(one - other for one, other in pairs):.3f}",
            )
        )


if __name__ == "__main__":
    main()

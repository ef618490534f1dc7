"""How much code changed, in lines."""

from __future__ import annotations

from difflib import unified_diff


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Lines added and lines removed between two versions of some code."""
    diff = list(unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    return sum(line[0] == "+" for line in diff), sum(line[0] == "-" for line in diff)

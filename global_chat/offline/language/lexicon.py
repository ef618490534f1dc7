"""What words stand for: concepts such as "remove" or "schedule", in several languages.

The words are data, in `concepts.txt` beside this file.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_SEPARATOR = re.compile(r"\s+\|\s+")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """A pattern for each concept, in the file's order."""
    text = (files(__package__) / "concepts.txt").read_text("utf-8")
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            name, _, line = line.partition(":")
            found[name] = []
        found[name] += [word for word in _SEPARATOR.split(line.strip()) if word]
    return {name: _compiled(words) for name, words in found.items()}


def _compiled(words: list[str]) -> re.Pattern[str]:
    body = "|".join(words).replace(" ", r"\s+")
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)")


def concept_names() -> tuple[str, ...]:
    """Every concept, in a fixed order."""
    return tuple(_patterns())


def concepts(folded_text: str) -> dict[str, int]:
    """How often each concept occurs in a folded text; those that do not occur are left out."""
    counts = {name: len(p.findall(folded_text)) for name, p in _patterns().items()}
    return {name: count for name, count in counts.items() if count}


def has(concept: str, folded_text: str) -> bool:
    """Whether a folded text holds a word for `concept`. Raises KeyError for an unknown concept."""
    return bool(_patterns()[concept].search(folded_text))


def spans(concept: str, folded_text: str) -> list[tuple[int, int]]:
    """Where a concept's words stand."""
    return [match.span() for match in _patterns()[concept].finditer(folded_text)]

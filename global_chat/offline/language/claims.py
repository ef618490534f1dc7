"""A request while it is read: what was understood so far, and what is left of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .literals import Literal
from .masking import Masked


class PhraseError(Exception):
    """A request ends here; the message is the name of the phrase that says why."""

    def __init__(self, phrase: str, **values: str) -> None:
        super().__init__(phrase)
        self.phrase, self.values = phrase, values


@dataclass
class Claims:
    """The parts of a request's text that are accounted for, and what there is to say of them."""

    masked: Masked
    said: list[tuple[str, dict[str, str]]] = field(default_factory=list, kw_only=True)
    claimed: list[tuple[int, int]] = field(default_factory=list, kw_only=True)

    def find(self, pattern: str) -> Iterator[re.Match[str]]:
        """Matches in text that no other command has taken."""
        for match in re.finditer(rf"(?<![\w§¤])(?:{pattern})", self.masked.norm):
            if not any(match.start() < end and start < match.end() for start, end in self.claimed):
                yield match

    def first(self, *patterns: str) -> re.Match[str] | None:
        """The first match of the first pattern that has one."""
        return next((m for pattern in patterns for m in self.find(pattern)), None)

    def claim(self, match: re.Match[str]) -> None:
        """The match is understood."""
        self.claimed.append(match.span())

    def say(self, phrase: str, **values: str) -> None:
        """Note what was done, for the answer."""
        self.said.append((phrase, values))

    def value(self, token: str) -> Literal:
        """The value that the first `¤n` of a token stands for."""
        found = re.search(r"¤\d+", token)
        assert found is not None
        return self.masked.value(found[0])

    @property
    def rest(self) -> str:
        """The text that is not accounted for yet."""
        text = self.masked.norm
        for start, end in self.claimed:
            text = text[:start] + " " * (end - start) + text[end:]
        return text

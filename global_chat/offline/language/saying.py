"""Answers in the user's language: sentences as data, in `phrases.toml`, with values filled in."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from .tongue import language_of


@cache
def _phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "phrases.toml").read_text("utf-8"))


class Voice:
    """Says phrases in the language of a request, in English where they are not translated."""

    def __init__(self, request: str) -> None:
        self.language = language_of(request)

    def say(self, phrase: str, **values: str) -> str:
        """The phrase with its values. Raises KeyError for a phrase that does not exist."""
        texts = _phrases()[phrase]
        return texts.get(self.language, texts["en"]).format(**values)

    def cannot(self, phrase: str, **values: str) -> str:
        """Why something is not done, and what would help: one sentence each."""
        return f"{self.say(phrase, **values)} {self.say('needs_key')}"

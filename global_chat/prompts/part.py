"""One prompt part: a text file with strict holes, written `{{name}}`."""

from __future__ import annotations

import re
from importlib.resources import files

_HOLE = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(Exception):
    """A part and the code that uses it disagree about its holes."""


class Part:
    """A file of `parts/`, checked against the holes that its user knows when it is made."""

    def __init__(self, name: str, *holes: str) -> None:
        """Read `parts/<name>.md`. Raises `PromptError` unless its holes are exactly `holes`."""
        self.name = name
        self._text = (files(__package__) / "parts" / f"{name}.md").read_text("utf-8").strip()
        found = set(_HOLE.findall(self._text))
        if found != set(holes):
            raise PromptError(f"Part {name!r} has the holes {sorted(found)}, not {sorted(holes)}.")
        self._holes = found

    def fill(self, **values: str) -> str:
        """The text with every hole filled in one pass, so that braces in a value stay as they are.

        Raises `PromptError` when a value is missing or has no hole.
        """
        if set(values) != self._holes:
            raise PromptError(f"Part {self.name!r} takes {sorted(self._holes)}.")
        return _HOLE.sub(lambda match: values[match[1]], self._text)


def join(*texts: str) -> str:
    """Parts as one prompt: a blank line between them, empty ones left out."""
    return "\n\n".join(text for text in texts if text)

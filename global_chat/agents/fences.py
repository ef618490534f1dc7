"""Markdown fences that some models put around structured replies, although none was asked for."""

from __future__ import annotations

import re

_OUTER = re.compile(r"\A\s*```[\w-]*[ \t]*\n(?P<inside>.*?)\n?[ \t]*```\s*\Z", re.DOTALL)


def unfenced(text: str) -> str:
    """`text` without one fence around the whole of it; anything else comes back as it was."""
    match = _OUTER.match(text)
    return match["inside"] if match else text

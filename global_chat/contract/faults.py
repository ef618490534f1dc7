"""What is wrong with data that somebody wrote, in words: Pydantic's findings without its jargon."""

from __future__ import annotations

import re

#: Pydantic's way to a value: keys, positions in lists, and the branches of unions that it tried.
Location = tuple[int | str, ...]

#: The branches by name; those of generic types, such as `list[any]`, are known by their bracket.
_BRANCHES = {"str", "bool", "list", "dict", "constrained-int"}

_WORDS = {
    "extra_forbidden": "is not known",
    "missing": "is missing",
    "model_type": "should be a valid dictionary",
}


def dotted(location: Location, whole: str) -> str:
    """`('history', 0, 'role')` as `history[0].role`; `whole` is what the value itself is called."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in _BRANCHES and "[" not in part:
            path += f".{part}" if path else part
    return path or whole


def in_words(kind: str, message: str) -> str:
    """What is wrong with a value, to follow its name: `is missing`, `should be a valid list`.

    `kind` and `message` are `type` and `msg` of one of Pydantic's errors.
    """
    said = message.removeprefix("Value error, ")
    return _WORDS.get(kind) or re.sub(r"^\w+ should", "should", said)

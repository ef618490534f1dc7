"""A step's code as YAML text: a literal block where one can hold it, else double quotes.

Both read back as exactly the same code in YAML 1.1 and 1.2.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from global_chat.contract.texts import replace_lone_surrogates

# No literal block holds control characters, line ends other than "\n" or byte order marks.
_UNPRINTABLE = re.compile(
    "[^\\t\\n\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd"
    "\\U00010000-\\U0010ffff]"
)
#: The largest indentation that a block's header can state.
_MOST_INDENT = 9


@dataclass(frozen=True, slots=True)
class Literal:
    """A block: `head` stands at the value's place, `lines` below. `breaks` is how many line breaks
    the code ends with; as many must follow the last line (any number where it is 0)."""

    head: str
    lines: tuple[str, ...]
    breaks: int


def clean(code: str) -> str:
    """Code as a document can hold it: `\\n` line ends, halves of surrogate pairs replaced."""
    return replace_lone_surrogates(code).replace("\r\n", "\n")


def is_printable(code: str) -> bool:
    """Whether every YAML reader takes the characters of `code` for themselves when not escaped.

    Readers of YAML 1.1 hold U+0085, U+2028 and U+2029 for line ends, those of 1.2 do not.
    """
    return _UNPRINTABLE.search(code) is None


def quoted(code: str) -> str:
    """The code in double quotes on one line."""
    return _UNPRINTABLE.sub(_escape, json.dumps(code, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def literal(code: str, column: int, indent: int) -> Literal | None:
    """The code as a literal block below a key at `column`, indented `indent` more than that.

    None when a literal block cannot hold the code.
    """
    text = code.rstrip("\n")
    if not text.strip(" \t\n") or _UNPRINTABLE.search(code):
        return None
    indicator = ""
    if text[0] in " \t\n":
        indent = indent if indent <= _MOST_INDENT else 2
        indicator = str(indent)
    breaks = len(code) - len(text)
    pad = " " * (column + indent)
    lines = tuple(pad + line if line else "" for line in text.split("\n"))
    return Literal(f"|{indicator}{('-', '', '+')[min(breaks, 2)]}", lines, breaks)

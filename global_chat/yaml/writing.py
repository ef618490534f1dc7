"""New YAML text for values that an edit puts into a document: one scalar, or a small tree.

Whatever is written reads back as the same value in YAML 1.1 and 1.2 alike.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from global_chat.yaml.nodes import Value

Data: TypeAlias = Value

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Numbers of either version of YAML, dates and times: text that looks like one is quoted.
_NUMBER_LIKE = re.compile(
    r"[-+.]?\d[\d_.,]*(?:[eE][-+]?\d+)?|[-+]?0[xXoObB][\da-fA-F_]+|\d[\d:. TtZz+-]*"
)


# No literal block holds control characters, line ends other than "\n" or byte order marks.
_UNPRINTABLE = re.compile(
    "[^\\t\\n\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd"
    "\\U00010000-\\U0010ffff]"
)
#: Words with single blanks, hyphens or underscores between them; words that mean something else.
_WORDS = re.compile(r"[A-Za-z_]\w*(?:[ -]\w+)*", re.ASCII)
_MEANING = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
#: The largest indentation that a block's header can state.
_MOST_INDENT = 9


class BlockList(list[Data]):
    """A list of single values that is written with one line for each."""


def scalar(text: str, quote: str = "", *, flow: bool = False) -> str:
    """`text` as a scalar on one line.

    `quote` is `'` or `"` where the value should be quoted as its neighbours are; without it, the
    scalar is plain when that is safe. `flow` says that it will stand inside `[]` or `{}`.
    """
    if not quote and _plain(text, flow=flow):
        return text
    if quote != '"' and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quoted(text)


def _is_words(text: str) -> bool:
    """Whether a text is so usual that it need not be read back."""
    return _WORDS.fullmatch(text) is not None and text.lower() not in _MEANING


def _plain(text: str, *, flow: bool) -> bool:
    """Whether the strictest reader takes the bare text for exactly this text."""
    if _is_words(text):
        return True
    usual = text.isprintable() and (text[:1].isalnum() or text[:1] > "~")
    if not usual or _NUMBER_LIKE.fullmatch(text):
        return False
    try:
        if flow:
            return bool(yaml.load(f"[{{k: {text}}}]", Loader=_LOADER) == [{"k": text}])
        as_value = yaml.load(f"k: {text}\nl: 1\n", Loader=_LOADER)
        return bool(as_value == {"k": text, "l": 1})
    except yaml.YAMLError:
        return False


def key(text: str, quote: str = "", *, flow: bool = False) -> str:
    """`text` as a mapping key: plain where a reader takes it for this very key, else quoted."""
    if not quote and _is_words(text):
        return text
    if not quote and _plain(text, flow=flow):
        try:
            if yaml.load(f"{text}: 1", Loader=_LOADER) == {text: 1}:
                return text
        except yaml.YAMLError:
            pass
    return scalar(text, quote or "'", flow=flow)


def block(data: Mapping[str, Data], quote: str = "'", step: int = 2) -> list[str]:
    """The lines of a block mapping, not indented. `quote` is for text that cannot be plain."""
    lines: list[str] = []
    for name, value in data.items():
        head, *rest = _value(value, quote, step)
        lines.append(f"{key(name)}:{' ' + head if head else ''}")
        lines += rest
    return lines


def _value(value: Data, quote: str, step: int) -> list[str]:
    """What follows a key's colon: the rest of its line, then the lines below it."""
    indent = " " * step
    if isinstance(value, dict) and value:
        return ["", *(indent + line if line else "" for line in block(value, quote, step))]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        mappings = [item for item in value if isinstance(item, dict)]
        return ["", *(line for item in mappings for line in _item(item, quote, step))]
    if isinstance(value, BlockList) and value:
        return ["", *(f"{indent}- {flow(item, quote)}" for item in value)]
    if isinstance(value, str) and "\n" in value:
        lines = literal(value, 0, step) if value[0] not in " \t\n" else None
        return [lines.head, *lines.lines] if lines and lines.breaks < 2 else [quoted(value)]
    return [flow(value, quote) if isinstance(value, dict | list) else inline(value, quote)]


def _item(item: dict[str, Data], quote: str, step: int) -> list[str]:
    """A mapping as an item of a block list, the dash indented like the keys of a mapping."""
    first, *rest = block(item, quote, step)
    pad = " " * step
    return [f"{pad}- {first}", *(f"{pad}  {line}" if line else "" for line in rest)]


def inline(
    value: str | bool | int | float | None, quote: str = "'", *, in_flow: bool = False
) -> str:
    """One value, or text that is quoted only where it has to be, then with `quote`."""
    if isinstance(value, str):
        plain = scalar(value, flow=in_flow)
        return plain if plain == value else scalar(value, quote, flow=in_flow)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value)


def flow(data: Data, quote: str = "'") -> str:
    """The value on one line, in braces and brackets."""
    if isinstance(data, dict):
        pairs = (f"{key(k, flow=True)}: {flow(v, quote)}" for k, v in data.items())
        return "{" + ", ".join(pairs) + "}" if data else "{}"
    if isinstance(data, list):
        return "[" + ", ".join(flow(item, quote) for item in data) + "]"
    return inline(data, quote, in_flow=True)


@dataclass(frozen=True, slots=True)
class Literal:
    """A block: `head` stands at the value's place, `lines` below. `breaks` is how many line breaks
    the code ends with; as many must follow the last line (any number where it is 0)."""

    head: str
    lines: tuple[str, ...]
    breaks: int


def is_printable(code: str) -> bool:
    """Whether every YAML reader takes the characters of `code` for themselves when not escaped.

    Readers of YAML 1.1 hold U+0085, U+2028 and U+2029 for line ends, those of 1.2 do not.
    """
    return _UNPRINTABLE.search(code) is None


def quoted(text: str) -> str:
    """`text` in double quotes on one line."""
    return _UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


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

"""The values that a request quotes: quoted text, code, URLs, addresses, identifiers, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf

Kind = OneOf["quoted", "url", "email", "path", "identifier", "version", "clock", "number"]

_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (
        "quoted",
        r"`(?P<q1>[^`\n]+)`|\"(?P<q2>[^\"\n]*)\"|“(?P<q3>[^”\n]*)”|«\s?(?P<q4>[^»\n]*?)\s?»",
    ),
    ("quoted", r"(?<![^\W_])'(?P<q5>[^'\n]*)'(?![^\W_])|‘(?P<q6>[^’\n]*)’(?![^\W_])"),
    ("url", r"https?://[^\s,;\"'`<>«»)]*[^\s,;\"'`<>«»).?!:]"),
    (
        "version",
        r"(?:@openfn/language-|language-)?[a-z][\w-]*@\d+\.\d+\.\d+(?:-[\w.]+)?(?![\w.]*\w)",
    ),
    ("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    (
        "version",
        r"(?:@openfn/language-[\w-]+@[\w.-]+|(?<![\w.])v?\d+\.\d+\.\d+(?:-[\w.]+)?(?![\w.]*\w))",
    ),
    ("identifier", r"(?<!\w)\w+![A-Z]+\d*(?::[A-Z]+\d*)?(?!\w)"),
    ("clock", r"(?<!\w)\d{1,2}:\d{2}(?!\w)"),
    ("path", r"(?<![\w/])/[\w.{}$-]+(?:/[\w.{}$-]+)*/?(?![\w/])"),
    ("identifier", r"\$?(?<![\w.])[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+(?:\[[^\]\s]*\])*"),
    ("identifier", r"(?<![\w$])\$[A-Za-z_.][\w.]*"),
    ("identifier", r"(?<![\w-])(?!\d+[a-z]+\b)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{6,}(?![\w-])"),
    (
        "identifier",
        r"(?<!\w)[A-Za-z_][\w]*(?:_[\w]+|[a-z][A-Z]\w*|[A-Za-z]\d\w*|\d[A-Za-z]\w*)(?!\w)",
    ),
    ("identifier", r"(?<!\w)\w+/\w+(?:/\w+)*(?!\w)"),
    (
        "number",
        (
            r"(?<![\w.,-])-?\d{1,3}(?:[  ,]\d{3})+(?![\w.,]?\d)"
            r"|(?<![\w.])-?\d+(?:[.,]\d+)?(?![\w]|[.,]\d)"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value at `start`:`end` of the text. `value` is without quotes; `bare` if it had none."""

    kind: Kind
    value: str
    start: int
    end: int

    @property
    def quoted(self) -> bool:
        return self.kind == "quoted"


def find_literals(text: str) -> list[Literal]:
    """Every literal of `text`, in order; where two overlap, the kind listed first wins."""
    found: list[Literal] = []
    for kind, pattern in _PATTERNS:
        for match in re.finditer(pattern, text):
            if any(match.start() < f.end and f.start < match.end() for f in found):
                continue
            value = match[match.lastgroup] if match.lastgroup else match[0]
            if value.strip():
                found.append(Literal(kind, value, match.start(), match.end()))
    return sorted(found, key=lambda literal: literal.start)


def without_literals(text: str, literals: list[Literal], mark: str = "¤") -> str:
    """`text` with each literal that is no number or time replaced by `mark`s, as long as it was."""
    characters = list(text)
    for literal in literals:
        if literal.kind not in ("number", "clock", "version"):
            characters[literal.start : literal.end] = mark * (literal.end - literal.start)
    return "".join(characters)

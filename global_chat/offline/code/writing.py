"""Values as code writes them: numbers, and text inside of quotation marks."""

from __future__ import annotations

import re

from ..language.literals import Literal
from .asking import CodeAsk
from .javascript import Span


def digits_of(literal: Literal) -> str | None:
    """The digits of a number as code writes them."""
    text = literal.value
    if literal.kind != "number" and not re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return None
    if re.fullmatch(r"-?\d{1,3}(?:[  ,]\d{3})+", text):
        return re.sub(r"[  ,]", "", text)
    return text.replace(",", ".")


def escaped(ask: CodeAsk, spot: Span, value: str) -> str:
    """A value that may stand in the string around a place."""
    quote = next(
        (ask.code.of(n)[0] for n, span, _ in ask.code.strings() if span[0] <= spot[0] <= span[1]),
        "'",
    )
    if quote in value or "\\" in value or (quote == "`" and "${" in value):
        value = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return value

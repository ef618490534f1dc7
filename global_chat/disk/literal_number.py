"""Numbers as a file spells them, so that evidence keeps its digits on the way to a model."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


class LiteralNumber(Decimal):
    """A number whose text is the one it was read from (`1.10`, `1e5`, `-0`, `NaN`).

    What has no decimal value, such as YAML's `.inf` or an exponent without bounds, compares as
    NaN; its text is still its own. These never reach JSON that the program writes.
    """

    literal: str

    def __new__(cls, literal: str) -> LiteralNumber:
        try:
            number = super().__new__(cls, literal)
        except InvalidOperation:
            number = super().__new__(cls, "NaN")
        number.literal = literal
        return number

    def __str__(self) -> str:
        return self.literal


def number_of(literal: str) -> int | LiteralNumber:
    """An `int` where that loses nothing of the text, else a `LiteralNumber`."""
    try:
        value = int(literal)
    except ValueError:
        return LiteralNumber(literal)
    return value if str(value) == literal else LiteralNumber(literal)

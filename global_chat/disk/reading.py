"""Reads what a turn is given: the payload as an object, other files as their exact text.

Whatever is wrong with a file is the user's to put right, so every failure here is a `BadRequest`
with a sentence that names the file.
"""

from __future__ import annotations

import codecs
import sys
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path

from global_chat.contract.errors import BadRequest
from global_chat.contract.texts import one_line
from global_chat.yaml.data import read_json, read_yaml
from global_chat.yaml.refusals import Unreadable

#: Larger files are refused before they are read in full: 50 MB is far beyond what a turn can use.
MAX_BYTES = 50_000_000


def read_object(source: str | Path) -> object:
    """The value of a JSON or YAML file; `-` is standard input.

    JSON is decided by the first character, `{` or `[`; anything else, and any such text in a
    `.yaml` or `.yml` file that is not JSON, is YAML of the same shape. UTF-8, with or without
    a byte order mark. Numbers keep their digits (`number_of`); lone surrogates in JSON escapes
    are kept for the payload to replace.

    Raises `BadRequest` when the source is missing, a folder, unreadable, empty, over `MAX_BYTES`,
    not UTF-8, malformed (with line and column), or over the budget of `yaml/compose.py`.
    """
    name = "Standard input" if str(source) == "-" else one_line(str(source))
    text = _decoded(name, _bytes(name, source)).removeprefix("\ufeff")
    if not text.strip():
        raise BadRequest(f"{name} is empty; it should hold one JSON or YAML object.")
    is_json = text.lstrip()[0] in "{["
    if is_json and name.lower().endswith((".yaml", ".yml")):
        with suppress(Unreadable):
            return read_json(text, number_of)
        is_json = False
    try:
        return read_json(text, number_of) if is_json else read_yaml(text, number_of)
    except Unreadable as error:
        kind = "JSON" if is_json else "JSON or YAML"
        problem = f"{name} cannot be read as {kind}{error.place}: {error.problem}"
        raise BadRequest(problem, details=error.details) from None


def read_text(path: str | Path) -> str:
    """The exact text of a UTF-8 file: line ends, a byte order mark, everything stays.

    Raises `BadRequest` when it is missing, a folder, unreadable, over `MAX_BYTES` or not UTF-8:
    evidence is read as it is or not at all.
    """
    return _decoded(one_line(str(path)), _bytes(one_line(str(path)), path))


def _bytes(name: str, source: str | Path) -> bytes:
    try:
        if str(source) == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise BadRequest(f"{name} does not exist; check the path.") from None
    except IsADirectoryError:
        raise BadRequest(f"{name} is a folder; give a file.") from None
    except OSError as error:
        raise BadRequest(f"{name} cannot be read: {error.strerror or error}.") from None
    except (ValueError, AttributeError):  # a NUL in the path; standard input that is closed
        raise BadRequest(f"{name!r} cannot be opened.") from None
    if len(data) > MAX_BYTES:
        raise BadRequest(f"{name} is larger than {MAX_BYTES // 1_000_000} MB, which is the limit.")
    return data


def _decoded(name: str, data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadRequest(f"{name} is encoded as UTF-16; save it as UTF-8 and try again.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadRequest(
            f"{name} is not UTF-8 text: the byte 0x{data[error.start]:02x} at offset "
            f"{error.start:,} (line {line:,}) does not belong to any character. "
            "Save it as UTF-8 and try again.",
            details={"offset": error.start, "line": line},
        ) from None


class LiteralNumber(Decimal):
    """A number whose text is the one it was read from (`1.10`, `1e5`, `-0`, `NaN`).

    So evidence keeps its digits on the way to a model. What has no decimal value, such as an
    exponent without bounds, compares as NaN; its text is still its own. These never reach JSON that
    the program writes.
    """

    literal: str

    def __new__(cls, literal: str) -> LiteralNumber:
        try:
            number = super().__new__(cls, literal.replace(".inf", "Infinity"))
        except InvalidOperation:
            known = literal.startswith(("0o", "0x"))
            number = super().__new__(cls, int(literal, 0) if known else "NaN")
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

"""Reads what a turn is given: the payload as an object, other files as their exact text.

Whatever is wrong with a file is the user's to put right, so every failure here is a `BadRequest`
with a sentence that names the file.
"""

from __future__ import annotations

import codecs
import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

from global_chat.contract.errors import BadRequest

#: Larger files are refused before they are read in full: 50 MB is far beyond what a turn can use.
MAX_BYTES = 50_000_000

#: How deep a payload may nest. What reads it later calls itself once or twice a level.
MAX_DEPTH = 100


def read_object(source: str | Path) -> object:
    """The value of a JSON or YAML file; `-` is standard input.

    JSON is decided by the first character, `{` or `[`; anything else, and any such text in a
    `.yaml` or `.yml` file that is not JSON, is YAML of the same shape. UTF-8, with or without
    a byte order mark. Numbers keep their digits (`number_of`); lone surrogates in JSON escapes
    are kept for the payload to replace.

    Raises `BadRequest` when the source is missing, a folder, unreadable, empty, over `MAX_BYTES`,
    not UTF-8 or malformed (with line and column), when a key occurs twice, and when it nests
    deeper than `MAX_DEPTH`.
    """
    name = "Standard input" if str(source) == "-" else str(source)
    text = _decoded(name, _bytes(name, source)).removeprefix("\ufeff")
    if not text.strip():
        raise BadRequest(f"{name} is empty; it should hold one JSON or YAML object.")
    is_json = text.lstrip()[0] in "{["
    try:
        return _json(name, text) if is_json else _yaml(name, text)
    except BadRequest:
        if is_json and name.lower().endswith((".yaml", ".yml")):
            return _yaml(name, text)
        raise


def read_text(path: str | Path) -> str:
    """The exact text of a UTF-8 file: line ends, a byte order mark, everything stays.

    Raises `BadRequest` when it is missing, a folder, unreadable, over `MAX_BYTES` or not UTF-8:
    evidence is read as it is or not at all.
    """
    return _decoded(str(path), _bytes(str(path), path))


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


def _json(name: str, text: str) -> object:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                raise BadRequest(f"{name} has the key {key!r} twice in one object; keep one.")
            found[key] = value
        return found

    try:
        value: object = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=number_of,
            parse_float=number_of,
            parse_constant=number_of,
        )
    except json.JSONDecodeError as error:
        raise _malformed(name, "JSON", error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise BadRequest(f"{name} is nested too deeply.") from None
    _check_depth(name, value)
    return value


def _check_depth(name: str, value: object) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise BadRequest(f"{name} is nested more than {MAX_DEPTH} levels deep.")
        level = [child for item in level for child in _children(item)]


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _yaml(name: str, text: str) -> object:
    # The YAML library costs 50 ms to import, which a JSON payload need not pay.
    from . import yaml_shape  # noqa: PLC0415

    try:
        return yaml_shape.parse(text, MAX_DEPTH, number_of)
    except yaml_shape.Malformed as error:
        raise _malformed(name, "JSON or YAML", error.problem, error.line, error.column) from None


def _malformed(name: str, kind: str, problem: str, line: int, column: int) -> BadRequest:
    problem = problem.removesuffix(" at").rstrip(": ")
    return BadRequest(
        f"{name} cannot be read as {kind}: {problem} at line {line}, column {column}.",
        details={"line": line, "column": column},
    )


class LiteralNumber(Decimal):
    """A number whose text is the one it was read from (`1.10`, `1e5`, `-0`, `NaN`).

    So evidence keeps its digits on the way to a model. What has no decimal value, such as YAML's
    `.inf` or an exponent without bounds, compares as NaN; its text is still its own. These never
    reach JSON that the program writes.
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

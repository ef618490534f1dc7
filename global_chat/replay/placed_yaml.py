"""Reads a YAML or JSON file and remembers where each value stands, so that a fault has a place.

libyaml reads some twenty times faster than a parser in Python, which is what makes thousands of
cases bearable. Plain scalars are taken as JSON and YAML 1.2 take them: `no` and `on` are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from global_chat.contract.errors import BadRequest, Location, dotted, in_words
from global_chat.disk.reading import number_of, read_text

M = TypeVar("M", bound=BaseModel)

#: Deeper than any case needs, and less than what reads the value later can follow.
MAX_DEPTH = 50

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


class Fault(Exception):
    """Something in a file is wrong. The message begins with the file and the place."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The value of a file, its text, and line and column (from 1) of every value in it."""

    path: Path
    text: str
    value: Any
    places: dict[Location, tuple[int, int]] = field(default_factory=dict)

    def fault(self, location: Location, problem: str) -> Fault:
        """A fault at `location`, or at the nearest value around it that the file has."""
        while location and location not in self.places:
            location = location[:-1]
        line, column = self.places.get(location, (1, 1))
        return Fault(f"{self.path}:{line}:{column}: {problem}")

    def read_as(self, model: type[M]) -> M:
        """The value as `model`. Raises `Fault` that names every place where it does not fit."""
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            found = [(e["loc"], e["type"], e["msg"]) for e in errors]
        told = (
            str(self.fault(place, f"{dotted(place, 'the file')} {in_words(kind, message)}"))
            for place, kind, message in found
        )
        raise Fault("\n".join(dict.fromkeys(told)))


def read(path: Path) -> Placed:
    """The value in `path`. Raises `Fault` when it is missing, not UTF-8, or malformed."""
    try:
        text = read_text(path).removeprefix("\ufeff")
    except BadRequest as error:
        raise Fault(f"{path}: {error.message}") from None
    placed = Placed(path, text, None)
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"
        raise Fault(f"{path}:{where}: {error.problem or 'not readable'}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Fault(f"{path}:1:1: {str(error).partition(chr(10))[0]}") from None
    value = None if node is None else _value(placed, node, ())
    return Placed(path, text, value, placed.places)


def _value(placed: Placed, node: Any, location: Location) -> Any:
    placed.places[location] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if len(location) > MAX_DEPTH:
        raise placed.fault(location, f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(placed, item, (*location, i)) for i, item in enumerate(node.value)]
    found: dict[str, Any] = {}
    for key, item in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise placed.fault(location, "a key must be text")
        if key.value in found:
            placed.places[location] = (key.start_mark.line + 1, key.start_mark.column + 1)
            raise placed.fault(location, f"the key {key.value!r} stands twice")
        found[key.value] = _value(placed, item, (*location, key.value))
    return found


def _scalar(node: Any) -> Any:
    text: str = node.value
    if node.style or reads_as_text(text):  # quoted, or a block
        return text
    return _WORDS[text.lower()] if text.lower() in _WORDS else number_of(text)


def reads_as_text(written: str) -> bool:
    """Whether a scalar without quotes is a text here, and no number, true, false or null."""
    return written.lower() not in _WORDS and not _NUMBER.fullmatch(written)

"""TypeScript declaration files (`*.d.ts`) of an adaptor: its documented functions and types.

They hold what `ast.json` leaves out: functions in namespaces such as `http.get`, the properties of
option objects, and everything for packages whose `ast.json` is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .adaptor_docs import Example, Operation, Parameter, TypeDoc

_LONGEST_SIGNATURE = 4_000  # characters
_LONGEST_TEXT = 4_000  # characters of one description or example
_MOST_EXAMPLES = 8
_MOST_COMMENTS = 5_000  # in one file

_FUNCTION = re.compile(r"\s*export\s+(?:declare\s+)?function\s+(\w+)\s*(?:<[^>(]*>)?\(")
_NAMESPACE = re.compile(r"export\s+\*\s+as\s+(\w+)\s+from\s+[\"']\./([\w./-]+?)(?:\.js)?[\"']")
_PLAIN = re.compile(r"export\s+\*\s+from\s+[\"']\./([\w./-]+?)(?:\.js)?[\"']")
_LINE_START = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^@(\w+)[ \t]*", re.MULTILINE)
_CAPTION = re.compile(r"\A\s*<caption>(.*?)</caption>\s*", re.DOTALL)
_NAME = re.compile(r"\s*(?:\[([\w.$]+)[^\]]*\]|([\w.$]+))[ \t]*(?:-[ \t]*)?")


def namespaces(index: str) -> dict[str, str]:
    """Modules that an index re-exports: file name by prefix, `{"http.": "http", "": "Adaptor"}`."""
    found = {f"{name}.": module for name, module in _NAMESPACE.findall(index)}
    plain = _PLAIN.search(index)
    return found | ({"": plain[1]} if plain else {})


def read_functions(text: str, prefix: str = "") -> tuple[Operation, ...]:
    """The exported functions that are documented and not marked private, in order."""
    found = []
    for comment, end in _comments(text):
        function = _FUNCTION.match(text, end)
        tags = _tags(comment)
        if function is None or any(name in ("private", "ignore") for name, _ in tags):
            continue
        described = [_parameter(body) for name, body in tags if name in ("param", "arg")]
        names = list(_parameter_names(text, function.end()))
        known = {p.name: p for p in described if p}
        parameters = [known.pop(name, Parameter(name=name)) for name in names]
        parts = [p for name, p in known.items() if name.split(".")[0] in names]
        examples = [_example(body) for name, body in tags if name == "example"]
        found.append(
            Operation(
                name=prefix + function[1],
                parameters=(*parameters, *parts),
                description=_text(dict(reversed(tags)).get("", "")),
                examples=tuple(examples[:_MOST_EXAMPLES]),
            )
        )
    return tuple(found)


def read_types(text: str) -> tuple[TypeDoc, ...]:
    """The object types whose properties are described, in order."""
    found = []
    for comment, _ in _comments(text):
        tags = _tags(comment)
        name = next((body for tag, body in tags if tag == "typedef"), None)
        properties = [_parameter(body) for tag, body in tags if tag in ("property", "prop")]
        if name is None or not properties:
            continue
        _, rest = _braced(name)
        names = re.findall(r"\w+", rest)
        if names:
            found.append(TypeDoc(name=names[0], properties=tuple(p for p in properties if p)))
    return tuple(found)


def _comments(text: str) -> Iterator[tuple[str, int]]:
    """Documentation comments in order, each with where it ends. One that never ends is the last."""
    end = 0
    for _ in range(_MOST_COMMENTS):
        start = text.find("/**", end)
        close = text.find("*/", start + 3) if start >= 0 else -1
        if close < 0:
            return
        end = close + 2
        yield text[start + 3 : close], end


def _tags(comment: str) -> list[tuple[str, str]]:
    """A comment as (tag, text) pairs in order; what comes before the first tag has the tag ""."""
    text = _LINE_START.sub("", comment).strip()
    marks = list(_TAG.finditer(text))
    starts = [mark.start() for mark in marks] + [len(text)]
    pairs = [("", text[: starts[0]].strip())]
    for mark, end in zip(marks, starts[1:], strict=True):
        pairs.append((mark[1], text[mark.end() : end].strip()))
    return pairs


def _parameter(body: str) -> Parameter | None:
    kind, rest = _braced(body)
    name = _NAME.match(rest)
    if name is None:
        return None
    description = " ".join(rest[name.end() :].split())
    return Parameter(name=name[1] or name[2], type=kind[:200], description=_text(description))


def _braced(text: str) -> tuple[str, str]:
    """The type in braces at the beginning of a tag, without them, and the text after it."""
    if not text.startswith("{"):
        return "", text
    depth = 0
    for index, character in enumerate(text[:_LONGEST_SIGNATURE]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[1:index].strip(), text[index + 1 :]
    return "", text


def _example(body: str) -> Example:
    caption = _CAPTION.match(body)
    code = body[caption.end() :] if caption else body
    words = " ".join(caption[1].split()) if caption else ""
    return Example(code=_text(code.strip("\n")), caption=_text(words))


def _parameter_names(text: str, start: int) -> Iterator[str]:
    """Names of the parameters of a declaration whose opening bracket ends at `start`."""
    depth, piece = 0, ""
    for character in text[start : start + _LONGEST_SIGNATURE]:
        if depth == 0 and character in ",)":
            name = re.match(r"\s*(?:\.\.\.)?(\w+)", piece)
            if name:
                yield name[1]
            piece = ""
            if character == ")":
                return
            continue
        depth += (character in "([{<") - (character in ")]}")
        depth -= character == ">" and not piece.endswith("=")
        piece += character


def _text(text: str) -> str:
    return text.strip()[:_LONGEST_TEXT]

"""Changes the expectations in a case file's text, and leaves every other character alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from .placed_yaml import Placed, reads_as_text


def with_expectations(placed: Placed, values: dict[str, Any]) -> str:
    """The text of a case file with these keys of `expect` set; empty values are left out.

    Every other character stays, unless `expect` is written in braces: then it is written anew.
    """
    text = placed.text
    found = _entry(text)
    if found is None:
        return text.rstrip("\n") + "\n" + dumped({"expect": _present(values)})
    key, expect = found
    if not isinstance(expect, yaml.MappingNode) or expect.flow_style:
        known = plain(placed.value["expect"]) or {}
        anew = dumped({"expect": _present({**known, **values})}).rstrip("\n")
        return text[: key.start_mark.index] + anew + text[expect.end_mark.index :]
    for name, value in values.items():
        text = _with_entry(text, name, value)
    return text


def _entry(text: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The key `expect` and its value; None in a file without."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    return next(((key, value) for key, value in entries if key.value == "expect"), None)


def _with_entry(text: str, name: str, value: Any) -> str:
    """One key of a block mapping `expect` set, removed, or added as its last one."""
    found = _entry(text)
    assert found is not None
    expect = found[1]
    column = expect.start_mark.column
    new = _indented(dumped(_present({name: value})), column)
    for key, old in expect.value:
        if key.value == name:
            start = key.start_mark.index - column
            return text[:start] + new + text[_end(text, key.start_mark.index, old.end_mark.index) :]
    end = _end(text, expect.start_mark.index, expect.end_mark.index)
    return text[:end] + ("" if text[:end].endswith("\n") else "\n") + new + text[end:]


def _end(text: str, start: int, end: int) -> int:
    """Where the lines of a value end: comments and blank lines below it belong to what follows."""
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    end = start + sum(map(len, lines))
    newline = text.find("\n", max(end - 1, 0))
    return len(text) if newline < 0 else newline + 1


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def dumped(value: dict[str, Any]) -> str:
    """A mapping as YAML that reads back the same; texts of several lines as lines."""
    if not value:
        return ""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return text


class _Dumper(yaml.SafeDumper):
    """Quotes what would not read back: numbers, and (as escapes) line ends of YAML 1.1."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None if reads_as_text(text) else "'"
        if set(text) & {"\x85", "\u2028", "\u2029"}:
            style = '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)


def _indented(text: str, column: int) -> str:
    return "".join(" " * column + line if line.strip() else line for line in text.splitlines(True))


def plain(value: Any) -> Any:
    """The value without numbers that keep their spelling: as texts they mean the same here."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Decimal) else value

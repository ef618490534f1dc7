"""Puts a problem at its place: the line and column of the key it is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from global_chat.contract import texts
from global_chat.workflow.parts import Problem, Severity, Trigger
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.trigger_settings import placed_settings
from global_chat.yaml.nodes import Mapping, Node, find, resolve
from global_chat.yaml.source import Source


class Places:
    """One workflow and the text that it stands in."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self.layout = layout

    def problem(
        self,
        severity: Severity,
        rule: str,
        message: str,
        placed: Placed[Any] | None = None,
        key: str | None = None,
        suggestion: str | None = None,
    ) -> Problem:
        """A problem at the value of `key` of a part, else at the part, else at the workflow."""
        node: Node = placed.node if placed else self.layout.root
        start = placed.entry.start if placed and placed.entry else node.start
        mapping = resolve(node)
        entry = find(mapping, key) if key and isinstance(mapping, Mapping) else None
        return self.at(severity, rule, message, entry.value.start if entry else start, suggestion)

    def at_setting(
        self,
        rule: str,
        message: str,
        placed: Placed[Trigger],
        name: str,
        suggestion: str | None = None,
    ) -> Problem:
        """A warning at the setting `name` of a trigger, wherever the document keeps it."""
        found = placed_settings(placed.mapping) if placed.mapping else ()
        starts = [each.entry.value.start for each in found if each.name == name]
        return self.at("warning", rule, message, (starts or [placed.node.start])[-1], suggestion)

    def at(
        self,
        severity: Severity,
        rule: str,
        message: str,
        offset: int,
        suggestion: str | None = None,
    ) -> Problem:
        """A problem at a character of the text."""
        return Problem(severity, rule, message, *self.source.position(offset), suggestion)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A suggestion of the known word that is most like `word`, if one is."""
    return texts.did_you_mean(word, known).strip() or None

"""From text to the node tree, guarding against what hostile or broken documents do.

libyaml does the parsing, some twenty times faster than a parser in Python. Where it follows YAML
1.1 and not 1.2, that is mended here: the characters U+0085, U+2028 and U+2029, which it treats as
line ends, and byte order marks inside the text, which it skips, are replaced while it reads; and a
text that it refuses is given to ruamel.yaml's YAML 1.2 parser, which has the last word.

Where a value begins with `!`, YAML sees a tag. In a workflow it is an expression that somebody
forgot to quote (`!state.errors && state.data`), so this `!` is replaced while the parsers read, and
the value is the whole text. Tags of YAML itself (`!!str`) and of block scalars stay tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from global_chat.contract.texts import replace_lone_surrogates
from global_chat.yaml.block_scalars import block_end
from global_chat.yaml.nodes import (
    Alias,
    Content,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
)
from global_chat.yaml.refusals import QUOTE, Unreadable, refusal, syntax_refusal
from global_chat.yaml.source import BOM, Source

#: What any text may hold, so that it is read within two seconds and 500 MB. Values and levels are
#: counted with aliases followed, by which a short text stands for millions. The largest workflow
#: known has 400 kB.
MAX_CHARACTERS = 10_000_000
MAX_VALUES = 250_000
MAX_DEPTH = 100
#: The slower parser reads some 100,000 characters a second: longer texts are only given to it for
#: what libyaml is known to refuse although YAML 1.2 allows it.
MAX_SECOND_OPINION = 200_000
MAX_KNOWN_REFUSAL = 2_000_000
_KNOWN_REFUSALS = ("found a tab character", "Unicode character escape")

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCKS = frozenset("|>")
_ORDINARY = f"\x85\u2028\u2029{BOM}"
_STAND_INS = range(0xF0000, 0xFFFFE)
_KNOWN_TAG = re.compile(r"tag:yaml\.org,2002:\w+")
_YAML_TAGS = "str|int|float|bool|null|map|seq|set|omap|pairs|binary|timestamp"
#: A `!` where a value begins, of an expression and not of a tag. One inside a text may match as
#: well: it comes back with the text.
_NEGATION = re.compile(
    r"(?:\A|[\r\n\[{,]|[:?-](?=[ \t]))[ \t]*(?:&[\w-]+[ \t]+)?!"
    r"(?!<"
    rf"|!(?:{_YAML_TAGS})(?:\Z|[\r\n,\]}}]|[ \t]+(?!&&|\|\||[!=]=|\?))"
    r"|\S{0,200}[ \t]+[|>][-+0-9]{0,2}[ \t]*(?:#|[\r\n]|\Z))"
)


def compose(source: Source) -> Node | None:
    """The root node, or None when the text holds no document (blank, or comments only).

    Raises `Unreadable` when the text is not one document, or holds more than can be read.
    """
    if len(source.text) > MAX_CHARACTERS:
        raise Unreadable(
            f"It has {len(source.text):,} characters; at most {MAX_CHARACTERS:,} can be read."
        )
    try:
        return _Composer(source).run(_libyaml)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        if "maximum nesting depth" in str(error):
            raise syntax_refusal(source, error) from None
        known = any(words in str(error) for words in _KNOWN_REFUSALS)
        if len(source.text) > (MAX_KNOWN_REFUSAL if known else MAX_SECOND_OPINION):
            raise syntax_refusal(source, error) from None
    return _second_opinion(source)


def _second_opinion(source: Source) -> Node | None:
    # ruamel.yaml takes longer to import than libyaml takes to read most documents
    from ruamel.yaml import YAML  # noqa: PLC0415
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        return _Composer(source).run(lambda text: YAML(typ="safe", pure=True).parse(text))
    except (YAMLError, ValueError, RecursionError) as error:
        raise syntax_refusal(source, error) from None


def _libyaml(text: str) -> Iterator[Any]:
    # What `yaml.parse` does, in half the time: it asks twice for every event.
    return iter(_LOADER(text).get_event, None)


class _Composer:
    """Builds the tree from parser events, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.shift = source.first
        self.anchors: dict[str, Content] = {}
        self.open: list[Sequence | Mapping] = []
        self.keys: list[Node | None] = []
        self.root: Node | None = None
        self.sizes: list[int] = []
        self.documents: list[Any] = []
        self.count = 0
        self.stand_ins: dict[str, str] = {}

    def run(self, parse: Any) -> Node | None:
        for event in parse(self._readable(self.source.text[self.shift :])):
            kind = type(event).__name__
            if kind == "ScalarEvent":
                self._add(self._scalar(event))
            elif kind == "MappingStartEvent":
                self._open(event, Mapping)
            elif kind == "SequenceStartEvent":
                self._open(event, Sequence)
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                self._close(event)
            elif kind == "AliasEvent":
                self._add(self._alias(event))
            elif kind == "DocumentStartEvent":
                self.documents.append(event)
                self.anchors = {}
        if self.documents[1:]:
            start = self._span(self.documents[1])[0]
            message = f"{len(self.documents)} YAML documents stand in one text, split by `---`."
            raise refusal(self.source, start, message, "Give one at a time.")
        return self.root

    def _readable(self, text: str) -> str:
        """The text with every character that libyaml makes too much of replaced, one for one."""
        free = (chr(n) for n in _STAND_INS if chr(n) not in text)
        for character in _ORDINARY:
            if character in text:
                stand_in = next(free)
                self.stand_ins[stand_in] = character
                text = text.replace(character, stand_in)
        if _NEGATION.search(text):
            stand_in = next(free)
            self.stand_ins[stand_in] = "!"
            text = _NEGATION.sub(lambda found: found[0][:-1] + stand_in, text)
        return text

    def _scalar(self, event: Any) -> Scalar:
        start, end = self._span(event)
        style: str = event.style or ""
        text: str = event.value
        tag = str(event.tag) if event.tag else None
        if style in _BLOCKS:
            end = block_end(self.source.text, start, end)
        elif tag and not style and not _KNOWN_TAG.fullmatch(tag):
            raise refusal(self.source, start, "A value begins with `!`.", QUOTE)
        for stand_in, character in self.stand_ins.items():
            text = text.replace(stand_in, character)
        return Scalar(start, end, replace_lone_surrogates(text), style, event.anchor, tag)

    def _alias(self, event: Any) -> Alias:
        start, end = self._span(event)
        target = self.anchors.get(event.anchor)
        if target is None:
            raise refusal(
                self.source,
                start,
                f"`*{event.anchor}` refers to an anchor that is not defined before it.",
                "If it is meant as text, put it in quotes.",
            )
        if not isinstance(target, Scalar):
            if not target.size:
                raise refusal(
                    self.source, start, f"`*{event.anchor}` is used inside its own anchor."
                )
            self._check_depth(start, target.height)
            self._raise_height(target.height)
            self.count += target.size - 1
        return Alias(start, end, event.anchor, target)

    def _open(self, event: Any, kind: type[Mapping] | type[Sequence]) -> None:
        start, end = self._span(event)
        self._check_depth(start, 1)
        tag = str(event.tag) if event.tag else None
        node = kind(start, end, bool(event.flow_style), event.anchor, tag)
        self._add(node)
        self.open.append(node)
        self.keys.append(None)
        self.sizes.append(self.count - 1)

    def _close(self, event: Any) -> None:
        node = self.open.pop()
        self.keys.pop()
        node.size = self.count - self.sizes.pop()
        self._raise_height(node.height)
        if node.flow:
            node.end = self._span(event)[1]
        elif isinstance(node, Mapping) and node.entries:
            node.end = node.entries[-1].end
        elif isinstance(node, Sequence) and node.items:
            node.end = node.items[-1].end

    def _check_depth(self, start: int, height: int) -> None:
        """Refuse what comes at `start` with `height` levels when the whole is too deep with it."""
        if len(self.open) + height > MAX_DEPTH:
            message = f"This is nested {len(self.open) + height} levels deep, with aliases followed"
            raise refusal(self.source, start, f"{message}; at most {MAX_DEPTH} can be read.")

    def _raise_height(self, height: int) -> None:
        """The collection that is open holds one with `height` levels."""
        if self.open and self.open[-1].height <= height:
            self.open[-1].height = height + 1

    def _add(self, node: Node) -> None:
        self.count += 1
        if self.count > MAX_VALUES:
            message = f"Up to here there are {self.count:,} values, with aliases followed"
            raise refusal(
                self.source, node.start, f"{message}; at most {MAX_VALUES:,} can be read."
            )
        if not isinstance(node, Alias) and node.anchor:
            self.anchors[node.anchor] = node
        if not self.open:
            self.root = node
        elif isinstance(parent := self.open[-1], Sequence):
            parent.items.append(node)
        elif (key := self.keys[-1]) is None:
            self.keys[-1] = node
        else:
            self.keys[-1] = None
            self._add_entry(parent, Entry(key, node))

    def _add_entry(self, mapping: Mapping, entry: Entry) -> None:
        mapping.entries.append(entry)
        self._place_empty(entry)
        key = entry.key.target if isinstance(entry.key, Alias) else entry.key
        if not isinstance(key, Scalar):
            return
        first = mapping.own.setdefault(key.text, entry)
        if first is not entry:
            raise refusal(
                self.source,
                entry.start,
                f"The key `{key.text[:80]}` occurs twice in one mapping, first on line "
                f"{self.source.line(first.start)}.",
                "Rename or remove one of them.",
            )

    def _place_empty(self, entry: Entry) -> None:
        """Put an empty value right behind its colon; parsers differ in where they see it."""
        value, text = entry.value, self.source.text
        if value.start == value.end and isinstance(value, Scalar):
            colon = text.find(":", entry.key.end, value.end)
            if colon >= 0 and not text[entry.key.end : colon].strip():
                value.start = value.end = colon + 1

    def _span(self, event: Any) -> tuple[int, int]:
        return event.start_mark.index + self.shift, event.end_mark.index + self.shift

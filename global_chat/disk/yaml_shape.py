"""Reads YAML that has JSON's shape: mappings with text keys, lists, text, numbers, booleans, null.

Only the graph of nodes is taken from the YAML library, never an object that a tag asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

#: Above this many characters the YAML library needs a minute or more; JSON has no such trouble.
MAX_CHARACTERS = 2_000_000

#: How much the aliases of a document may make of it, in characters.
MAX_EXPANDED = 20_000_000

#: What a node costs beside its own characters, so that a bomb of empty nodes is one too.
_NODE_COST = 16

_PREFIX = "tag:yaml.org,2002:"
#: YAML 1.1 had dates, `<<` and `=` as values of their own; JSON's shape has only text.
_TEXT = {"str", "timestamp", "merge", "value"}


class Malformed(Exception):
    """The text is not such a document. `line` and `column` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


def parse(text: str, max_depth: int, number: Callable[[str], object]) -> object:
    """The value of a YAML 1.2 document; None when it holds only comments.

    `number` makes a value of a number's text. Raises `Malformed`, also for a tag, a key that is not
    text, a key that occurs twice, more than `max_depth` levels (an alias inside its own anchor has
    no end of them), and aliases that expand beyond `MAX_EXPANDED`.
    """
    if len(text) > MAX_CHARACTERS:
        raise Malformed(
            f"YAML over {MAX_CHARACTERS:,} characters is not read; send it as JSON", 1, 1
        )
    root = _compose(text)
    return None if root is None else _Walk(max_depth, number).value(root, 1)


def _compose(text: str) -> Node | None:
    try:
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
    except ReaderError as error:
        before = text[: error.position]
        column = error.position - before.rfind("\n")
        raise Malformed(
            f"the character U+{ord(text[error.position]):04X} must be escaped",
            before.count("\n") + 1,
            column,
        ) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = ", ".join(filter(None, (error.context, error.problem)))
        raise Malformed(problem or "not readable", line, column) from None
    except YAMLError as error:
        raise Malformed(str(error).partition("\n")[0], 1, 1) from None
    except RecursionError:
        raise Malformed("nested too deeply", 1, 1) from None
    return node


@dataclass(slots=True)
class _Walk:
    """One walk over the graph; every visit of an aliased node counts."""

    max_depth: int
    number: Callable[[str], object]
    spent: int = 0

    def value(self, node: Node, depth: int) -> object:
        self._spend(node, _NODE_COST)
        if depth > self.max_depth:
            raise _at(node, f"nested more than {self.max_depth} levels deep")
        tag = str(node.tag).removeprefix(_PREFIX)
        if isinstance(node, MappingNode) and tag == "map":
            return self._mapping(node, depth)
        if isinstance(node, SequenceNode) and tag == "seq":
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, ScalarNode):
            self._spend(node, len(node.value))
            return self._scalar(node, tag)
        raise _at(node, f"the tag {node.tag} is not supported")

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, item in node.value:
            if not isinstance(key, ScalarNode):
                raise _at(key, "a key must be text")
            if key.value in found:
                raise _at(key, f"the key {key.value!r} occurs twice")
            found[key.value] = self.value(item, depth + 1)
        return found

    def _scalar(self, node: ScalarNode, tag: str) -> object:
        text: str = node.value
        if tag in _TEXT:
            return text
        if tag in {"int", "float"}:
            return self.number(text)
        if tag == "bool":
            return text.lower() in {"true", "yes", "on", "y"}
        if tag == "null":
            return None
        raise _at(node, f"the tag {node.tag} is not supported")

    def _spend(self, node: Node, cost: int) -> None:
        self.spent += cost
        if self.spent > MAX_EXPANDED:
            raise _at(node, "the aliases of the document expand to too much text")


def _at(node: Node, problem: str) -> Malformed:
    mark = node.start_mark
    return Malformed(problem, mark.line + 1, mark.column + 1)

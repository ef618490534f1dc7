"""Whether a step's code reads as JavaScript, and uses nothing that the runtime cannot run.

The code is parsed, never run. `$` (lazy state) and top-level operations are ordinary JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_CLOSES = {")": "(", "]": "[", "}": "{"}
_FUNCTIONS = frozenset(
    {
        "arrow_function",
        "class_body",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
#: Statements that the app's compiler does not take at the top of a step's code.
_UNFIT = {
    "import_statement": "`import` does not work in a step: operations come from its adaptor.",
    "export_statement": "`export` does not work in a step: the compiler exports its operations.",
    "await_expression": "`await` outside a function does not work in a step: wrap it in fn(...).",
}


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """Something wrong at `row` and `column` of the code, both counting characters from 0."""

    rule: str
    message: str
    row: int
    column: int


def code_problems(code: str) -> tuple[CodeProblem, ...]:
    """What a reader of JavaScript would stumble over, at most one syntax error.

    A file that does not parse is not searched any further.
    """
    source = code.encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    if root.has_error:
        node, message = _first_error(root)
        return (_problem("code-syntax", message, node, source),)
    return tuple(_problem("code-unfit", _UNFIT[node.type], node, source) for node in _unfit(root))


def condition_problem(expression: str) -> str | None:
    """What is wrong with a path's condition, as a sentence; None when it can be evaluated.

    A condition is one JavaScript expression over `state`. There is no `$` in it: that is a step's.
    """
    source = f"condition = {expression.strip()}".encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    inside = [node.type for node in root.named_children]
    if root.has_error or inside != ["expression_statement"]:
        return "The condition is not one JavaScript expression."
    if any(node.type == "identifier" and node.text == b"$" for node in _in_order(root)):
        return "A condition has no `$`: write `state` instead."
    return None


@lru_cache(maxsize=1)
def _parser() -> Parser:
    # The grammar is a shared library of half a megabyte: only a check needs it.
    import tree_sitter_javascript  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_javascript.language()))


def _problem(rule: str, message: str, node: Node, source: bytes) -> CodeProblem:
    start = node.start_byte
    line_start = source.rfind(b"\n", 0, start) + 1
    column = len(source[line_start:start].decode("utf-8", "replace"))
    return CodeProblem(rule, message, source.count(b"\n", 0, start), column)


def _first_error(root: Node) -> tuple[Node, str]:
    """The node to point at. The parser marks all it could not read; a bracket says more."""
    unclosed: list[Node] = []
    error: Node | None = None
    for node in _in_order(root):
        if node.is_missing and error is None:
            return node, f"The code is not valid JavaScript: `{node.type}` is missing here."
        if node.is_error and error is None:
            error = node
        if node.child_count:
            continue
        if node.type in {"(", "[", "{", "${"}:
            unclosed.append(node)
        elif node.type in _CLOSES:
            if not unclosed or unclosed[-1].type[-1] != _CLOSES[node.type]:
                return node, f"The code is not valid JavaScript: this `{node.type}` closes nothing."
            unclosed.pop()
    if unclosed:
        return unclosed[
            -1
        ], f"The code is not valid JavaScript: `{unclosed[-1].type}` is never closed."
    return error or root, "The code is not valid JavaScript from here on."


def _in_order(root: Node) -> Iterator[Node]:
    """Every node, a parent before its children. No recursion: code nests as deep as it likes."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _unfit(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _UNFIT:
            yield node
        if node.type not in _FUNCTIONS:
            waiting.extend(reversed(node.children))

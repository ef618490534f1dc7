"""Whether a step's code is JavaScript that the runtime can run as operations: parsed, never run.

Each rule says what is wrong and what to do, for a person and for a model alike. False alarms are
worse than misses: where the adaptor or a name is not known, nothing is said. `$` (lazy state) and
top-level operations are ordinary JavaScript to the parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from global_chat.contract.adaptor_facts import AdaptorFacts
from global_chat.contract.specifier import parse_specifier
from global_chat.workflow.javascript import captures, syntax_tree

if TYPE_CHECKING:
    from tree_sitter import Node

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
#: What a step may call whatever is known of its adaptor: collections, and what nearly every adaptor
#: includes from common.
_USUAL = frozenset(
    {
        *("alterState", "as", "assert", "collections", "combine", "cursor", "debug", "each"),
        *("fn", "fnIf", "group", "log", "map", "merge", "validate"),
    }
)
#: What the browser and Node have that people call in code, so that it is no operation.
_GLOBALS = frozenset({"console", "Object", "Array", "Promise", "JSON", "Math", "process"})

_UNCHECKED = "This code takes too long to parse, so it was not checked."


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """Something wrong at `row` and `column` of the code, both counting characters from 0."""

    rule: str
    message: str
    row: int
    column: int

    def __str__(self) -> str:
        return f"line {self.row + 1}: {self.message}"


def code_problems(
    code: str, facts: AdaptorFacts | None = None, adaptor: str | None = None
) -> tuple[CodeProblem, ...]:
    """What is wrong with the code of a step, in order; at most one syntax error.

    `facts` are those of the step's adaptor; without them only what holds for every adaptor is
    looked at. `adaptor` is its specifier, the only package that may be imported. Code that does not
    parse is not searched any further.
    """
    source = code.encode("utf-8", "replace")
    root = syntax_tree(source)
    if root is None:
        return (CodeProblem("code-unchecked", _UNCHECKED, 0, 0),)
    if root.has_error:
        node, message = _first_error(root)
        return (_problem("code-syntax", message, node, source),)
    found = _Reading(root, facts, adaptor).problems()
    places = {(node.start_byte, rule): (node, message) for rule, message, node in found}
    return tuple(
        _problem(rule, message, node, source)
        for (_, rule), (node, message) in sorted(places.items())
    )


def new_code_problems(
    before: str | None,
    after: str,
    facts: AdaptorFacts | None = None,
    adaptor: str | None = None,
) -> tuple[CodeProblem, ...]:
    """The problems of `after` that `before` has not: of those that it has, only further ones."""
    known = Counter(p.message for p in code_problems(before or "", facts, adaptor))
    fresh: list[CodeProblem] = []
    for problem in code_problems(after, facts, adaptor):
        known[problem.message] -= 1
        if known[problem.message] < 0:
            fresh.append(problem)
    return tuple(fresh)


def condition_problem(expression: str) -> str | None:
    """What is wrong with a path's condition, as a sentence; None when it can be evaluated.

    A condition is one JavaScript expression over `state`. There is no `$` in it: that is a step's.
    """
    source = f"condition = {expression.strip()}".encode("utf-8", "replace")
    root = syntax_tree(source)
    if root is None:
        return _UNCHECKED
    inside = [node.type for node in root.named_children if node.type != "comment"]
    if root.has_error or inside != ["expression_statement"]:
        return "The condition is not one JavaScript expression."
    if any(_names(node, "$") for node in _in_order(root)):
        return "A condition has no `$`: write `state` instead."
    return None


def _package_of(adaptor: str | None) -> str | None:
    found = parse_specifier(adaptor)
    return found.package if found else adaptor


#: Rule, message, and the node to point at.
_Found = tuple[str, str, "Node"]


class _Reading:
    """One program: what it declares, and what its calls do."""

    def __init__(self, root: Node, facts: AdaptorFacts | None, adaptor: str | None) -> None:
        self._root = root
        self._facts = facts
        self._package = _package_of(adaptor)
        self._operations = {*facts.operations, *facts.common_operations} if facts else set[str]()
        self._found = captures(root, _QUERY)
        declarations = self._found.get("declaration", ())
        self._declared = {name for node in declarations for name in _declared(node)}

    def problems(self) -> Iterator[_Found]:
        for node in self._root.named_children:
            yield from self._import(node)
            if node.type == "expression_statement":
                yield from self._top_level_call(node.named_children[0])
        for node in self._found.get("await", ()):
            if _enclosing(node, _FUNCTIONS) is None:
                message = "`await` outside a function does not work in a step: wrap it in fn(...)."
                yield "code-await", message, node
        for node in self._found.get("call", ()):
            yield from self._call(node)
        for node in self._found.get("lazy", ()):
            if "$" not in self._declared and self._is_stray(node):
                message = (
                    "`$` works only directly in an argument of an operation. Inside a function, "
                    "use its `state`."
                )
                yield "lazy-state", message, node

    def _import(self, node: Node) -> Iterator[_Found]:
        source = node.child_by_field_name("source") if node.type == "import_statement" else None
        if source is None:
            return
        package = _text(source).strip("'\"")
        if self._package is None or package == self._package:
            return
        message = (
            f"`import` of {package} does not work in a step: only its adaptor can be imported, and "
            "need not be."
        )
        yield "code-import", message, node

    def _top_level_call(self, node: Node) -> Iterator[_Found]:
        call = _first_call(node)
        name = _callee(call) if call else None
        if call is None or name is None:
            return
        yield from self._unknown_operation(call, name)
        if name in self._declared or name.partition(".")[0] in _GLOBALS:
            return
        arguments = call.child_by_field_name("arguments")
        for bare in _outside_functions(arguments, "state") if arguments else ():
            if "state" not in self._declared:
                message = (
                    f"`state` in an argument of `{name}` is read when the step loads, before there "
                    "is any: write `$`, or a function `state => …`."
                )
                yield "early-state", message, bare

    def _unknown_operation(self, call: Node, name: str) -> Iterator[_Found]:
        first, _, rest = name.partition(".")
        facts = self._facts
        if facts is None or facts.open_ended or name in self._operations:
            return
        if first in self._declared | _GLOBALS | _USUAL or (rest and first in facts.namespaces):
            return
        if name in facts.helpers | facts.readers | facts.others | facts.common:
            message = (
                f"`{name}` is a helper, not an operation: call it inside a function, such as "
                "fn(state => …)."
            )
            yield "not-an-operation", message, call
        elif name != "require":
            message = (
                f"`{name}` is not an operation of {_package_of(facts.specifier)}: use one that it "
                "has, or declare the function in this code."
            )
            yield "unknown-operation", message, call

    def _call(self, node: Node) -> Iterator[_Found]:
        name = _callee(node)
        if name == "require" and name not in self._declared:
            yield "code-require", "`require` does not work in a step.", node
        elif (name == "fn" and name not in self._declared) or self._continues(node):
            yield from self._without_return(node, name or ".then or .catch")
        if name and self._is_operation(name) and self._is_left(node):
            message = (
                f"`{name}(…)` inside a function only makes an operation and does not run it: use "
                f"each(…) or put it at the top level; where neither fits, `await {name}(…)(state)` "
                "in an async function."
            )
            yield "operation-not-run", message, node

    def _is_operation(self, name: str) -> bool:
        return name in self._operations and name.partition(".")[0] not in self._declared

    def _is_left(self, call: Node) -> bool:
        """Whether the value of the call is dropped, or given back to `fn`, by a function."""
        parent = call.parent
        while parent and parent.type in ("parenthesized_expression", "await_expression"):
            parent = parent.parent
        if parent is None:
            return False
        inside = _enclosing(call, _FUNCTIONS)
        if parent.type == "expression_statement":
            return inside is not None
        if inside and _takes_for_result(parent, call, inside):
            return True
        returned = parent.type == "return_statement" or (
            inside is not None and inside.child_by_field_name("body") == call
        )
        return bool(returned and inside and _drops_its_value(inside))

    def _continues(self, call: Node) -> bool:
        """Whether the call is a `.then` or `.catch` on an operation."""
        called = call.child_by_field_name("function")
        chained = called.child_by_field_name("object") if called else None
        step = called.child_by_field_name("property") if called else None
        if not chained or not step or _text(step) not in _CONTINUATIONS:
            return False
        name = _callee(chained) if chained.type == "call_expression" else None
        return bool(name and self._is_operation(name)) or self._continues(chained)

    def _without_return(self, call: Node, name: str) -> Iterator[_Found]:
        arguments = call.child_by_field_name("arguments")
        function = arguments.named_children[0] if arguments and arguments.named_children else None
        if function is None or function.type not in ("arrow_function", "function_expression"):
            return
        body = function.child_by_field_name("body")
        if body and body.type == "statement_block" and not _leaves(body):
            message = (
                f"The function in `{name}` returns nothing, so that state is lost: return state."
            )
            yield "fn-returns", message, call

    def _is_stray(self, node: Node) -> bool:
        """Whether a `$` stands in no argument of an operation, or in a function inside of one."""
        parent = node.parent
        while parent:
            if parent.type in _FUNCTIONS:
                return True
            if parent.type == "arguments":
                call = parent.parent
                name = _callee(call) if call and call.type == "call_expression" else None
                if name is None or name.partition(".")[0] not in _GLOBALS:
                    return False
            parent = parent.parent
        return True


#: What an operation has beside being called with state.
_CONTINUATIONS = ("then", "catch")


def _takes_for_result(parent: Node, call: Node, function: Node) -> bool:
    """Whether what the call makes is used as though the operation had run: `get(…).data`."""
    if parent.type == "member_expression":
        used = parent.child_by_field_name("property")
        return bool(used and _text(used) not in _CONTINUATIONS)
    declared = parent.child_by_field_name("name") if parent.type == "variable_declarator" else None
    if declared is None or declared.type != "identifier":
        return declared is not None and declared.type == "object_pattern"
    return any(
        _names(owner, _text(declared))
        for node in _in_order(function)
        if node.type == "member_expression"
        and (owner := node.child_by_field_name("object"))
        and _takes_for_result(node, call, function)
    )


def _drops_its_value(function: Node) -> bool:
    """Whether a function is given to `fn` or `forEach`, which do not run what it gives back."""
    arguments = function.parent
    call = arguments.parent if arguments and arguments.type == "arguments" else None
    called = call.child_by_field_name("function") if call else None
    last = called.child_by_field_name("property") if called else None
    return bool(called and (_names(called, "fn") or (last and _text(last) == "forEach")))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _names(node: Node, name: str) -> bool:
    return node.type == "identifier" and node.text == name.encode()


def _callee(call: Node) -> str | None:
    """The name of what is called, `tracker.import`, say; None when it is no plain name."""
    function = call.child_by_field_name("function")
    if function is None:
        return None
    if function.type == "identifier":
        return _text(function)
    parts = function.named_children if function.type == "member_expression" else []
    if len(parts) == 2 and parts[0].type == "identifier":
        return f"{_text(parts[0])}.{_text(parts[1])}"
    return None


def _first_call(node: Node) -> Node | None:
    """The call with which a chain begins: `get(…)` in `get(…).then(…).catch(…)`."""
    while node.type == "call_expression":
        function = node.child_by_field_name("function")
        inner = function.child_by_field_name("object") if function else None
        if not inner or inner.type != "call_expression":
            return node
        node = inner
    return None


def _declared(node: Node) -> Iterator[str]:
    """The names that a declaration declares: a variable, function, class, or imports."""
    if node.type == "import_clause":
        yield from (_text(n) for n in _in_order(node) if n.type == "identifier")
    else:
        yield from _pattern_names(node.child_by_field_name("name"))


def _pattern_names(target: Node | None) -> Iterator[str]:
    for node in _in_order(target) if target else ():
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield _text(node)


def _outside_functions(root: Node, name: str) -> Iterator[Node]:
    """Each use of a variable that is read where it stands, not in a function."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if _names(node, name) or (
            node.type == "shorthand_property_identifier" and _text(node) == name
        ):
            yield node
        elif node.type not in _FUNCTIONS:
            waiting.extend(reversed(node.children))


def _enclosing(node: Node, types: frozenset[str]) -> Node | None:
    parent = node.parent
    while parent and parent.type not in types:
        parent = parent.parent
    return parent


def _leaves(body: Node) -> bool:
    """Whether a function's body returns anywhere or ends on a throw, functions in it aside."""
    waiting, last = [body], body.named_children[-1:]
    while waiting:
        node = waiting.pop()
        is_last = bool(last) and node.start_byte >= last[0].start_byte
        if node.type == "return_statement" or (node.type == "throw_statement" and is_last):
            return True
        if node.type not in _FUNCTIONS:
            waiting.extend(node.children)
    return False


#: What the rules look at.
_QUERY = """
(call_expression) @call
(await_expression) @await
((identifier) @lazy (#eq? @lazy "$"))
[
  (variable_declarator)
  (function_declaration)
  (generator_function_declaration)
  (class_declaration)
  (import_clause)
] @declaration
"""


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

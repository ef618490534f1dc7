"""TypeScript declaration files (`*.d.ts`) of an adaptor: its documented functions and types.

They hold what `ast.json` leaves out: functions in namespaces such as `http.get`, the properties of
option objects, and everything for packages whose `ast.json` is empty. The declarations are read by
tree-sitter, the JSDoc comments before them here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from global_chat.contract.texts import tree_in_time

from .adaptor_docs import Example, Operation, Parameter, TypeDoc

_LONGEST_TEXT = 4_000  # characters of one description or example
_LONGEST_TYPE = 200
_MOST_EXAMPLES = 8
_SECONDS = 2.0  # for one file; a sound one takes milliseconds, a hostile one would take hours

_LINE_START = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^@(\w+)[ \t]*", re.MULTILINE)
_CAPTION = re.compile(r"\A\s*<caption>(.*?)</caption>\s*", re.DOTALL)
_NAME = re.compile(r"\s*(?:(\[)\s*([\w.$]+)[^\]]*\]|([\w.$]+))[ \t]*(?:-[ \t]*)?")
_EXPORTS = re.compile(r"exports\.(\w+) = (\w+);?\Z")
_LINK = re.compile(r"\{@link\s+(\S+?)(?:[\s|]([^}]*))?\}")
_MARKUP = re.compile(r"</?(?:a|b|i|p|br|em|code|strong|ul|li)\b[^<>]*>")
_OPERATION = re.compile(r"operation|state|promise", re.IGNORECASE)

#: A JSDoc comment: (tag, text) pairs in order; what comes before the first tag has the tag "".
Tags = Sequence[tuple[str, str]]


def read_statements(text: str, until: float | None = None) -> Sequence[Node]:
    """The statements of a file, for the functions below; none of one that takes too long to read.

    `until` is a time of `time.monotonic`, `_SECONDS` from now when it is not given.
    """
    parser = Parser(_language())  # of this call alone: packages are read in several threads
    source = text.encode("utf-8", "replace")
    tree = tree_in_time(parser, source, until or time.monotonic() + _SECONDS)
    return tree.root_node.children if tree is not None else ()


def read_exports(statements: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Modules that a file re-exports, with their prefixes: `("http.", "./http")`, `("", "./x")`."""
    imported: dict[str, str] = {}
    for node in statements:
        source = node.child_by_field_name("source")
        module = _text(source).strip("\"'").removesuffix(".js")
        if node.type == "import_statement":
            for name in _descendants(node, "namespace_import"):
                imported[_text(name.named_children[-1])] = module
        elif node.type == "export_statement" and source is None:
            for name in _descendants(node, "export_specifier"):
                local = _text(name.child_by_field_name("name"))
                known = _text(name.child_by_field_name("alias")) or local
                if local in imported:
                    yield f"{known}.", imported[local]
        elif node.type == "export_statement":
            for child in node.children:
                if child.type == "namespace_export":
                    yield f"{_text(child.named_children[-1])}.", module
                elif child.type == "*":
                    yield "", module


def read_functions(statements: Sequence[Node], prefix: str = "") -> tuple[Operation, ...]:
    """The exported functions that are documented and not marked private, in order.

    A function that is exported under another name has that name, by its export or by `@alias`.
    """
    names = _exported_names(statements)
    found = []
    comment = ""
    for node in statements:
        if node.type == "comment":
            comment = _text(node)
            continue
        function = _function(node)
        tags = read_tags(comment)
        comment = ""
        if function is None or not tags or is_hidden(tags):
            continue
        local = _text(function.child_by_field_name("name"))
        if node.type != "export_statement" and local not in names:
            continue
        alias = next((body.split()[0] for tag, body in tags if tag == "alias" and body), "")
        name = prefix + (alias or names.get(local, local))
        found.append(documented(name, list(_parameters(function)), tags))
    return tuple(found)


def read_types(statements: Sequence[Node]) -> tuple[TypeDoc, ...]:
    """The object types whose properties are described, in JSDoc or as declarations, in order."""
    found = []
    for node in statements:
        if node.type == "comment":
            found.append(_typedef(read_tags(_text(node))))
        elif node.type == "export_statement":
            declared = node.child_by_field_name("declaration")
            found.append(_declared_type(declared) if declared is not None else None)
        else:
            found.append(_declared_type(node))
    return tuple(type_ for type_ in found if type_ is not None and type_.properties)


def read_tags(comment: str) -> list[tuple[str, str]]:
    """The tags of a JSDoc comment, with its delimiters; empty for another kind of comment."""
    if not comment.startswith("/**"):
        return []
    text = _LINE_START.sub("", comment[3:].removesuffix("*/")).strip()
    marks = list(_TAG.finditer(text))
    starts = [mark.start() for mark in marks] + [len(text)]
    pairs = [("", text[: starts[0]].strip())]
    for mark, end in zip(marks, starts[1:], strict=True):
        pairs.append((mark[1], text[mark.end() : end].strip()))
    return pairs


def is_hidden(tags: Tags) -> bool:
    """Whether a comment says that the function is not for everybody."""
    return any(tag in ("private", "ignore") for tag, _ in tags)


def documented(name: str, declared: Sequence[Parameter] | None, tags: Tags) -> Operation:
    """A function with what a comment says of it; None are declared when only the comment knows."""
    parameters = [_parameter(body) for tag, body in tags if tag in ("param", "arg")]
    known = {p.name: p for p in parameters if p is not None}
    if declared is None:
        declared = [p for p in known.values() if "." not in p.name]
    ordered = []
    for parameter in declared:
        described = known.pop(parameter.name, parameter)
        ordered.append(
            replace(
                described,
                type=described.type or parameter.type,
                optional=described.optional or parameter.optional,
                variadic=parameter.variadic,
            )
        )
    names = {parameter.name for parameter in declared}
    ordered += [part for part in known.values() if part.name.split(".")[0] in names]
    returns = next((_braced(body)[0] for tag, body in tags if tag in ("returns", "return")), "")
    helper = returns and not _OPERATION.search(returns)
    examples = [_example(body) for tag, body in tags if tag == "example"]
    return Operation(
        name=name,
        kind="function" if helper else "operation",
        parameters=tuple(ordered),
        description=prose(dict(reversed(tags)).get("", "")),
        examples=tuple(examples[:_MOST_EXAMPLES]),
        state=_state([body for tag, body in tags if tag == "state"]),
        returns=returns[:_LONGEST_TYPE],
        deprecated=any(tag == "deprecated" for tag, _ in tags),
    )


def _state(bodies: Sequence[str]) -> tuple[Parameter, ...] | None:
    """What `@state` tags say is written: `{HttpState}`, `data - the rows`; None without any.

    A tag that names a type and no key is a parameter without a name.
    """
    found = []
    for body in bodies:
        kind, rest = _braced(body)
        described = _parameter(f"{{{kind}}} {rest}" if rest.strip() else "")
        found.append(described or Parameter(name="", type=kind[:_LONGEST_TYPE]))
    return tuple(found) or None


@cache
def _language() -> Language:
    return Language(tree_sitter_typescript.language_typescript())


def _descendants(statement: Node, kind: str) -> Iterator[Node]:
    """Nodes of a kind in an import or export statement, where they are two levels down."""
    for child in statement.children:
        yield from (inner for inner in child.children if inner.type == kind)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _exported_names(statements: Sequence[Node]) -> dict[str, str]:
    """Exported names by the names inside the file.

    They are in `export { _import as import }`, and in code for Node in `exports.import = _import`.
    """
    found = {}
    for node in statements:
        for specifier in _descendants(node, "export_specifier"):
            name = _text(specifier.child_by_field_name("name"))
            found[name] = _text(specifier.child_by_field_name("alias")) or name
        if node.type == "expression_statement" and (pair := _EXPORTS.match(_text(node))):
            found[pair[2]] = pair[1]
    return found


def _function(node: Node | None) -> Node | None:
    """The signature in a statement, whatever stands around it; None in another statement."""
    while node is not None and node.type in ("export_statement", "ambient_declaration"):
        inner = node.child_by_field_name("declaration")
        node = inner if inner is not None else next(iter(node.named_children), None)
    known = node is not None and node.type in ("function_signature", "function_declaration")
    return node if known else None


def _parameters(function: Node) -> Iterator[Parameter]:
    listed = function.child_by_field_name("parameters")
    for node in listed.named_children if listed is not None else ():
        pattern = node.child_by_field_name("pattern")
        rest = pattern is not None and pattern.type == "rest_pattern"
        if rest and pattern is not None:
            pattern = next(iter(pattern.named_children), None)
        if pattern is not None and pattern.type == "identifier":
            given = node.child_by_field_name("value") is not None
            optional = given or node.type == "optional_parameter"
            yield Parameter(
                name=_text(pattern), type=_type_of(node), optional=optional, variadic=rest
            )


def _type_of(node: Node) -> str:
    text = _text(node.child_by_field_name("type")).removeprefix(":")
    return " ".join(text.split())[:_LONGEST_TYPE]


def _typedef(tags: Tags) -> TypeDoc | None:
    name = next((body for tag, body in tags if tag == "typedef"), None)
    properties = [_parameter(body) for tag, body in tags if tag in ("property", "prop")]
    if name is None:
        return None
    names = re.findall(r"\w+", _braced(name)[1])
    return TypeDoc(name=names[0], properties=tuple(p for p in properties if p)) if names else None


def _declared_type(node: Node) -> TypeDoc | None:
    if node.type not in ("type_alias_declaration", "interface_declaration"):
        return None
    body = node.child_by_field_name("value") or node.child_by_field_name("body")
    properties = []
    comment = ""
    for member in body.named_children if body is not None else ():
        if member.type == "property_signature":
            properties.append(
                Parameter(
                    name=_text(member.child_by_field_name("name")),
                    type=_type_of(member),
                    optional=any(child.type == "?" for child in member.children),
                    description=prose(" ".join(dict(read_tags(comment)).get("", "").split())),
                )
            )
        comment = _text(member) if member.type == "comment" else ""
    return TypeDoc(name=_text(node.child_by_field_name("name")), properties=tuple(properties))


def _parameter(body: str) -> Parameter | None:
    kind, rest = _braced(body)
    name = _NAME.match(rest)
    if name is None:
        return None
    description = " ".join(rest[name.end() :].split())
    return Parameter(
        name=name[2] or name[3],
        type=kind[:_LONGEST_TYPE],
        optional=True if name[1] else None,
        description=prose(description),
    )


def _braced(text: str) -> tuple[str, str]:
    """The type in braces at the beginning of a tag, without them, and the text after it."""
    if not text.startswith("{"):
        return "", text
    depth = 0
    for index, character in enumerate(text[:_LONGEST_TEXT]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[1:index].strip(), text[index + 1 :]
    return "", text


def _example(body: str) -> Example:
    caption = _CAPTION.match(body)
    code = body[caption.end() :] if caption else body
    words = " ".join(caption[1].split()) if caption else ""
    return Example(code=code.strip("\n")[:_LONGEST_TEXT].rstrip(), caption=prose(words))


def prose(text: str) -> str:
    """A description without the markup of pages, not longer than anybody would read."""
    text = _LINK.sub(lambda link: (link[2] or link[1]).strip(), text[:_LONGEST_TEXT])
    return _MARKUP.sub("", text).strip()

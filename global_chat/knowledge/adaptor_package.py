"""An adaptor's npm package, read: `package.json`, `ast.json` and the type declarations."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from global_chat.contract.errors import ProviderError

from .adaptor_docs import AdaptorDocs, Example, Operation, Parameter, TypeDoc
from .declarations import namespaces, read_functions, read_types

_MOST_OPERATIONS = 500
_LONGEST_TEXT = 4_000  # characters of one description or example
_MOST_EXAMPLES = 8
_DEEPEST_TYPE = 6


def read_package(files: Mapping[str, bytes], package: str, version: str) -> AdaptorDocs:
    """The documentation in a package's files, which must be the package that was asked for.

    Anything in the files may be missing or of another shape than expected; then that part is left
    out. Raises `ProviderError` when `package.json` is unreadable or names another package.
    """
    about = _json(files.get("package.json"))
    if not isinstance(about, dict) or (about.get("name"), about.get("version")) != (
        package,
        version,
    ):
        raise ProviderError(f"The registry sent something other than {package} {version}.")
    ast = _json(files.get("ast.json"))
    ast = ast if isinstance(ast, dict) else {}
    texts = {path: content.decode("utf-8", "replace") for path, content in files.items()}
    operations = [
        *_operations(ast.get("operations"), common=False),
        *_declared(texts, plain=not ast.get("operations")),
        *_operations(ast.get("common"), common=True),
    ]
    unique = {operation.name: operation for operation in reversed(operations)}
    ordered = [op for op in operations if unique.get(op.name) is op]
    return AdaptorDocs(
        package=package,
        version=version,
        label=_string(about.get("label")),
        description=_string(about.get("description")),
        operations=tuple(ordered[:_MOST_OPERATIONS]),
        types=_types(texts),
    )


def _json(content: bytes | None) -> Any:
    try:
        return json.loads(content or b"null")
    except (ValueError, RecursionError):
        return None


def _declared(texts: Mapping[str, str], *, plain: bool) -> Iterable[Operation]:
    """Functions that only the declarations tell of; `plain` includes those outside namespaces."""
    for prefix, module in namespaces(texts.get("types/index.d.ts", "")).items():
        path = posixpath.normpath(f"types/{module}.d.ts")
        if prefix or plain:
            yield from read_functions(texts.get(path, ""), prefix)


def _types(texts: Mapping[str, str]) -> tuple[TypeDoc, ...]:
    found: dict[str, TypeDoc] = {}
    for path in sorted(texts):
        if path.endswith(".d.ts"):
            for type_ in read_types(texts[path]):
                found.setdefault(type_.name, type_)
    return tuple(found.values())


def _operations(entries: Any, *, common: bool) -> Iterable[Operation]:
    for entry in entries if isinstance(entries, list) else []:
        operation = _operation(entry, common) if isinstance(entry, dict) else None
        if operation is not None:
            yield operation


def _operation(entry: dict[str, Any], common: bool) -> Operation | None:
    docs = entry.get("docs")
    docs = docs if isinstance(docs, dict) else {}
    listed = docs.get("tags")
    tags = [tag for tag in listed if isinstance(tag, dict)] if isinstance(listed, list) else []
    name = _string(entry.get("name"))
    if not name or any(tag.get("title") == "private" for tag in tags):
        return None
    examples = [tag for tag in tags if tag.get("title") == "example"][:_MOST_EXAMPLES]
    return Operation(
        name=name,
        parameters=tuple(_parameters(entry.get("params"), tags)),
        description=_string(docs.get("description")),
        examples=tuple(
            Example(code=_string(tag.get("description")), caption=_string(tag.get("caption")))
            for tag in examples
        ),
        common=common,
    )


def _parameters(names: Any, tags: Iterable[dict[str, Any]]) -> Iterable[Parameter]:
    described = {
        _string(tag.get("name")): Parameter(
            name=_string(tag.get("name")),
            type=_type(tag.get("type")),
            description=" ".join(_string(tag.get("description")).split()),
        )
        for tag in tags
        if tag.get("title") == "param" and tag.get("name")
    }
    order = [_string(name) for name in names] if isinstance(names, list) else list(described)
    for name in order:
        yield described.pop(name, Parameter(name=name))
    # What is left are parts of a parameter, such as `options.purge`.
    yield from (p for name, p in described.items() if name.split(".")[0] in order)


def _type(node: Any, depth: int = 0) -> str:
    """A JSDoc type from its syntax tree, as one would write it; "" for what is not known."""
    if not isinstance(node, dict) or depth > _DEEPEST_TYPE:
        return ""
    kind = node.get("type")
    inner = _type(node.get("expression"), depth + 1)
    if kind == "NameExpression":
        return _string(node.get("name"))[:100]
    if kind == "UnionType" and isinstance(node.get("elements"), list):
        return "|".join(filter(None, (_type(part, depth + 1) for part in node["elements"][:20])))
    if kind == "TypeApplication" and isinstance(node.get("applications"), list):
        parts = (_type(part, depth + 1) for part in node["applications"][:20])
        return f"{inner}<{', '.join(filter(None, parts))}>"
    if kind == "OptionalType":
        return f"{inner}?"
    return {"AllLiteral": "any", "FunctionType": "function", "RecordType": "object"}.get(
        str(kind), inner
    )


def _string(value: Any) -> str:
    return value.strip()[:_LONGEST_TEXT] if isinstance(value, str) else ""

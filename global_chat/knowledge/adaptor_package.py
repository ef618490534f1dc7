"""An adaptor's npm package, read: its archive, `package.json`, `ast.json`, the type declarations.

The archive comes from a network and is treated as hostile: verified first, its size, its size
unpacked, the number of its members and the size of each capped, only regular files with expected
names read, in memory, and nothing ever written.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import posixpath
import re
import tarfile
import time
import zlib
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from global_chat.contract.errors import ProviderError
from global_chat.contract.texts import replace_lone_surrogates_in

from .adaptor_docs import AdaptorDocs, Operation, Parameter, TypeDoc
from .declarations import (
    documented,
    is_hidden,
    read_exports,
    read_functions,
    read_statements,
    read_types,
)

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST_ARCHIVE = 20_000_000  # bytes, packed; the largest adaptor is about 2,000,000
LARGEST_UNPACKED = 80_000_000  # bytes
LARGEST_MEMBER = 4_000_000  # bytes
LARGEST_READ = 20_000_000  # bytes of all members that are read
MOST_MEMBERS = 50_000  # old packages hold everything that they depend on

_STRENGTH = ("sha512", "sha384", "sha256")  # strongest first; weaker ones prove nothing
_WANTED = re.compile(
    r"(?:package|ast|configuration-schema)\.json"
    r"|(?:types|dist)/(?:[\w-]+/){0,3}[\w.-]+\.d\.ts|lib/Adaptor\.js"
)
_DECLARED, _OLD_CODE = "types/index.d.ts", "lib/Adaptor.js"

_MOST_OPERATIONS = 500
_MOST_SECONDS = 5.0  # for the declarations; a package takes a tenth of one
_LONGEST_TEXT = 4_000  # characters of one description or example
_DEEPEST_TYPE = 6
_DEEPEST_EXPORT = 4  # files that re-export each other
_NOT_FOR_JOBS = frozenset({"execute"})  # what runs a job calls it


def verify(archive: bytes, integrity: str | None, shasum: str | None) -> None:
    """Check an archive against what the registry says of it.

    `integrity` is a list of subresource hashes, of which the strongest kind counts; `shasum` is the
    SHA-1 that old packages have instead. Raises `ProviderError` when neither fits.
    """
    hashes = [entry.partition("-")[::2] for entry in (integrity or "").split()]
    for algorithm in _STRENGTH:
        expected = [value.partition("?")[0] for name, value in hashes if name == algorithm]
        if expected:
            actual = hashlib.new(algorithm, archive).digest()
            if any(hmac.compare_digest(actual, _decoded(value)) for value in expected):
                return
            raise ProviderError("The package's content is not what the registry announced.")
    if shasum and not hashes:
        actual_hex = hashlib.sha1(archive, usedforsecurity=False).hexdigest()
        if hmac.compare_digest(actual_hex, shasum.lower()):
            return
        raise ProviderError("The package's content is not what the registry announced.")
    raise ProviderError("The registry gives no checksum for the package, so it was not read.")


def read_members(archive: bytes) -> dict[str, bytes]:
    """The files of a package that describe it, by their path inside it.

    Raises `ProviderError` when the archive is broken or larger than the limits above.
    """
    found: dict[str, bytes] = {}
    read = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(_unpacked(archive)), mode="r:") as tar:
            for count, member in enumerate(tar):
                if count == MOST_MEMBERS:
                    raise ProviderError("The package holds too many files.")
                # Every package has one folder around everything, under whatever name.
                _, _, path = member.name.removeprefix("./").partition("/")
                if not member.isreg() or not _WANTED.fullmatch(path) or path in found:
                    continue
                read += member.size
                if member.size > LARGEST_MEMBER or read > LARGEST_READ:
                    raise ProviderError(f"The package's {path} is too large.")
                file = tar.extractfile(member)
                found[path] = file.read(LARGEST_MEMBER) if file else b""
    except (
        tarfile.TarError,
        zlib.error,
        EOFError,
        ValueError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise ProviderError("The package's archive cannot be read.") from error
    return found


def _unpacked(archive: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    content = unpacker.decompress(archive, LARGEST_UNPACKED + 1)
    if len(content) > LARGEST_UNPACKED:
        raise ProviderError("The package is too large when unpacked.")
    if not unpacker.eof:
        raise ProviderError("The package's archive is cut off.")
    return content


def _decoded(value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (Base64Error, ValueError):
        return b""


def read_package(files: Mapping[str, bytes], package: str, version: str) -> AdaptorDocs:
    """The documentation in a package's files, which must be the package that was asked for.

    Anything in the files may be missing or of another shape than expected; then that part is left
    out. Raises `ProviderError` when `package.json` is unreadable or names another package.
    """
    about = read_json(files.get("package.json"))
    if not isinstance(about, dict) or (about.get("name"), about.get("version")) != (
        package,
        version,
    ):
        raise ProviderError(f"The registry sent something other than {package} {version}.")
    ast = read_json(files.get("ast.json"))
    ast = ast if isinstance(ast, dict) else {}
    schema = read_json(files.get("configuration-schema.json"))
    keys = schema.get("properties") if isinstance(schema, dict) else None
    until = time.monotonic() + _MOST_SECONDS
    files_read = {
        path: read_statements(content.decode("utf-8", "replace"), until)
        for path, content in files.items()
        if not path.endswith(".json")
    }
    types = _types(files_read)
    root = posixpath.normpath(_string(about.get("types")))
    root = root if root in files_read else _DECLARED
    operations = [
        *_operations(ast.get("operations"), common=False),
        *_declared(files_read, root, plain=not ast.get("operations")),
        *_operations(ast.get("common"), common=True),
    ] or read_functions(files_read.get(_OLD_CODE, ()))
    unique = {operation.name: operation for operation in reversed(operations)}
    ordered = [
        op for op in operations if unique.get(op.name) is op and op.name not in _NOT_FOR_JOBS
    ]
    return AdaptorDocs(
        package=package,
        version=version,
        label=_string(about.get("label")),
        description=_string(about.get("description")),
        operations=tuple(_with_state(op, types) for op in ordered[:_MOST_OPERATIONS]),
        types=types,
        configuration=tuple(str(key) for key in keys) if isinstance(keys, dict) else (),
    )


def read_json(content: bytes | None) -> Any:
    """JSON that somebody else wrote, in texts that can be stored; None when it cannot be read."""
    try:
        return replace_lone_surrogates_in(json.loads(content or b"null"))
    except (ValueError, RecursionError):
        return None


def _declared(
    files: Mapping[str, Sequence[Node]], path: str, prefix: str = "", depth: int = 0, *, plain: bool
) -> Iterable[Operation]:
    """Functions that only the declarations tell of; `plain` includes those outside namespaces."""
    statements = files.get(path, ())
    if prefix or plain:
        yield from read_functions(statements, prefix)
    for more, module in read_exports(statements) if depth < _DEEPEST_EXPORT else ():
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        inner = next((f for f in (f"{place}.d.ts", f"{place}/index.d.ts") if f in files), "")
        yield from _declared(files, inner, prefix + more, depth + 1, plain=plain)


def _types(files: Mapping[str, Sequence[Node]]) -> tuple[TypeDoc, ...]:
    found: dict[str, TypeDoc] = {}
    for path in sorted(files):
        for type_ in read_types(files[path]) if path.endswith(".d.ts") else ():
            found.setdefault(type_.name, type_)
    return tuple(found.values())[:_MOST_OPERATIONS]


def _with_state(operation: Operation, types: Iterable[TypeDoc]) -> Operation:
    """The operation, with a type of the state in the place of the type's name."""
    known = {type_.name: type_.properties for type_ in types}
    if operation.state is None:
        return operation
    keys = [
        key
        for part in operation.state
        for key in (known.get(part.type, (part,)) if not part.name else (part,))
    ]
    return replace(operation, state=tuple(keys))


def _operations(entries: Any, *, common: bool) -> Iterable[Operation]:
    for entry in entries[:_MOST_OPERATIONS] if isinstance(entries, list) else []:
        operation = _operation(entry, common) if isinstance(entry, dict) else None
        if operation is not None:
            yield operation


def _operation(entry: dict[str, Any], common: bool) -> Operation | None:
    docs = entry.get("docs")
    docs = docs if isinstance(docs, dict) else {}
    listed = docs.get("tags")
    tags = [("", _string(docs.get("description")))]
    tags += [_tag(t) for t in listed if isinstance(t, dict)] if isinstance(listed, list) else []
    name, names = _string(entry.get("name")), entry.get("params")
    if not name or is_hidden(tags):
        return None
    named = [Parameter(name=_string(name)) for name in names] if isinstance(names, list) else None
    return replace(documented(name, named, tags), common=common)


def _tag(tag: dict[str, Any]) -> tuple[str, str]:
    """A tag of a syntax tree as it stands in a comment: `{string} [path] - where`."""
    title, node = _string(tag.get("title")), tag.get("type")
    kind, name, text = (_type(node), _string(tag.get("name")), _string(tag.get("description")))
    if isinstance(node, dict) and node.get("type") == "OptionalType":
        kind, name = kind.removesuffix("?"), f"[{name}]"
    if title == "example":
        return title, f"<caption>{_string(tag.get('caption'))}</caption>{text}"
    words = (f"{{{kind}}}" if kind else "", name, f"- {text}" if name and text else text)
    return title, " ".join(word for word in words if word)


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

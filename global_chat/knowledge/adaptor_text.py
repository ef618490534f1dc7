"""What a job code agent reads about the step's adaptor: the text of the `<adaptor>` block.

Operations come first, in alphabetical order, so that the text is the same for every request and a
provider can cache it. Only when it would be too long does the request decide which operations are
described and which are only named. What is not known is said to be not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from textwrap import shorten

from .adaptor_docs import AdaptorDocs, NameList, Operation, Parameter
from .catalogue import COLLECTIONS, COMMON, Catalogue
from .search import meanings

#: Characters of a text from the catalogue, and of one from a package's own documentation.
MOST_FROM_CATALOGUE = 6_000
MOST_FROM_PACKAGE = 12_000

_EXAMPLES = 2
_LONGEST_EXAMPLE = 700  # characters
_LONGEST_DESCRIPTION = 600
_LONGEST_PARAMETER = 240
_LONGEST_PROPERTY = 160
_LONGEST_NAMES = 700  # of one list of names

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LEGEND = (
    "`?`: optional. `→`: what it writes to state. What has no type, and the keys of an object for "
    "which none are listed, are not known."
)

# What people say for what operations are called.
_SAME = {
    "fetch": "get", "read": "get", "retrieve": "get", "download": "get", "pull": "get",
    "send": "post", "submit": "post", "upload": "post", "push": "post", "add": "create",
    "new": "create", "register": "create", "save": "insert", "write": "insert", "store": "insert",
    "change": "update", "modify": "update", "edit": "update", "replace": "put", "delete": "remove",
    "destroy": "remove", "del": "remove", "search": "find", "lookup": "find", "sync": "upsert",
    "loop": "each", "iterate": "each", "select": "query", "list": "get", "import": "create",
}  # fmt: skip


#: How much is written, from everything to the least that describes every operation in full:
#: options shared by operations once, so many examples, the option keys of functions.
_LEVELS = (
    (False, _EXAMPLES, True),
    (True, _EXAMPLES, True),
    (True, 1, True),
    (True, 0, True),
    (True, 0, False),
)

#: Options that were written out, and where; None when each operation has its own written out.
_Seen = dict[tuple[Parameter, ...], str] | None


@dataclass(frozen=True, slots=True)
class AdaptorText:
    """Text for the `<adaptor>` block, "" when there is nothing to say.

    `specifier` is what the text describes, None when it describes nothing; `note` is a sentence for
    the trace: what the text was made from, and whether it is not what the step uses.
    """

    text: str
    specifier: str | None = None
    note: str | None = None


def render_catalogue(
    docs: AdaptorDocs, catalogue: Catalogue, request: str, remark: str = ""
) -> str:
    """An adaptor as the catalogue knows it, within `MOST_FROM_CATALOGUE`."""
    about = f"From the program's own list of {written(catalogue.date)}. {_LEGEND}"
    head = [f"{_title(docs)}\n{about}", remark]
    return _rendered(docs, head, catalogue, request, MOST_FROM_CATALOGUE)


def render_package(docs: AdaptorDocs, catalogue: Catalogue, request: str, remark: str = "") -> str:
    """An adaptor as its package documents it, within `MOST_FROM_PACKAGE`."""
    included = docs.common or any(op.common for op in docs.operations)
    if not included and docs.package not in (COMMON, COLLECTIONS):
        remark = f"{remark} Which functions of common it includes is not known.".strip()
    head = [f"{_title(docs)}\nFrom the package's own documentation. {_LEGEND}", remark]
    return _rendered(docs, head, catalogue, request, MOST_FROM_PACKAGE)


def written(day: date) -> str:
    """A date for a sentence: 20 August 2026."""
    return f"{day.day} {day:%B %Y}"


def _title(docs: AdaptorDocs) -> str:
    return docs.specifier + (f" ({docs.label})" if docs.label else "")


def _rendered(
    docs: AdaptorDocs, head: list[str], catalogue: Catalogue, request: str, most: int
) -> str:
    own = sorted(
        (op for op in docs.operations if op.kind == "operation" and not op.common),
        key=lambda op: ("." in op.name, op.name),
    )
    for shared, examples, keys in _LEVELS:
        tail = list(_tail(docs, catalogue, keys))
        everything = _joined(head, _described(own, docs, shared, examples), tail)
        if len(everything) <= most:
            return everything
    words = _words(request)
    ranked = sorted(own, key=lambda op: -_relevance(op, words))
    briefly = next(
        (b for b in (_by_line, _by_name) if len(_joined(head, b(ranked), tail)) <= most), _by_name
    )
    text = _joined(head, briefly(ranked), tail)
    for count in range(1, len(ranked)):
        described = _described(ranked[:count], docs, True, _EXAMPLES)
        attempt = _joined(head, described, briefly(ranked[count:]), tail)
        if len(attempt) > most:
            break
        text = attempt
    return text


def _joined(*parts: Iterable[str]) -> str:
    return "\n\n".join(text for part in parts for text in part if text)


def _described(
    operations: Sequence[Operation], docs: AdaptorDocs, shared: bool, examples: int
) -> list[str]:
    """Operations in full, with so many examples each, then the types that their parameters name.

    Many operations of an adaptor take the same options: with `shared` those are written once.
    """
    if not operations:
        return ["No operations of its own are known."]
    seen: _Seen = {} if shared else None
    return [*(_in_full(op, seen, examples) for op in operations), *_types(docs, operations)]


def _in_full(operation: Operation, seen: _Seen, examples: int) -> str:
    lines = [_line(operation)]
    if operation.description:
        text = operation.description
        if len(text) > _LONGEST_DESCRIPTION:
            text = shorten(text, _LONGEST_DESCRIPTION, placeholder=" …")
        lines.append(_indented(text))
    for parameter in operation.parameters:
        if parameter.type or parameter.description:
            lines.append(f"  - {_parameter(parameter, seen, operation.name)}")
    lines += [f"  - state.{_property(key)}" for key in operation.state or () if key.description]
    for example in operation.examples[:examples]:
        if example.code and len(example.code) <= _LONGEST_EXAMPLE:
            caption = f" ({example.caption})" if example.caption else ""
            lines.append(f"  Example{caption}:\n{_indented(example.code, 4)}")
    return "\n".join(lines)


def _line(operation: Operation) -> str:
    """The signature and what lands on state: `get(path, options?) → state.data, state.response`."""
    deprecated = " (deprecated)" if operation.deprecated else ""
    return f"{operation.signature}{deprecated} → {_state(operation.state)}"


def _state(keys: Sequence[Parameter] | None) -> str:
    if keys is None:
        return "not known"
    keys = sorted(keys, key=lambda key: key.name == "references")
    found = [
        (f"state.{key.name}" if key.name else "state") + (f": {key.type}" if key.type else "")
        if key.name != "references"
        else "state.references (+ the former data)"
        for key in keys
    ]
    return ", ".join(found) or "state as it was"


def _by_line(operations: Sequence[Operation]) -> list[str]:
    """Operations that are not described in full: a line for each."""
    return ["\n".join(["Other operations:", *(_line(op) for op in operations)])]


def _by_name(operations: Sequence[Operation]) -> list[str]:
    """The same in the least space."""
    return [_names("Other operations", [op.name for op in operations])]


def _parameter(parameter: Parameter, seen: _Seen, operation: str) -> str:
    """`options: object { query?: object, … }`, or where the same options stand already."""
    text = _property(parameter, _LONGEST_PARAMETER)
    if not parameter.keys:
        return text
    if seen is not None:
        if parameter.keys in seen:
            return f"{text}, with the keys of {seen[parameter.keys]}"
        seen[parameter.keys] = f"{operation}'s {parameter.name}"
    keys = ", ".join(_key(key) for key in parameter.keys)
    more = "; those that the code reads, others may be passed on" if parameter.from_code else ""
    return f"{text} {{ {keys} }}{more}"


def _key(key: Parameter) -> str:
    nested = f" {{ {', '.join(_key(k) for k in key.keys)} }}" if key.keys else ""
    return f"{key.name}{'?' * bool(key.optional)}: {key.type or 'any'}{nested}"


def _property(parameter: Parameter, longest: int = _LONGEST_PROPERTY) -> str:
    kind = f" ({parameter.type})" if parameter.type else ""
    text = shorten(parameter.description, longest, placeholder=" …")
    return f"{parameter.name}{kind}" + (f": {text}" if text else "")


def _types(docs: AdaptorDocs, operations: Iterable[Operation]) -> Iterator[str]:
    """The types that these operations name, and one level of those that their properties name."""
    types = {type_.name: type_ for type_ in docs.types}
    places = (p for op in operations for p in (*op.parameters, *(op.state or ())))
    named = [word for place in places for word in re.findall(r"\w+", place.type)]
    first = [types[name] for name in dict.fromkeys(named) if name in types]
    nested = [w for t in first for p in t.properties for w in re.findall(r"\w+", p.type)]
    second = [types[name] for name in dict.fromkeys(nested) if name in types]
    for type_ in dict.fromkeys((*first, *second)):
        rows = [f"  - {_property(p)}" for p in type_.properties]
        yield "\n".join([f"{type_.name}:", *rows])


def _tail(docs: AdaptorDocs, catalogue: Catalogue, keys: bool) -> Iterator[str]:
    """What else a step may use: signatures or names; with `keys` the keys of options too."""
    for kind, title in (
        ("function", "Helpers, called inside functions"),
        ("reader", "Readers, for the arguments of other calls"),
    ):
        found = [op for op in docs.operations if op.kind == kind and not op.common]
        if found:
            yield _names(
                title, sorted(_call(op, keys) for op in found), _LONGEST_NAMES * (1 + keys)
            )
    aliases = {space.alias_of: space.source for space in docs.namespaces if space.alias_of}
    for space in docs.namespaces:
        if space.names:
            also = f" (or `{aliases[space.source]}`)" if space.source in aliases else ""
            yield _names(f"In `{space.source}`{also}", space.names)
    shared = catalogue.docs(COMMON)
    common = {op.name: op for op in docs.operations if op.common}
    for op in shared.operations if shared else ():
        common[op.name] = common.get(op.name, op).completed(op, ())
    inside = {space.source: ", ".join(space.names) for space in shared.namespaces} if shared else {}
    calls = [
        _call(common[name], keys)
        if keys and name in common
        else name + (f" ({inside[name]})" if name in inside else "")
        for name in docs.common or [op.name for op in docs.operations if op.common]
    ]
    if calls:
        yield _names("From common", calls, _LONGEST_NAMES * (1 + keys))
    for other in docs.also:
        yield _also(other)
    stored = catalogue.docs(COLLECTIONS)
    if stored and docs.package != COLLECTIONS:
        lines = [_line(op) for op in stored.operations]
        queries = dict.fromkeys(p for op in stored.operations for p in op.parameters if p.keys)
        lines += [f"  - {_parameter(query, None, '')}" for query in queries if keys]
        yield "In every step, whatever its adaptor:\n" + "\n".join(lines)
    if docs.configuration:
        yield _names("Keys of state.configuration, from the credential", docs.configuration)


def _call(operation: Operation, keys: bool) -> str:
    """`decode(data, options?): string { parseJson?: boolean }`: a helper's result, option keys."""
    found = [_key(key) for p in operation.parameters for key in p.keys] if keys else []
    options = f" {{ {', '.join(found)} }}" if found else ""
    helper = operation.kind == "function" and "operation" not in operation.returns.lower()
    returns = f": {operation.returns}" if operation.returns and helper else ""
    return f"{operation.signature}{returns}{options}"


def _also(other: NameList) -> str:
    if other.names == ("*",):
        return f"Everything of {other.source}."
    return _names(f"From {other.source}", other.names)


def _names(title: str, names: Sequence[str], longest: int = _LONGEST_NAMES) -> str:
    """A list of names, cut when it is very long."""
    kept: list[str] = []
    for name in names:
        if sum(len(k) + 2 for k in kept) + len(name) > longest:
            break
        kept.append(name)
    more = f" and {len(names) - len(kept)} more" if len(kept) < len(names) else ""
    return f"{title}: {', '.join(kept)}{more}"


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(" " * by + line if line.strip() else "" for line in text.splitlines())


def _words(text: str) -> set[str]:
    """The words of a text, camel case taken apart, plurals, near synonyms and English meanings."""
    found = {word.lower() for word in _WORD.findall(text)}
    found |= {word.lower() for word in re.findall(r"\w+", text)}
    found |= {english for word in set(found) for english in meanings(word)}
    long = {word for word in found if len(word) > 1}
    singular = {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in long}
    return singular | {_SAME[word] for word in singular if word in _SAME}


def _relevance(operation: Operation, request: set[str]) -> float:
    name = _words(operation.name)
    about = _words(" ".join([operation.description, *(p.name for p in operation.parameters)]))
    return (
        3 * (bool(name) and name <= request) + 2 * len(name & request) + 0.2 * len(about & request)
    )

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

from global_chat.contract.specifier import PREFIX

from .adaptor_docs import AdaptorDocs, NameList, Operation, Parameter
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
    docs: AdaptorDocs, day: date, collections: AdaptorDocs, request: str, remark: str = ""
) -> str:
    """An adaptor as the catalogue of that day knows it, within `MOST_FROM_CATALOGUE`."""
    about = f"From the program's own list of {written(day)}. {_LEGEND}"
    head = [f"{_title(docs)}\n{about}", remark]
    return _rendered(docs, head, collections, request, MOST_FROM_CATALOGUE)


def render_package(
    docs: AdaptorDocs, collections: AdaptorDocs, request: str, remark: str = ""
) -> str:
    """An adaptor as its package documents it, within `MOST_FROM_PACKAGE`."""
    included = docs.common or any(op.common for op in docs.operations)
    if not included and docs.package not in (f"{PREFIX}common", collections.package):
        remark = f"{remark} Which functions of common it includes is not known.".strip()
    head = [f"{_title(docs)}\nFrom the package's own documentation. {_LEGEND}", remark]
    return _rendered(docs, head, collections, request, MOST_FROM_PACKAGE)


def written(day: date) -> str:
    """A date for a sentence: 20 August 2026."""
    return f"{day.day} {day:%B %Y}"


def _title(docs: AdaptorDocs) -> str:
    return docs.specifier + (f" ({docs.label})" if docs.label else "")


def _rendered(
    docs: AdaptorDocs, head: list[str], collections: AdaptorDocs, request: str, most: int
) -> str:
    own = sorted(
        (op for op in docs.operations if op.kind == "operation" and not op.common),
        key=lambda op: ("." in op.name, op.name),
    )
    tail = list(_tail(docs, collections))
    for shared, examples in ((False, _EXAMPLES), (True, _EXAMPLES), (True, 1), (True, 0)):
        everything = _joined(head, _described(own, docs, shared, examples), tail)
        if len(everything) <= most:
            return everything
    ranked = _ranked(own, request)
    text = everything
    for briefly in (_with_sentences, _with_signatures, _by_name):
        text = _joined(head, briefly(ranked), tail)
        if len(text) <= most:
            break
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


def _with_sentences(operations: Sequence[Operation]) -> list[str]:
    """Operations that are not described in full: a line and the first sentence of each."""
    rows = []
    for operation in operations:
        sentence = re.split(r"(?<=[.!?])\s|\n", operation.description, maxsplit=1)[0]
        text = sentence[:_LONGEST_PROPERTY]
        rows.append(_line(operation) + (f"\n  {text}" if text else ""))
    return ["Other operations:\n" + "\n".join(rows)] if rows else []


def _with_signatures(operations: Sequence[Operation]) -> list[str]:
    """The same in less space."""
    rows = [_line(operation) for operation in operations]
    return ["Other operations:\n" + "\n".join(rows)] if rows else []


def _by_name(operations: Sequence[Operation]) -> list[str]:
    """The same in the least space."""
    return [_names("Other operations", [op.name for op in operations])] if operations else []


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


def _tail(docs: AdaptorDocs, collections: AdaptorDocs) -> Iterator[str]:
    """What else a step may use, by name."""
    for kind, title in (
        ("function", "Helpers, called inside functions"),
        ("reader", "Readers, for the arguments of other calls"),
    ):
        found = sorted(op.signature for op in docs.operations if op.kind == kind and not op.common)
        if found:
            yield _names(title, found)
    aliases = {space.alias_of: space.source for space in docs.namespaces if space.alias_of}
    for space in docs.namespaces:
        if space.names:
            also = f" (or `{aliases[space.source]}`)" if space.source in aliases else ""
            yield _names(f"In `{space.source}`{also}", space.names)
    common = docs.common or tuple(op.signature for op in docs.operations if op.common)
    if common:
        yield _names("From common", common)
    for other in docs.also:
        yield _also(other)
    if docs.package != collections.package:
        signatures = [f"{op.signature} → {_state(op.state)}" for op in collections.operations]
        yield "In every step, whatever its adaptor:\n" + "\n".join(signatures)
    if docs.configuration:
        yield _names("Keys of state.configuration, from the credential", docs.configuration)


def _also(other: NameList) -> str:
    if other.names == ("*",):
        return f"Everything of {other.source}."
    return _names(f"From {other.source}", other.names)


def _names(title: str, names: Sequence[str]) -> str:
    """A list of names, cut when it is very long."""
    kept: list[str] = []
    for name in names:
        if sum(len(k) + 2 for k in kept) + len(name) > _LONGEST_NAMES:
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
    shown = _words(" ".join(e.caption for e in operation.examples))
    return (
        3 * (bool(name) and name <= request)
        + 2 * len(name & request)
        + 0.2 * len(about & request)
        + 0.1 * len(shown & request)
    )


def _ranked(operations: Sequence[Operation], request: str) -> list[Operation]:
    """Most relevant first; those equally relevant stay in the order given."""
    words = _words(request)
    return sorted(operations, key=lambda op: -_relevance(op, words))

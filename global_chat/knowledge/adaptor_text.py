"""What a job code agent reads about the step's adaptor: the `<adaptor>` block's text.

Operations that the request is about come first and in full, the others as signatures with a
sentence. The text is cut by whole entries, so that nothing in it is half said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import shorten

from .adaptor_docs import AdaptorDocs, Operation, Parameter
from .catalogue import Adaptor

#: Characters of one adaptor's text. Beyond that it crowds out what the user attached.
MOST_CHARACTERS = 40_000

_IN_FULL = 4  # operations described with their parameters and examples
_EXAMPLES = 2
_LONGEST_EXAMPLE = 700  # characters
_LONGEST_PROPERTY = 160

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# What people say for what operations are called.
_SAME = {
    "fetch": "get", "read": "get", "retrieve": "get", "download": "get", "pull": "get",
    "send": "post", "submit": "post", "upload": "post", "push": "post", "add": "create",
    "new": "create", "register": "create", "save": "insert", "write": "insert", "store": "insert",
    "change": "update", "modify": "update", "edit": "update", "replace": "put", "delete": "remove",
    "destroy": "remove", "del": "remove", "search": "find", "lookup": "find", "sync": "upsert",
    "loop": "each", "iterate": "each", "select": "query", "list": "get", "import": "create",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdaptorText:
    """Text for the `<adaptor>` block, "" when there is nothing to say.

    `specifier` is what the text describes, None when it describes nothing; `note` is a sentence for
    the trace when that is not what the step uses, or when fetching failed.
    """

    text: str
    specifier: str | None = None
    note: str | None = None


def render_docs(docs: AdaptorDocs, request: str, remark: str | None = None) -> str:
    """An adaptor's documentation for one request, within `MOST_CHARACTERS`."""
    own = _ranked([op for op in docs.operations if not op.common], request)
    full, brief = own[:_IN_FULL], own[_IN_FULL:]
    common = [op for op in docs.operations if op.common]
    wanted = [op for op in common if _relevance(op, _words(request)) >= _NAMED]
    head = [docs.specifier + (f" ({docs.label})" if docs.label else "")]
    entries = [
        *([remark] if remark else []),
        *(_in_full(op) for op in [*full, *wanted]),
        *_types(docs, [*full, *wanted]),
        *(_brief(op) for op in brief),
        _signatures("Also available", [op for op in common if op not in wanted]),
    ]
    return _within(head, entries)


def render_signatures(adaptor: Adaptor, request: str, remark: str | None = None) -> str:
    """What the catalogue knows of an adaptor: its signatures, the ones asked about first."""
    operations = [_from_signature(signature) for signature in adaptor.operations]
    ranked = [op.signature for op in _ranked(operations, request)]
    system = adaptor.system and adaptor.system.casefold() != adaptor.name.casefold()
    head = [adaptor.specifier + (f" ({adaptor.system})" if system else "")]
    return _within(head, [*([remark] if remark else []), *ranked], separator="\n")


_NAMED = 3.0  # the relevance of an operation whose name the request uses


def _words(text: str) -> set[str]:
    """The words of a text, camel case taken apart, plurals and near synonyms added as one."""
    found = {word.lower() for word in _WORD.findall(text)}
    found |= {word.lower() for word in re.findall(r"\w+", text)}
    long = {word for word in found if len(word) > 1}
    singular = {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in long}
    return singular | {_SAME[word] for word in singular if word in _SAME}


def _relevance(operation: Operation, request: set[str]) -> float:
    name = _words(operation.name)
    about = _words(" ".join([operation.description, *(p.name for p in operation.parameters)]))
    shown = _words(" ".join(e.caption for e in operation.examples))
    return (
        _NAMED * (bool(name) and name <= request)
        + 2 * len(name & request)
        + 0.2 * len(about & request)
        + 0.1 * len(shown & request)
    )


def _ranked(operations: Iterable[Operation], request: str) -> list[Operation]:
    """Most relevant first; those equally relevant stay in the package's own order."""
    words = _words(request)
    return sorted(operations, key=lambda op: -_relevance(op, words))


def _in_full(operation: Operation) -> str:
    lines = [operation.signature]
    if operation.description:
        lines.append(_indented(operation.description))
    lines += [f"  - {_described(p)}" for p in operation.parameters if p.type or p.description]
    for example in operation.examples[:_EXAMPLES]:
        if example.code and len(example.code) <= _LONGEST_EXAMPLE:
            caption = f" ({example.caption})" if example.caption else ""
            lines.append(f"  Example{caption}:\n{_indented(example.code, 4)}")
    return "\n".join(lines)


def _brief(operation: Operation) -> str:
    sentence = re.split(r"(?<=[.!?])\s|\n", operation.description, maxsplit=1)[0]
    return operation.signature + (f"\n  {sentence}" if sentence else "")


def _described(parameter: Parameter, longest: int = 1_000) -> str:
    kind = f" ({parameter.type})" if parameter.type else ""
    text = shorten(parameter.description, longest, placeholder=" …")
    return f"{parameter.name}{kind}" + (f": {text}" if text else "")


def _types(docs: AdaptorDocs, operations: Iterable[Operation]) -> Iterator[str]:
    """The types that these operations' parameters name, each with its properties."""
    named = {
        word
        for operation in operations
        for parameter in operation.parameters
        for word in re.findall(r"\w+", parameter.type)
    }
    for type_ in docs.types:
        if type_.name in named:
            rows = [f"  - {_described(p, _LONGEST_PROPERTY)}" for p in type_.properties]
            yield "\n".join([f"{type_.name}:", *rows])


def _signatures(title: str, operations: Iterable[Operation]) -> str:
    names = ", ".join(op.signature for op in operations)
    return f"{title}: {names}" if names else ""


def _within(head: list[str], entries: Iterable[str], separator: str = "\n\n") -> str:
    """The entries that fit, and how many did not."""
    kept = [entry for entry in entries if entry]
    text = separator.join([*head, *kept])
    left_out = 0
    while len(text) > MOST_CHARACTERS and kept:
        kept.pop()
        left_out += 1
        text = separator.join([*head, *kept, f"({left_out} more entries are left out.)"])
    return text


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(" " * by + line if line.strip() else "" for line in text.splitlines())


def _from_signature(signature: str) -> Operation:
    name, _, rest = signature.partition("(")
    names = [part.strip() for part in rest.rstrip(")").split(",") if part.strip()]
    return Operation(name=name, parameters=tuple(Parameter(name=part) for part in names))

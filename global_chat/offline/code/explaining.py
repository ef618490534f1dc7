"""What code does, read from its structure: operations in order, what it reads and writes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..language.folding import name_words
from ..language.mentions import alike
from ..language.saying import Voice
from .javascript import Code
from .state_keys import key_uses

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 90  # characters of an argument that are shown


def explain(code_text: str, name: str, voice: Voice) -> str:
    """Operations in order with their first argument, and the state keys read and written."""
    code = Code(code_text)
    operations = code.operations()
    if not code_text.strip() or not (operations or code.statements):
        return voice.say("empty_code", step=name)
    lines = [voice.say("explains", step=name)]
    lines += [f"{n}. {_operation(code, o)}" for n, o in enumerate(operations, start=1)]
    read, written = state_keys(code)
    if read:
        lines.append(voice.say("reads", keys=_listed(read)))
    if written:
        lines.append(voice.say("writes", keys=_listed(written)))
    comments = [code.of(n).lstrip("/* ").strip() for n in code.walk("comment")]
    if comments:
        lines.append(voice.say("comments", text=" / ".join(comments)[:300]))
    return "\n".join(lines)


def state_keys(code: Code) -> tuple[list[str], list[str]]:
    """Keys of the state that code reads, and those that it writes, each once."""
    uses = key_uses(code)
    written = list(dict.fromkeys(u.key for u in uses if u.writes))
    read = list(dict.fromkeys(u.key for u in uses if not u.writes))
    return [k for k in read if k not in ("configuration",)], written


def _operation(code: Code, operation: Node) -> str:
    call = code.first_call(operation)
    arguments = call.child_by_field_name("arguments")
    shown = (
        [_argument(code, a) for a in arguments.named_children[:2]] if arguments is not None else []
    )
    text = f"`{code.called(call)}({', '.join(shown)})`"
    chained = [
        name
        for name in (".then", ".catch")
        if f"){name}(" in code.of(operation).replace("\n", "").replace(" ", "")
    ]
    return f"{text} {' '.join(f'`{name}`' for name in chained)}".strip()


def _argument(code: Code, node: Node) -> str:
    if node.type in ("arrow_function", "function_expression"):
        return "state => …"
    text = " ".join(code.of(node).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _listed(keys: list[str]) -> str:
    return ", ".join(f"`state.{key}`" for key in keys)


def around(code_text: str, words: Collection[str]) -> list[str]:
    """The lines of code that hold any of some folded words, for quoting; at most eight."""
    found = []
    for line in code_text.splitlines():
        if any(alike(word, own) for own in name_words(line) for word in words):
            found.append(line.strip())
    return list(dict.fromkeys(found))[:8]

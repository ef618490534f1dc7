"""Evidence for one turn: run logs and dataclips, and how each reaches an agent.

The text is never trimmed or rewritten: an answer must not rest on evidence that the user
believes was read in full. What is too large is refused before any model is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import AttachmentTooLarge
from .texts import one_line, shortened

# The limit, in characters of all attachments of a turn as rendered, tags included. It is what the
# smallest model that we support as a subagent can still read:
#
#   context window                                       200,000 tokens
#   - room for the reply and its thinking (max_tokens)    32,000
#   - static prompt, workflow outline, one step's code    12,000
#   - adaptor documentation, at most 40,000 characters    12,000
#   - history and the request                             19,000
#   = what attachments may take                          125,000 tokens
#
# Logs and JSON run at two characters a token at worst: 125,000 x 2.
MAX_CHARACTERS = 250_000

#: The block of a prompt that each attachment type is rendered in. A new type is one line here: it
#: reaches every agent. Blocks are rendered in the order in which they are first named.
FIELD_OF_TYPE: dict[str, str] = {
    "input_dataclip": "input",
    "run_input": "input",
    "output_dataclip": "output",
    "run_output": "output",
    "log": "run_logs",
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """One piece of evidence. `content` is the text that travels, byte for byte."""

    type: str
    content: str


def as_text(content: object) -> str:
    """The text of an attachment's content as the payload gives it.

    Text is returned untouched; a list of lines is joined by newlines; any other JSON value becomes
    JSON indented by two spaces, with characters and number literals as they were.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        return "\n".join(content)
    return _json_text(content, "")


def _json_text(value: Any, indent: str) -> str:
    """Indented JSON that keeps a `Decimal`'s own digits, which `json` would round to a float."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        rows = [f"{inner}{_key(k)}: {_json_text(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        rows = [inner + _json_text(v, inner) for v in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _key(key: object) -> str:
    return json.dumps(key if isinstance(key, str) else str(key), ensure_ascii=False)


def select(attachments: Iterable[Attachment], types: Sequence[str]) -> tuple[Attachment, ...]:
    """The attachments of the named types, in their own order. Naming nothing selects nothing."""
    return tuple(a for a in attachments if a.type in types)


def fields(attachments: Iterable[Attachment]) -> dict[str, str]:
    """Attachments by prompt field, in the mapping's order.

    Two that share a field are both kept, each labelled with its type.
    """
    grouped: dict[str, list[Attachment]] = {field: [] for field in FIELD_OF_TYPE.values()}
    for attachment in attachments:
        field = FIELD_OF_TYPE.get(attachment.type)
        if field is not None:
            grouped[field].append(attachment)
    return {field: _joined(group) for field, group in grouped.items() if group}


def _joined(group: list[Attachment]) -> str:
    if len(group) == 1:
        return group[0].content
    return "\n\n".join(f"[{a.type}]\n{a.content}" for a in group)


def without_field(attachments: Iterable[Attachment]) -> tuple[str, ...]:
    """The types that no prompt field takes, in order, each once."""
    return tuple(dict.fromkeys(a.type for a in attachments if a.type not in FIELD_OF_TYPE))


def block(tag: str, text: str) -> str:
    """`text` between `<tag>` and `</tag>`, marked so that the text cannot close it early.

    The text itself is not changed. When it holds the closing tag, in any spelling that a reader
    could take for it, the tag gets a suffix that the text does not hold, so that evidence which
    anyone can write into stays data.
    """
    name, number = tag, 1
    while re.search(rf"</\s*{name}\s*>", text, re.IGNORECASE):
        number += 1
        name = f"{tag}_{number}"
    return f"<{name}>\n{text}\n</{name}>"


#: A name or a sentence that stands in a prompt outside of blocks is cut here, in characters.
LONGEST_INLINE = 1_000


def inline(text: str) -> str:
    """`text` on one line in which no tag begins, to stand in a sentence to a model.

    For whatever a document, a payload or a file's name brings: it is data, and neither a line of
    its own nor the end of a block may make an order of it.
    """
    return re.sub(r"<(?=\s*/?\s*\w)", "‹", shortened(one_line(text), LONGEST_INLINE))


def listed(texts: Iterable[str]) -> str:
    """One line for each text, behind a hyphen."""
    return "\n".join(f"- {inline(text)}" for text in texts)


def render(attachments: Sequence[Attachment]) -> str:
    """All attachments as prompt blocks, in the mapping's order; types without a field last."""
    blocks = [block(name, text) for name, text in fields(attachments).items()]
    for type_ in without_field(attachments):
        body = _joined([a for a in attachments if a.type == type_])
        blocks.append(block("attachment", f"[{type_}]\n{body}"))
    return "\n\n".join(blocks)


def check_size(attachments: Sequence[Attachment]) -> None:
    """Refuse a turn whose attachments are over `MAX_CHARACTERS` as rendered.

    Raises `AttachmentTooLarge`, which names the largest so that the user can shorten it.
    """
    total = len(render(attachments))
    if total <= MAX_CHARACTERS:
        return
    largest = max(attachments, key=lambda a: len(a.content))
    size = len(largest.content)
    raise AttachmentTooLarge(
        f"The attachments come to {total:,} characters; a turn can read {MAX_CHARACTERS:,}. "
        f"The largest is the {largest.type!r} attachment with {size:,}: attach the part that "
        "matters, such as the failing step's lines.",
        details={
            "total_characters": total,
            "limit_characters": MAX_CHARACTERS,
            "largest_attachment": {"type": largest.type, "characters": size},
        },
    )

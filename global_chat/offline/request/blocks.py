"""The tagged blocks of a prompt, such as `<user_code>`, taken out again exactly.

The prompts' own writer guarantees that a block's text never holds its closing tag, and numbers the
tag (`<run_logs_2>`) where the text would; blocks are read one after the other, so that a tag inside
of a block's text is text.
"""

from __future__ import annotations

import re

TAGS = (
    "existing_workflow",
    "workflow_structure",
    "recent_turns",
    "attachment",
    "user_code",
    "run_logs",
    "workflow",
    "attached",
    "adaptor",
    "request",
    "output",
    "input",
    "code",
    "page",
)
_OPENING = re.compile(rf"^<(?P<tag>{'|'.join(TAGS)})(?P<number>_\d+)?>\n", re.MULTILINE)


def read_blocks(text: str) -> list[tuple[str, str]]:
    """Every block of `text` in order, as its tag and the text inside."""
    found: list[tuple[str, str]] = []
    position = 0
    while opening := _OPENING.search(text, position):
        closing = f"\n</{opening['tag']}{opening['number'] or ''}>"
        end = text.find(closing, opening.end() - 1)
        if end < 0:
            position = opening.end()
            continue
        found.append((opening["tag"], text[opening.end() : max(end, opening.end())]))
        position = end + len(closing)
    return found


def first_blocks(text: str) -> dict[str, str]:
    """The first block of each tag."""
    found: dict[str, str] = {}
    for tag, inside in read_blocks(text):
        found.setdefault(tag, inside)
    return found

"""Makes text from models, logs and step names harmless on a terminal. Files keep the original.

Every character is judged alone, so it does not matter how a stream cuts an escape sequence.
"""

from __future__ import annotations

_UNSEEN = "\N{REPLACEMENT CHARACTER}"

#: What each character that steers a terminal, or the direction of text, is shown as.
_SHOWN: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # ESC as ␛
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(range(0x80, 0xA0), _UNSEEN),  # 8-bit forms of the same sequences
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], _UNSEEN),
    **dict.fromkeys(range(0xD800, 0xE000), _UNSEEN),  # half of a pair: no stream can carry it
    0x2028: _UNSEEN,
    0x2029: _UNSEEN,
    ord("\r"): None,  # would draw over the line
}
del _SHOWN[ord("\t")], _SHOWN[ord("\n")]

#: The same for JSON texts, which hold the characters below these as escapes already.
_ESCAPED = {code: f"\\u{code:04x}" for code in _SHOWN if code >= 0x7F}


def clean(text: str) -> str:
    """`text` with tabs and newlines kept and every other control character made visible.

    Directional overrides and isolates become U+FFFD: they make text read as what it is not.
    """
    return text.translate(_SHOWN)


def escaped_json(text: str) -> str:
    """The same JSON as `text`, with whatever would steer a terminal as an escape."""
    return text.translate(_ESCAPED)


def one_line(text: str) -> str:
    """`clean`, and on one line: so that a name cannot pretend to be a line of its own."""
    return " ".join(clean(text).split())

"""Text on its way to a screen: harmless to a terminal, on a stream that never fails.

Files keep the original. Every character is judged alone, so it does not matter how a stream of
text cuts an escape sequence.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TextIO

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_UNSEEN = "\N{REPLACEMENT CHARACTER}"

#: What each character that steers a terminal, or the direction of text, is shown as.
_SHOWN: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # ESC as ␛
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(range(0x80, 0xA0), _UNSEEN),  # 8-bit forms of the same sequences
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], _UNSEEN),
    **dict.fromkeys(range(0xD800, 0xE000), _UNSEEN),  # lone surrogates: no stream can carry them
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


def counted(number: int, noun: str) -> str:
    """`1 page`, `1,204 pages`: for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def diff_lines(before: str, after: str) -> Iterator[str]:
    """Unified diff lines with three lines of context, without the two file names."""
    old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    return islice(difflib.unified_diff(old, new, lineterm=""), 2, None)


def patch(name: str, before: str | None, after: str) -> str:
    """The difference as `patch` and `git apply` read it, every byte as it is; None is no file."""
    old, new = (_LINE.findall(text or "") for text in (before, after))
    start = "/dev/null" if before is None else f"a/{name}"
    lines = difflib.unified_diff(old, new, start, f"b/{name}")
    unended = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + unended for line in lines)


#: Stand-ins for the program's own signs and for usual typography, where an encoding has none. Each
#: is as wide as what it stands for, so that nothing that was measured moves.
_STAND_INS = {
    **{"→": ">", "·": "-", "…": ".", "−": "-", "–": "-", "—": "-", "×": "x", "•": "*"},
    **{"‘": "'", "’": "'", "“": '"', "”": '"', "─": "-", "␛": "^"},
    **{"✔": "+", "✘": "x", "⇢": ">"},
}
_REPLACING, _ESCAPING = "global_chat.stand_in", "global_chat.json_escape"


def _register(name: str, instead: Callable[[str], str]) -> None:
    def handle(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        return instead(error.object[error.start : error.end]), error.end

    codecs.register_error(name, handle)


_register(_REPLACING, lambda lacking: "".join(_STAND_INS.get(sign, "?") for sign in lacking))
_register(_ESCAPING, lambda lacking: json.dumps(lacking)[1:-1])


class Stream:
    """Stands in front of standard output or standard error.

    What the encoding lacks is replaced. When the reader has gone (`| head -1`), or nothing more
    can be written for any other reason, all later text is swallowed; `error` is that other reason.
    """

    error: OSError | None = None

    def __init__(self, raw: TextIO | None) -> None:
        """`raw` is None when the process was started with the stream closed."""
        self._raw = raw
        self.encoding: str = getattr(raw, "encoding", None) or "utf-8"

    def write(self, text: str, lacking: str = _REPLACING) -> int:
        if self._raw is not None:
            try:
                self._raw.write(text.encode(self.encoding, lacking).decode(self.encoding))
            except (OSError, ValueError) as error:
                self._let_go(self._raw, error)
        return len(text)

    def flush(self) -> None:
        if self._raw is not None:
            try:
                self._raw.flush()
            except (OSError, ValueError) as error:
                self._let_go(self._raw, error)

    def line(self, text: str) -> None:
        """Write `text` and a newline, now."""
        self.write(text + "\n")
        self.flush()

    def json(self, text: str) -> None:
        """Write a JSON text and a newline, now, so that it reads back as the same JSON.

        What the encoding lacks, or what would steer a terminal, becomes a JSON escape.
        """
        self.write(escaped_json(text) + "\n", _ESCAPING)
        self.flush()

    def isatty(self) -> bool:
        return self._raw is not None and not self._raw.closed and self._raw.isatty()

    def fileno(self) -> int:
        if self._raw is None:
            raise OSError("the stream is closed")
        return self._raw.fileno()

    def _let_go(self, raw: TextIO, error: Exception) -> None:
        """Python flushes what it still holds when it exits, and would complain about it there."""
        self._raw = None
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            self.error = error
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, raw.fileno())
            os.close(nowhere)

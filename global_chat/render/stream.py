"""A text stream that shows what it can and never fails: drawing must not cost anyone the turn."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
from typing import TextIO

from .safe_text import escaped_json

#: Stand-ins for the program's own signs and for usual typography, where an encoding has none. Each
#: is as wide as what it stands for, so that nothing that was measured moves.
_STAND_INS = {
    **{"→": ">", "·": "-", "…": ".", "−": "-", "–": "-", "—": "-", "×": "x", "•": "*"},
    **{"‘": "'", "’": "'", "“": '"', "”": '"', "─": "-", "␛": "^"},
    **{"✔": "+", "✘": "x", "⇢": ">"},
}
_REPLACING, _ESCAPING = "global_chat.stand_in", "global_chat.json_escape"


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(sign, "?") for sign in lacking), error.end


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_REPLACING, _stand_in)
codecs.register_error(_ESCAPING, _json_escape)


class Stream:
    """Stands in front of standard output or standard error.

    What the encoding lacks is replaced. When the reader has gone (`| head -1`), or nothing more
    can be written for any other reason, all later text is swallowed.
    """

    def __init__(self, raw: TextIO | None) -> None:
        """`raw` is None when the process was started with the stream closed."""
        self._raw = raw
        self.encoding: str = getattr(raw, "encoding", None) or "utf-8"

    def write(self, text: str, lacking: str = _REPLACING) -> int:
        if self._raw is not None:
            try:
                self._raw.write(text.encode(self.encoding, lacking).decode(self.encoding))
            except (OSError, ValueError):
                self._let_go(self._raw)
        return len(text)

    def flush(self) -> None:
        if self._raw is not None:
            try:
                self._raw.flush()
            except (OSError, ValueError):
                self._let_go(self._raw)

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

    def _let_go(self, raw: TextIO) -> None:
        """Python flushes what it still holds when it exits, and would complain about it there."""
        self._raw = None
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, raw.fileno())
            os.close(nowhere)

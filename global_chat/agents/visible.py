"""Text that the user sees while it arrives, and never sees twice."""

from __future__ import annotations

from global_chat.contract.events import Emit, TextDelta, TextEnded, TextRestarted


class VisibleText:
    """A listener that shows each piece at once.

    When the reply begins again after some of it was shown, the new pieces are held until they
    either go on from what was shown, which is then simply continued, or say something else, which
    is announced by `TextRestarted`.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._shown = ""
        self._again: str | None = None

    def piece(self, text: str) -> None:
        if self._again is not None:
            self._compare(self._again + text)
            return
        self._show(text if self._shown else text.lstrip())

    def restart(self) -> None:
        if self._shown:
            self._again = ""

    def end(self) -> None:
        """The block is complete."""
        if self._again is not None and self._again != self._shown:
            self._replace(self._again)
        if self._shown:
            self._emit(TextEnded())
        self._shown, self._again = "", None

    def withdraw(self) -> None:
        """What a broken attempt had shown does not stand, and nothing takes its place here."""
        if self._shown:
            self._emit(TextRestarted())
        self._shown, self._again = "", None

    def _compare(self, again: str) -> None:
        self._again = again = again.lstrip()
        if again.startswith(self._shown):
            rest, self._again = again[len(self._shown) :], None
            self._show(rest)
        elif not self._shown.startswith(again):
            self._replace(again)

    def _replace(self, text: str) -> None:
        self._emit(TextRestarted())
        self._shown, self._again = "", None
        self._show(text)

    def _show(self, text: str) -> None:
        if text:
            self._shown += text
            self._emit(TextDelta(text))


def say(emit: Emit, text: str) -> None:
    """Show a complete block of text."""
    emit(TextDelta(text))
    emit(TextEnded())

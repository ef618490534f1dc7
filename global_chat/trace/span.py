"""One span of a trace, and what takes spans."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

Kind = Literal[
    "turn", "routing", "model_call", "tool_call", "handover", "stitch", "warning", "note"
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of a turn. Times are nanoseconds since 1970; `number` counts from 1 in the turn.

    `fields` holds facts for whoever reads the trace: never a prompt, an answer, code or a secret.
    """

    kind: Kind
    turn_id: str
    number: int
    start_ns: int
    parent: Span | None = None
    end_ns: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.end_ns is None

    @property
    def root(self) -> Span:
        """The turn's own span."""
        return self.parent.root if self.parent else self

    @property
    def milliseconds(self) -> float:
        """How long it lasted, or 0 while it lasts."""
        return round(((self.end_ns or self.start_ns) - self.start_ns) / 1e6, 3)

    def as_dict(self) -> dict[str, Any]:
        """The row of the trace file. What does not apply is left out."""
        start = _EPOCH + timedelta(microseconds=self.start_ns // 1000)
        return {
            "kind": self.kind,
            "turn_id": self.turn_id,
            "span": self.number,
            **({"parent": self.parent.number} if self.parent else {}),
            "start": start.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "ms": self.milliseconds,
            **{name: value for name, value in self.fields.items() if value is not None},
        }


class Sink(Protocol):
    """Told of each span twice, when it opens and when it closes. It must not raise."""

    def opened(self, span: Span) -> None: ...

    def closed(self, span: Span) -> None: ...

"""The parts of a workflow as everything else sees them, whatever form the document has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Literal

from global_chat.yaml.nodes import Value

Severity = Literal["error", "warning"]

#: The body of a step without code, as the app writes it.
EMPTY_BODY = "// Add operations here\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One step (job). `key` is its text in the document: the mapping key, or the list item's `id`.

    `code` is the decoded body with `\\n` line ends; None when the step has no body, a null one, or
    a reference to a file, which is then `code_path`. `id` is the app's own identifier (`id`, or
    `openfn.uuid` in the portability form). `line` counts from 1 in the source.
    """

    key: str
    name: str
    adaptor: str | None = None
    code: str | None = None
    code_path: str | None = None
    id: str | None = None
    line: int = 0

    @property
    def has_code(self) -> bool:
        """Whether the body holds more than blanks and the empty-step marker."""
        lines = (line.strip().lower() for line in StringIO(self.code or "", newline=None))
        return any(line and not line.startswith("// add operations here") for line in lines)


@dataclass(frozen=True, slots=True)
class Trigger:
    """What starts a workflow. `type` is webhook, cron or kafka in a valid document.

    `settings` holds what else the app keeps for it, each under its name in the app's export
    whatever form the document has: `webhook_reply`, `webhook_response_config`, `custom_path`,
    `cron_cursor_job` (the key of a step) and `kafka_configuration`. Secrets are left out.
    """

    key: str
    type: str | None = None
    enabled: bool | None = None
    cron_expression: str | None = None
    id: str | None = None
    line: int = 0
    settings: Mapping[str, Value] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """A path between two parts. Exactly one of the sources is set in a valid document."""

    key: str
    target: str | None
    source_trigger: str | None = None
    source_step: str | None = None
    condition_type: str | None = None
    condition_expression: str | None = None
    condition_label: str | None = None
    enabled: bool | None = None
    id: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a document. `rule` is a stable name; line and column count from 1."""

    severity: Severity
    rule: str
    message: str
    line: int | None = None
    column: int | None = None
    suggestion: str | None = None

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}: " if self.line else ""
        return f"{where}{self.message}{f' {self.suggestion}' if self.suggestion else ''}"


@dataclass(frozen=True, slots=True)
class Page:
    """Where the user is in the app: `workflows/<workflow>[/settings | /<step>]`."""

    workflow: str | None = None
    step: str | None = None
    settings: bool = False

    @classmethod
    def parse(cls, page: str | None) -> Page:
        """Read a page; whatever is not a page of a workflow names nothing.

        The step is everything after the workflow segment, so it may contain `/`.
        """
        parts = (page or "").strip().strip("/").split("/", 2)
        if parts[0] != "workflows" or len(parts) < 2 or not parts[1]:
            return cls()
        rest = parts[2] if len(parts) == 3 else ""
        if rest == "settings":
            return cls(workflow=parts[1], settings=True)
        return cls(workflow=parts[1], step=rest or None)

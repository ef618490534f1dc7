"""What is known of an adaptor's code, as plain data for whoever checks a step's code against it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AdaptorFacts:
    """The names that a step with this adaptor may use, dotted where they have a namespace.

    `operations` stand at the top level (None: not known), `others` do not: helpers, readers,
    libraries. Both hold what the adaptor includes from common and other packages. Of a namespace in
    `open_namespaces` not every name is known.
    """

    package: str
    operations: frozenset[str] | None = None
    others: frozenset[str] = frozenset()
    open_namespaces: frozenset[str] = field(default_factory=frozenset)

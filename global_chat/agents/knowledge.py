"""What agents may look up, as a seam: the wiring decides what stands behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from global_chat.contract.adaptor_facts import AdaptorFacts


class Knowledge(Protocol):
    """Documentation and the adaptor catalogue. Texts are ready to be shown to a model."""

    def adaptor_lines(self) -> str:
        """The catalogue as short lines for the workflow agent; empty when there is none."""
        ...

    def adaptor_versions(self) -> Mapping[str, Collection[str]]:
        """Known versions by package name; empty means that nothing is known."""
        ...

    async def adaptor_docs(self, specifier: str, request: str) -> str:
        """What `specifier` (`@openfn/language-http@7.3.2`) offers, for the `<adaptor>` block."""
        ...

    async def passages(self, request: str, adaptor: str) -> str:
        """Passages for the `<documentation>` block that fit a request and the step's adaptor.

        At most 3,500 characters; "" when none fits well, or when there is no documentation.
        """
        ...

    def operations_of(self, specifier: str) -> AdaptorFacts | None:
        """What code for this adaptor may call; None when that is not known."""
        ...

    async def search(self, query: str) -> str:
        """Passages that answer `query`, with titles and sources."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What the trace should say about the look-ups of this turn, such as docs not found."""
        ...


class NoKnowledge:
    """Stands for a knowledge with nothing in it: says so, and only names the adaptor in use."""

    def adaptor_lines(self) -> str:
        return ""

    def adaptor_versions(self) -> Mapping[str, Collection[str]]:
        return {}

    async def adaptor_docs(self, specifier: str, request: str) -> str:  # noqa: ARG002
        return specifier

    async def passages(self, request: str, adaptor: str) -> str:  # noqa: ARG002
        return ""

    def operations_of(self, specifier: str) -> AdaptorFacts | None:  # noqa: ARG002
        return None

    async def search(self, query: str) -> str:  # noqa: ARG002
        return "No documentation is indexed yet. Answer from what you know, and say so."

    def notes(self) -> tuple[str, ...]:
        return ()

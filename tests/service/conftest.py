"""Fixtures of the service tier."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.messages_server import MessagesServer


@pytest.fixture
def messages_server() -> Iterator[MessagesServer]:
    """A Messages API server on 127.0.0.1, with no answers yet."""
    with MessagesServer() as server:
        yield server

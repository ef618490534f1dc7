"""Fixtures of the service tier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.command_line import CommandLine
from tests.service.messages_server import MessagesServer


@pytest.fixture
def messages_server() -> Iterator[MessagesServer]:
    """A Messages API server on 127.0.0.1, with no answers yet."""
    with MessagesServer() as server:
        yield server


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in a folder of its own, with nothing set in its environment."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GLOBAL_CHAT_CONFIG", "GLOBAL_CHAT_REGISTRY", "npm_config_registry", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GLOBAL_CHAT_CACHE", str(tmp_path / ".cache"))
    for name in ("STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / ".cache"))
    # No server of the tests has a certificate, and reading the usual ones takes time in every turn.
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path)

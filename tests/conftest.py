"""What holds for every test: in the default tiers nothing reaches beyond this machine."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does, and is no promise.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_LIVE = ("integration", "acceptance")
_SYSTEM_CERTIFICATES = ssl.get_default_verify_paths().openssl_cafile


@pytest.fixture(autouse=True)
def network_guard(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Fail a test that tries to reach another machine, even if its code swallows the refusal."""
    if any(request.node.get_closest_marker(tier) for tier in _LIVE):
        yield
        return
    attempts: list[str] = []

    def refuse(host: object) -> None:
        attempts.append(str(host))
        raise ConnectionRefusedError(f"tests may not reach {host}")

    def guarded(original: Any) -> Any:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
                refuse(address[0])
            return original(self, address)

        return connect

    load = ssl.SSLContext.load_verify_locations

    def load_others(self: ssl.SSLContext, cafile: Any = None, *more: Any, **named: Any) -> None:
        # They take 0.1 s a client, and nothing that is reached from here has a certificate.
        if cafile != _SYSTEM_CERTIFICATES:
            load(self, cafile, *more, **named)

    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host is not None and not _is_here(host):
            refuse(host)
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", load_others)
    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    yield
    if attempts:
        pytest.fail(f"the test tried to reach {', '.join(attempts)}", pytrace=False)


def _is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False

"""The guard that keeps tests on this machine works, and lets the live tiers through."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.unit

#: An address that is set aside for documentation and belongs to nobody (RFC 5737).
ELSEWHERE = "203.0.113.7"


@pytest.fixture
def guarded(pytester: pytest.Pytester) -> pytest.Pytester:
    conftest = Path(__file__).parents[1] / "conftest.py"
    pytester.makeconftest(conftest.read_text(encoding="utf-8"))
    pytester.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nmarkers =\n  integration\n"
    )
    return pytester


@pytest.mark.parametrize(
    "attempt",
    [
        f"socket.create_connection(('{ELSEWHERE}', 80), timeout=0.1)",
        f"with socket.socket() as out: out.connect_ex(('{ELSEWHERE}', 80))",
        "socket.getaddrinfo('example.org', 443)",
    ],
)
def test_a_test_that_reaches_out_fails_even_if_it_swallows_the_refusal(
    guarded: pytest.Pytester, attempt: str
) -> None:
    guarded.makepyfile(
        f"import contextlib, socket\n"
        f"def test_out():\n    with contextlib.suppress(OSError):\n        {attempt}\n"
    )
    result = guarded.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the test tried to reach*"])


def test_this_machine_can_be_reached(guarded: pytest.Pytester) -> None:
    guarded.makepyfile(
        "import socket\n"
        "def test_here():\n"
        "    with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "        socket.create_connection(('localhost', server.getsockname()[1])).close()\n"
    )
    guarded.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_live_tiers_are_not_guarded(guarded: pytest.Pytester) -> None:
    guarded.makepyfile(
        "import pytest, socket\n"
        "@pytest.mark.integration\n"
        "def test_live():\n"
        f"    assert id(socket.socket.connect) == {id(socket.socket.connect)}\n"
    )
    guarded.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)

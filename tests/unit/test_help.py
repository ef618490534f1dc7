"""`--help`: the same words for everybody until somebody means to change them, and quick."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.main import get_command
from typer.testing import CliRunner

from global_chat.cli.app import app

pytestmark = pytest.mark.unit

#: What no help may wait for. Typer itself draws it with Rich, and checks a command's options with
#: pydantic, which only the first help of all does without.
HEAVY = {"anthropic", "numpy", "opentelemetry", "ruamel", "sqlite3", "tree_sitter", "wordllama"}


def commands() -> Iterator[tuple[str, ...]]:
    """The words of each command and each group of commands, the program itself first."""

    def below(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
        yield words
        for name, child in getattr(command, "commands", {}).items():
            yield from below((*words, name), child)

    yield from below((), get_command(app))


COMMANDS = list(commands())


def help_of(words: tuple[str, ...]) -> str:
    """What `--help` prints on a terminal of 80 columns."""
    environment = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    ran = CliRunner().invoke(app, [*words, "--help"], env=environment, prog_name="global-chat")
    assert (ran.exit_code, ran.stderr) == (0, "")
    return "\n".join(line.rstrip() for line in ran.stdout.splitlines())


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "global-chat")
def test_help(words: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    assert help_of(words) == snapshot


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "global-chat")
def test_help_has_one_example_of_the_command(words: tuple[str, ...]) -> None:
    said = " ".join([*help_of(words).split(), ""])
    assert said.count("Example:") == 1
    assert f"Example: {' '.join(('global-chat', *words))} " in said


def test_help_fits_a_narrow_terminal() -> None:
    environment = {"COLUMNS": "60", "TERM": "dumb"}
    for words in COMMANDS:
        shown = CliRunner().invoke(app, [*words, "--help"], env=environment).stdout
        assert max(map(len, shown.splitlines())) <= 60


@pytest.mark.parametrize(
    ("asked", "light"), [(COMMANDS[:1], {"pydantic", *HEAVY}), (COMMANDS[1:], HEAVY)]
)
def test_help_loads_nothing_heavy(asked: list[tuple[str, ...]], light: set[str]) -> None:
    """In a process of its own, because the tests have loaded everything already."""
    program = f"""
import sys
from typer.testing import CliRunner
from global_chat.cli.app import app
for words in {asked!r}:
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0
print(*sys.modules)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}
    assert "typer" in loaded
    assert loaded & light == set()

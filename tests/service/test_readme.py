"""The README's commands run as they are written.

A fenced block marked `sh` is run from its first command to its last, all blocks in order, in a
copy of what a fresh clone holds. `sh live` needs a key and `sh setup` makes what the tests run in:
neither is run here. Any other mark after `sh` fails, so that no block is left out by a slip.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from global_chat.cli.app import app
from tests.service.command_line import INSTALLED

pytestmark = pytest.mark.service

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
NOT_RUN = {"live", "setup"}
#: Commands may write beside these, so they are copied; everything else is only linked to.
COPIED = {"payloads", "fixtures"}
LEFT_OUT = {".git", ".venv", "tmp"}


@dataclass(frozen=True)
class Block:
    """A fenced block of shell commands, with the line that it begins in."""

    marks: tuple[str, ...]
    commands: str
    line: int


def blocks_of(markdown: str) -> list[Block]:
    """The `sh` blocks of a Markdown text, in order."""
    found = []
    for token in MarkdownIt().parse(markdown):
        marks = token.info.split()
        if token.type == "fence" and token.map and marks[:1] == ["sh"]:
            found.append(Block(tuple(marks[1:]), token.content, token.map[0] + 1))
    return found


def problems(blocks: list[Block], folder: Path) -> list[str]:
    """What goes wrong when the blocks are run in `folder`, up to the first failure."""
    for block in blocks:
        if unknown := set(block.marks) - NOT_RUN:
            return [f"line {block.line}: sh {' '.join(unknown)} is not a mark that is known"]
        for line in () if block.marks else block.commands.replace("\\\n", "").splitlines():
            code, said = ran(line, folder)
            if code != 0:
                return [f"line {block.line}: exit code {code}\n{said[-2_000:]}"]
    return []


def ran(line: str, folder: Path) -> tuple[int, str]:
    """The exit code of a command line, and what it wrote to standard error.

    A plain call of the program runs in this process, which saves its start, a second each.
    """
    words = shlex.split(line, comments=True)
    if words[:1] == [".venv/bin/global-chat"] and not re.search(r"[|&;<>$`*]", line):
        given = environment(folder)
        hidden = dict.fromkeys(os.environ.keys() - given.keys())
        with contextlib.chdir(folder):
            ended = CliRunner().invoke(app, words[1:], env={**given, **hidden})
        return ended.exit_code, f"+ {line}\n{ended.stderr}{ended.exception or ''}"
    done = subprocess.run(
        ["sh", "-ex", "-c", line],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stderr


def environment(folder: Path) -> dict[str, str]:
    """A user's environment, without a key and without what `make` hands down."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "GLOBAL_CHAT_", "MAKE", "MFLAGS"))
    }
    return {**ours, "HOME": str(folder), "GLOBAL_CHAT_CACHE": str(folder / ".cache")}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder like the repository after `make setup`, in which the commands may write."""
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, tmp_path / entry.name)
        elif entry.name not in LEFT_OUT:
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def test_every_command_of_the_readme_runs_as_written(clone: Path) -> None:
    blocks = blocks_of(README.read_text("utf-8"))
    assert [block for block in blocks if not block.marks]
    assert problems(blocks, clone) == []


def test_every_link_of_the_readme_leads_somewhere() -> None:
    targets = [
        str(child.attrs["href"])
        for token in MarkdownIt().parse(README.read_text("utf-8"))
        for child in token.children or ()
        if child.type == "link_open"
    ]
    missing = [
        target
        for target in targets
        if not urlsplit(target).scheme and not (ROOT / urlsplit(target).path).exists()
    ]
    assert missing == []


SAMPLE = """\
# Sample

```sh setup
exit 3
```

1. A list, with a block in it:

   ```sh
   mkdir made
   echo one > made/file
   ```

```
false
```

```python
raise SystemExit(1)
```

```sh live
exit 4
```

````sh
cat made/file
````
"""
#: Where a block stands that is added to the sample.
PLACE = f"line {SAMPLE.count(chr(10)) + 1}"


def test_blocks_run_in_order_and_only_those_that_are_meant(tmp_path: Path) -> None:
    assert problems(blocks_of(SAMPLE), tmp_path) == []
    assert (tmp_path / "made/file").read_text() == "one\n"


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("```sh\ntrue\nfalse\ntrue\n```", f"{PLACE}: exit code 1\n+ false\n"),
        ("```sh\nno-such-command --help\n```", "no-such-command"),
        ("```sh lvie\nfalse\n```", "sh lvie is not a mark that is known"),
        (f"```sh\n'{INSTALLED}' run --input none.json\n```", f"{PLACE}: exit code 2\n"),
    ],
)
def test_a_command_that_fails_is_told_with_its_line(tmp_path: Path, block: str, says: str) -> None:
    [problem] = problems(blocks_of(f"{SAMPLE}{block}\n"), tmp_path)
    assert says in problem


def test_commands_have_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    assert problems(blocks_of('```sh\ntest -z "$ANTHROPIC_API_KEY"\n```'), tmp_path) == []

"""Draws the pictures of the README: commands that run here, as a wide terminal shows them.

`make pictures` writes them anew; a test compares them with what the commands show.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyte
from pyte.screens import Char
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
PROGRAM = Path(sys.executable).with_name("global-chat")
COLUMNS, ROWS = 100, 200

RESULT = "tmp/emoji-banners.workflow.yaml"
#: The commands by the name of their picture, in the order in which they run.
COMMANDS = {
    "misroute": "global-chat run --input payloads/emoji-banners.json "
    "--script payloads/emoji-banners.script.yaml --output-dir tmp",
    "diff": f"global-chat diff fixtures/workflows/donations-to-salesforce.yaml {RESULT}",
}

#: The font of Rich's template is on a host, and a picture should need none.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def draw() -> dict[str, str]:
    """The text of each picture, by its name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        for needed in ("payloads", "fixtures"):
            (folder / needed).symlink_to(ROOT / needed)
        return {name: _picture(command, folder) for name, command in COMMANDS.items()}


def _picture(command: str, folder: Path) -> str:
    screen = pyte.Screen(COLUMNS, ROWS)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(_sent(command, folder))
    rows = [_text(screen.buffer[y]) for y in range(ROWS)]
    while not rows[-1].plain.strip():
        rows.pop()
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True)
    console.print(Text(f"$ {command}", "bold"), *rows, sep="\n", soft_wrap=False)
    return console.export_svg(
        title="global-chat", theme=MONOKAI, code_format=FORMAT, unique_id="picture"
    )


def _sent(command: str, folder: Path) -> str:
    """What the command sends to a terminal. Times and tokens are the same in every picture."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    hidden = ("COLUMNS", "LINES", "COLORTERM", "NO_COLOR", "FORCE_COLOR")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    process = subprocess.Popen(
        [PROGRAM, *command.split()[1:]],
        cwd=folder,
        env={**environment, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    with suppress(OSError):  # how the end of a terminal reads
        while piece := os.read(ours, 65_536):
            sent += piece
    os.close(ours)
    process.wait()
    text = re.sub(r"· \d+\.\d s ·", "· 2.0 s ·", sent.decode())
    return re.sub(r"\d+,\d+ tokens in, \d+ out", "13,500 tokens in, 600 out", text)


def _text(row: dict[int, Char]) -> Text:
    cells = [(row[x].data, _style(row[x])) for x in range(COLUMNS)]
    text = Text.assemble(
        *(("".join(data for data, _ in run), style) for style, run in groupby(cells, itemgetter(1)))
    )
    text.rstrip()
    return text


def _style(char: Char) -> str:
    colour = char.fg.replace("brown", "yellow")  # pyte's name for it
    return " ".join(["bold"] * char.bold + [colour] * (colour != "default"))


if __name__ == "__main__":
    for name, svg in draw().items():
        (FOLDER / f"{name}.svg").write_text(svg, "utf-8")

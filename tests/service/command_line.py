"""The command line in tests: run in this process, which loads the SDK once, or as its own process.

A process of its own takes a second to start, so it is for what only a process shows: signals,
terminals, encodings, pipes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from global_chat.cli.app import app

INSTALLED = Path(sys.executable).with_name("global-chat")

BEFORE = "get('/visits');\n"
AFTER = "get('/visits', { query: { limit: 100 } });\n"
#: Without an adaptor, so that nothing is looked up.
WORKFLOW = f"name: One # the first\njobs:\n  fetch:\n    name: Fetch\n    body: |\n      {BEFORE}"
CHANGED = WORKFLOW.replace(BEFORE, AFTER)
PAYLOAD: dict[str, Any] = {
    "content": "Ask for 100 visits at a time",
    "page": "workflows/one/fetch",
    "workflow_yaml": WORKFLOW,
}
ANSWER = "I limited the page size ✓ 患者 🐱."
EDIT = {"code_edits": [{"action": "rewrite", "new_code": AFTER}]}

Script = dict[str, list[dict[str, Any]]]


def routed(destination: str, confidence: int = 5, **more: Any) -> dict[str, Any]:
    """The router's turn."""
    job_key = "fetch" if destination == "job_code_agent" else None
    reply = {"destination": destination, "confidence": confidence, "job_key": job_key}
    return {"reply": reply, **more}


#: A direct edit, a question, and a turn that ends in an error.
EDITED: Script = {
    "router": [routed("job_code_agent")],
    "job_code_agent": [{"text": ANSWER, "tools": [{"name": "edit_job", "input": EDIT}]}],
}
ANSWERED: Script = {"router": [routed("planner")], "planner": [{"text": ANSWER}]}
OVERLOADED: Script = {"router": [{"error": {"status": 529}, "repeat": True}]}


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote to its two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which has to be one strict JSON value."""
        return json.loads(self.out, parse_constant=_not_json)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as `--events` writes it."""
        return [json.loads(line, parse_constant=_not_json) for line in self.out.splitlines()]


class CommandLine:
    """Runs commands in `folder`, which holds the payload `turn.json`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("turn.json", PAYLOAD)

    def run(self, *arguments: object, stdin: str = "", **environment: str) -> Ran:
        """`global-chat …` in this process. A traceback fails the test."""
        ended = CliRunner().invoke(
            app, [*map(str, arguments)], stdin, environment, catch_exceptions=False
        )
        return Ran(ended.exit_code, ended.stdout, ended.stderr)

    def turn(self, script: Script | None, *arguments: object, **more: Any) -> Ran:
        """`global-chat run` on `turn.json`, with a script unless that is None."""
        scripted = () if script is None else ("--script", self.write("script.json", script))
        return self.run("run", "--input", "turn.json", *scripted, *arguments, **more)

    def start(
        self, *arguments: object, program: tuple[str, ...] = (str(INSTALLED),), **more: Any
    ) -> subprocess.Popen[str]:
        """The installed command as a process. `more` is for `Popen`; `environment` adds to ours."""
        streams = {
            "stdin": subprocess.DEVNULL,
            **dict.fromkeys(("stdout", "stderr"), subprocess.PIPE),
        }
        environment = {**os.environ, **more.pop("environment", {})}
        # Processes of a job in the background ignore Ctrl-C, and so would their children.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return subprocess.Popen(
                [*program, *map(str, arguments)],
                cwd=self.folder,
                env=environment,
                encoding="utf-8",
                errors="surrogateescape",
                **{**streams, **more},
            )
        finally:
            signal.signal(signal.SIGINT, before)

    def process(self, *arguments: object, **environment: str) -> Ran:
        """The installed command, run to its end."""
        process = self.start(*arguments, environment=environment)
        out, err = process.communicate(timeout=60)
        return Ran(process.returncode, out, err)

    def write(self, name: str, content: object) -> Path:
        """A file of text, or of JSON."""
        path = self.folder / name
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, "utf-8", newline="")
        return path

    def text(self, name: str) -> str:
        """A file's exact text."""
        return (self.folder / name).read_bytes().decode()

    def json(self, name: str) -> Any:
        """A file of one strict JSON value."""
        return json.loads(self.text(name), parse_constant=_not_json)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """A file of JSON lines."""
        return [json.loads(line, parse_constant=_not_json) for line in self.text(name).splitlines()]

    @property
    def files(self) -> set[str]:
        """Every file there is, apart from what tests bring along and the program caches."""
        brought = {"turn.json", "script.json"}
        found = {path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file()}
        return {str(path) for path in found if path.parts[0] != ".cache"} - brought


def _not_json(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")

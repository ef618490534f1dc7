"""Fixtures' documents, payloads, scripts and replies, damaged at random: `run(seed, folder)`.

A seed always makes the same damage. Every damaged text goes through a command that a user would
give it to; what comes back must be an answer or a clear refusal. `benchmarks/hostile.py` runs many
seeds and tests run a few.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from typer.testing import CliRunner

from global_chat.cli.app import app
from global_chat.workflow.document import Workflow

ROOT = Path(__file__).parent.parent
_DOCUMENTS = sorted((ROOT / "fixtures" / "workflows").glob("*.yaml"))
_CASES = sorted(path.parent for path in (ROOT / "fixtures" / "cases").glob("*/script.yaml"))
_PAYLOADS = sorted((ROOT / "payloads").glob("*.json"))

#: What is written into a text: syntax where none belongs, characters that break parsers.
_SNIPPETS = [
    *(
        "&a ",
        "*a",
        "<<: *a\n",
        "!!python/object:os.system ",
        "!",
        "? ",
        "- ",
        ": ",
        "#",
        "|\n",
        ">-\n",
    ),
    *("{", "}", "[", "]", '"', "'", "`", "\\", "\t", "\r", "\n\n", "---\n", "...\n", "%YAML 9\n"),
    *("null", "~", "true", "0o17", "1_000", ".inf", "1e999", "9" * 400, "-1", "2026-12-01"),
    *("\ufeff", "\x00", "\x1b[2J", "\u202e", "\ud800", "\u2028", "é", "患", "🐱", "\x85"),
    *("</code>", "${", "$.", "fn(", "/[" * 50, "[" * 300, "{a: " * 200, "jobs:\n", "steps: []\n"),
]

#: Exit codes that the contract names, without 1 (unforeseen) and 130 (interrupted).
_ALLOWED = {0, 2, 3, 4, 5}


@dataclass(frozen=True)
class Outcome:
    """How one damaged text fared; `fault` is None when that is as promised."""

    what: str
    code: int
    fault: str | None


def run(seed: int, folder: Path) -> Outcome:
    """Damage one text and give it to its command, within `folder`, which must be empty."""
    chance = random.Random(seed)
    kind = chance.choice([_check, _diff, _offline, _payload, _script, _reply])
    what, arguments, allowed = kind(chance, folder)
    ended = CliRunner().invoke(app, [*arguments])
    fault = None
    shown = ended.stdout + ended.stderr
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        fault = f"raised {ended.exception!r}"
    elif ended.exit_code not in allowed:
        fault = f"exit code {ended.exit_code}: {shown[-500:]}"
    elif "Traceback" in shown or '"INTERNAL"' in shown:
        fault = shown[-500:]
    return Outcome(what, ended.exit_code, fault)


def damaged(chance: random.Random, text: str) -> str:
    """The text with one to six places cut, doubled, moved, swapped or overwritten."""
    for _ in range(chance.choice([1, 1, 2, 3, 6])):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 1, 1, 2, 8, 80, 800]))
        piece = text[start:end]
        match chance.randrange(6):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + piece * chance.choice([1, 2, 50]) + text[end:]
            case 2:
                place = chance.randrange(len(text) + 1)
                text = text[:place] + piece + text[place:]
            case 3:
                text = text[:start] + "".join(reversed(piece)) + text[end:]
            case 4:
                lines = text.split("\n")
                index = chance.randrange(len(lines))
                lines[index] = " " * chance.randrange(9) + lines[index].lstrip()
                text = "\n".join(lines)
            case _:
                text = text[:start] + chance.choice(_SNIPPETS) + text[end:]
    return text


def _written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return str(path)


def _source(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


_Run = tuple[str, list[str], set[int]]


def _check(chance: random.Random, folder: Path) -> _Run:
    path = chance.choice(_DOCUMENTS)
    text = damaged(chance, _source(path))
    return f"check {path.name}", ["check", _written(folder, "w.yaml", text)], {0, 1, 2}


def _diff(chance: random.Random, folder: Path) -> _Run:
    path = chance.choice(_DOCUMENTS)
    text = damaged(chance, _source(path))
    return f"diff {path.name}", ["diff", str(path), _written(folder, "w.yaml", text)], {0, 1, 2}


def _turn(folder: Path, payload: str, *more: str) -> list[str]:
    return ["run", "--input", _written(folder, "p.json", payload), "--quiet", "--json", *more]


def _offline(chance: random.Random, folder: Path) -> _Run:
    path = chance.choice(_DOCUMENTS)
    payload = {
        "content": "run it every weekday at 7",
        "workflow_yaml": damaged(chance, _source(path)),
    }
    arguments = _turn(folder, json.dumps(payload), "--backend", "offline")
    return f"edit of {path.name}", arguments, _ALLOWED


def _payload(chance: random.Random, folder: Path) -> _Run:
    path = chance.choice(_PAYLOADS)
    arguments = _turn(folder, damaged(chance, _source(path)), "--backend", "offline")
    return f"payload {path.name}", arguments, _ALLOWED


def _case(chance: random.Random) -> tuple[Path, str]:
    case = chance.choice(_CASES)
    return case, json.dumps(YAML(typ="safe").load(_source(case / "case.yaml"))["payload"])


def _script(chance: random.Random, folder: Path) -> _Run:
    case, payload = _case(chance)
    script = _written(folder, "s.yaml", damaged(chance, _source(case / "script.yaml")))
    # A script that no longer fits is told as `SCRIPT_MISMATCH`, with exit code 1.
    return f"script {case.name}", _turn(folder, payload, "--script", script), _ALLOWED | {1}


def _reply(chance: random.Random, folder: Path) -> _Run:
    """A workflow agent's YAML, or a code agent's edit, damaged inside of a sound script."""
    path = chance.choice(_DOCUMENTS)
    destination = chance.choice(["workflow_agent", "job_code_agent"])
    text = _source(path)
    page = "workflows/immunization-reminders" if "district" in path.name else None
    job_key = Workflow.read(text, page).steps[0].key
    route = {"destination": destination, "confidence": 5, "job_key": job_key}
    if destination == "workflow_agent":
        reply = {"remove": [], "yaml": damaged(chance, text), "text": "Done."}
        answers = [{"reply": reply, "repeat": True}]
    else:
        code = damaged(chance, "fn(state => {\n  return { ...state, rows: state.data };\n});\n")
        tool = {"action": chance.choice(["replace", "rewrite"]), "old_code": code, "new_code": code}
        edit = {"name": "edit_job", "input": {"code_edits": [tool]}}
        answers = [{"text": "Done.", "tools": [edit], "repeat": True}]
    script = {"router": [{"reply": route}], destination: answers}
    payload = json.dumps({"content": "change it", "workflow_yaml": text, "page": page})
    arguments = _turn(folder, payload, "--script", _written(folder, "s.json", json.dumps(script)))
    return f"reply on {path.name}", arguments, _ALLOWED | {1}

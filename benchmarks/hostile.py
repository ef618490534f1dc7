"""What hostile and huge inputs cost: `python -m benchmarks.hostile [FAMILY …]`.

Each family is a text that grows with a number. It is given to its command at two sizes, the second
twice the first, each in a process of its own. Printed are the seconds and the peak memory of both,
and how the command ended. Where reading is linear the ratio of the times is about two or less; a
refusal takes the time of starting up. Starting up alone is the first row.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "global_chat"]
LONGEST_SECONDS = 60.0
MEMORY_BYTES = 4 * 1024**3

Files = dict[str, str]


class Family(NamedTuple):
    """Texts of one kind: `files` makes them for a size, `arguments` is the command they are for."""

    arguments: list[str]
    files: Callable[[int], Files]
    size: int


CHECK = ["check", "w.yaml"]
OFFLINE = ["run", "--input", "p.json", "--backend", "offline", "--quiet", "--json"]
SCRIPT = ["run", "--input", "p.json", "--script", "s.yaml", "--quiet", "--json"]
ROUTES = ["replay", "--routes", "r.jsonl", "--backend", "offline"]
STEP = (
    "    name: {0}\n    adaptor: '@openfn/language-http@7.3.2'\n    body: |\n      get('/{0}');\n"
)
SMALL = f"name: One\njobs:\n  a:\n{STEP.format('a')}"


def _workflow(body: str) -> Callable[[int], Files]:
    return lambda n: {"w.yaml": SMALL.replace("get('/a');", body * n)}


def _aliases(n: int) -> str:
    """`n` levels of nine aliases to the level below."""
    levels = ["l0: &l0 [x]"]
    levels += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, n)]
    return "\n".join(levels) + "\n"


def _merges(n: int) -> str:
    levels = ["l0: &l0 {k0: 1}"]
    levels += [f"l{i}: &l{i} {{<<: [*l{i - 1}, *l{i - 1}], k{i}: 1}}" for i in range(1, n)]
    return "\n".join(levels) + "\n"


def _turn(content: str, **more: object) -> Files:
    return {"p.json": json.dumps({"content": content, "workflow_yaml": SMALL, **more})}


def _request(piece: str, before: str = "") -> Callable[[int], Files]:
    return lambda n: _turn(before + (piece * n)[:n])


def _log(piece: str) -> Callable[[int], Files]:
    def files(n: int) -> Files:
        log = {"type": "log", "content": (piece * n)[:n]}
        return _turn("why did the last run fail?", attachments=[log])

    return files


def _steps(n: int) -> Files:
    shared = "".join(f"  s{i}: *step\n" for i in range(n))
    return {"w.yaml": f"name: One\njobs:\n  a: &step\n{STEP.format('a')}{shared}"}


def _workflows(n: int) -> Files:
    shared = "".join(f"  w{i}: *one\n" for i in range(n))
    jobs = "    jobs:\n      a: {name: a}\n      b: {name: a}\n"
    return {"w.yaml": f"workflows:\n  w: &one\n    name: One\n{jobs}{shared}"}


def _large(n: int) -> Files:
    return {
        "w.yaml": "name: One\njobs:\n" + "".join(f"  s{i}:\n{STEP.format(i)}" for i in range(n))
    }


FAMILIES = {
    "starting up": Family(CHECK, lambda _: {"w.yaml": SMALL}, 1),
    "aliases of aliases, a workflow": Family(CHECK, lambda n: {"w.yaml": SMALL + _aliases(n)}, 10),
    "aliases of aliases, a script": Family(
        SCRIPT, lambda n: {"p.json": '{"content": "x"}', "s.yaml": _aliases(n)}, 10
    ),
    "merge keys, a script": Family(
        SCRIPT, lambda n: {"p.json": '{"content": "x"}', "s.yaml": _merges(n)}, 12
    ),
    "merge keys, a workflow": Family(CHECK, lambda n: {"w.yaml": SMALL + _merges(n)}, 12),
    "steps that are one alias": Family(CHECK, _steps, 10_000),
    "workflows that are one alias": Family(CHECK, _workflows, 500),
    "a large workflow": Family(CHECK, _large, 20_000),
    "brackets, a workflow": Family(CHECK, lambda n: {"w.yaml": "[" * n}, 50_000),
    "braces in a step": Family(CHECK, _workflow("{"), 50_000),
    "regular expressions in a step": Family(CHECK, _workflow("/["), 50_000),
    "nested JSON, a payload": Family(OFFLINE, lambda n: {"p.json": '{"a":' * n}, 50_000),
    "nested JSON, a script": Family(
        SCRIPT,
        lambda n: {"p.json": '{"content": "x"}', "s.yaml": '{"a":' * n + "1" + "}" * n},
        5_000,
    ),
    "nested JSON, routes": Family(ROUTES, lambda n: {"r.jsonl": "[" * n + "]" * n}, 5_000),
    "broken lines, routes": Family(ROUTES, lambda n: {"r.jsonl": "{}\n" * n}, 100_000),
    "many values, a payload": Family(
        OFFLINE,
        lambda n: {"p.json": json.dumps({"meta": dict.fromkeys(map(str, range(n)), 1)})},
        250_000,
    ),
    "a request of digits": Family(OFFLINE, _request("5", "run it at "), 25_000),
    **{
        f"a request of {name}": Family(OFFLINE, _request(piece), 1_000)
        for name, piece in {
            "spaces": "a ",
            "dots": ". ",
            "brackets": "( ",
            "quotes": "'\" ",
            "step names": "a and ",
            "times": "at 5 and ",
            "days": "on monday and ",
            "negations": "not at 5 and not at 6, ",
            "commands": "rename a to b and ",
            "commas": ", ",
            "numbers": "1 ",
        }.items()
    },
    **{
        f"a log of {name}": Family(OFFLINE, _log(piece), 120_000)
        for name, piece in {
            "spaces": " ",
            "one line": "Error: a ",
            "step lines": "Failed step a: Error\n",
            "brackets": "[",
            "JSON lines": '{"level":"error","message":["Failed step a"]}\n',
        }.items()
    },
}


def measure(family: Family, size: int) -> tuple[float, float, str]:
    """Seconds, peak memory in MB, and how the command ended, for one size."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in family.files(size).items():
            Path(folder, name).write_text(text, "utf-8")
        began = time.perf_counter()
        process = subprocess.Popen(
            [*COMMAND, *family.arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.getcwd()},  # noqa: PTH109
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES,) * 2),
        )
        ended = ""
        while not ended:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                ended = f"exit {process.returncode}"
            elif time.perf_counter() - began > LONGEST_SECONDS:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
                process.returncode = -9
                ended = f"stopped after {LONGEST_SECONDS:.0f} s"
            else:
                time.sleep(0.02)
        return time.perf_counter() - began, usage.ru_maxrss / 1024, ended


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:]
    row = "{:<34}{:>9}{:>9}{:>9}{:>8}{:>8}  {}\n"
    sys.stdout.write(row.format("family", "size", "s", "s at x2", "MB", "MB x2", "ended"))
    for name, family in FAMILIES.items():
        if wanted and not any(word in name for word in wanted):
            continue
        one, two = measure(family, family.size), measure(family, 2 * family.size)
        ended = one[2] if one[2] == two[2] else f"{one[2]}, {two[2]}"
        seconds, memory = (f"{one[0]:.1f}", f"{two[0]:.1f}"), (f"{one[1]:.0f}", f"{two[1]:.0f}")
        sys.stdout.write(row.format(name, family.size, *seconds, *memory, ended))
        sys.stdout.flush()


if __name__ == "__main__":
    main()

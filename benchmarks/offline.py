"""How good the offline model is: `python -m benchmarks.offline [--cases FOLDER] [--no-routing]`.

Edits and logs are taken through whole turns, with the offline model in the place of every agent,
and judged by what `FOLDER` holds: `edits.jsonl` with `check_edit.py` (a function
`check(original, edited, expect, response)` that returns failures), `logs.jsonl` with the logs
themselves, `workflows/`. Routing is judged by cross-validation on the repository's own cases.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from global_chat.agents.context import Services
from global_chat.contract.errors import TurnError
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.knowledge.library import Library
from global_chat.knowledge.reference import Reference
from global_chat.offline.model import OfflineModel
from global_chat.turn.take import take_turn

Check = Callable[[str | None, str | None, dict[str, Any], str], list[str]]
ROOT = Path(__file__).parent.parent


class Turns:
    """Takes turns with the offline model and notes how long each took, in seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._services = Services(
            OfflineModel(), knowledge=Reference(Library(None, offline=True)), backend="offline"
        )
        self.seconds: list[float] = []

    def workflow(self, name: str | None) -> str | None:
        return (self._folder / "workflows" / name).read_bytes().decode("utf-8") if name else None

    async def take(self, case: dict[str, Any], content: str, attachments: list[Any]) -> Response:
        payload = Payload.model_validate(
            {
                "content": content,
                "workflow_yaml": self.workflow(case["workflow"]),
                "page": case["page"],
                "attachments": attachments,
            }
        )
        began = time.perf_counter()
        try:
            return await take_turn(payload, self._services, lambda _: None)
        finally:
            self.seconds.append(time.perf_counter() - began)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def checker(folder: Path) -> Check:
    spec = importlib.util.spec_from_file_location("check_edit", folder / "check_edit.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"There is no check_edit.py in {folder}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check: Check = module.check
    return check


async def edits(turns: Turns, folder: Path, *, verbose: bool) -> None:
    """Each edit is right, refused (nothing changed), wrong, or failed."""
    check = checker(folder)
    counts: Counter[tuple[str, str]] = Counter()
    for case in lines(folder / "edits.jsonl"):
        original = turns.workflow(case["workflow"])
        failures: list[str] = []
        try:
            response = await turns.take(case, case["content"], case.get("attachments", []))
        except TurnError as error:
            verdict, text = "failed", error.message
        else:
            edited = response.attachments[0].content if response.attachments else None
            failures = check(original, edited, case["expect"], response.response)
            text = response.response
            changed = edited is not None
            verdict = "right" if not failures else "wrong" if changed else "refused"
        counts[case["form"], verdict] += 1
        if verbose and verdict != "right":
            agents = " ".join(response.meta.agents) if verdict != "failed" else ""
            say(
                f"  {verdict} {case['id']} [{agents}] {case['content'][:90]!r}\n    "
                f"{text[:160]!r} {failures[:3]}"
            )
    for form in ("deterministic", "authoring", "question"):
        of_form = {verdict: n for (f, verdict), n in sorted(counts.items()) if f == form}
        total = sum(of_form.values())
        right = of_form.get("right", 0)
        say(
            f"Edits, {form}: {right}/{total} exactly right ({right / max(total, 1):.2f}); {of_form}"
        )
    say(f"Wrong edits over all: {sum(n for (_, v), n in counts.items() if v == 'wrong')}")


async def logs(turns: Turns, folder: Path, *, verbose: bool) -> None:
    """The failing step and a whole proving line must be in the answer."""
    good = 0
    cases = lines(folder / "logs.jsonl")
    for case in cases:
        log = (folder / case["log"]).read_text("utf-8")
        response = await turns.take(case, case["question"], [{"type": "log", "content": log}])
        text = response.response
        quoted = [line for line in case["key_lines"] if line.strip() in text]
        step = case["failing_step"]
        named = step in text or step.replace("-", " ").lower() in text.lower()
        good += named and bool(quoted)
        if verbose:
            say(
                f"  {case['id']} step named: {named}, key lines quoted: "
                f"{len(quoted)}/{len(case['key_lines'])}"
            )
    say(f"Logs: failing step and a proving line named in {good} of {len(cases)}")


async def measure(folder: Path, *, verbose: bool) -> None:
    turns = Turns(folder)
    await edits(turns, folder, verbose=verbose)
    await logs(turns, folder, verbose=verbose)
    seconds = sorted(turns.seconds[1:])
    say(
        f"Seconds a turn after the first ({turns.seconds[0]:.2f}): median "
        f"{seconds[len(seconds) // 2]:.3f}, "
        f"longest {seconds[-1]:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the offline model.")
    parser.add_argument(
        "--cases", type=Path, help="a folder with edits.jsonl, logs.jsonl, workflows/"
    )
    parser.add_argument(
        "--no-routing", action="store_true", help="skip the router, which takes a minute"
    )
    parser.add_argument("--verbose", "-v", action="store_true")
    given = parser.parse_args()
    if given.cases is None or not given.cases.is_dir():
        say("Edits and logs are skipped: --cases names no folder with edits.jsonl and logs.jsonl.")
    else:
        asyncio.run(measure(given.cases, verbose=given.verbose))
    if not given.no_routing:
        subprocess.run(
            [sys.executable, str(ROOT / "training/router.py"), "--check", "--held-out"], check=True
        )


if __name__ == "__main__":
    main()

"""How good offline turns are: `python -m benchmarks.offline [--held] [--cases FOLDER] [-v]`.

Every request of `requests/open.jsonl`, with `--held` of `requests/held.jsonl`, is taken through a
whole turn and judged by `outcomes.py`; the router decides about each of them too. Of the held ones
only figures are printed. `--cases FOLDER` adds a folder's own `edits.jsonl` (judged by its
`check_edit.py`) and `logs.jsonl`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.outcomes import failures
from global_chat.agents.context import Services, Task, TurnContext
from global_chat.agents.router import decide as ask_router
from global_chat.contract.errors import TurnError
from global_chat.contract.payload import Payload
from global_chat.contract.response import Response
from global_chat.knowledge.library import Library, Reference
from global_chat.offline.router import OfflineRouter
from global_chat.offline.turn import take_turn
from global_chat.workflow.document import Workflow

Check = Callable[[str | None, str | None, dict[str, Any], str], list[str]]
ROOT = Path(__file__).parent.parent
REQUESTS = Path(__file__).parent / "requests"


class Turns:
    """Takes offline turns on the workflows of a folder; `seconds` is how long each took."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._knowledge = Reference(Library(None, offline=True))
        self.seconds: list[float] = []

    def workflow(self, name: str | None) -> str | None:
        return (self._folder / name).read_bytes().decode("utf-8") if name else None

    def payload(self, case: dict[str, Any], content: str, attachments: list[Any]) -> Payload:
        return Payload.model_validate(
            {
                "content": content,
                "workflow_yaml": self.workflow(case["workflow"]),
                "page": case["page"],
                "attachments": attachments,
            }
        )

    async def take(self, case: dict[str, Any], content: str, attachments: list[Any]) -> Response:
        payload = self.payload(case, content, attachments)
        began = time.perf_counter()
        try:
            return await take_turn(payload, self._knowledge, lambda _: None)
        finally:
            self.seconds.append(time.perf_counter() - began)

    async def route(self, case: dict[str, Any]) -> bool:
        """Whether the embedded router sends a request where it belongs."""
        payload = self.payload(case, case["content"], [])
        try:
            workflow = Workflow.read(payload.workflow_yaml, payload.page)
        except TurnError:  # a project, and the page does not say which workflow: no route
            return True
        context = TurnContext(Services(OfflineRouter()), lambda _: None)
        said = await ask_router(context, Task(payload.content, workflow, payload.page))
        same = (said.destination, said.job_key) == (case["destination"], case["job_key"])
        return same or said.destination in case["also_ok"]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


async def requests(path: Path, *, verbose: bool) -> None:
    """Each request is right, refused (nothing changed), or wrong (changed, and not as expected)."""
    turns = Turns(ROOT / "fixtures" / "workflows")
    counts: Counter[tuple[str, str]] = Counter()
    routed = 0
    cases = lines(path)
    for case in cases:
        before = turns.workflow(case["workflow"]) or ""
        try:
            response = await turns.take(case, case["content"], [])
            after, text = response.workflow_yaml, response.response
        except TurnError as error:
            after, text = None, error.message
        found = failures(before, after, case["expect"], case["page"], text)
        verdict = "right" if not found else "wrong" if after is not None else "refused"
        counts[case["kind"], verdict] += 1
        ok = await turns.route(case)
        routed += ok
        if verbose and (found or not ok):
            say(f"  {verdict}{'' if ok else ', misrouted'} {case['id']} {case['content'][:90]!r}")
            say(f"    {text[:160]!r} {found[:2]}")
    for kind in ("edit", "question", "author", "unclear"):
        of_kind = {verdict: n for (k, verdict), n in sorted(counts.items()) if k == kind}
        total = max(1, sum(of_kind.values()))
        right = of_kind.get("right", 0)
        say(f"{kind}: {right}/{total} right ({right / total:.2f}); {of_kind}")
    say(f"wrong edits over all: {sum(n for (_, v), n in counts.items() if v == 'wrong')}")
    say(f"routed as labelled: {routed}/{len(cases)} ({routed / len(cases):.2f})")
    told(turns)


def told(turns: Turns) -> None:
    seconds = sorted(turns.seconds[1:])
    middle, longest = seconds[len(seconds) // 2], seconds[-1]
    begun = f"seconds a turn after the first ({turns.seconds[0]:.2f})"
    say(f"{begun}: {middle:.3f}, longest {longest:.3f}")


def checker(folder: Path) -> Check:
    spec = importlib.util.spec_from_file_location("check_edit", folder / "check_edit.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"There is no check_edit.py in {folder}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check: Check = module.check
    return check


async def cases_of(folder: Path, *, verbose: bool) -> None:
    """A folder's edits by its own check; of its logs, the failing step and a proving line."""
    turns, check = Turns(folder / "workflows"), checker(folder)
    counts: Counter[tuple[str, str]] = Counter()
    for case in lines(folder / "edits.jsonl"):
        response = await turns.take(case, case["content"], case.get("attachments", []))
        after = response.workflow_yaml
        found = check(turns.workflow(case["workflow"]), after, case["expect"], response.response)
        verdict = "right" if not found else "wrong" if after is not None else "refused"
        counts[case["form"], verdict] += 1
        if verbose and found:
            say(f"  {verdict} {case['id']} {case['content'][:90]!r} {found[:2]}")
    for form, verdict in sorted(counts):
        say(f"edits, {form}, {verdict}: {counts[form, verdict]}")
    good, logs = 0, lines(folder / "logs.jsonl")
    for case in logs:
        log = (folder / case["log"]).read_text("utf-8")
        response = await turns.take(case, case["question"], [{"type": "log", "content": log}])
        quoted = any(line.strip() in response.response for line in case["key_lines"])
        good += f"`{case['failing_step']}`" in response.response and quoted
    say(f"logs: failing step and a proving line named in {good} of {len(logs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures offline turns.")
    parser.add_argument("--held", action="store_true", help="the requests that were put away")
    parser.add_argument("--cases", type=Path, help="a folder with edits.jsonl and logs.jsonl")
    parser.add_argument("--verbose", "-v", action="store_true")
    given = parser.parse_args()
    if given.cases is not None:
        asyncio.run(cases_of(given.cases, verbose=given.verbose))
        return
    path = REQUESTS / ("held.jsonl" if given.held else "open.jsonl")
    asyncio.run(requests(path, verbose=given.verbose and not given.held))


if __name__ == "__main__":
    main()

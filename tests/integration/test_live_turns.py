"""Curated requests against the real API: where each goes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from global_chat.workflow.document import Workflow

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not os.environ.get("ANTHROPIC_API_KEY"), reason="needs ANTHROPIC_API_KEY"),
]

ROOT = Path(__file__).parents[2]
WORKFLOW = (ROOT / "fixtures/workflows/donations-to-salesforce.yaml").read_text("utf-8")
PLACE = "workflows/donations-to-salesforce"

#: request, page, agents that must have answered, keys of the steps whose code may change
TURNS = {
    "a direct edit": (
        "fetch 250 per page instead of 100",
        f"{PLACE}/fetch-donations",
        {"job_code_agent"},
        {"fetch-donations"},
    ),
    "a direct structure change": (
        "run it on weekdays at 6:30 in the morning",
        PLACE,
        {"workflow_agent"},
        set(),
    ),
    "several steps, asked in one of them": (
        "I don't like the waves in the console banners, take them out of all the Salesforce steps",
        f"{PLACE}/create-demo-in-sf",
        {"planner", "job_code_agent"},
        {"create-demo-in-sf", "create-in-SF", "update-in-SF"},
    ),
    "structure, asked in a step": (
        "this should only run when fetch-donations found new donors",
        f"{PLACE}/create-in-SF",
        {"workflow_agent"},
        set(),
    ),
}


def take(tmp_path: Path, payload: dict[str, object]) -> dict[str, object]:
    given = tmp_path / "payload.json"
    given.write_text(json.dumps(payload), "utf-8")
    command = [sys.executable, "-m", "global_chat.cli.app", "run", "-i", str(given), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", TURNS)
def test_a_live_turn_reaches_the_right_agent_and_changes_nothing_else(
    name: str, tmp_path: Path
) -> None:
    content, page, agents, may_change = TURNS[name]
    response = take(tmp_path, {"content": content, "page": page, "workflow_yaml": WORKFLOW})

    assert agents <= set(response["meta"]["agents"])  # type: ignore[index]
    before = {s.key: s for s in Workflow.read(WORKFLOW).steps}
    assert response["attachments"], response["response"]
    after = Workflow.read(response["attachments"][0]["content"])  # type: ignore[index]
    changed = {s.key for s in after.steps if s.code != before[s.key].code}
    assert changed == may_change
    assert {s.key: s.id for s in after.steps} == {k: s.id for k, s in before.items()}

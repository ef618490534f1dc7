"""Runs every spec live, and lets a model judge each sentence that must hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .spec import SPECS, Spec

JUDGE_MODEL = os.environ.get("GLOBAL_CHAT_JUDGE_MODEL", "claude-opus-5")

live = [
    pytest.mark.acceptance,
    pytest.mark.skipif(not os.environ.get("ANTHROPIC_API_KEY"), reason="needs ANTHROPIC_API_KEY"),
]


@pytest.mark.unit
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_every_spec_can_be_read_and_demands_something(path: Path) -> None:
    spec = Spec.read(path)
    assert spec.payload["content"].strip()
    assert len(spec.must_hold) >= 3


@pytest.mark.parametrize("path", [pytest.param(p, marks=live, id=p.stem) for p in SPECS])
def test_every_sentence_of_the_spec_holds(path: Path, tmp_path: Path) -> None:
    spec = Spec.read(path)
    given = tmp_path / "payload.json"
    given.write_text(json.dumps(spec.payload), "utf-8")
    command = [sys.executable, "-m", "global_chat.cli.app", "run", "-i", str(given), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr

    response = json.loads(done.stdout)
    assert bool(response["attachments"]) == spec.workflow_changes
    verdicts = judge(spec, response)
    assert not [v for v in verdicts if not v["holds"]], verdicts


def judge(spec: Spec, response: dict[str, Any]) -> list[dict[str, Any]]:
    """A verdict `{sentence, holds, why}` on each sentence of the spec."""
    import anthropic

    verdict = {
        "type": "object",
        "properties": {
            "sentence": {"type": "string"},
            "holds": {"type": "boolean"},
            "why": {"type": "string"},
        },
        "required": ["sentence", "holds", "why"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict}},
        "required": ["verdicts"],
        "additionalProperties": False,
    }
    case = {"request": spec.payload, "answer": response, "sentences": spec.must_hold}
    message = anthropic.Anthropic().messages.create(
        model=JUDGE_MODEL,
        max_tokens=4_000,
        system=(
            "You judge an assistant for OpenFn workflows. For each sentence, say whether it holds "
            "for the answer, strictly and from the given text alone."
        ),
        messages=[{"role": "user", "content": json.dumps(case, ensure_ascii=False)}],
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )
    text = "".join(block.text for block in message.content if block.type == "text")
    verdicts: list[dict[str, Any]] = json.loads(text)["verdicts"]
    assert len(verdicts) == len(spec.must_hold)
    return verdicts

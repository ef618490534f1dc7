"""Acceptance specs: Markdown files with a payload and sentences that must hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SPECS = sorted((Path(__file__).parent / "specs").glob("*.md"))


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec. `workflow_changes` says whether the turn must give a workflow back."""

    title: str
    payload: dict[str, Any]
    must_hold: tuple[str, ...]
    workflow_changes: bool

    @classmethod
    def read(cls, path: Path) -> Spec:
        """Read a spec; raises `ValueError` naming the section that is missing."""
        text = path.read_text("utf-8")
        payload = json.loads(_section(text, "payload").strip().strip("`").removeprefix("json"))
        if name := payload.pop("workflow", None):
            payload["workflow_yaml"] = (ROOT / name).read_text("utf-8")
        payload["attachments"] = [
            {"type": type_, "content": (ROOT / name).read_text("utf-8")}
            for type_, name in payload.pop("attach", {}).items()
        ]
        return cls(
            title=text.splitlines()[0].removeprefix("# "),
            payload=payload,
            must_hold=tuple(re.findall(r"^- (.+)$", _section(text, "must hold"), re.MULTILINE)),
            workflow_changes=_section(text, "workflow").strip() == "changed",
        )


def _section(text: str, name: str) -> str:
    match = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if match is None:
        raise ValueError(f"The section '## {name}' is missing.")
    return match[1]

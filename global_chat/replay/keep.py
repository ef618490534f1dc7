"""Keeps a live turn as a case: what the models said as its script, what came as expectations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from global_chat.disk.writing import write_together
from global_chat.model.recording import Recording
from global_chat.model.secrets import scrub_value

from .case import Case, Expect
from .case_text import dumped, plain
from .outcome import Outcome
from .update import observed_expectations


def keep(folder: Path, case: Case, number: int, recording: Recording, outcome: Outcome) -> Path:
    """Write the turn as the case `<folder>/<id>` (from the second run on `<id>-<number>`).

    Secrets are taken out of the payload as out of the script. Returns the new case's folder.
    """
    name = case.id if number == 1 else f"{case.id}-{number}"
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    given = scrub_value({k: v for k, v in case.given.items() if k != "api_key"})
    written: dict[str, Any] = {"title": case.title, "payload": "payload.json"}
    if case.label is not None:
        written["route"] = case.label.model_dump(exclude_defaults=True, mode="json")
    observed = observed_expectations(Expect(), outcome)
    written["expect"] = {k: v for k, v in observed.items() if v not in (None, [], {})}
    write_together(
        {
            made / "payload.json": json.dumps(plain(given), ensure_ascii=False, indent=2) + "\n",
            made / "script.yaml": recording.as_yaml(),
            made / "case.yaml": dumped(written),
        }
    )
    return made

"""Damaged documents, payloads, scripts and replies get an answer or a clear refusal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.mutations import run

pytestmark = pytest.mark.service

#: `make soak` sets it: how many seeds are played, from 0.
SEEDS = int(os.environ.get("GLOBAL_CHAT_SOAK", "40"))


def test_damaged_input_is_answered_or_refused_and_never_an_internal_error(tmp_path: Path) -> None:
    faults = {}
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        outcome = run(seed, folder)
        if outcome.fault:
            faults[seed] = outcome
    assert faults == {}

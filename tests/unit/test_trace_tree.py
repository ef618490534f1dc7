"""`global-chat trace`: what a trace file says, as a tree; and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from global_chat.cli.app import trace

pytestmark = pytest.mark.unit

APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(trace)


def shown(file: Path, *arguments: str) -> Result:
    ended = CliRunner().invoke(APP, [str(file), *arguments])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended


def span(number: int, kind: str, parent: int | None = 1, **fields: Any) -> dict[str, Any]:
    row = {"kind": kind, "turn_id": "t1", "span": number, "start": "2026-01-01T00:00:00Z", "ms": 5}
    return {**row, **({"parent": parent} if parent else {}), **fields}


TOKENS = {"input_tokens": 1204, "output_tokens": 61}
ROWS = [
    span(3, "model_call", 2, agent="router", model="small", ms=350, **TOKENS),
    span(2, "routing", destination="job_code_agent", confidence=2, sent_to="planner")
    | {"reason": "low_confidence", "job_key": "get"},
    span(4, "handover", agent="job_code_agent", goal="Take the waves out", to_planner=True),
    span(6, "model_call", 5, agent="job_code_agent", model="middle", attempt=2, ms=1500)
    | {"first_token_ms": 300, "cache_read_input_tokens": 800, "stop_reason": "end_turn", **TOKENS},
    span(5, "tool_call", agent="planner", tool="call_job_code_agent", step="save", failed=True)
    | {"reason": "no such step"},
    span(7, "stitch", step="Save", added=3, removed=1),
    span(8, "warning", message="careful \x1b[2J"),
    span(1, "turn", None, backend="anthropic", tags=["handover"], handover_from="job_code_agent"),
]


def write(file: Path, rows: list[Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_the_tree_tells_who_was_asked_how_long_what_it_took_and_why(tmp_path: Path) -> None:
    lines = shown(write(tmp_path / "t.jsonl", ROWS)).stdout.splitlines()
    assert lines == [
        "turn t1 · 5 ms · job_code_agent handed over to the planner",
        "├── router decided job_code_agent (confidence 2, job_key get) · 5 ms · "
        "sent to planner because of low confidence",
        "│   └── router asked small · 350 ms · 1,204 tokens in, 61 out",
        "├── job_code_agent handed over: Take the waves out. Rerouting to the planner",
        "├── planner called call_job_code_agent · step save · 5 ms · failed: no such step",
        "│   └── job_code_agent asked middle · attempt 2 · 1.5 s · first token after 300 ms · "
        "2,004 tokens in (800 cached), 61 out · end_turn",
        "├── stitched the code of Save (+3 −1)",
        "└── warning: careful ␛[2J",
    ]


def test_a_scripted_turn_is_called_scripted(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [span(1, "turn", None, backend="scripted")])
    assert "scripted, no model was asked" in shown(file).stdout


def test_an_offline_turn_says_that_no_model_was_asked(tmp_path: Path) -> None:
    rows = [span(1, "turn", None, backend="offline"), span(2, "model_call", agent="router")]
    assert shown(write(tmp_path / "t.jsonl", rows)).stdout.splitlines() == [
        "turn t1 · offline, answered by rules and not by a language model · 5 ms",
        "└── router: no model was asked · 5 ms",
    ]


def test_every_turn_of_a_file_is_drawn_or_only_the_last(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [span(1, "turn", None), span(1, "turn", None, turn_id="t2")])
    assert [line.split()[1] for line in shown(file).stdout.splitlines()] == ["t1", "t2"]
    assert [line.split()[1] for line in shown(file, "--last").stdout.splitlines()] == ["t2"]


def test_a_trace_that_was_cut_off_is_drawn_as_far_as_it_goes(tmp_path: Path) -> None:
    out = shown(write(tmp_path / "t.jsonl", ROWS[:1])).stdout
    assert "not finished" in out and "router asked small" in out


def test_half_a_line_costs_that_line_and_is_told(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", ROWS)
    whole = shown(file).stdout
    file.write_text(json.dumps(ROWS[0])[:50] + "\n" + file.read_text("utf-8"), "utf-8")
    ended = shown(file)
    assert ended.exit_code == 0 and ended.stdout == whole
    assert "line 1, is not a span of a trace. It is left out." in ended.stderr.replace("\n", "")


@pytest.mark.parametrize("text", ["", "\n", "no json\n", "[]\n", '{"kind": "turn"}\n', "\xff\xfe"])
def test_a_file_that_is_no_trace_is_told_in_words(tmp_path: Path, text: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(text.encode("latin-1"))
    ended = shown(file)
    assert ended.exit_code == 2
    assert "t.jsonl" in ended.stderr.replace("\n", "") and "Traceback" not in ended.stderr


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)
_KINDS = ["turn", "routing", "model_call", "tool_call", "handover", "stitch", "warning", "new"]
_FIELDS = sorted({key for row in ROWS for key in row} - {"kind", "turn_id", "span", "parent"})


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(
            lambda number, kind, parent, more: span(number, kind, parent) | more,
            st.integers(1, 5),
            st.sampled_from(_KINDS),
            st.none() | st.integers(-1, 6),
            st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=4),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_the_fields_hold_a_tree_is_drawn(tmp_path: Path, rows: list[Any]) -> None:
    assert shown(write(tmp_path / "t.jsonl", rows)).exit_code == 0

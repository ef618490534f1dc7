"""The corpus of cases through pytest's door: the same folders that `global-chat replay` runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from global_chat.contract.settings import Settings
from global_chat.model.prices import parse_prices
from global_chat.replay.cases import Case, collect, read_labelled
from global_chat.replay.play import play_script
from global_chat.replay.run import judge_script
from tests.service import case_surfaces

pytestmark = pytest.mark.service

FIXTURES = Path(__file__).parents[2] / "fixtures"
ROUTING = FIXTURES / "routing.jsonl"
CASES = collect([FIXTURES / "cases"])


class _Text(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT


class PlainText(_Text):
    file_extension = "plain.txt"


class ResponseJson(_Text):
    file_extension = "response.json"


class WorkflowYaml(_Text):
    file_extension = "workflow.yaml"


class Requests(_Text):
    file_extension = "requests.txt"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_case(case: Case, snapshot: SnapshotAssertion) -> None:
    outcome = await play_script(case)
    assert judge_script(outcome, 1, parse_prices()).differences == ()
    assert case_surfaces.plain(outcome) == snapshot.use_extension(PlainText)
    assert case_surfaces.response(outcome) == snapshot.use_extension(ResponseJson)
    if outcome.exchanges:
        assert case_surfaces.requests(outcome) == snapshot.use_extension(Requests)
    if outcome.after != outcome.workflow:
        assert case_surfaces.workflow(outcome) == snapshot.use_extension(WorkflowYaml)


def test_every_fixture_is_read_by_a_case_or_named_by_a_test() -> None:
    labelled = read_labelled(ROUTING, Settings())
    used = {path.resolve() for case in (*CASES, *labelled) for path in case.files}
    sources = [
        path.read_text("utf-8")
        for folder in ("tests", "benchmarks", "training")
        for path in (FIXTURES.parent / folder).rglob("*.py")
    ]
    unused = [
        str(path.relative_to(FIXTURES))
        for path in FIXTURES.rglob("*")
        if path.is_file()
        and path.suffix != ".md"
        and path.resolve() not in used
        and not any(path.name in source for source in sources)
    ]
    assert sorted(unused) == []

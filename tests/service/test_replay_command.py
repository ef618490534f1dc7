"""`global-chat replay` from its arguments to its exit code, with scripted cases."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.replay_cases import CASE, write_case
from tests.service.replay_command import run

pytestmark = pytest.mark.service

FAILING = CASE.replace("says: Done", "says: Never")


def test_cases_that_pass_end_with_zero_and_a_table_in_case_order(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        write_case(tmp_path / "cases", name)
    ended = run(tmp_path, tmp_path / "cases", "--jobs", 2)
    assert ended.code == 0
    rows = [line.split()[1] for line in ended.out.splitlines() if line.startswith("✔")]
    assert rows == ["a", "b", "c"]
    assert "no model was asked" in ended.out


def test_a_failing_case_is_told_and_ends_with_one(tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "good")
    write_case(tmp_path / "cases", "bad", FAILING)
    ended = run(tmp_path, tmp_path / "cases")
    assert ended.code == 1
    assert "says: 'Never' is not in 'Done.'" in ended.out


def test_a_broken_case_stops_all_with_its_place_before_anything_is_run(tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "good")
    write_case(tmp_path / "cases", "broken", CASE.replace("says:", "sais:"))
    ended = run(tmp_path, tmp_path / "cases")
    assert ended.code == 2
    assert "broken/case.yaml:21:9: expect.sais is not a known key" in ended.err.replace("\n", "")
    assert "Nothing was run" in ended.err
    assert not (tmp_path / "history.sqlite").exists()


def test_every_report_is_written_and_stdout_holds_json_alone(tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "bad", FAILING)
    junit, page = tmp_path / "r.xml", tmp_path / "r.html"
    ended = run(tmp_path, tmp_path / "cases", "--json", "--junit", junit, "--html", page)
    assert ended.report["summary"]["failed"] == 1
    assert ET.fromstring(junit.read_text("utf-8")).find("testsuite/testcase/failure") is not None
    assert "ask for /z" in page.read_text("utf-8")  # the conversation is on it


def test_a_report_that_cannot_be_written_is_told_before_anything_is_run(tmp_path: Path) -> None:
    write_case(tmp_path / "cases")
    ended = run(tmp_path, tmp_path / "cases", "--html", tmp_path / "none" / "r.html")
    assert ended.code == 2 and ended.out == ""


@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_a_report_never_replaces_an_input_or_a_read_only_file(tmp_path: Path, option: str) -> None:
    folder = write_case(tmp_path / "cases")
    (tmp_path / "mine.html").write_text("mine")
    (tmp_path / "mine.html").chmod(0o444)
    run(tmp_path, folder)  # makes the history, which is read too
    for path in (folder / "script.yaml", tmp_path / "history.sqlite", tmp_path / "mine.html"):
        before = path.read_bytes()
        ended = run(tmp_path, folder, option, path)
        assert ended.code == 2 and path.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nowhere",),
        ("--routes", "nowhere.jsonl"),
        ("CASES", "--filter", "zebra"),
        ("CASES", "--shard", "3/2"),
        ("CASES", "--batches"),
        ("CASES", "--routes-only"),
        ("CASES", "--record", "x"),
        ("CASES", "--budget", "1"),
        ("CASES", "--live", "--backend", "scripted"),
        ("compare", "1", "2"),
        ("compare", "1"),
        ("compare", "99999999999999999999", "last~99999999999"),
        ("history", "1"),
        ("CASES", "--live", "--prices", "nowhere.toml"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write_case(tmp_path / "cases")
    given = [str(tmp_path / "cases") if word == "CASES" else word for word in arguments]
    ended = run(tmp_path, *given)
    assert ended.code == 2
    assert ended.err.strip() and "Traceback" not in ended.err


def test_the_first_failure_can_be_the_last(tmp_path: Path) -> None:
    write_case(tmp_path / "cases", "a")
    for name in ("b", "c", "d"):
        write_case(tmp_path / "cases", name, FAILING)
    ended = run(tmp_path, tmp_path / "cases", "--fail-fast", "--json")
    assert ended.code == 1
    assert [r["case"] for r in ended.report["results"]] == ["a", "b"]
    assert "2 turns to go" in ended.err


def test_a_resumed_run_does_only_what_is_left_or_has_changed(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_case(tmp_path / "cases", name, FAILING if name == "b" else CASE)
    run(tmp_path, tmp_path / "cases", "--fail-fast")
    (tmp_path / "cases" / "b" / "case.yaml").write_text(CASE, "utf-8")
    ended = run(tmp_path, tmp_path / "cases", "--resume", "--json")
    assert ended.code == 0
    assert ended.report["run"]["id"] == 1
    assert {r["case"]: r["status"] for r in ended.report["results"]} == dict.fromkeys(
        "abc", "passed"
    )


def test_shards_and_filters_choose(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_case(tmp_path / "cases", name)
    shards = [
        {
            r["case"]
            for r in run(tmp_path, tmp_path / "cases", "--json", "--shard", s).report["results"]
        }
        for s in ("1/2", "2/2")
    ]
    assert shards[0] | shards[1] == {"one", "two", "three"} and not shards[0] & shards[1]
    filtered = run(tmp_path, tmp_path / "cases", "--json", "--filter", "t*", "--filter", "one")
    assert len(filtered.report["results"]) == 3


def test_two_runs_are_listed_and_compared(tmp_path: Path) -> None:
    folder = write_case(tmp_path / "cases", "edit")
    run(tmp_path, tmp_path / "cases")
    (folder / "case.yaml").write_text(FAILING, "utf-8")
    run(tmp_path, tmp_path / "cases")
    assert run(tmp_path, "compare", "1", "1").code == 0
    compared = run(tmp_path, "compare", "last~1", "last")
    assert compared.code == 1
    assert "broken" in compared.out and "says: 'Never'" in compared.out
    listed = run(tmp_path, "history")
    assert listed.code == 0 and "scripted" in listed.out


def test_an_update_shows_its_diff_and_writes_only_when_told_to(tmp_path: Path) -> None:
    wrong = CASE.replace("[router, job_code_agent]", "[router]")
    file = write_case(tmp_path / "cases", "edit", wrong) / "case.yaml"
    asked = run(tmp_path, tmp_path / "cases", "--update")
    assert asked.code == 1
    assert "-  agents: [router]" in asked.out and file.read_text("utf-8") == wrong
    done = run(tmp_path, tmp_path / "cases", "--update", "--yes")
    assert done.code == 0
    assert "-  agents: [router]" in done.out
    assert run(tmp_path, tmp_path / "cases").code == 0
    assert "Nothing to update" in run(tmp_path, tmp_path / "cases", "--update").out


def test_repetitions_are_told_as_a_rate(tmp_path: Path) -> None:
    write_case(tmp_path / "cases")
    ended = run(tmp_path, tmp_path / "cases", "--repeat", 5)
    assert "5/5 (57%–100%)" in ended.out

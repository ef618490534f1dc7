"""Broken cases stop a replay before anything runs, each with the place where it is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from global_chat.contract.settings import Settings
from global_chat.replay.cases import BrokenCases, collect, matching, read_labelled, shard
from tests.replay_cases import CASE, SCRIPT, a_case, write_case

pytestmark = pytest.mark.unit


def faults(*paths: Path) -> str:
    with pytest.raises(BrokenCases) as raised:
        collect(paths)
    return "\n".join(raised.value.faults)


def test_cases_are_found_at_any_depth_once_each_and_in_order(tmp_path: Path) -> None:
    write_case(tmp_path / "b", "two")
    write_case(tmp_path / "a", "zulu")
    folder = write_case(tmp_path / "a", "one")
    found = collect([tmp_path, folder, folder / "case.yaml"])
    assert [case.id for case in found] == ["one", "two", "zulu"]


@pytest.mark.parametrize(
    ("case", "place"),
    [
        (CASE.replace("says:", "sais:"), "case.yaml:21:9: expect.sais"),
        (CASE.replace("agents: [router,", "agents: [rooter,"), "case.yaml:18:12: expect.agents[0]"),
        (CASE.replace("title: One step is edited\n", ""), "case.yaml:1:1: title is missing"),
        (CASE.replace("content: ask", "contents: ask"), "case.yaml:3:3: The payload"),
        (CASE + "script: other.yaml\n", "case.yaml:22:9: the file other.yaml does not exist"),
        (CASE + "workflow: none.yaml\n", "case.yaml:22:11: the file none.yaml does not exist"),
        (CASE + "title: again\n", "case.yaml:22:1: The key `title` occurs twice"),
        (CASE + "  : :\n - x", "case.yaml:"),
        ("- a list\n", "case.yaml:1:1: the value"),
        ("", "case.yaml:1:1: the value"),
    ],
)
def test_a_broken_case_is_told_with_its_place(tmp_path: Path, case: str, place: str) -> None:
    write_case(tmp_path, "broken", case)
    assert place in faults(tmp_path)


def test_a_broken_script_is_told_with_its_place(tmp_path: Path) -> None:
    write_case(tmp_path, "broken", script=SCRIPT.replace("text: Done.", "txt: Done."))
    assert "script.yaml:4:10: job_code_agent[0].txt is not a known key" in faults(tmp_path)


def test_every_fault_of_every_case_is_told_at_once(tmp_path: Path) -> None:
    write_case(tmp_path, "one", CASE.replace("says:", "sais:"))
    write_case(tmp_path, "two", CASE.replace("agents:", "agent:"))
    told = faults(tmp_path, tmp_path / "nowhere")
    assert "sais" in told and "expect.agent " in told and "nowhere: does not exist" in told


def test_a_folder_without_cases_and_two_cases_of_one_name_are_faults(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "contains no case" in faults(tmp_path / "empty")
    write_case(tmp_path / "a", "same")
    write_case(tmp_path / "b", "same")
    assert "the same name" in faults(tmp_path)


def test_a_file_that_is_not_utf8_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    (write_case(tmp_path) / "case.yaml").write_bytes(b"title: \xff\n")
    assert "not UTF-8" in faults(tmp_path)


def test_plain_words_that_yaml_1_1_takes_for_booleans_are_texts(tmp_path: Path) -> None:
    case = a_case(tmp_path, case=CASE.replace("says: Done", "says: [no, on, 1.10, 0123]"))
    assert case.expect.says == ("no", "on", "1.10", "0123")


def test_a_changed_file_gives_the_case_another_fingerprint(tmp_path: Path) -> None:
    prints = {
        a_case(tmp_path / str(i), case=case, script=script).fingerprint
        for i, (case, script) in enumerate(
            [(CASE, SCRIPT), (CASE + "\n", SCRIPT), (CASE, SCRIPT + "\n")]
        )
    }
    assert len(prints) == 3


def test_a_filter_is_a_piece_of_a_name_or_title_or_a_pattern(tmp_path: Path) -> None:
    cases = [
        a_case(tmp_path, "alpha"),
        a_case(tmp_path, "alphabet"),
        a_case(tmp_path, "beta", CASE.replace("One step", "Two steps")),
    ]
    names = {
        text: [c.id for c in matching(cases, [text])]
        for text in ("ALPHA", "alpha*", "?eta", "two steps")
    }
    assert names == {
        "ALPHA": ["alpha", "alphabet"],
        "alpha*": ["alpha", "alphabet"],
        "?eta": ["beta"],
        "two steps": ["beta"],
    }


def test_shards_hold_every_case_exactly_once(tmp_path: Path) -> None:
    cases = [a_case(tmp_path, f"case-{i}") for i in range(7)]
    shares = [shard(cases, f"{i}/3") for i in (1, 2, 3)]
    assert sorted(c.id for share in shares for c in share) == [c.id for c in cases]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("which", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", "²/3"])
def test_a_shard_that_is_none_is_refused(which: str) -> None:
    with pytest.raises(Exception, match="--shard"):
        shard([], which)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "1: Expecting property name"),
        ("[]", "1: the value must be"),
        ('{"id": "a", "content": "x", "destination": "nowhere"}', "1: destination must be"),
        (
            '{"id": "a", "content": "x", "destination": "planner", "more": 1}',
            "1: more is not a known key",
        ),
        ('{"id": "a", "content": " ", "destination": "planner"}', "1: The payload"),
        (
            '{"id": "a", "content": "x", "destination": "planner", "workflow": "no"}',
            "1: the workflow no",
        ),
        ("\n", "contains no request"),
        ("[" * 20_000, "1: It is nested more than 100 levels deep"),
        ("{}\n" * 20_000, "… and 1 more"),
    ],
)
def test_a_labelled_line_that_is_wrong_is_told_with_its_number(
    tmp_path: Path, line: str, problem: str
) -> None:
    file = tmp_path / "routes.jsonl"
    file.write_text(line, "utf-8")
    with pytest.raises(BrokenCases, match=problem.replace("(", r"\(")):
        read_labelled(file, Settings())

"""`check` and `diff` speak to people and to CI, and their exit codes say what they found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workflow_documents import JOBS, project

from global_chat.cli.workflow_files import FORMATS, run_check, run_diff
from global_chat.knowledge.adaptor_docs import AdaptorDocs
from global_chat.knowledge.adaptors import AdaptorShelf
from global_chat.knowledge.registry import Listing, Release
from global_chat.knowledge.store import Store

pytestmark = pytest.mark.unit


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_a_clean_file_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check([file(tmp_path, "good.yaml", JOBS)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "1 file checked: no problems.\n")


def test_an_adaptor_that_was_synced_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GLOBAL_CHAT_CACHE", str(tmp_path / "cache"))
    path = file(tmp_path, "flow.yaml", JOBS.replace("language-http@7.3.2", "language-alpaca@1.2.3"))
    run_check([path])
    assert "There is no adaptor @openfn/language-alpaca." in capsys.readouterr().out
    docs = AdaptorDocs("@openfn/language-alpaca", "1.2.3")
    releases = {"1.2.3": Release("1.2.3", "", None, None)}
    AdaptorShelf(Store(tmp_path / "cache")).put(docs, Listing(docs.package, releases, "1.2.3"))
    run_check([path])
    assert capsys.readouterr().out == ""


def test_problems_are_lines_that_editors_understand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = JOBS.replace("http@7.3.2", "htpp@7.3.2").replace("target_job: store", "target_job: x")
    path = file(tmp_path, "bad.yaml", bad)
    assert run_check([path, file(tmp_path, "good.yaml", JOBS)]) == 1
    out, err = capsys.readouterr()
    first, *_ = out.splitlines()
    assert first == (
        f"{path}:7:14: warning: There is no adaptor @openfn/language-htpp. "
        "Did you mean @openfn/language-http? [adaptor-unknown]"
    )
    assert err == "2 files checked: 1 error, 2 warnings.\n"


def test_json_is_one_object_a_line_and_names_the_workflow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = project(JOBS.replace("type: cron\n", "type: crom\n"))
    assert run_check([file(tmp_path, "project.yaml", bad)], "json") == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"clinic", "other"} == {problem["workflow"] for problem in found}
    wrong = next(problem for problem in found if problem["rule"] == "trigger-type")
    assert (wrong["severity"], wrong["suggestion"]) == ("error", "Did you mean `cron`?")
    assert (wrong["line"], wrong["column"]) == (34, 15)


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"name: a\njobs:\n\ta: x\n", "tab"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b"name: \xe9\n", "not UTF-8"),
        (b"- a\n", "not a workflow"),
        (None, "does not exist"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_rest_is_checked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    data: bytes | None,
    told: str,
    style: str,
) -> None:
    path = tmp_path / "x.yaml"
    if data is not None:
        path.write_bytes(data)
    bad = file(tmp_path, "bad.yaml", JOBS.replace("type: cron\n", "type: crom\n"))
    assert run_check([path, bad], style) == 2
    out = capsys.readouterr().out
    assert told in out
    assert "trigger-type" in out


def test_names_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = JOBS.replace("x-owner", '"\\e[31mred\\n"')
    run_check(
        [file(tmp_path, "bad.yaml", bad)],
    )
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") == 1


def test_a_difference_is_told_in_workflow_terms_and_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file(tmp_path, "old.yaml", JOBS)
    new = file(tmp_path, "new.yaml", JOBS.replace("'0 5 * * *'", "0 7 * * 1"))
    assert run_diff(old, new) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Schedule changed from `0 5 * * *` to `0 7 * * 1`"
    assert "-    cron_expression: '0 5 * * *'   # before the office opens" in lines
    assert "+    cron_expression: 0 7 * * 1   # before the office opens" in lines


def test_the_same_text_is_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file(tmp_path, "old.yaml", JOBS)
    assert run_diff(old, old) == 0
    assert capsys.readouterr().out == ""
    commented = file(tmp_path, "new.yaml", JOBS + "# end\n")
    assert run_diff(old, commented) == 1
    assert capsys.readouterr().out.startswith("Nothing that the workflow does")


def test_workflows_of_a_project_are_compared_by_their_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file(tmp_path, "old.yaml", project(JOBS))
    text = project(JOBS).replace("name: Clean", "name: Tidy").replace("  other:", "  new:")
    assert run_diff(old, file(tmp_path, "new.yaml", text)) == 1
    told = capsys.readouterr().out.splitlines()[:4]
    assert told[0] == "clinic: Renamed step Clean to Tidy"
    assert {"Removed workflow other", "Added workflow new"} <= set(told)


def test_what_a_project_holds_beside_its_workflows_is_compared_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"collections: [{names}]\n{project(JOBS)}" for names in ("visits", "visits, labs")]
    files = [file(tmp_path, f"{n}.yaml", text) for n, text in enumerate(texts)]
    assert run_diff(*files) == 1
    told = capsys.readouterr().out.split("\n\n")[0]
    assert told == "`collections` of the project changed from visits to visits, labs"


def test_a_difference_to_what_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_diff(file(tmp_path, "a.yaml", JOBS), tmp_path / "none.yaml") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "does not exist" in err

"""A project as `openfn project pull` writes it, through every command that takes a workflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.command_line import CommandLine, Script, routed

pytestmark = pytest.mark.service

STEPS = ("fetch-rows", "map-rows", "load-rows", "report")
WORKFLOWS = ("visits", "clinics", "stock")


def workflow(name: str) -> str:
    """Four steps in a row, their code in files."""
    steps = "".join(
        f"  - id: {step}\n    name: {step.replace('-', ' ').capitalize()}\n"
        f"    adaptor: '@openfn/language-common@latest'\n    expression: ./{step}.js\n"
        + (f"    next:\n      {after}:\n        condition: always\n" if after else "")
        for step, after in zip(STEPS, [*STEPS[1:], ""], strict=True)
    )
    return f"id: {name}\nname: {name.capitalize()}\noptions: {{}}\nsteps:\n{steps}"


@pytest.fixture
def project(command: CommandLine) -> Path:
    """Three workflows with twelve scripts."""
    command.write("openfn.yaml", "workspace:\n  dirs:\n    workflows: workflows\n")
    for name in WORKFLOWS:
        folder = command.folder / "workflows" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.yaml").write_text(workflow(name))
        for step in STEPS:
            (folder / f"{step}.js").write_text(f"fn(state => state); // {name} {step}\n")
    return command.folder / "workflows"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def edited(edits: list[dict[str, Any]], see: str) -> Script:
    """The code of Map rows of the clinics is changed by an agent that was shown it."""
    route = routed("job_code_agent")
    route["reply"]["job_key"] = "map-rows"
    when = {"contains": see, "in": "system"}
    tools = [{"name": "edit_job", "input": {"code_edits": edits}}]
    return {"router": [route], "job_code_agent": [{"when": when, "text": "Done.", "tools": tools}]}


EDIT = [{"action": "replace", "old_code": "state => state", "new_code": "state => ({ ...state })"}]
ASK = ("copy the state", "-w", ".", "--page", "workflows/clinics/map-rows")


def run(command: CommandLine, *more: str, ask: tuple[str, ...] = ASK):
    script = command.write("script.json", edited(EDIT, "// clinics map-rows"))
    return command.run("run", *ask, "--script", script, *more)


def test_an_edit_goes_into_the_step_s_own_file_and_undo_takes_it_back(
    command: CommandLine, project: Path
) -> None:
    before = everything(project)
    assert run(command, "--apply").code == 0
    changed = {n: text for n, text in everything(project).items() if text != before[n]}
    new = b"fn(state => ({ ...state })); // clinics map-rows\n"
    assert changed == {"clinics/map-rows.js": new}
    (attachment,) = command.json("global-chat.response.json")["attachments"]
    assert new.decode() in attachment["content"] and "./map-rows.js" not in attachment["content"]
    assert attachment["content"] == command.text("global-chat.workflow.yaml")

    assert command.run("undo", ".", "--page", "workflows/clinics").code == 0
    assert everything(project) == before
    again = command.run("undo", ".", "--page", "workflows/clinics")
    assert (again.code, "nothing to undo" in again.err) == (2, True)


def test_undo_is_refused_when_a_file_has_changed_since(command: CommandLine, project: Path) -> None:
    run(command, "--apply")
    mine = "mine();\n"
    (project / "clinics/map-rows.js").write_text(mine)
    ran = command.run("undo", project / "clinics/clinics.yaml")
    assert (ran.code, "was changed since global-chat wrote it" in ran.err) == (2, True)
    assert (project / "clinics/map-rows.js").read_text() == mine


def test_a_dry_run_prints_a_patch_and_writes_nothing(command: CommandLine, project: Path) -> None:
    before = everything(command.folder)
    ran = run(command, "--dry-run", "-q", "--apply")
    assert (ran.code, ran.out) == (
        0,
        "--- a/workflows/clinics/map-rows.js\n+++ b/workflows/clinics/map-rows.js\n"
        "@@ -1 +1 @@\n-fn(state => state); // clinics map-rows\n"
        "+fn(state => ({ ...state })); // clinics map-rows\n",
    )
    written = set(everything(command.folder)) - set(before)
    assert {name for name in written if not name.startswith(".cache")} == {"script.json"}


def test_a_folder_with_several_workflows_needs_a_page(command: CommandLine, project: Path) -> None:
    ran = command.run("run", "hello", "-w", ".", "--backend", "offline")
    assert ran.code == 2
    assert "workflows/clinics, workflows/stock, workflows/visits" in ran.err
    named = project / "stock/stock.yaml"
    named.write_text(named.read_text().replace("report", "count").replace("Report", "Count"))
    (project / "stock/report.js").rename(project / "stock/count.js")
    for page in ("stock", "count", "workflows/Stock"):
        ran = command.run(
            "run", "list the steps", "-w", ".", "--page", page, "--backend", "offline"
        )
        assert (ran.code, "Count" in ran.out) == (0, True), ran


@pytest.mark.parametrize("option", ["--output", "--workflow-out", "--record", "--trace"])
def test_no_result_and_no_refusal_is_written_over_a_step_s_code(
    command: CommandLine, project: Path, option: str
) -> None:
    (project / "stock/count.txt").write_text("fn(state => state);\n")
    stock = project / "stock/stock.yaml"
    stock.write_text(stock.read_text().replace("./report.js", "{path: ./count.txt}"))
    before = everything(project)
    for target in ("stock/report.js", "stock/count.txt", "stock/stock.yaml"):
        ask = ("run", "list the steps", "-w", stock, "--backend", "offline")
        ran = command.run(*ask, option, project / target)
        assert (ran.code, "would replace the input" in ran.err) == (2, True), ran
    assert everything(project) == before


def test_a_removed_step_s_file_stays_and_is_named(command: CommandLine, project: Path) -> None:
    ran = command.run(
        *("run", "remove the step Report", "-w", project / "stock/stock.yaml"),
        *("--backend", "offline", "--apply"),
    )
    assert "report.js is no longer the code of any step" in ran.err
    assert (project / "stock/report.js").exists()
    assert "report" not in (project / "stock/stock.yaml").read_text()


def test_check_and_diff_see_the_code_in_its_files(command: CommandLine, project: Path) -> None:
    assert command.run("check", ".").err == "3 files checked: no problems.\n"
    (project / "stock/report.js").unlink()
    (project / "visits/fetch-rows.js").write_text("fn(state => state);\nfn(\n")
    ran = command.run("check", ".", "--format", "json")
    found = {(p["file"], p["line"], p["rule"]) for p in map(json.loads, ran.out.splitlines())}
    assert ("workflows/stock/stock.yaml", 29, "code-file") in found
    assert any(f == "workflows/visits/fetch-rows.js" and n == 2 for f, n, _ in found)
    assert ran.code == 1

    new = command.folder / "new"
    new.mkdir()
    for file in (project / "clinics").iterdir():
        (new / file.name).write_bytes(file.read_bytes().replace(b"clinics map", b"clinics MAP"))
    ran = command.run("diff", project / "clinics", new, "--json")
    assert (ran.code, ran.json["changes"]) == (1, ["Code of Map rows changed (+1 −1)"])


def test_chat_applies_to_the_same_files(command: CommandLine, project: Path, monkeypatch) -> None:
    script = command.write("script.json", edited(EDIT, "// clinics map-rows"))
    lines = "copy the state\n/diff\n/apply\n"
    ran = command.run("chat", ".", "--page", ASK[-1], "--script", script, stdin=lines)
    assert "Written to workflows/clinics/map-rows.js." in ran.out
    assert b"...state" in (project / "clinics/map-rows.js").read_bytes()


def test_in_a_payload_such_a_step_is_what_it_is_and_never_written_as_if_empty(
    command: CommandLine,
) -> None:
    command.write("turn.json", {"content": "x", "workflow_yaml": workflow("clinics")})
    ran = command.turn(edited([{"action": "rewrite", "new_code": "fn(s => s);"}], "./map-rows.js"))
    assert (ran.code, "kept in the file ./map-rows.js" in ran.err) == (2, True), ran.err
    assert command.files == {"turn.response.json"}

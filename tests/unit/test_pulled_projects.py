"""A workflow whose code is in files of its own: read as one document, written back exactly."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import BadRequest
from global_chat.disk.pulled import WorkflowFiles, open_files
from global_chat.workflow.document import Workflow
from global_chat.workflow.patch import Patch

PULLED = """\
id: visits
name: Visits
start: cron
options: {}
steps:
  - id: cron
    type: cron
    enabled: false
    cron_expression: 0 6 * * *
    next:
      fetch-rows:
        condition: always
  # the feed
  - id: fetch-rows
    name: Fetch rows
    adaptor: "@openfn/language-http@7.3.2"
    expression: ./fetch-rows.js # pulled
    next:
      map-rows:
        condition: on_job_success

  - id: map-rows
    name: Map rows
    adaptor: "@openfn/language-common@3.3.4"
    expression: ./map-rows.js
"""
JOBS = """\
name: Visits
jobs:
  fetch-rows:
    name: Fetch rows
    adaptor: "@openfn/language-http@7.3.2"
    body: './fetch-rows.js'
  map-rows:
    name: Map rows
    adaptor: "@openfn/language-common@3.3.4"
    body:
      path: ./map-rows.js
triggers:
  cron: {type: cron, enabled: true, cron_expression: 0 6 * * *}
edges:
  cron->fetch-rows: {source_trigger: cron, target_job: fetch-rows}
"""
SHARED = """\
name: Visits
steps:
  - id: fetch-rows
    expression: &code ./fetch-rows.js
    next: map-rows
  - id: map-rows
    expression: *code
  - {id: third, name: Third, expression: ./map-rows.js}
"""
PROJECT = (
    "name: p\nworkflows:\n  one:\n"
    + "".join(f"    {line}\n" for line in JOBS.splitlines())
    + "  two:\n    jobs:\n      last:\n        body: ./map-rows.js"
)
DOCUMENTS = (PULLED, PULLED.rstrip("\n"), JOBS, SHARED, PROJECT)

_code = st.text("ab \t\n{}('é\u2028\x07|#:", max_size=40)
_line_end = st.sampled_from(["\n", "\r\n"])


def written(folder: Path, yaml: str, codes: dict[str, str]) -> Path:
    for name, code in codes.items():
        (folder / name).write_text(code, encoding="utf-8", newline="")
    path = folder / "visits.yaml"
    path.write_text(yaml, encoding="utf-8", newline="")
    return path


def pulled(folder: Path) -> WorkflowFiles:
    codes = {"fetch-rows.js": "get('/visits');\n", "map-rows.js": "fn(state => state)\n"}
    return open_files(written(folder, PULLED, codes))


def names(files: dict[Path, str]) -> list[str]:
    return sorted(file.name for file in files)


def on_disk(files: WorkflowFiles) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files.files}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    yaml=st.sampled_from(DOCUMENTS),
    yaml_end=_line_end,
    mark=st.sampled_from(["", "\ufeff"]),
    codes=st.tuples(_code, _code),
    code_end=_line_end,
    edited=st.sampled_from(["a(1);", "a(1);\n", "  b\n\n c"]),
)
def test_nothing_edited_writes_nothing_and_one_edit_writes_one_file(
    tmp_path: Path,
    yaml: str,
    yaml_end: str,
    mark: str,
    codes: tuple[str, str],
    code_end: str,
    edited: str,
) -> None:
    texts = dict(zip(("fetch-rows.js", "map-rows.js"), codes, strict=True))
    texts = {name: mark + code.replace("\n", code_end) for name, code in texts.items()}
    files = open_files(written(tmp_path, mark + yaml.replace("\n", yaml_end), texts))
    assert {path: text.encode() for path, text in files.files.items()} == on_disk(files)
    assert files.split(files.text) == {}

    workflow = Workflow.read(files.text, "workflows/one")
    step = workflow.find_step("fetch-rows")
    assert step is not None
    after = workflow.with_code("fetch-rows", edited)
    if step.code == after.find_step("fetch-rows").code:  # type: ignore[union-attr]
        return
    split = files.split(after.text)
    if yaml is SHARED:  # its file is another step's too, so it gets one of its own
        assert names(split) == ["fetch-rows-2.js", "visits.yaml"]
        return
    assert names(split) == ["fetch-rows.js"]
    text = split[tmp_path / "fetch-rows.js"]
    assert text.startswith(mark)
    assert text.replace("\r\n", "\n").strip("\ufeff\n") == edited.strip("\n")


def test_an_edit_keeps_the_line_ends_of_every_other_line(tmp_path: Path) -> None:
    codes = {"fetch-rows.js": "a();\r\nb();\nc();\r\n\r\n", "map-rows.js": ""}
    files = open_files(written(tmp_path, PULLED, codes))
    after = Workflow.read(files.text).with_code("fetch-rows", "a();\nb();\nnew();\nc();\n")
    assert files.split(after.text) == {
        tmp_path / "fetch-rows.js": "a();\r\nb();\nnew();\r\nc();\r\n\r\n"
    }


def test_a_new_step_gets_a_file_named_as_its_neighbours_are(tmp_path: Path) -> None:
    files = pulled(tmp_path)
    step = {"name": "Send to CRM", "adaptor": "@openfn/language-http@7.3.2"}
    patch = Patch(
        jobs={"send-to-crm": step},
        edges={"map-rows->send-to-crm": {"source_job": "map-rows", "target_job": "send-to-crm"}},
    )
    after = Workflow.read(files.text).apply(patch).workflow
    split = files.split(after.with_code("send-to-crm", "post('/crm');\n").text)
    assert names(split) == ["send-to-crm.js", "visits.yaml"]
    assert split[tmp_path / "send-to-crm.js"] == "post('/crm');\n"
    yaml = split[tmp_path / "visits.yaml"]
    assert "expression: ./send-to-crm.js" in yaml
    assert all(line in yaml.splitlines() for line in PULLED.splitlines())


def test_a_structural_change_writes_the_yaml_alone(tmp_path: Path) -> None:
    files = pulled(tmp_path)
    after = files.text.replace("enabled: false", "enabled: true")
    assert files.split(after) == {
        tmp_path / "visits.yaml": PULLED.replace("enabled: false", "enabled: true")
    }


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("./missing.js", "does not exist"),
        ("../other.js", "leads out of the workflow's folder"),
        ("/etc/hosts.js", "leads out of the workflow's folder"),
        ("./link.js", "leads out of the workflow's folder"),
        ("./folder.js", "does not exist"),
        ("./latin.js", "is not UTF-8"),
    ],
)
def test_a_path_that_cannot_be_followed_is_refused_with_its_line(
    tmp_path: Path, path: str, said: str
) -> None:
    folder = tmp_path / "visits"
    (folder / "folder.js").mkdir(parents=True)
    (tmp_path / "other.js").write_text("secret()")
    (folder / "link.js").symlink_to(tmp_path / "other.js")
    (folder / "latin.js").write_bytes(b"fn('\xe9')")
    yaml = PULLED.replace("./fetch-rows.js", path)
    file = written(folder, yaml, {"map-rows.js": "fn(state => state)"})
    with pytest.raises(BadRequest, match=r"visits\.yaml, line 17: .*" + said):
        open_files(file)
    (fault,) = open_files(file, strict=False).faults
    assert (fault.line, fault.severity) == (17, "error")

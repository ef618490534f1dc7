"""Small cases for tests of the replay, written to a folder or made in memory."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from global_chat.replay.cases import Case, read_case
from global_chat.replay.result import Result

WORKFLOW = """\
name: w
jobs:
  get:
    name: Get
    adaptor: '@openfn/language-http@7.3.2'
    body: get('/a');
  save:
    name: Save
    body: |
      post('/b');  # kept
"""

#: One step is edited, directly.
CASE = """\
title: One step is edited
payload:
  content: ask for /z
  page: workflows/w/get
  workflow_yaml: |
    name: w
    jobs:
      get:
        name: Get
        adaptor: '@openfn/language-http@7.3.2'
        body: get('/a');
      save:
        name: Save
        body: |
          post('/b');
route: { destination: job_code_agent, job_key: get }
expect:
  agents: [router, job_code_agent]
  changed:
    jobs.get.body: { contains: /z }
  says: Done
"""

SCRIPT = """\
router:
  - reply: { destination: job_code_agent, confidence: 5, job_key: get }
job_code_agent:
  - text: Done.
    tools:
      - name: edit_job
        input: { code_edits: [{ action: replace, old_code: /a, new_code: /z }] }
"""


def write_case(folder: Path, name: str = "edit", case: str = CASE, script: str = SCRIPT) -> Path:
    """Write a case and return its folder."""
    made = folder / name
    made.mkdir(parents=True)
    (made / "case.yaml").write_text(dedent(case), "utf-8")
    (made / "script.yaml").write_text(dedent(script), "utf-8")
    return made


def a_case(folder: Path, name: str = "edit", case: str = CASE, script: str = SCRIPT) -> Case:
    """A case that was written to a folder and read again."""
    return read_case(write_case(folder, name, case, script) / "case.yaml")


def a_result(case: str = "one", **changes: object) -> Result:
    """A result that passed; the arguments replace its parts."""
    return Result.model_validate({"case": case, "title": case, "status": "passed", **changes})

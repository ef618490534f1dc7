"""One workflow in every form, and what a model may answer to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from difflib import ndiff
from typing import Any

import pytest
import yaml

from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Edge
from global_chat.workflow.patch import PatchRejected
from global_chat.workflow.patching.apply import Patched
from global_chat.workflow.patching.reply import read_patch

JOBS = """\
name: Clinic sync
# every morning; ask the data team before changing
jobs:
  read:
    id: aa01
    name: Read
    adaptor: '@openfn/language-http@7.3.2'
    credential: clinic-api
    body: |
      get('/clinics');

  # trims names, do not remove
  clean:
    id: aa02
    name: Clean
    adaptor: "@openfn/language-common@3.3.4"   # pinned
    x-owner: data
    body: |-
      fn(state => state);

  store:
    id: aa03
    name: Store
    adaptor: '@openfn/language-postgresql@8.1.2'
    credential: warehouse
    body: |
      insert('clinic', state => state.data);
triggers:
  cron:
    id: bb01
    type: cron
    cron_expression: '0 5 * * *'   # before the office opens
    webhook_reply: before_start
    enabled: true
edges:
  cron->read:
    id: cc01
    source_trigger: cron
    target_job: read
    condition_type: always
    enabled: true
  # nothing to clean, nothing to do
  read->clean:
    id: cc02
    source_job: read
    target_job: clean
    condition_type: js_expression
    condition_label: some clinics
    condition_expression: state.data.length > 0
    enabled: true
  clean->store:
    id: cc03
    source_job: clean
    target_job: store
    condition_type: on_job_success
    enabled: true
"""

STEPS = """\
id: clinic-sync
name: Clinic sync
# every morning; ask the data team before changing
start: cron
steps:
  - id: cron
    type: cron
    enabled: true
    openfn:
      uuid: bb01
      cron: '0 5 * * *'   # before the office opens
      webhook_reply: before_start
    next: read
  - id: read
    name: Read
    adaptor: '@openfn/language-http@7.3.2'
    configuration: clinic-api
    openfn:
      uuid: aa01
    expression: |
      get('/clinics');
    next:
      # nothing to clean, nothing to do
      clean:
        condition: state.data.length > 0
        label: some clinics

  # trims names, do not remove
  - id: clean
    name: Clean
    adaptor: "@openfn/language-common@3.3.4"   # pinned
    openfn:
      uuid: aa02
    x-owner: data
    expression: |-
      fn(state => state);
    next:
      store:
        condition: on_job_success

  - id: store
    name: Store
    adaptor: '@openfn/language-postgresql@8.1.2'
    configuration: warehouse
    openfn:
      uuid: aa03
    expression: |
      insert('clinic', state => state.data);
"""

#: The app's 4.0 form: no ids, settings on the trigger, every `next` a mapping.
APP = """\
id: clinic-sync
name: Clinic sync
# every morning; ask the data team before changing
schema_version: '4.0'
start: cron
steps:
  - id: cron
    name: cron
    enabled: true
    type: cron
    cron_expression: '0 5 * * *'   # before the office opens
    webhook_reply: before_start
    next:
      read:
        condition: always
  - id: read
    name: Read
    adaptor: '@openfn/language-http@7.3.2'
    configuration: clinic-api
    expression: |
      get('/clinics');
    next:
      # nothing to clean, nothing to do
      clean:
        condition: state.data.length > 0
        label: some clinics

  # trims names, do not remove
  - id: clean
    name: Clean
    adaptor: "@openfn/language-common@3.3.4"   # pinned
    x-owner: data
    expression: |-
      fn(state => state);
    next:
      store:
        condition: on_job_success

  - id: store
    name: Store
    adaptor: '@openfn/language-postgresql@8.1.2'
    configuration: warehouse
    expression: |
      insert('clinic', state => state.data);
"""

#: What the CLI writes: every path says whether it is disabled.
CLI = re.sub(r"^( +)(condition: .*)$", r"\1disabled: false\n\1\2", APP, flags=re.MULTILINE).replace(
    "schema_version: '4.0'", "options: {}"
)

FLOW = """\
{name: Flow, jobs: {a: {name: A, body: 'x();'}, b: {name: B, body: 'y();'}},
 triggers: {t: {type: webhook, enabled: true}},
 edges: {t->a: {source_trigger: t, target_job: a, condition_type: always, enabled: true},
         a->b: {source_job: a, target_job: b, condition_type: on_job_success, enabled: true}}}
"""

OTHER = """\
  other:
    name: Other
    jobs:
      read:
        name: Read
        body: |
          get('/other');
"""


def project(text: str, *, listed: bool = False) -> str:
    """A project file that holds the workflow `text` as `clinic`, and another one."""
    first, *rest = text.splitlines(keepends=True)
    pad = "    "
    indented = [pad + line if line.strip() else line for line in (first, *rest)]
    if listed:
        other = OTHER.replace("  other:\n    name", "  - name")
        items = "  - " + "".join(indented)[4:]
        return f"name: demo\nworkflows:\n{items}{other}"
    return f"name: demo\nworkflows:\n  clinic:\n{''.join(indented)}{OTHER}"


#: Every form: its name, the text, the page.
FORMS: dict[str, tuple[str, str | None]] = {
    "jobs": (JOBS, None),
    "steps": (STEPS, None),
    "app": (APP, None),
    "cli": (CLI, None),
    "project": (project(JOBS), "workflows/clinic"),
    "project of steps": (project(STEPS), "workflows/clinic"),
    "listed": (project(JOBS, listed=True), "workflows/Clinic sync"),
    "windows": (JOBS.replace("\n", "\r\n"), None),
    "windows steps": (STEPS.replace("\n", "\r\n"), None),
    "open end": (JOBS.rstrip("\n"), None),
    "open end steps": (STEPS.rstrip("\n"), None),
}

Change = Callable[[dict[str, Any]], object]


def workflow(form: str = "jobs") -> Workflow:
    return Workflow.read(*FORMS[form])


def reply(of: Workflow, change: Change) -> str:
    """What a model answers that was shown the draft and changes it so."""
    whole = yaml.safe_load(of.draft())
    change(whole)
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True)


def patched(
    before: Workflow,
    yaml_text: str | None = None,
    *remove: str,
    adaptors: Mapping[str, Collection[str]] | None = None,
    unknown_adaptors: bool = False,
) -> Patched:
    """The workflow after a reply."""
    patch = read_patch(yaml_text, remove, before)
    return before.apply(patch, adaptors, unknown_adaptors=unknown_adaptors)


def rejected(before: Workflow, yaml_text: str | None = None, *remove: str, **more: Any) -> str:
    """Why a reply is rejected, in all its sentences."""
    with pytest.raises(PatchRejected) as refused:
        patched(before, yaml_text, *remove, **more)
    assert all(problem.strip() for problem in refused.value.problems)
    return " ".join(refused.value.problems)


def difference(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went and the lines that came, blanks around them aside."""
    lines = [line for line in ndiff(old.splitlines(), new.splitlines()) if line[0] in "+-"]
    gone = [line[2:].strip() for line in lines if line[0] == "-"]
    came = [line[2:].strip() for line in lines if line[0] == "+"]
    return gone, came


def codes(of: Workflow) -> dict[str, str | None]:
    return {step.key: step.code for step in of.steps}


def ids(of: Workflow) -> dict[str, str | None]:
    return {part.key: part.id for part in (*of.steps, *of.triggers)}


def path(of: Workflow, source: str, target: str) -> Edge:
    """The path between two parts, wherever it stands."""
    ends = {(e.source_step or e.source_trigger, e.target): e for e in of.edges}
    return replace(ends[source, target], line=0)


def joined(of: Workflow) -> set[tuple[str | None, str | None]]:
    return {(e.source_trigger or e.source_step, e.target) for e in of.edges}


PING = "jobs: {ping: {name: Ping, adaptor: '@openfn/language-http@latest'}}\n"


def edge(source: str, target: str, **more: Any) -> str:
    """A line of a reply under `edges:`."""
    ends = {"source_job": source, "target_job": target, "condition_type": "on_job_success"}
    return f"  {source}->{target}: {json.dumps({**ends, **more})}\n"

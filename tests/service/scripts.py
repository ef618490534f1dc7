"""What models say in scripts, and the workflow that the turns of the service tier work on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from global_chat.workflow.document import Workflow

Script = dict[str, Any]

#: Every body, id and comment is an improbable word, so that one in the wrong place shows.
WORKFLOW = """\
name: Visits to registry
# comment-zq91: keep in step with form 3
jobs:
  fetch:
    id: id-zq11
    name: Fetch visits
    adaptor: '@openfn/language-http@7.3.2'
    credential: credential-zq41
    body: |
      get('/body-zq21', { query: { limit: 50 } });

  # comment-zq92: owned by the data team
  clean:
    id: id-zq12
    name: Clean visits
    adaptor: "@openfn/language-common@3.0.2"
    body: |
      fn(state => state.bodyZq22);
  load:
    id: id-zq13
    name: Load visits
    adaptor: '@openfn/language-postgresql@8.1.2'
    body: |
      // body-zq23
      insert('visits', $.data);
triggers:
  cron:
    id: id-zq14
    type: cron
    cron_expression: 0 8 * * *
    enabled: true
edges:
  cron->fetch:
    id: id-zq15
    source_trigger: cron
    target_job: fetch
    condition_type: always
    enabled: true
  fetch->clean:
    id: id-zq16
    source_job: fetch
    target_job: clean
    condition_type: on_job_success
    enabled: true
  clean->load:
    id: id-zq17
    source_job: clean
    target_job: load
    condition_type: on_job_success
    enabled: true
"""
BODIES = {"fetch": "body-zq21", "clean": "bodyZq22", "load": "body-zq23"}
PAGE = "workflows/visits-to-registry"


# --- what models say


def routed(destination: str, confidence: int = 5, job_key: str | None = None) -> Script:
    return {"reply": {"destination": destination, "confidence": confidence, "job_key": job_key}}


def to_code(job_key: str | None = "fetch", confidence: int = 5) -> list[Script]:
    return [routed("job_code_agent", confidence, job_key)]


TO_STRUCTURE = [routed("workflow_agent")]
TO_PLANNER = [routed("planner")]


def says(text: str, **more: Any) -> Script:
    return {"text": text, **more}


def calls(*tools: Script, **more: Any) -> Script:
    return {"tools": list(tools), **more}


def structure(
    yaml: str | None = None, text: str = "", remove: Sequence[str] = (), **more: Any
) -> Script:
    reply = {"handover": None, "remove": list(remove), "yaml": yaml, "text": text}
    return {"reply": reply, **more}


def hands_over(goal: str, **more: Any) -> Script:
    """The workflow agent's way out."""
    return {"reply": {"handover": goal, "remove": [], "yaml": None, "text": ""}, **more}


def tool(name: str, **input_: Any) -> Script:
    return {"name": name, "input": input_}


def edit(old: str | None, new: str) -> Script:
    """An `edit_job` call: a replacement, or with None for `old` a new version of the whole."""
    action = "rewrite" if old is None else "replace"
    return tool("edit_job", code_edits=[{"action": action, "old_code": old, "new_code": new}])


def code_call(job_key: str, message: str = "Do it.", attachments: Iterable[str] = ()) -> Script:
    given = {"job_key": job_key, "message": message, "attachments": list(attachments)}
    return tool("call_job_code_agent", **given)


def structure_call(message: str = "Do it.", attachments: Iterable[str] = ()) -> Script:
    return tool("call_workflow_agent", message=message, attachments=list(attachments))


def inspect(*job_keys: str) -> Script:
    return tool("inspect_job_code", job_keys=list(job_keys))


def drafted(old: str = "", new: str = "") -> str:
    """The whole workflow as the workflow agent gives it back, with one text exchanged."""
    draft = Workflow.read(WORKFLOW).draft()
    assert old in draft
    return draft.replace(old, new)


RENAMED = "Receive visits"


def renames(text: str = "I renamed the first step.") -> Script:
    """A structural edit that applies: the step `fetch` gets another name."""
    return structure(drafted("name: Fetch visits", f"name: {RENAMED}"), text)

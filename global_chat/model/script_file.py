"""Reads a script from a file or a text, YAML or JSON, and says where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from global_chat.contract.errors import BadRequest, dotted, in_words

from .script import Script


def read_script(path: Path) -> Script:
    """The script in a file. Raises `BadRequest` that names the file and the place of the fault."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest(f"The script {path} is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise BadRequest(f"The script {path} cannot be read: {error.strerror}.") from None
    return parse_script(text, str(path))


def parse_script(text: str, source: str = "the script") -> Script:
    """The script in a text, YAML 1.2 or JSON. `source` names it in the `BadRequest` it raises."""
    return script_from(_data(text, source), source)


def script_from(data: Any, source: str = "the script") -> Script:
    """The script in plain data. Raises `BadRequest` with the place of every fault."""
    if not isinstance(data, dict):
        raise BadRequest(
            f"{source} must be a mapping from agents (router, workflow_agent, job_code_agent, "
            "planner) to lists of turns."
        )
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        faults = [
            f"{dotted(e['loc'], 'it')} {in_words(e['type'], e['msg'])}"
            for e in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        listed = "; ".join(dict.fromkeys(faults[:5]))
        raise BadRequest(f"{source} cannot be used: {listed}.") from None


def _data(text: str, source: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass  # a YAML mapping may be written in braces too
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadRequest(f"{source}{where}: {error.problem or 'no valid YAML'}.") from None
    except (YAMLError, ValueError, RecursionError) as error:
        words = str(error).strip().splitlines() or ["nested too deeply"]
        raise BadRequest(f"{source} is no valid YAML: {words[0]}.") from None

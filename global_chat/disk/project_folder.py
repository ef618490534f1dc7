"""Finds what a page means: a workflow's file in a project's folder, a step by its name alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from global_chat.contract.errors import BadRequest, InvalidWorkflow
from global_chat.contract.texts import did_you_mean
from global_chat.workflow.document import Workflow
from global_chat.workflow.finding import fold
from global_chat.workflow.parts import Page

from .reading import read_object, read_text

#: A folder with more YAML files than this is not a project's.
MAX_FILES = 1_000

_YAML = (".yaml", ".yml")
_WORKFLOW = re.compile(r"^(?:steps|jobs|workflows)[ \t]*:", re.MULTILINE)


def workflow_file(path: Path, page: str | None) -> Path:
    """The workflow's file that is meant: `path`, or in a folder the one that the page names.

    Raises `BadRequest` when a folder holds none, or several of which the page names none.
    """
    if not path.is_dir():
        return path
    found = {file: _names(file) for file in workflow_files(path)}
    if not found:
        raise BadRequest(f"The folder {path} holds no workflow file. Name a workflow's YAML file.")
    wanted = Page.parse(page).workflow or page or ""
    hits = [f for f, names in found.items() if wanted and fold(wanted) in map(fold, names)]
    hits = hits or [file for file in found if wanted and _has_step(file, wanted)]
    if len(found) == 1 or len(hits) == 1:
        return (hits or list(found))[0]
    listed = ", ".join(sorted(f"workflows/{names[0]}" for names in found.values())[:20])
    raise BadRequest(
        f"The folder {path} holds {len(found)} workflows; say with --page which one is meant: "
        f"{listed}."
    )


def page_of(page: str, workflow_yaml: object) -> str:
    """The page that `--page` means: a page as it is, else the page of the step or the workflow that
    has this name.

    Raises `BadRequest` when it is neither.
    """
    if page.strip("/").partition("/")[0] == "workflows":
        return page
    text = workflow_yaml if isinstance(workflow_yaml, str) else ""
    known: dict[str, str] = {}
    hits = []
    with suppress(InvalidWorkflow):
        for key, workflow in Workflow.every(text):
            name = key or workflow.name or "workflow"
            known |= {step.key: f"workflows/{name}/{step.key}" for step in workflow.steps}
            if step := workflow.find_step(page):
                hits.append(f"workflows/{name}/{step.key}")
            elif fold(page) and fold(page) in (fold(key or ""), fold(workflow.name or "")):
                hits.append(f"workflows/{name}")
    if len(hits) == 1:
        return hits[0]
    fault = "names several steps" if hits else "is not a page, and no step has this name"
    raise BadRequest(
        f"The page {page!r} {fault}. Write workflows/NAME or workflows/NAME/STEP."
        f"{'' if hits else did_you_mean(page, known)}"
    )


def workflow_files(folder: Path) -> list[Path]:
    """Every workflow file of a folder, sorted: those where `openfn.yaml` says that workflows are,
    or those of a `project.yaml` that holds them, or all below the folder.

    Raises `BadRequest` when there are more than `MAX_FILES` YAML files.
    """
    with suppress(BadRequest, InvalidWorkflow):
        project = folder / "project.yaml"
        if not Workflow.read(read_text(project), position=0).is_empty:
            return [project]
    root = folder
    with suppress(BadRequest):
        match read_object(folder / "openfn.yaml"):
            case {"workspace": {"dirs": {"workflows": str(name)}}} | {
                "dirs": {"workflows": str(name)}
            }:
                root = folder / name
            case _:
                root = folder / "workflows"
    if not root.resolve().is_relative_to(folder.resolve()):
        raise BadRequest(f"{folder / 'openfn.yaml'} says that workflows are outside of its folder.")
    found = []
    for file in _yaml_files(root):
        found.append(file)
        if len(found) > MAX_FILES:
            raise BadRequest(f"The folder {root} holds more than {MAX_FILES:,} YAML files.")
    return sorted(filter(_is_workflow, found))


def _yaml_files(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "node_modules"]
        files = (Path(place, name) for name in names if name.endswith(_YAML))
        yield from (file for file in files if file.is_file())


def _is_workflow(file: Path) -> bool:
    """Whether a file says that it holds workflows; one that cannot be read may be one."""
    try:
        return _WORKFLOW.search(read_text(file)) is not None
    except BadRequest:
        return True


def _has_step(file: Path, name: str) -> bool:
    with suppress(InvalidWorkflow, BadRequest):
        return Workflow.read(read_text(file)).find_step(name) is not None
    return False


def _names(file: Path) -> list[str]:
    """What a page may call the workflow of a file."""
    names = [file.stem, file.parent.name]
    with suppress(InvalidWorkflow, BadRequest):
        names.append(Workflow.read(read_text(file)).name or file.stem)
    return names

"""Cases: what a turn is given, what models say, what must come out; and reading them.

Every case is read before any runs: a broken one stops the replay here, with its place.
`fixtures/cases/README.md` describes the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from global_chat.contract.errors import (
    BadRequest,
    InputError,
    Location,
    dotted,
    in_words,
)
from global_chat.contract.names import AgentName, Destination, SubagentName, Usage
from global_chat.contract.payload import Payload
from global_chat.contract.payload import read as read_payload
from global_chat.contract.settings import Settings
from global_chat.disk.reading import number_of, read_object, read_text
from global_chat.model.scripted import Script
from global_chat.yaml import nodes
from global_chat.yaml.compose import compose
from global_chat.yaml.data import read_json, with_json_shape
from global_chat.yaml.refusals import Unreadable
from global_chat.yaml.source import Source

M = TypeVar("M", bound=BaseModel)

CASE_FILE = "case.yaml"

#: So many faults are listed, and of a file of labelled requests so many are looked for.
MOST_FAULTS = 50


class StrictModel(BaseModel):
    """Data that is not changed after it is read and holds no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_text(value: object) -> object:
    """A YAML scalar as it is spelled: expectations are about texts, not types."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | Decimal) else value


def _as_list(value: object) -> object:
    return [_as_text(v) for v in value] if isinstance(value, list) else [_as_text(value)]


def _as_part(value: object) -> object:
    return value or {} if isinstance(value, dict | None) else {"equals": _as_text(value)}


Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_as_list)]


class PartExpectation(StrictModel):
    """A text must hold all of `contains` and none of `lacks`, or be `equals`."""

    contains: Texts = ()
    lacks: Texts = ()
    equals: Annotated[str | None, BeforeValidator(_as_text)] = None


#: What a part of the document must hold afterwards; a plain value is the whole of it.
Part = Annotated[PartExpectation, BeforeValidator(_as_part)]


class RequestExpectation(StrictModel):
    """Each text of `contains` must be in at least one request, none of `lacks` in any."""

    contains: Texts = ()
    lacks: Texts = ()
    count: int | None = Field(default=None, ge=0)  # failed attempts included


class Label(StrictModel):
    """Where a request belongs: the right answer of a router, whatever the script's router says."""

    destination: Destination
    also_ok: tuple[Destination, ...] = ()
    job_key: str | None = None


class Expect(StrictModel):
    """What must come out.

    What is left out is expected not to happen: no handover, no warning, no error, no change. Of
    the workflow, everything outside `changed`, `added` and `removed` must stay byte for byte.
    Parts are named by their path (`jobs.fetch.body`); a path stands for everything below it.
    """

    agents: tuple[AgentName, ...] | None = None
    confidence: int | None = None
    handover: SubagentName | None = None  # who handed over to the planner
    goal: Texts = ()  # words of the goal that came with it
    handed_back: Annotated[tuple[SubagentName, ...], BeforeValidator(_as_list)] = ()
    changed: dict[str, Part] = {}
    added: dict[str, Part] = {}
    removed: Texts = ()
    moved: Texts = ()  # paths whose text is written in another form, with the same value
    says: Texts = ()
    never_says: Texts = ()
    requests: dict[AgentName, RequestExpectation | tuple[RequestExpectation, ...]] = {}
    planning: dict[Literal["iterations", "tool_calls", "limit_reached"], int | bool] = {}
    usage: Usage | None = None
    warnings: Texts = ()  # words of each warning, in order
    error: str | None = None
    error_says: Texts = ()


class Attach(StrictModel):
    """An attachment: a file beside the case, or `text` repeated `times` times."""

    type: str = Field(min_length=1)
    file: str | None = None
    text: str = ""
    times: int = Field(default=1, ge=1, le=1_000_000)


class CaseFile(StrictModel):
    """`case.yaml`. File names are relative to the case's folder."""

    title: str = Field(min_length=1)
    why: str | None = None
    payload: dict[str, Any] | str
    workflow: str | None = None
    attach: tuple[Attach, ...] = ()
    script: str = "script.yaml"
    settings: Settings = Settings()
    route: Label | None = None
    expect: Expect = Expect()


@dataclass(frozen=True, slots=True)
class Case:
    """One case, ready to run. `script` is None for a labelled request that only a model answers."""

    id: str
    title: str
    given: dict[str, Any]  # the payload as data: a case may be about a payload that is refused
    path: Path
    files: tuple[Path, ...]  # every file that was read for it
    fingerprint: str  # a hash of all that it is made of: results of another one are out of date
    settings: Settings
    expect: Expect
    script: Script | None = None
    label: Label | None = None
    kind: str | None = None


class BrokenCases(InputError):
    """Cases that cannot be run. `faults` are one line each: file, line, column, what is wrong."""

    code, type = BadRequest.code, BadRequest.type

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        more = len(self.faults) - MOST_FAULTS
        listed = "\n".join([*self.faults[:MOST_FAULTS], *[f"… and {more:,} more"][: more > 0]])
        super().__init__(f"Cases cannot be read.\n{listed}\nNothing was run. Correct them first.")


class PlacedFile:
    """A YAML or JSON file that knows where each value stands, so that a fault has a place."""

    def __init__(self, path: Path) -> None:
        """Read a file. Raises `BrokenCases` when it is missing, not UTF-8, or malformed."""
        self.path = path
        try:
            self.text = read_text(path).removeprefix("\ufeff")
            self._source = Source(self.text)
            root = compose(self._source) or nodes.Scalar(0, 0, "")
            self.root = with_json_shape(self._source, root)
            self.data = nodes.data_of(self.root)
        except BadRequest as error:
            raise BrokenCases([f"{path}: {error.message}"]) from None
        except Unreadable as error:
            line, column = (error.details.get(name, 1) for name in ("line", "column"))
            raise BrokenCases([f"{path}:{line}:{column}: {error.problem}"]) from None

    def read_as(self, model: type[M], value: object) -> M:
        """The `value` as `model`. Raises `BrokenCases` with every place where it does not fit."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            faults = [self.fault(problem, *place) for place, problem in _problems(error, model)]
            raise BrokenCases(faults) from None

    def fault(self, problem: str, *location: int | str) -> str:
        """The problem with the place of a value, or of the nearest one around it."""
        node: nodes.Node = self.root
        for name in location:
            content = nodes.resolve(node)
            if isinstance(content, nodes.Mapping) and name in content.own:
                node = content.own[str(name)].value
            elif isinstance(content, nodes.Sequence) and isinstance(name, int):
                node = content.items[name]
        line, column = self._source.position(node.start)
        return f"{self.path}:{line}:{column}: {problem}"


def _problems(error: ValidationError, model: type[BaseModel]) -> Iterator[tuple[Location, str]]:
    for one in error.errors(include_url=False, include_input=False):
        name = dotted(one["loc"], "the value")
        yield one["loc"], f"{name} {in_words(one, model)}"


def collect(paths: Iterable[Path]) -> tuple[Case, ...]:
    """The cases in `paths`, in the order of their folders' names, each once.

    A path is a case's folder, its `case.yaml`, or a folder of such folders at any depth. Raises
    `BrokenCases` with every fault of every case, and when a path holds none.
    """
    files: dict[Path, Path] = {}
    cases: dict[str, Case] = {}
    faults: list[str] = []
    for path in paths:
        there = sorted(path.rglob(CASE_FILE)) if path.is_dir() else [path]
        found = {f.resolve(): f for f in there if f.name == CASE_FILE and f.is_file()}
        if not found:
            empty = "contains no case (a folder with a case.yaml)"
            faults.append(f"{path}: {empty if path.exists() else 'does not exist'}")
        files = {**found, **files}
    for file in files.values():
        try:
            case = read_case(file)
        except BrokenCases as broken:
            faults += broken.faults
        else:
            if (other := cases.setdefault(case.id, case)) is not case:
                faults.append(f"{file}: {other.path} is a case with the same name; rename one")
    if faults:
        raise BrokenCases(faults)
    return tuple(cases[name] for name in sorted(cases))


def read_case(path: Path) -> Case:
    """The case in the file `path`, named after its folder. Raises `BrokenCases`."""
    file = PlacedFile(path)
    written = file.read_as(CaseFile, nodes.data_of(file.root, number_of))
    used = [path]

    def beside(name: str, *location: int | str) -> Path:
        used.append(path.parent / name)
        if not used[-1].is_file():
            raise BrokenCases([file.fault(f"the file {name} does not exist", *location)])
        return used[-1]

    def attachment(number: int, attach: Attach) -> dict[str, str]:
        text = attach.text * attach.times
        if attach.file is not None:
            text = read_text(beside(attach.file, "attach", number, "file"))
        return {"type": attach.type, "content": text}

    script = PlacedFile(beside(written.script, "script"))
    try:
        given: Any = written.payload
        if isinstance(given, str):
            given = read_object(beside(given, "payload"))
        if not isinstance(given, dict):
            raise BadRequest("The payload must be one object.")
        given = dict(given)
        if written.workflow is not None:
            given["workflow_yaml"] = read_text(beside(written.workflow, "workflow"))
        if more := [attachment(i, attach) for i, attach in enumerate(written.attach)]:
            given["attachments"] = [*(given.get("attachments") or []), *more]
        if written.expect.error != BadRequest.type:  # else its refusal is what the case is about
            read_payload(Payload, given)
    except BadRequest as error:
        raise BrokenCases([file.fault(error.message, "payload")]) from None
    return Case(
        id=path.resolve().parent.name,
        title=written.title,
        given=given,
        path=path,
        files=tuple(used),
        fingerprint=_fingerprint(file.text, script.text, repr(given)),
        settings=written.settings,
        expect=written.expect,
        script=script.read_as(Script, script.data),
        label=written.route,
    )


def _fingerprint(*texts: str) -> str:
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]


class _LabelledRequest(Label):
    """One line of a file of labelled requests, such as `fixtures/routing.jsonl`."""

    id: str = Field(min_length=1)
    content: str
    workflow: str | None = None  # a file beside it or in its folder `workflows`
    page: str | None = None
    history: tuple[dict[str, Any], ...] = ()
    attachments: tuple[dict[str, Any], ...] = ()
    kind: str | None = None
    note: str | None = None  # for people


def read_labelled(file: Path, settings: Settings) -> tuple[Case, ...]:
    """The labelled requests of a JSON lines file as cases that a model answers, in its order.

    Raises `BrokenCases` with the lines that are wrong: the first `MOST_FAULTS` and one more.
    """
    cases: dict[str, Case] = {}
    faults: list[str] = []
    try:
        lines = read_text(file).removeprefix("\ufeff").split("\n")
    except BadRequest as error:
        raise BrokenCases([error.message]) from None
    for number, line in enumerate(lines, start=1):
        if len(faults) > MOST_FAULTS:
            break
        try:
            case = _labelled(file, line, settings) if line.strip() else None
            if case and cases.setdefault(case.id, case) is not case:
                raise ValueError(f"the id {case.id!r} is used twice")
        except ValidationError as error:
            faults += [
                f"{file}:{number}: {problem}" for _, problem in _problems(error, _LabelledRequest)
            ]
        except Unreadable as error:
            faults.append(f"{file}:{number}: {error.problem}")
        except (ValueError, BadRequest) as problem:
            faults.append(f"{file}:{number}: {problem}")
    if faults or not cases:
        raise BrokenCases(faults or [f"{file}: contains no request"])
    return tuple(cases.values())


def _labelled(file: Path, text: str, settings: Settings) -> Case:
    line = _LabelledRequest.model_validate(read_json(text))
    given = line.model_dump(include={"content", "page", "history", "attachments"}, mode="json")
    files = [file]
    if line.workflow is not None:
        folders = (file.parent, file.parent / "workflows")
        files += [f / line.workflow for f in folders if (f / line.workflow).is_file()][:1]
        if len(files) == 1:
            where = "neither beside the file nor in its workflows folder"
            raise ValueError(f"the workflow {line.workflow} is {where}")
        given["workflow_yaml"] = read_text(files[1])
    read_payload(Payload, given)
    return Case(
        id=line.id,
        title=line.content,
        given=given,
        path=file,
        files=tuple(files),
        fingerprint=_fingerprint(text, repr(given)),
        settings=settings,
        expect=Expect(),
        label=Label(destination=line.destination, also_ok=line.also_ok, job_key=line.job_key),
        kind=line.kind,
    )


def matching(cases: Sequence[Case], filters: Sequence[str]) -> tuple[Case, ...]:
    """The cases that any of the filters fits; all of them without a filter.

    A filter is a piece of a case's name, title or kind, or with `*` or `?` a pattern for its name.
    """

    def fits(wanted: str, case: Case) -> bool:
        if "*" in wanted or "?" in wanted:
            return fnmatchcase(case.id.lower(), wanted)
        return any(wanted in text.lower() for text in (case.id, case.title, case.kind or ""))

    return tuple(c for c in cases if not filters or any(fits(f.lower(), c) for f in filters))


def shard(cases: Sequence[Case], which: str) -> tuple[Case, ...]:
    """One share of the cases: `2/3` is the second of three. Every case is in exactly one.

    Raises `BadRequest` for anything else.
    """
    part, _, of = which.partition("/")
    if not (which.isascii() and part.isdigit() and of.isdigit() and 1 <= int(part) <= int(of)):
        raise BadRequest(f"--shard takes I/N with I from 1 to N, such as 1/3; not {which!r}.")
    return tuple(cases[int(part) - 1 :: int(of)])

"""A workflow's file and the files that its steps' code is in, as one document, and the way back.

`openfn project pull` writes `expression: ./load.js`. The rest of the program sees a document with
the code in the place of such a path; what a turn makes of it goes back to where it came from, each
file byte for byte but for what was changed.
"""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path, PurePosixPath

from global_chat.contract.errors import BadRequest, InternalError, InvalidWorkflow
from global_chat.workflow.changes import pairs
from global_chat.workflow.document import Workflow
from global_chat.workflow.forms.layout import Layout, Placed
from global_chat.workflow.parts import Problem, Step
from global_chat.yaml.block_scalars import header_span
from global_chat.yaml.nodes import Alias, Entry, Node, Scalar, find, lineage
from global_chat.yaml.source import BOM, Source, Splice
from global_chat.yaml.writing import literal, quoted, scalar

from .reading import MAX_BYTES, read_text

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
#: What every text holds that names a file for code; whatever else holds it costs only time.
_MAYBE = re.compile(r"\.js['\"]?[ \t]*(?:[,}#\r\n]|\Z)|\bpath['\"]?[ \t]*:")
_PLAIN = re.compile(r"\.*/?[\w/][\w./-]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_INDENT = 2

#: A step of the document: the number of its workflow, and its key.
_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Body:
    """A body that is a path: where it stands in the YAML, and the file that it names."""

    step: Step
    start: int
    end: int
    column: int | None
    file: Path
    code: str


@dataclass(frozen=True)
class WorkflowFiles:
    """A workflow's file as it was read, `original`, and the one document that it makes, `text`.

    `faults` are paths to code that cannot be followed; the steps then still hold the path. `files`
    has the exact text of every file that was read.
    """

    path: Path
    original: str
    text: str
    files: abc.Mapping[Path, str]
    faults: tuple[Problem, ...] = ()
    _bodies: abc.Mapping[_Key, _Body] = field(default_factory=dict)

    def split(self, after: str) -> dict[Path, str]:
        """The files that change, with their new texts, for the document to be `after`.

        A new step gets a file named as its neighbours' are, and so does one whose file is another
        step's too. Raises `InternalError` when the document cannot be taken apart.
        """
        if after == self.text:
            return {}
        if not self._bodies:
            return {self.path: after}
        return _Split(self, _open(after)).files()

    def left_over(self, after: str) -> list[Path]:
        """The files that were a step's code and are none's when the document is `after`."""
        taken = _Split(self, _open(after)).taken() if self._bodies else self.files
        return [file for file in self.files if file != self.path and file not in taken]

    def changed_since(self) -> Path | None:
        """A file that is no longer as it was read, if there is one."""
        for path in {self.path, *self.files}:
            now = None
            with suppress(BadRequest):
                now = read_text(path)
            if now != self.files.get(path):
                return path
        return None

    def place(self, line: int, column: int | None) -> tuple[Path, int, int | None]:
        """The file, line and column where a place of the document stands."""
        more = 0
        for first, count, body in self._inserted:
            if line < first:
                break
            if line < first + count:
                indent = (body.column or 0) + _INDENT
                return body.file, line - first + 1, max((column or 1) - indent, 1)
            more += count - self.original.count("\n", body.start, body.end)
        return self.path, line - more, column

    @cached_property
    def _inserted(self) -> list[tuple[int, int, _Body]]:
        """The lines of code in the document: the first, how many, and whose they are."""
        source, found, more = Source(self.original), [], 0
        for body in {body.start: body for body in self._bodies.values()}.values():
            block = _block(body)
            if block:
                count = len(block[1])
                found.append((source.line(body.start) + more + 1, count, body))
                more += count - self.original.count("\n", body.start, body.end)
        return found


def open_files(path: Path, *, strict: bool = True) -> WorkflowFiles:
    """Read a workflow's file, with the code of its steps from the files that they name.

    Raises `BadRequest` when the file cannot be read and, if `strict`, when a step's code cannot. A
    text that is no workflow is taken as it is: whoever uses it says what is wrong.
    """
    text = read_text(path)
    plain = WorkflowFiles(path, text, text, {path: text})
    if not _MAYBE.search(text):
        return plain
    try:
        workflow = _open(text)
    except InvalidWorkflow:
        return plain
    files, faults, bodies = {path: text}, [], {}
    for number, layout in enumerate(workflow.layouts):
        for placed in layout.steps:
            entry = placed.part.code_path and _entry(layout, placed)
            if not entry:
                continue
            try:
                body = _body(path, workflow.source, placed, entry, files)
            except BadRequest as error:
                place = workflow.source.position(entry.value.start)
                faults.append(Problem("error", "code-file", error.message, *place))
                if strict:
                    where = f"{path}, line {place[0]}"
                    raise BadRequest(f"{where}: {error.message}") from None
            else:
                bodies[number, placed.part.key] = body
    whole = _together(workflow, bodies)
    return WorkflowFiles(path, text, whole, files, tuple(faults), bodies)


def open_or_new(path: Path) -> WorkflowFiles:
    """The same, and the empty workflow for a file that does not exist yet."""
    return open_files(path) if path.exists() else WorkflowFiles(path, "", "", {})


def _open(text: str) -> Workflow:
    """The document, whichever of its workflows a page would mean."""
    return Workflow.read(text, position=0)


def _entry(layout: Layout, placed: Placed[Step]) -> Entry | None:
    return find(placed.mapping, layout.body_key) if placed.mapping else None


def _body(
    path: Path, source: Source, placed: Placed[Step], entry: Entry, files: dict[Path, str]
) -> _Body:
    """The step's body, its file read into `files`. Raises `BadRequest` when it cannot be."""
    step, value = placed.part, entry.value
    file = _inside(path.parent, step)
    if file not in files:
        files[file] = read_text(file)
        if sum(map(len, files.values())) > MAX_BYTES:
            raise BadRequest(f"The files of {path} hold more than {MAX_BYTES // 1_000_000} MB.")
    mappings = lineage(placed.mapping) if placed.mapping else ()
    holder = next(m for m in mappings if entry in m.own.values())
    column = None if holder.flow else source.indent(holder.entries[0].start)
    start = _content_start(source, value)
    return _Body(step, start, value.end, column, file, _code(files[file]))


def _inside(folder: Path, step: Step) -> Path:
    """The file that holds the step's code. Raises `BadRequest` when it is not in the folder."""
    named, what = str(step.code_path), f"the code of `{step.key}`"
    file = folder / named
    try:
        real, top = file.resolve(), folder.resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL; links that lead to each other
        raise BadRequest(f"The path {named!r} of {what} cannot be followed.") from None
    if PurePosixPath(named).is_absolute() or not real.is_relative_to(top):
        raise BadRequest(
            f"The path {named!r} of {what} leads out of the workflow's folder. Put the file beside "
            f"the workflow, and write its path as ./{step.key}.js."
        )
    if not real.is_file():
        raise BadRequest(
            f"The file {named!r} for {what} does not exist. Add it, or correct the path."
        )
    return file


def _code(text: str) -> str:
    """A file's text as a step's code: no byte order mark, `\\n` line ends, one of them at the end
    at most. `_written` puts all of that back."""
    code = text.removeprefix(BOM).replace("\r\n", "\n")
    body = code.rstrip("\n")
    return body if body == code else f"{body}\n"


def _written(code: str, before: str) -> str:
    """The text of a file that was `before`, with `code` in it."""
    mark = BOM if before.startswith(BOM) else ""
    old = before.removeprefix(BOM)
    rest = old.replace("\r\n", "\n")
    blank = rest[len(_code(rest)) :] if code.endswith("\n") else ""
    code += blank
    if "\r\n" not in old:
        return mark + code
    if old.count("\r\n") == old.count("\n"):
        return mark + code.replace("\n", "\r\n")
    return mark + _with_line_ends(_LINE.findall(code), _LINE.findall(old))


def _with_line_ends(lines: list[str], old: list[str]) -> str:
    """The lines with the ends that they had, and new ones with the end that most had."""
    usual = "\r\n" if 2 * sum(line.endswith("\r\n") for line in old) > len(old) else "\n"
    was = [line.replace("\r\n", "\n") for line in old]
    found = [line.removesuffix("\n") + usual if line.endswith("\n") else line for line in lines]
    for a, b, size in SequenceMatcher(None, was, lines, autojunk=False).get_matching_blocks():
        found[b : b + size] = old[a : a + size]
    return "".join(found)


def _block(body: _Body) -> tuple[str, tuple[str, ...]] | None:
    """The header and the lines of the code as a literal block, where one can hold it."""
    block = literal(body.code, body.column, _INDENT) if body.column is not None else None
    return (block.head, block.lines) if block else None


def _together(workflow: Workflow, bodies: abc.Mapping[_Key, _Body]) -> str:
    """The document with the code in the place of the paths. Raises `InternalError` on failure."""
    source, splices = workflow.source, list[Splice]()
    for body in {body.start: body for body in bodies.values()}.values():
        if block := _block(body):
            end = source.line_end(body.end)
            below = "".join(source.newline + line for line in block[1])
            if end == len(source.text) and body.code.endswith("\n"):
                below += source.newline
            splices += [(body.start, body.end, block[0]), (end, end, below)]
        else:
            splices.append((body.start, body.end, quoted(body.code)))
    text = source.splice(splices)
    read = _steps(_open(text)) if splices else {}
    for key, body in bodies.items():
        if read[key].part.code != body.code:
            raise InternalError(
                f"The code of `{body.step.key}` in {body.file} cannot be read into the workflow."
            )
    return text


def _steps(workflow: Workflow) -> dict[_Key, Placed[Step]]:
    return {
        (number, placed.part.key): placed
        for number, layout in enumerate(workflow.layouts)
        for placed in layout.steps
    }


class _Split:
    """The document `after` taken apart again: a path for each step, a text for each file."""

    def __init__(self, given: WorkflowFiles, after: Workflow) -> None:
        self._given, self._after = given, after
        self._codes: dict[Path, str] = {}
        self._steps = _steps(after)

    def taken(self) -> abc.Collection[Path]:
        """The files that hold the code of a step."""
        list(self._bodies())
        return self._codes

    def files(self) -> dict[Path, str]:
        given = self._given
        bodies = dict(self._bodies())
        for text in (self._yaml(bodies, True), self._yaml(bodies, False)):
            if self._is_right(text, bodies):
                break
        else:
            raise InternalError(
                f"The change could not be written back into {given.path} and its files, so nothing "
                "was changed. The whole workflow is in the result file."
            )
        changed = {
            file: _written(code, given.files.get(file, ""))
            for file, code in self._codes.items()
            if file not in given.files or code != _code(given.files[file])
        }
        return {given.path: text, **changed} if text != given.original else changed

    def _bodies(self) -> Iterator[tuple[_Key, _Body | str]]:
        """For each step with a file of its own what stands for it: as before, or a new path."""
        before = _open(self._given.text)
        changed: list[tuple[_Key, _Body]] = []
        new: list[_Key] = []
        for number, (was, now) in enumerate(zip(before.layouts, self._after.layouts, strict=False)):
            steps = [p.part for p in was.steps], [p.part for p in now.steps]
            has_files = any((number, step.key) in self._given._bodies for step in steps[0])
            for old, step in pairs(*steps, {}, lambda s: s.name, lambda s: s.code):
                body = self._given._bodies.get((number, old.key)) if old else None
                if step is None or step.code is None:
                    continue
                key = number, step.key
                if body and step.code == body.code:
                    self._codes[body.file] = step.code
                    yield key, body
                elif body:
                    changed.append((key, body))
                elif old is None and has_files:
                    new.append(key)
        for key, body in changed:
            code = self._steps[key].part.code or ""
            if self._codes.setdefault(body.file, code) == code:
                yield key, body
            else:
                new.append(key)
        for key in new:
            yield key, self._new_file(key)

    def _new_file(self, key: _Key) -> str:
        """A path for a step's code that nothing has yet, in the manner of the other steps."""
        step = self._steps[key].part
        others = [b for (number, _), b in self._given._bodies.items() if number == key[0]]
        named = [PurePosixPath(str(body.step.code_path)) for body in others]
        ways = (_by_key, _by_name, lambda s: _by_name(s).replace("-", "_"))
        fitting = [
            sum(w(b.step) == n.stem for b, n in zip(others, named, strict=True)) for w in ways
        ]
        stem = ways[fitting.index(max(fitting))](step) or "step"
        start = str(others[-1].step.code_path).removesuffix(named[-1].name)
        for number in range(1, len(self._steps) + 1_000):
            path = f"{start}{stem}{f'-{number}' if number > 1 else ''}.js"
            file = self._given.path.parent / path
            if file not in self._codes and file not in self._given.files and not file.exists():
                self._codes[file] = step.code or ""
                return path
        raise InternalError(f"No file name is left for the code of `{step.key}`.")

    def _yaml(self, bodies: abc.Mapping[_Key, _Body | str], as_it_was: bool) -> str:
        """The document with paths in the place of code; a body `as_it_was`, or as a plain path."""
        source, splices = self._after.source, dict[int, list[Splice]]()
        for key, body in bodies.items():
            layout = self._after.layouts[key[0]]
            entry = _entry(layout, self._steps[key])
            if entry is None:
                continue
            path = body if isinstance(body, str) else str(body.step.code_path)
            path = path if _PLAIN.fullmatch(path) else scalar(path)
            if isinstance(body, _Body) and as_it_was:
                path = self._given.original[body.start : body.end]
            splices[entry.value.start] = _replaced(source, entry.value, path)
        text = source.splice(splice for found in splices.values() for splice in found)
        ends = [t.rstrip(" ").endswith(("\n", "\r")) for t in (self._given.original, text)]
        return text.rstrip(" ").rstrip("\r\n") if ends == [False, True] else text

    def _is_right(self, text: str, bodies: abc.Mapping[_Key, _Body | str]) -> bool:
        """Whether the YAML names the files that it should, and holds the rest of the steps."""
        try:
            found = _steps(_open(text))
        except InvalidWorkflow:
            return False
        paths = {k: b if isinstance(b, str) else b.step.code_path for k, b in bodies.items()}
        return {
            key: (p.part.name, p.part.code_path or p.part.code) for key, p in found.items()
        } == {
            key: (p.part.name, paths.get(key) or p.part.code_path or p.part.code)
            for key, p in self._steps.items()
        }


def _content_start(source: Source, value: Node) -> int:
    """Where a value begins behind its anchor and tag."""
    found = _PROPERTIES.match(source.text, value.start, value.end)
    return found.end() if found and not isinstance(value, Alias) else value.start


def _replaced(source: Source, value: Node, path: str) -> list[Splice]:
    """The splices that put a path in the place of a body."""
    start = _content_start(source, value)
    if not isinstance(value, Scalar) or value.style not in ("|", ">"):
        return [(start, value.end, path)]
    head = header_span(source.text, start, value.end)
    return [(*head, path), (min(source.line_end(head[1]), value.end), value.end, "")]


def _by_key(step: Step) -> str:
    return re.sub(r"[^\w.-]+|^\.+", "-", step.key).strip("-")


def _by_name(step: Step) -> str:
    return re.sub(r"[\W_]+", "-", step.name.lower()).strip("-")

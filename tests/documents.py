"""Generated workflow documents in every form and style, for property tests.

Each comes with what it holds, known from how it was written and not from reading it back, so that
the code under test is never its own judge.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

KEYS = ("fetch", "load-data", "Récupérer-les-cas", "登録", "map it", "notify_team")
STYLES = ("|", "|-", "|+", "|indented", ">", '"', "'", "plain", "null", "empty", "missing", "flow")
FORMS = ("jobs", "steps", "project of jobs", "project of steps")

_FIRST = (
    "fn(state => {",
    "get('/a');",
    "// # not a comment",
    "const a = `x: ${b}`; 😀",
    "- item: 1",
)
_LATER = (
    *_FIRST,
    "",
    "",
    "  return state;",
    "});",
    "\t// tab",
    "trailing  ",
    "---",
    "# hash",
    "é 登録",
)


@dataclass
class Body:
    """One step's body: its code, and where its scalar stands (equal ends: nothing is there)."""

    code: str | None
    start: int = -1
    end: int = -1


@dataclass
class Document:
    text: str
    page: str
    form: str
    bodies: dict[str, Body] = field(default_factory=dict)


@st.composite
def codes(draw: st.DrawFn) -> str:
    """Code as people write it, always with a first line that is neither blank nor indented."""
    lines = [draw(st.sampled_from(_FIRST)), *draw(st.lists(st.sampled_from(_LATER), max_size=5))]
    return "\n".join(lines).rstrip() + "\n"


#: Whatever a model may send as code, line ends aside.
any_code = st.one_of(
    codes(),
    st.text(
        st.sampled_from("ab'\"\\#:-{}`$& \t\n\r\x00\x1b\x7f\x85\xa0\u2028\ufeff\ufffe😀é"),
        max_size=20,
    ),
    st.text(max_size=20),
)


@st.composite
def small_changes(draw: st.DrawFn, code: str) -> str:
    """The code with one character of it replaced, taken out, or another one put in."""
    at = draw(st.integers(0, len(code)))
    new = draw(st.sampled_from(["", "x", "'", '"', " ", " #", ": ", "\\", "é", "\x1b", "\n"]))
    return code[:at] + new + code[at + draw(st.integers(0, 2)) :]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    writer = _Writer(draw)
    return writer.document()


class _Writer:
    """Writes one document line by line and notes where each body's scalar is."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.form: str = draw(st.sampled_from(FORMS))
        self.step = draw(st.sampled_from((2, 4)))
        self.newline = draw(st.sampled_from(("\n", "\r\n")))
        self.text = draw(st.sampled_from(("", "\ufeff")))
        self.bodies: dict[str, Body] = {}

    def document(self) -> Document:
        if self.chance():
            self.line("---")
        self.line("# made for a test", keep=self.chance())
        column = 0
        if self.form.startswith("project"):
            self.line("name: whole project")
            column = 2 * self.step
            self.line("workflows:")
            self.line(" " * self.step + "first:")
        self.line(" " * column + "name: First   # its name")
        if self.form.endswith("jobs"):
            self.jobs(column)
        else:
            self.steps(column)
        if self.chance():
            self.line(" " * column + "x-after: { kept: [1, 2] }  # last")
        if self.form.startswith("project"):
            self.line(
                " " * self.step + "second: {name: Second, steps: [{id: other, expression: x}]}"
            )
        if self.chance():
            self.drop_last_line_end()
        return Document(self.text, "workflows/first", self.form, self.bodies)

    def drop_last_line_end(self) -> None:
        self.text = self.text.removesuffix(self.newline)
        for body in self.bodies.values():
            is_last = body.end == len(self.text) and self.text[body.start : body.start + 1] in (
                "|",
                ">",
            )
            if is_last and body.code is not None:
                body.code = body.code.removesuffix("\n")

    def jobs(self, column: int) -> None:
        self.line(" " * column + "jobs:")
        for key in self.keys():
            inner = column + 2 * self.step
            self.line(f"{' ' * (column + self.step)}{key}:", comment=True)
            self.entries(key, inner, ["name: 'Step'", 'adaptor: "@openfn/http@1"'], "body")

    def steps(self, column: int) -> None:
        self.line(" " * column + "steps:")
        for key in self.keys():
            self.line(f"{' ' * (column + self.step)}- id: {key}", comment=True)
            self.entries(key, column + self.step + 2, ["name: Step", "adaptors: [x]"], "expression")

    def entries(self, key: str, column: int, others: list[str], body_key: str) -> None:
        style = self.draw(st.sampled_from(STYLES))
        if style == "flow" and body_key == "body":
            return self.flow(key)
        before = self.draw(st.integers(0, len(others)))
        for entry in others[:before]:
            self.line(" " * column + entry, comment=True)
        self.body(key, column, body_key, style)
        for entry in others[before:]:
            self.line(" " * column + entry, comment=True)
        if self.chance():
            self.line("", keep=style != "|+")
            self.line(" " * (column - self.step) + "# before the next one")
        return None

    def flow(self, key: str) -> None:
        """The job on one line, in braces."""
        code = self.draw(codes())
        self.text = self.text.removesuffix(self.newline).rsplit(f"{key}:", 1)[0]
        self.text += f"{key}: {{name: Step, body: "
        start = len(self.text)
        self.text += json.dumps(code, ensure_ascii=False)
        self.bodies[key] = Body(code, start, len(self.text))
        self.line(", adaptor: x}", comment=True)

    def body(self, key: str, column: int, body_key: str, style: str) -> None:
        if style in ("missing", "flow"):
            if column and self.text.endswith(f"- id: {key}{self.newline}"):
                self.line(" " * column + "kind: 1")
            self.bodies[key] = Body(None)
            return
        self.text += f"{' ' * column}{body_key}:"
        code: str | None = self.draw(codes())
        assert code is not None
        if style == "empty":
            self.bodies[key] = Body(None, len(self.text), len(self.text))
            self.line("", comment=True)
            return
        self.text += " "
        start = len(self.text)
        code, head, lines, after = self.scalar(style, code, column)
        self.text += head
        if lines:
            self.line("", comment=True)
            self.text += self.newline.join(lines)
        self.bodies[key] = Body(code, start, len(self.text))
        self.line("", comment=not lines)
        for _ in range(after):
            self.line("")

    def scalar(self, style: str, code: str, column: int) -> tuple[str | None, str, list[str], int]:
        """The code as it will be read, the head, the lines below, how many blank lines follow."""
        pad = " " * (column + self.step)
        text = code.rstrip("\n")
        lines = [pad + line if line else "" for line in text.split("\n")]
        blanks = self.draw(st.integers(0, 2))
        if style == "|":
            return code, "|", lines, blanks
        if style == "|-":
            return text, "|-", lines, blanks
        if style == "|+":
            return code + "\n" * blanks, "|+", [*lines, *[""] * blanks], 0
        if style == "|indented":
            shown = [pad + "  " + line for line in text.split("\n")]
            return "".join(f"  {x}\n" for x in text.split("\n")), f"|{self.step}", shown, blanks
        if style == ">":
            words = ["one();", "two();", "three();"]
            return (
                "one(); two();\nthree();\n",
                ">",
                [pad + words[0], pad + words[1], "", pad + words[2]],
                blanks,
            )
        if style == "'":
            first = text.split("\n")[0]
            return first, "'" + first.replace("'", "''") + "'", [], blanks
        if style == "plain":
            return "fn(x)", "fn(x)", [], blanks
        if style == "null":
            return None, self.draw(st.sampled_from(("null", "~"))), [], blanks
        return code, json.dumps(code, ensure_ascii=False), [], blanks

    def keys(self) -> list[str]:
        return self.draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True))

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def line(self, text: str, *, comment: bool = False, keep: bool = True) -> None:
        if keep:
            note = "  # a note" if comment and self.chance() else ""
            self.text += text + note + self.newline


def loaded(text: str) -> Any:
    """The document as an independent YAML 1.2 reader has it."""
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


def bodies_of(text: str, form: str) -> dict[str, str | None]:
    """Every step's body by the independent reader, of the first workflow."""
    data = loaded(text)
    if form.startswith("project"):
        data = data["workflows"]["first"]
    if "jobs" in data:
        return {key: (job or {}).get("body") for key, job in data["jobs"].items()}
    return {step["id"]: step.get("expression") for step in data["steps"]}

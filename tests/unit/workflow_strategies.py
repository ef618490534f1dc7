"""Generated workflow documents in every form and style, and generated structural edits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from global_chat.workflow.reading import yaml_text

_KEYS = (
    *("fetch", "load-2", "Envoyer-à-la-région", "取得", "on", "0123", "1.10", "a b", "x#y", "it's"),
    *("12e45", "null", "get(it)", "Ünï", 'q"q', "-dash", "2024-01-31", "[list]", "a: b", "a->b"),
)
_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=24
).map(str.strip)
NAMES = _TEXTS.filter(lambda text: any(c.isalnum() for c in text))
_CODE_LINES = st.sampled_from(
    [
        "fn(state => state);",
        "get('/x', { a: 1 });",
        "",
        "  // # no comment of YAML",
        "\tx();",
        "`${a}`",
    ]
)
_ADAPTORS = st.sampled_from(
    [
        "@openfn/language-http@7.3.2",
        "@openfn/language-common@latest",
        "@openfn/language-dhis2@8.2.1",
    ]
)
_CONDITIONS = st.sampled_from(["always", "on_job_success", "on_job_failure", "js_expression"])
_EXPRESSIONS = st.sampled_from(
    ["state.data.length > 0", "!state.errors && state.x", "state.a === 'b: c' # d"]
)
_COMMENTS = st.sampled_from([[], [], [], ["# note"], ["", "# ---- part: two ----"], ["# a: b"]])


@dataclass
class Style:
    """How one document is written."""

    indent: int
    quote: str
    blank: bool
    ids: bool
    newline: str
    final: bool
    bom: bool
    comments: list[list[str]] = field(default_factory=list)
    _next: int = 0

    def comment(self) -> list[str]:
        self._next += 1
        return self.comments[self._next % len(self.comments)] if self.comments else []

    def text(self, value: str) -> str:
        plain = yaml_text.scalar(value)
        return plain if plain == value and not self.quote else yaml_text.scalar(value, self.quote)


_STYLES = st.builds(
    Style,
    indent=st.sampled_from([2, 2, 4]),
    quote=st.sampled_from(["", "'", '"']),
    blank=st.booleans(),
    ids=st.booleans(),
    newline=st.sampled_from(["\n", "\n", "\r\n"]),
    final=st.booleans(),
    bom=st.booleans(),
    comments=st.lists(_COMMENTS, min_size=1, max_size=7),
)


@dataclass
class Drawn:
    """A document, its page, and what it holds."""

    text: str
    page: str | None
    keys: list[str]


@st.composite
def documents(draw: st.DrawFn) -> Drawn:
    """A workflow of one to five steps in a chain, in any form, with styles and comments."""
    style = draw(_STYLES)
    keys = draw(st.lists(st.sampled_from(_KEYS), min_size=1, max_size=5, unique=True))
    names = draw(st.lists(NAMES, min_size=len(keys), max_size=len(keys), unique=True))
    form = draw(st.sampled_from(["jobs", "steps"]))
    write = _jobs_lines if form == "jobs" else _steps_lines
    lines = write(draw, style, keys, names)
    page = None
    if draw(st.booleans()):
        head, *rest = [" " * (2 * style.indent) + line if line else line for line in lines]
        other = [" " * style.indent + "other:", " " * (2 * style.indent) + "name: Other"]
        lines = ["workflows:", " " * style.indent + "mine:", head, *rest, *other]
        page = "workflows/mine"
    text = style.newline.join(lines) + style.newline * style.final
    return Drawn("\ufeff" * style.bom + text, page, keys)


def _jobs_lines(draw: st.DrawFn, style: Style, keys: list[str], names: list[str]) -> list[str]:
    one, two = " " * style.indent, " " * (2 * style.indent)
    lines = [f"name: {style.text(draw(NAMES))}", *style.comment(), "jobs:"]
    for number, (key, name) in enumerate(zip(keys, names, strict=True)):
        lines += [""] * (style.blank and number > 0)
        lines += [one + c if c else c for c in style.comment()]
        lines.append(f"{one}{_key(style, key)}:{draw(st.sampled_from(['', '   # step']))}")
        lines += [f"{two}id: job-{number}"] * style.ids
        lines += [f"{two}name: {style.text(name)}", f"{two}credential: secret"]
        lines += [f"{two}adaptor: {yaml_text.scalar(draw(_ADAPTORS), style.quote or chr(39))}"]
        lines += [two + c if c else c for c in style.comment()]
        lines += _body(draw, two + "body:", two + one)
    lines += [*style.comment(), "triggers:", f"{one}cron:"]
    lines += [f"{two}id: trigger"] * style.ids
    lines += [f"{two}type: cron", f"{two}cron_expression: {style.text('0 8 * * *')}   # early"]
    lines += [f"{two}x-note: keep", f"{two}enabled: true", "edges:"]
    for number, (source, target) in enumerate(zip([None, *keys], keys, strict=False)):
        if number == len(keys):
            break
        lines += [one + c if c else c for c in style.comment()]
        joined = f"{source or 'cron'}->{target}"
        lines.append(f"{one}{_key(style, joined)}:")
        lines += [f"{two}id: edge-{number}"] * style.ids
        kind = draw(_CONDITIONS) if source else "always"
        origin = f"source_job: {style.text(source)}" if source else "source_trigger: cron"
        lines += [two + origin, f"{two}target_job: {style.text(target)}"]
        lines += [f"{two}condition_type: {kind}"]
        if kind == "js_expression":
            lines += _expression(draw, style, two + "condition_expression:", two + one)
        lines += [f"{two}enabled: {draw(st.sampled_from(['true', 'true', 'false']))}"]
    return lines


def _steps_lines(draw: st.DrawFn, style: Style, keys: list[str], names: list[str]) -> list[str]:
    dash = " " * draw(st.sampled_from([0, 2, style.indent])) + "- "
    one = " " * len(dash)
    lines = [f"name: {style.text(draw(NAMES))}", *style.comment(), "steps:"]
    lines += [f"{dash}id: cron", f"{one}type: cron", f"{one}enabled: true", f"{one}openfn:"]
    lines += [f"{one}  uuid: trigger"] * style.ids
    lines += [f"{one}  cron: {style.text('0 8 * * *')}   # early", f"{one}  x-note: keep"]
    lines += [f"{one}next: {style.text(keys[0])}"]
    for number, (key, name) in enumerate(zip(keys, names, strict=True)):
        lines += [""] * style.blank
        lines += [dash[:-2] + c if c else c for c in style.comment()]
        lines += [f"{dash}id: {style.text(key)}", f"{one}name: {style.text(name)}"]
        adaptor = yaml_text.scalar(draw(_ADAPTORS), style.quote or "'")
        listed = draw(st.booleans())
        lines += [f"{one}adaptors: [{adaptor}]" if listed else f"{one}adaptor: {adaptor}"]
        lines += [f"{one}openfn:", f"{one}  uuid: job-{number}"] * style.ids
        lines += [f"{one}configuration: secret"]
        lines += _body(draw, one + "expression:", one + "  ")
        if number + 1 < len(keys):
            lines += _next(draw, style, one, keys[number + 1])
    return lines


def _next(draw: st.DrawFn, style: Style, one: str, target: str) -> list[str]:
    how = draw(st.sampled_from(["word", "map", "list", "bare"]))
    if how == "word":
        return [f"{one}next: {style.text(target)}"]
    if how == "list":
        return [f"{one}next:", f"{one}  - {style.text(target)}"]
    lines = [f"{one}next:", *[f"{one}  {c}" if c else c for c in style.comment()]]
    if how == "bare":
        return [*lines, f"{one}  {_key(style, target)}: on_job_success"]
    lines.append(f"{one}  {_key(style, target)}:")
    condition = draw(st.one_of(_CONDITIONS.filter(lambda c: c != "js_expression"), _EXPRESSIONS))
    lines.append(f"{one}    condition: {style.text(condition)}")
    return lines + [f"{one}    disabled: true"] * draw(st.booleans())


def _key(style: Style, text: str) -> str:
    return yaml_text.key(text, style.quote if style.quote == '"' else "")


def _body(draw: st.DrawFn, head: str, pad: str) -> list[str]:
    how = draw(st.sampled_from(["|", "|", "|-", "|+", ">", "quoted", "null", "none"]))
    if how in ("null", "none"):
        return [] if how == "none" else [f"{head} null"]
    code = draw(st.lists(_CODE_LINES, min_size=1, max_size=4))
    if how == "quoted":
        return [f"{head} {yaml_text.scalar(chr(10).join(code), chr(34))}"]
    lines = ["begin();", *(line.lstrip() if how == ">" else line for line in code), "end();"]
    tail = [""] * draw(st.integers(0, 2)) if how == "|+" else []
    return [f"{head} {how}", *(pad + line if line else "" for line in lines), *tail]


def _expression(draw: st.DrawFn, style: Style, head: str, pad: str) -> list[str]:
    text = draw(_EXPRESSIONS)
    if draw(st.booleans()):
        return [f"{head} |", pad + text]
    return [f"{head} {style.text(text)}"]


_NEW_NAMES = ("Neu eins", "Neu zwei: 2", "Neu trois é", "Neu #4", "yes")
_EDITS = (
    *("name", "key", "adaptor", "add", "between", "remove"),
    *("cron", "webhook", "off", "condition", "expression"),
)


@st.composite
def edits(draw: st.DrawFn, whole: dict[str, Any]) -> str:
    """Change `whole`, a draft, in one way, and return the request that asks for it."""
    jobs, paths = whole["jobs"], whole["edges"]
    key = draw(st.sampled_from(sorted(k for k, job in jobs.items() if "body" in job)))
    taken = {job["name"] for job in jobs.values()}
    name = draw(st.sampled_from([n for n in _NEW_NAMES if n not in taken]))
    what = draw(st.sampled_from(_EDITS))
    if what == "name":
        jobs[key]["name"] = name
    elif what == "key":
        _rename(whole, key, name.replace(" ", "-"), name)
    elif what == "adaptor":
        jobs[key]["adaptor"] = "@openfn/language-odk@3.1.2"
    elif what in ("add", "between"):
        _add(whole, key, name, between=what == "between")
    elif what == "remove" and len(jobs) > 1:
        _remove(whole, key)
        return "remove it"
    elif what == "cron" and whole["triggers"]["cron"]["type"] == "cron":
        whole["triggers"]["cron"]["cron_expression"] = "*/5 * * * *"
    elif what == "webhook":
        whole["triggers"]["cron"]["type"] = "webhook"
        whole["triggers"]["cron"].pop("cron_expression", None)
    elif what == "off":
        whole["triggers"]["cron"]["enabled"] = False
        return "switch the trigger off"
    elif what in ("condition", "expression"):
        inner = [path for path in paths.values() if "source_job" in path]
        for path in inner[:1]:
            path.pop("condition_expression", None)
            path["condition_type"] = "on_job_failure"
            if what == "expression":
                path |= {"condition_type": "js_expression", "condition_expression": "state.z > 9"}
    return "do it"


def _rename(whole: dict[str, Any], key: str, new: str, name: str) -> None:
    known = whole["jobs"][key]["body"] == f"[code of {key}]"
    if new in whole["jobs"] or not known:
        return
    whole["jobs"] = {new if k == key else k: job for k, job in whole["jobs"].items()}
    whole["jobs"][new]["name"] = name


def _add(whole: dict[str, Any], key: str, name: str, *, between: bool) -> None:
    new = name.replace(" ", "-")
    if new in whole["jobs"]:
        return
    whole["jobs"][new] = {"name": name, "adaptor": "@openfn/language-http@latest"}
    if between:
        for path in whole["edges"].values():
            if path["target_job"] == key:
                path["target_job"] = new
    source, target = (new, key) if between else (key, new)
    path = {"source_job": source, "target_job": target, "condition_type": "on_job_success"}
    whole["edges"][f"{source}->{target}"] = path


def _remove(whole: dict[str, Any], key: str) -> None:
    del whole["jobs"][key]
    ends = ("source_job", "target_job")
    whole["edges"] = {
        k: path for k, path in whole["edges"].items() if key not in [path.get(end) for end in ends]
    }

"""Generated workflow documents in every form, dialect and style, and generated patches of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from global_chat.workflow.document import Workflow
from global_chat.workflow.drafting import edge_fields, step_fields, trigger_fields
from global_chat.yaml import writing as yaml_text

_KEYS = (
    *("fetch", "load-2", "Envoyer-à-la-région", "取得", "on", "0123", "1.10", "a b", "x#y", "it's"),
    *("12e45", "null", "get(it)", "Ünï", 'q"q', "-dash", "2024-01-31", "[list]", "a: b", "a->b"),
)
_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=24
).map(str.strip)
NAMES = _TEXTS.filter(lambda text: any(c.isalnum() for c in text))
#: Names that the app takes.
APP_NAMES = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9_\- ]{0,9}[a-zA-Z0-9]", fullmatch=True)
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
    ["state.data.length > 0", "!state.errors && state.x", "state.a === 'b: c # d'"]
)
_COMMENTS = st.sampled_from([[], [], [], ["# note"], ["", "# ---- part: two ----"], ["# a: b"]])
_DIALECTS = ("jobs", "jobs", "openfn", "openfn", "app", "cli")

#: What a trigger of each type may hold besides its schedule. `STEP` stands for the key of a step.
STEP = "STEP"
SETTINGS: dict[str, dict[str, Any]] = {
    "webhook": {
        "custom_path": "clinic/in",
        "webhook_reply": "after_completion",
        "webhook_response_config": {"success_code": 201, "error_code": "500"},
    },
    "cron": {"cron_cursor_job": STEP},
    "kafka": {
        "kafka_configuration": {
            "hosts": ["localhost:9092"],
            "topics": ["visits", "no"],
            "initial_offset_reset_policy": "earliest",
            "connect_timeout": 30,
        }
    },
}


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

    def comment(self, pad: str = "") -> list[str]:
        self._next += 1
        lines = self.comments[self._next % len(self.comments)] if self.comments else []
        return [pad + line if line else line for line in lines]

    def text(self, value: str) -> str:
        plain = yaml_text.scalar(value)
        return plain if plain == value and not self.quote else yaml_text.scalar(value, self.quote)

    def key(self, text: str) -> str:
        return yaml_text.key(text, self.quote if self.quote == '"' else "")


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

    @property
    def workflow(self) -> Workflow:
        return Workflow.read(self.text, self.page)


@dataclass
class _Path:
    source: str | None
    target: str
    kind: str
    expression: str | None = None
    off: bool = False


@dataclass
class _Content:
    """What a document says, whatever form it has."""

    keys: list[str]
    names: list[str]
    trigger: str
    type: str
    settings: dict[str, Any]
    paths: list[_Path]


@st.composite
def documents(
    draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES, *, settings: bool = True
) -> Drawn:
    """A workflow of one to five steps in a chain, in any form, with styles and comments."""
    style = draw(_STYLES)
    dialect = draw(st.sampled_from(_DIALECTS))
    content = _content(draw, names)
    content.settings = content.settings if settings else {}
    write = _jobs_lines if dialect == "jobs" else _steps_lines
    lines = write(draw, style, content, dialect)
    page = None
    if draw(st.booleans()):
        head, *rest = [" " * (2 * style.indent) + line if line else line for line in lines]
        other = [" " * style.indent + "other:", " " * (2 * style.indent) + "name: Other"]
        lines = ["workflows:", " " * style.indent + "mine:", head, *rest, *other]
        page = "workflows/mine"
    text = style.newline.join(lines) + style.newline * style.final
    return Drawn("\ufeff" * style.bom + text, page, content.keys)


def _content(draw: st.DrawFn, names_: st.SearchStrategy[str]) -> _Content:
    keys = draw(st.lists(st.sampled_from(_KEYS), min_size=1, max_size=5, unique=True))
    names = draw(st.lists(names_, min_size=len(keys), max_size=len(keys), unique=True))
    type_ = draw(st.sampled_from(["cron", "cron", "webhook", "kafka"]))
    settings = {
        name: draw(st.sampled_from(keys)) if value == STEP else value
        for name, value in SETTINGS[type_].items()
        if draw(st.booleans())
    }
    paths = [_Path(None, keys[0], "always")]
    for source, target in pairwise(keys):
        kind = draw(_CONDITIONS)
        expression = draw(_EXPRESSIONS) if kind == "js_expression" else None
        paths.append(_Path(source, target, kind, expression, draw(st.integers(0, 3)) == 0))
    if len(keys) > 2 and draw(st.booleans()):
        paths.insert(2, _Path(keys[0], keys[-1], "on_job_failure"))
    trigger = draw(st.sampled_from([type_, type_, "nightly"]))
    return _Content(keys, names, trigger, type_, settings, paths)


def _jobs_lines(draw: st.DrawFn, style: Style, content: _Content, dialect: str) -> list[str]:
    one, two = " " * style.indent, " " * (2 * style.indent)
    lines = [f"name: {style.text(draw(NAMES))}", *style.comment(), f"{dialect}:"]
    for number, (key, name) in enumerate(zip(content.keys, content.names, strict=True)):
        lines += [""] * (style.blank and number > 0)
        lines += style.comment(one)
        lines.append(f"{one}{style.key(key)}:{draw(st.sampled_from(['', '   # step']))}")
        lines += [f"{two}id: job-{number}"] * style.ids
        lines += [f"{two}name: {style.text(name)}", f"{two}credential: secret"]
        lines += [f"{two}adaptor: {yaml_text.scalar(draw(_ADAPTORS), style.quote or chr(39))}"]
        lines += style.comment(two)
        lines += _body(draw, two + "body:", two + one)
    lines += [*style.comment(), "triggers:", f"{one}{content.trigger}:"]
    lines += [f"{two}id: trigger"] * style.ids + [f"{two}type: {content.type}"]
    lines += [f"{two}cron_expression: {style.text('0 8 * * *')}   # early"] * _scheduled(content)
    lines += [two + line for line in yaml_text.block(content.settings, "'", style.indent)]
    lines += [f"{two}x-note: keep", f"{two}enabled: true", "edges:"]
    for number, path in enumerate(content.paths):
        lines += style.comment(one)
        lines.append(f"{one}{style.key(f'{path.source or content.trigger}->{path.target}')}:")
        lines += [f"{two}id: edge-{number}"] * style.ids
        source = f"source_job: {style.text(path.source)}" if path.source else ""
        lines += [two + (source or f"source_trigger: {content.trigger}")]
        lines += [
            f"{two}target_job: {style.text(path.target)}",
            f"{two}condition_type: {path.kind}",
        ]
        if path.expression and draw(st.booleans()):
            lines += [f"{two}condition_expression: |", two + one + path.expression]
        elif path.expression:
            lines += [f"{two}condition_expression: {style.text(path.expression)}"]
        lines += [f"{two}enabled: {'false' if path.off else 'true'}"]
    return lines


def _scheduled(content: _Content) -> bool:
    return content.type == "cron"


def _steps_lines(draw: st.DrawFn, style: Style, content: _Content, dialect: str) -> list[str]:
    dash = " " * draw(st.sampled_from([0, 2, style.indent])) + "- "
    one = " " * len(dash)
    style.ids = style.ids and dialect == "openfn"
    named = dialect == "openfn" and draw(st.integers(0, 3)) == 0
    if named:
        _go_by_names(content)
    lines = [f"name: {style.text(draw(NAMES))}", *style.comment()]
    lines += [f"start: {content.trigger}"] * (dialect != "openfn")
    lines += ["schema_version: '4.0'"] * (dialect == "app") + ["options: {}"] * (dialect == "cli")
    lines += ["steps:", *_trigger_lines(style, content, dialect, dash)]
    lines += _next(draw, style, content, None, dialect, one)
    for number, (key, name) in enumerate(zip(content.keys, content.names, strict=True)):
        lines += [""] * style.blank + style.comment(dash[:-2])
        head = [] if named else [f"id: {style.text(key)}"]
        head += [f"name: {style.text(name)}"]
        lines += [dash + head[0], *(one + line for line in head[1:])]
        adaptor = yaml_text.scalar(draw(_ADAPTORS), style.quote or "'")
        listed = dialect == "openfn" and draw(st.booleans())
        lines += [f"{one}adaptors: [{adaptor}]" if listed else f"{one}adaptor: {adaptor}"]
        lines += [f"{one}openfn:", f"{one}  uuid: job-{number}"] * style.ids
        lines += [f"{one}configuration: secret"]
        lines += _body(draw, one + "expression:", one + "  ")
        lines += _next(draw, style, content, key, dialect, one)
    return lines


def _go_by_names(content: _Content) -> None:
    """Steps that have a name and no id are known by it."""
    shown = dict(zip(content.keys, content.names, strict=True))
    content.keys = content.names
    if content.trigger in content.names:
        content.trigger = "the trigger"
    for path in content.paths:
        path.source = shown[path.source] if path.source else None
        path.target = shown[path.target]
    if cursor := content.settings.get("cron_cursor_job"):
        content.settings["cron_cursor_job"] = shown[cursor]


def _trigger_lines(style: Style, content: _Content, dialect: str, dash: str) -> list[str]:
    """A trigger up to its `next`; its settings are where the dialect has them."""
    one, settings = " " * len(dash), dict(content.settings)
    if "cron_cursor_job" in settings:
        settings["cron_cursor"] = settings.pop("cron_cursor_job")
    lines = [f"{dash}id: {content.trigger}"]
    lines += [f"{one}name: {content.trigger}"] * (dialect == "app")
    lines += [f"{one}type: {content.type}", f"{one}enabled: true"]
    cron = [f"cron_expression: {style.text('0 8 * * *')}   # early"] * _scheduled(content)
    if dialect != "openfn":
        settings |= settings.pop("kafka_configuration", {})
        return lines + [one + line for line in (*cron, *yaml_text.block(settings))]
    if "kafka_configuration" in settings:
        settings["kafka"] = settings.pop("kafka_configuration")
    inner = ["uuid: trigger"] * style.ids + [line.replace("_expression", "") for line in cron]
    inner += ["x-note: keep", *yaml_text.block(settings)]
    return [*lines, f"{one}openfn:", *(f"{one}  {line}" for line in inner)]


def _next(
    draw: st.DrawFn, style: Style, content: _Content, key: str | None, dialect: str, one: str
) -> list[str]:
    paths = [path for path in content.paths if path.source == key]
    bare = all(path.kind == "always" and not path.off for path in paths)
    how = draw(st.sampled_from(["word", "map", "list", "bare"])) if dialect == "openfn" else "map"
    if not paths:
        return []
    if how == "word" and bare and len(paths) == 1:
        return [f"{one}next: {style.text(paths[0].target)}"]
    if how == "list" and bare:
        return [f"{one}next:", *[f"{one}  - {style.text(path.target)}" for path in paths]]
    lines = [f"{one}next:", *style.comment(one + "  ")]
    for path in paths:
        condition = path.expression or path.kind
        target = f"{one}  {style.key(path.target)}:"
        if how == "bare" and not path.off:
            lines.append(f"{target} {style.text(condition)}")
            continue
        lines += [target, f"{one}    condition: {style.text(condition)}"]
        lines += [f"{one}    disabled: {str(path.off).lower()}"] * (path.off or dialect == "cli")
    return lines


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


Said = dict[str, dict[str, dict[str, Any]]]


def said(of: Workflow) -> Said:
    """What a workflow says, in a patch's words; paths go by what they join, and an absent value of
    one by what it means."""
    edges: dict[str, dict[str, Any]] = {}
    for edge in of.edges:
        fields = edge_fields(edge)
        fields["condition_type"] = edge.condition_type or "always"
        fields["enabled"] = edge.enabled is not False
        if edge.condition_expression:
            fields["condition_expression"] = edge.condition_expression.strip()
        edges[f"{edge.source_trigger or edge.source_step}->{edge.target}"] = fields
    return {
        "jobs": {step.key: dict(step_fields(step)) for step in of.steps},
        "triggers": {trigger.key: dict(trigger_fields(trigger)) for trigger in of.triggers},
        "edges": edges,
    }


@dataclass
class Change:
    """A generated patch: its data and what it removes; and what the workflow says afterwards."""

    patch: dict[str, Any]
    remove: list[str]
    after: Said

    def whole(self, before: Workflow) -> dict[str, Any]:
        """The workflow that the patch amounts to, as one that writes everything again has it."""
        now = said(before)
        keys = {name: edge.key for name, edge in zip(now["edges"], before.edges, strict=True)}
        gone = set(self.remove)
        for step in [n.removeprefix("jobs.") for n in gone if n.startswith("jobs.")]:
            gone |= {f"edges.{keys[k]}" for k, e in now["edges"].items() if step in _ends(e)}
        now["edges"] = {keys[name]: fields for name, fields in now["edges"].items()}
        for section, parts in now.items():
            now[section] = {k: v for k, v in parts.items() if f"{section}.{k}" not in gone}
            for key, fields in self.patch.get(section, {}).items():
                now[section][key] = now[section].get(key, {}) | fields
        name = {"name": before.name} if before.name else {}
        return name | {k: v for k, v in now.items() if v} | _names_only(self.patch)


def _names_only(patch: dict[str, Any]) -> dict[str, Any]:
    return {"name": patch["name"]} if "name" in patch else {}


def _ends(fields: dict[str, Any]) -> tuple[Any, Any]:
    return fields.get("source_job"), fields.get("target_job")


_NEW_NAMES = ("Neu eins", "Neu-zwei", "neu_3", "yes", "12", "null")
_EDITS = (
    *("name", "adaptor", "add", "between", "remove", "workflow"),
    *("cron", "type", "switch", "setting", "path off", "condition", "unpath"),
)


@st.composite
def changes(draw: st.DrawFn, before: Workflow, most: int = 3) -> Change:
    """A patch that does one to `most` things to `before`, each to a part of its own."""
    change = Change({}, [], said(before))
    busy: set[str] = set()
    for _ in range(draw(st.integers(1, most))):
        _extend(draw, change, before, draw(st.sampled_from(_EDITS)), busy)
    return change


def _extend(draw: st.DrawFn, change: Change, before: Workflow, what: str, busy: set[str]) -> None:
    keys = {f"{e.source_trigger or e.source_step}->{e.target}": e.key for e in before.edges}
    paths = change.after["edges"]
    inner = {k: keys[k] for k in paths if k in keys and k not in busy and _ends(paths[k])[0]}
    if what == "workflow":
        change.patch["name"] = "Ward: sync"
    elif what in ("cron", "type", "switch", "setting"):
        _extend_trigger(draw, change, before, what, busy)
    elif what in ("path off", "condition", "unpath"):
        _extend_path(draw, change, what, inner, busy)
    else:
        jobs = change.after["jobs"]
        steps = [step for step in before.steps if step.key not in busy and step.key in jobs]
        if steps:
            step = draw(st.sampled_from(steps))
            busy.add(step.key)
            _extend_step(draw, change, before, what, step.key, inner, busy)


def _extend_step(
    draw: st.DrawFn,
    change: Change,
    before: Workflow,
    what: str,
    step: str,
    inner: dict[str, str],
    busy: set[str],
) -> None:
    patch, after, by_name = change.patch, change.after, _goes_by_names(before)
    taken = {fields["name"] for fields in after["jobs"].values()} | after["jobs"].keys()
    taken |= {step.name for step in before.steps} | {t.key for t in before.triggers}
    name = draw(st.sampled_from([n for n in _NEW_NAMES if n not in taken]))
    if what == "name" and not by_name:
        _set(patch, after, "jobs", step, {"name": name})
    elif what == "adaptor":
        _set(patch, after, "jobs", step, {"adaptor": "@openfn/language-odk@3.1.2"})
    elif what in ("add", "between"):
        key = name if by_name else draw(st.sampled_from([name, f"new-{len(after['jobs'])}"]))
        new = {"name": name, "adaptor": "@openfn/language-http@latest"}
        _set(patch, after, "jobs", key, new)
        follows = [path for path in inner if _ends(after["edges"][path])[0] == step]
        _set_path(patch, after, step, key)
        if what == "between" and follows:
            target = str(_ends(after["edges"].pop(follows[0]))[1])
            change.remove.append(f"edges.{inner[follows[0]]}")
            busy |= {follows[0], target}
            _set_path(patch, after, key, target)
    elif what == "remove" and len(after["jobs"]) > 1:
        _remove_step(change, before, step)


def _remove_step(change: Change, before: Workflow, step: str) -> None:
    patch, after = change.patch, change.after
    del after["jobs"][step]
    change.remove.append(f"jobs.{step}")
    gone = {k for k, e in after["edges"].items() if step in _ends(e)}
    gone |= {e.key for e in before.edges if step in (e.source_step, e.target)}
    after["edges"] = {k: e for k, e in after["edges"].items() if step not in _ends(e)}
    for path in [path for path in patch.get("edges", {}) if path in gone]:
        del patch["edges"][path]
    for fields in after["triggers"].values():
        if fields.get("cron_cursor_job") == step:
            del fields["cron_cursor_job"]


def _extend_path(
    draw: st.DrawFn, change: Change, what: str, inner: dict[str, str], busy: set[str]
) -> None:
    if not inner:
        return
    path = draw(st.sampled_from(sorted(inner)))
    now = change.after["edges"][path]
    busy |= {path, *map(str, _ends(now))}
    fields: dict[str, Any] = {"enabled": not now["enabled"]}
    if what == "unpath":
        del change.after["edges"][path]
        change.remove.append(f"edges.{inner[path]}")
        return
    if what == "condition":
        kind = draw(_CONDITIONS)
        expression = draw(_EXPRESSIONS) if kind == "js_expression" else None
        fields = {"condition_type": kind, "condition_expression": expression}
    _set(change.patch, change.after, "edges", path, fields, inner[path])


def _goes_by_names(of: Workflow) -> bool:
    steps = of.layout.steps if of.layout and of.layout.form.is_list else ()
    return any(placed.mapping and "id" not in placed.mapping.own for placed in steps)


def _extend_trigger(
    draw: st.DrawFn, change: Change, before: Workflow, what: str, busy: set[str]
) -> None:
    (old,) = before.triggers
    if "trigger" in busy:
        return
    busy.add("trigger")
    now = change.after["triggers"][old.key]
    if what == "switch":
        fields: dict[str, Any] = {"enabled": not now["enabled"]}
    elif what == "cron" and old.type == "cron":
        fields = {"cron_expression": draw(st.sampled_from(["*/5 * * * *", "0 7 * * 1-5"]))}
    elif what == "setting":
        steps = [step.key for step in before.steps if step.key in change.after["jobs"]]
        given = {k: draw(st.sampled_from([v, None])) for k, v in SETTINGS[str(old.type)].items()}
        fields = {k: draw(st.sampled_from(steps)) if v == STEP else v for k, v in given.items()}
        busy |= {str(value) for value in fields.values()}
    elif what == "type":
        type_ = draw(st.sampled_from(sorted({"cron", "webhook", "kafka"} - {str(old.type)})))
        gone = {"cron_expression": None} | dict.fromkeys(SETTINGS[str(old.type)])
        fields = {"type": type_} | ({"cron_expression": "0 6 * * *"} if type_ == "cron" else {})
        now |= gone
    else:
        return
    _set(change.patch, change.after, "triggers", old.key, fields)
    kinds = {step.key for step in before.steps} | change.patch.get("jobs", {}).keys()
    if what == "type" and old.key == old.type and fields["type"] not in kinds:
        _rename_trigger(change.after, old.key, fields["type"])


def _rename_trigger(after: Said, old: str, new: str) -> None:
    after["triggers"][new] = after["triggers"].pop(old)
    for key, fields in list(after["edges"].items()):
        if fields.get("source_trigger") == old:
            moved = after["edges"].pop(key) | {"source_trigger": new}
            after["edges"][f"{new}->{moved['target_job']}"] = moved


def _set(
    patch: dict[str, Any],
    after: Said,
    section: str,
    key: str,
    fields: dict[str, Any],
    called: str | None = None,
) -> None:
    patch.setdefault(section, {}).setdefault(called or key, {}).update(fields)
    whole = after[section].setdefault(key, {})
    whole |= fields
    after[section][key] = {name: value for name, value in whole.items() if value is not None}


def _set_path(patch: dict[str, Any], after: Said, source: str, target: str) -> None:
    fields = {"source_job": source, "target_job": target, "condition_type": "on_job_success"}
    _set(patch, after, "edges", f"{source}->{target}", fields | {"enabled": True})

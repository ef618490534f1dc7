"""Commands that change code: each finds the exact places and what is to stand there.

A place is a literal, a name or a statement as the parser sees it, never part of a word. Nothing is
done where the code does not parse, before or after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from global_chat.workflow.parts import Step

from .javascript import Code, Setting
from .phrases import Value, Where, unquoted
from .plans import Plan, Replacement, codes_after
from .reading import Word
from .scene import Scene, words

_EMOJI = re.compile(
    "(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u200d\ufe0f\u20e3])+"
)
Place = tuple[int, int, str]


class Edit(Protocol):
    """What is to be done, before it is known where. `wish` says it as a request would."""

    @property
    def wish(self) -> str: ...

    def places(self, code: Code) -> list[Place]:
        """What to put where in the code of one step; nothing when there is nothing of the kind."""
        ...


@dataclass(frozen=True, slots=True)
class CodeWish:
    """Some change of code that is not seen; `keys` are the steps that were named, if any."""

    keys: frozenset[str] | None


def code(scene: Scene, *parts: Any) -> Iterator[Plan | CodeWish]:
    """The edit in the steps that are named, else in the open step, else in the only one that fits."""
    edit = next(p for p in parts if not isinstance(p, Where))
    named = [p for p in parts if isinstance(p, Where)]
    if len(named) > 1:
        return
    if scene.blind:
        yield CodeWish(named[0].keys if named else None)
        return
    found = {step.key: places for step in scene.coded if (places := _places(scene, step, edit))}
    settings = {name for step in scene.coded for name in scene.code(step.key).settings}
    if not found or (isinstance(edit, Replace) and edit.old.text in settings):
        return
    if named:
        keys = named[0].keys & set(found)
        wanted = keys == named[0].keys or named[0].every or len(named[0].keys) > 1
        choices = [sorted(keys)] if keys and wanted else []
    elif scene.open_step and scene.open_step.key in found:
        choices = [[scene.open_step.key]]
    else:
        choices = [list(found)] if isinstance(edit, Logs) and edit.every else [[key] for key in found]
    for chosen in choices:
        made = frozenset((key, *place) for key in chosen for place in found[key])
        if _parses(scene, made):
            where = " and ".join(scene.title(key) for key in chosen[:3])
            more = f" and {len(chosen) - 3} more" if len(chosen) > 3 else ""
            yield Plan(f"{edit.wish} in {where}{more}", code=made)


def _places(scene: Scene, step: Step, edit: Edit) -> list[Place]:
    parsed = scene.code(step.key)
    return [] if parsed.broken else edit.places(parsed)


def _parses(scene: Scene, made: Iterable[Replacement]) -> bool:
    return all(scene.code(key).valid_with(text) for key, text in codes_after(scene, made).items())


# ---- literals


@dataclass(frozen=True, slots=True)
class Replace:
    """Every `old` becomes `new`; with `setting`, only where it is that setting's value."""

    old: Value
    new: Value
    setting: str | None = None

    @property
    def wish(self) -> str:
        of = f"{self.setting} " if self.setting else ""
        return f"replace {of}{self.old.text} with {self.new.text}"

    def places(self, code: Code) -> list[Place]:
        fits = _is_number(self.old) == _is_number(self.new) and self.new.kind != "truth"
        if self.old.text == self.new.text or not fits:
            return []
        if self.setting:
            return [p for s in _named(code, self.setting) for p in self._in_setting(code, s)]
        if _is_number(self.old):
            return [(*p, self.new.text) for p in code.numbers if code.text[slice(*p)] == self.old.text]
        inside = [
            (start + at, start + at + len(self.old.text), _escaped(code, start, self.new.text))
            for start, end in code.texts
            for at in _occurrences(code.text[start:end], self.old.text)
        ]
        return inside or (self._names(code) if self._may_be_code else [])

    @property
    def _may_be_code(self) -> bool:
        name = r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*"
        return all(re.fullmatch(name, v.text) for v in (self.old, self.new))

    def _in_setting(self, code: Code, setting: Setting) -> Iterator[Place]:
        quoted = setting.kind == "string"
        start, end = setting.start + quoted, setting.end - quoted
        if code.text[start:end] == self.old.text:
            yield start, end, _escaped(code, start, self.new.text) if quoted else self.new.text

    def _names(self, code: Code) -> list[Place]:
        """Names and chains of names in the code itself, which texts and comments are not."""
        silent = (*code.texts, *code.comments)
        return [
            (at, at + len(self.old.text), self.new.text)
            for at in _occurrences(code.text, self.old.text, names=True)
            if not any(start <= at < end for start, end in silent)
        ]


def _is_number(value: Value) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", value.text))


def _occurrences(text: str, wanted: str, *, names: bool = False) -> Iterator[int]:
    """Where `wanted` stands and is not part of a longer word."""
    before = r"(?<![\w$.])" if names else r"(?<!\w)" if wanted[:1].isalnum() else ""
    after = r"(?![\w$])" if names else r"(?![^\W_])" if wanted[-1:].isalnum() else ""
    return (m.start() for m in re.finditer(before + re.escape(wanted) + after, text))


def _escaped(code: Code, start: int, text: str) -> str:
    quote = code.text[start - 1] if start else "'"
    quote = quote if quote in "'\"" else "`"
    return text.replace("\\", "\\\\").replace(quote, "\\" + quote)


def _named(code: Code, name: str) -> list[Setting]:
    return [s for s in code.found_settings if words(s.name) == words(name)]


@dataclass(frozen=True, slots=True)
class SetValue:
    """A setting gets another value of the same kind. It must be there once in a step."""

    setting: str
    new: Value

    @property
    def wish(self) -> str:
        return f"set {self.setting} to {self.new.text}"

    def places(self, code: Code) -> list[Place]:
        found = _named(code, self.setting)
        if len(found) != 1:
            return []
        start, end, kind = found[0].start, found[0].end, found[0].kind
        kinds = {"number": ("number",), "string": ("string", "name"), "true": ("truth",), "false": ("truth",)}
        if self.new.kind not in kinds[kind]:
            return []
        if kind == "string":
            start, end = start + 1, end - 1
        new = _escaped(code, start, self.new.text) if kind == "string" else self.new.text
        return [(start, end, new)] if code.text[start:end] != new else []


@dataclass(frozen=True, slots=True)
class RenameKey:
    """A name becomes another in every place of the code, or with `owner` where it is a key of that
    object (`state.rows` is `rows` of `state`).

    Names in short forms, such as `{ rows }`, mean two things at once and are not renamed by rule.
    """

    old: str
    new: str
    owner: str = ""

    @property
    def wish(self) -> str:
        of = f"{self.owner}." if self.owner else ""
        return f"rename the key {of}{self.old} to {of}{self.new}"

    def places(self, code: Code) -> list[Place]:
        nodes = [n for n in code.names(self.old) if not self.owner or code.is_key_of(n, self.owner)]
        if any(node.type.startswith("shorthand") for node in nodes):
            return []
        owner = r"(?:\$|state)" if self.owner in ("", "state") else re.escape(self.owner)
        lazy = re.compile(rf"(?<![\w$]){owner}\.({re.escape(self.old)})(?![\w$])")
        paths = (m.span(1) for a, b in code.texts for m in lazy.finditer(code.text, a, b))
        return [(*place, self.new) for place in {*map(code.span, nodes), *paths}]


# ---- lines


@dataclass(frozen=True, slots=True)
class Logs:
    """Statements that log are removed, or with `keep` commented out; `every` is in every step."""

    keep: bool = False
    every: bool = False

    @property
    def wish(self) -> str:
        return f"{'comment out' if self.keep else 'remove'} the console.log lines"

    def places(self, code: Code) -> list[Place]:
        found = []
        for start, end in code.logs():
            lines = code.lines_of(start, end)
            if self.keep:
                if lines is None:
                    return []
                found += _commented(code, start, end)
            elif lines is not None:
                found.append((*lines, ""))
            else:
                end += len(code.text[end:]) - len(code.text[end:].lstrip(" "))
                found.append((start, end, ""))
        return found


def _commented(code: Code, start: int, end: int) -> list[Place]:
    """`// ` in front of each line of a place, behind the blanks."""
    places = [start]
    for at in range(start, end):
        if code.text[at] == "\n":
            rest = code.text[at + 1 : end]
            places.append(at + 1 + len(rest) - len(rest.lstrip(" \t")))
    return [(at, at, "// ") for at in places]


@dataclass(frozen=True, slots=True)
class CommentLine:
    """The one line that a text is all of, but for its semicolon, is commented out."""

    text: str

    @property
    def wish(self) -> str:
        return f"comment out the line {self.text}"

    def places(self, code: Code) -> list[Place]:
        span = _line_with(code, self.text)
        return _commented(code, *span) if span else []


def _line_with(code: Code, text: str) -> tuple[int, int] | None:
    wanted = text.strip().rstrip(";").rstrip()
    line = rf"^[ \t]*({re.escape(wanted)});?[ \t]*$"
    found = list(re.finditer(line, code.text, re.MULTILINE))
    return found[0].span(1) if len(found) == 1 and wanted else None


@dataclass(frozen=True, slots=True)
class AddLine:
    """A line given by the user goes before or after the only line of its kind."""

    text: str
    anchor: str
    before: bool

    @property
    def wish(self) -> str:
        return f"add the line {self.text} {'before' if self.before else 'after'} {self.anchor}"

    def places(self, code: Code) -> list[Place]:
        span = _line_with(code, self.anchor)
        if span is None:
            return []
        begin = code.text.rfind("\n", 0, span[0]) + 1
        indent = code.text[begin : span[0]]
        close = code.text.find("\n", span[1])
        close = len(code.text) if close < 0 else close
        new = f"{indent}{self.text}"
        return [(begin, begin, new + "\n")] if self.before else [(close, close, "\n" + new)]


@dataclass(frozen=True, slots=True)
class Emoji:
    """Emojis go, each with the blank beside it."""

    @property
    def wish(self) -> str:
        return "remove the emojis"

    def places(self, code: Code) -> list[Place]:
        found = []
        for start, end in (*code.texts, *code.comments):
            for match in _EMOJI.finditer(code.text, start, end):
                first, last = match.span()
                if code.text[last:end][:1] == " ":
                    last += 1
                elif code.text[start:first][-1:] == " ":
                    first -= 1
                found.append((first, last, ""))
        return found


# ---- what the rules make


def _literals(parts: Iterable[Any]) -> list[Value]:
    return [p for p in parts if isinstance(p, Value)]


def _setting(parts: Iterable[Any]) -> str | None:
    return next((p for p in parts if isinstance(p, str)), None)


def replace_by(_: Scene, *parts: Any) -> Iterable[Edit]:
    old, new = _literals(parts)
    yield _replacement(old, new, _setting(parts))


def put_instead(_: Scene, *parts: Any) -> Iterable[Edit]:
    new, old = _literals(parts)
    yield _replacement(old, new, _setting(parts))


def _replacement(old: Value, new: Value, setting: str | None) -> Edit:
    """A chain of names that differs in its last name is the key of an object by another name."""
    chain = r"([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\.([A-Za-z_$][\w$]*)"
    before, after = (re.fullmatch(chain, v.text) for v in (old, new))
    if before and after and before[1] == after[1]:
        return RenameKey(before[2], after[2], before[1])
    return Replace(old, new, setting)


def set_value(_: Scene, *parts: Any) -> Iterable[SetValue]:
    name, value = _setting(parts), _literals(parts)
    if name and value:
        yield SetValue(name, value[0])


def setting(_: Scene, word: Word) -> Iterable[str]:
    yield unquoted(word.text)


def rename_key(_: Scene, old: str, new: str) -> Iterable[Edit]:
    name = r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*"
    if re.fullmatch(name, old) and re.fullmatch(name, new):
        made = _replacement(Value(old, "name"), Value(new, "name"), None)
        if isinstance(made, RenameKey) or "." not in old + new:
            yield made if isinstance(made, RenameKey) else RenameKey(old, new)


def in_place(edit: Callable[..., Iterable[Edit]]) -> Callable[..., Iterator[Plan | CodeWish]]:
    """The function of a rule whose steps are named in the middle of it."""

    def of(scene: Scene, *parts: Any) -> Iterator[Plan | CodeWish]:
        where = [p for p in parts if isinstance(p, Where)]
        for made in edit(scene, *(p for p in parts if not isinstance(p, Where))):
            yield from code(scene, made, *where)

    return of


COMMANDS: dict[str, Callable[..., Iterable[Any]]] = {
    f.__name__: f for f in (code, replace_by, put_instead, set_value, setting, rename_key)
} | {
    "code_in_middle": in_place(replace_by),
    "setting_in_middle": in_place(set_value),
    "about": lambda _, word: [word.text],
    "about_words": lambda *_: [None],
    "key": lambda _, word: [unquoted(word.text)],
    "code_text": lambda _, word: [unquoted(word.text)],
    "remove_logs": lambda *_: [Logs()],
    "remove_all_logs": lambda *_: [Logs(every=True)],
    "comment_logs": lambda *_: [Logs(keep=True)],
    "comment_line": lambda _, text: [CommentLine(text)],
    "remove_emoji": lambda *_: [Emoji()],
    "line_before": lambda _, text, anchor: [AddLine(text, anchor, before=True)],
    "line_before_that": lambda _, anchor, text: [AddLine(text, anchor, before=True)],
    "line_after": lambda _, text, anchor: [AddLine(text, anchor, before=False)],
}

"""Commands that change code: each finds the exact places and what is to stand there.

A place is a literal, a name or a statement as the parser sees it, never part of a word. Nothing is
done where the code does not parse, before or after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from global_chat.workflow.javascript import Code, Setting, parses

from .phrases import Keys, Value, Where, first, unquoted
from .plans import Plan, codes_after
from .reading import Meanings, Word
from .scene import Scene, words

_EMOJI = re.compile(
    "(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u200d\ufe0f\u20e3])+"
)
_NAME = r"[A-Za-z_$][\w$]*"
_CHAIN = rf"{_NAME}(?:\.{_NAME})*"
#: The kinds of literal that a setting of a kind can be given.
_FITTING = {"number": ("number",), "string": ("string", "name")}

#: Start, end, and what is to stand there.
Place: TypeAlias = "tuple[int, int, str]"


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to be done, before it is known where; `wish` says it as a request would.

    `places` gives what to put where in the code of one step, nothing where there is nothing of the
    kind. `every` is in every step that has some. `old` is the text that is to go, if any.
    """

    wish: str
    places: Callable[[Code], Iterable[Place]]
    every: bool = False
    old: str = ""


@dataclass(frozen=True, slots=True)
class CodeWish:
    """Some change of code that is not seen; `keys` are the steps that were named, if any."""

    keys: Keys | None


def _code(scene: Scene, *parts: Any) -> Iterator[Plan | CodeWish]:
    """The edit in the steps that are named, else in the open step, else in any one that fits."""
    edit, named = first(parts, Edit), [p for p in parts if isinstance(p, Where)]
    if scene.blind and len(named) < 2:
        yield CodeWish(named[0].keys if named else None)
    if edit is None or edit.old in _settings(scene) or len(named) > 1:
        return
    parsed = {step.key: scene.code(step.key) for step in scene.coded}
    found = {
        k: made for k, code in parsed.items() if not code.broken and (made := [*edit.places(code)])
    }
    codes = {step.key: step.code or "" for step in scene.steps}
    for chosen in _choices(scene, named[0] if named else None, list(found), edit):
        places = frozenset((key, *place) for key in chosen for place in found[key])
        if all(map(parses, codes_after(codes, places).values())):
            names = [scene.title(key) for key in chosen]
            more = [f"{len(names) - 3} more"] if len(names) > 3 else []
            yield Plan(f"{edit.wish} in {' and '.join(names[:3] + more)}", code=places)


def _choices(scene: Scene, where: Where | None, found: list[str], edit: Edit) -> list[list[str]]:
    if where:
        chosen = sorted(where.keys & set(found))
        all_there = set(chosen) == where.keys or where.every or len(where.keys) > 1
        return [chosen] if chosen and all_there else []
    if scene.open_step and scene.open_step.key in found:
        return [[scene.open_step.key]]
    return [found] if edit.every and found else [[key] for key in found]


# ---- literals and names


def _replace(old: Value, new: Value, setting: str | None) -> Edit:
    """Every `old` becomes `new`; with a setting, only where it is that setting's value.

    A chain of names that differs in its last name is the key of an object by another name.
    """
    before, after = (re.fullmatch(rf"({_CHAIN})\.({_NAME})", v.text) for v in (old, new))
    if before and after and before[1] == after[1]:
        return _rename(before[2], after[2], before[1])
    numbers = _is_number(old), _is_number(new)

    def places(code: Code) -> Iterable[Place]:
        if numbers[0] != numbers[1] or new.kind == "truth" or old.text == new.text:
            return []
        if setting:
            return [
                p for s in _named(code, setting) for p in _value_of(code, s, old.text, new.text)
            ]
        if numbers[0]:
            here = code.places("number")
            return [(*p, new.text) for p in here if code.text[slice(*p)] == old.text]
        texts = [
            (start + at, start + at + len(old.text), _escaped(code, start, new.text))
            for start, end in code.places("string_fragment")
            for at in _occurrences(code.text[start:end], old.text)
        ]
        is_code = all(re.fullmatch(_CHAIN, value.text) for value in (old, new))
        return texts or (_names(code, old.text, new.text) if is_code else [])

    return Edit(f"replace {old.text} with {new.text}", places, old=old.text)


def _value_of(code: Code, setting: Setting, old: str | None, new: str) -> Iterator[Place]:
    """The place of a setting's value, when it is `old` or no old one is given."""
    quoted = setting.kind == "string"
    start, end = setting.start + quoted, setting.end - quoted
    text = _escaped(code, start, new) if quoted else new
    if (old is None or code.text[start:end] == old) and code.text[start:end] != text:
        yield start, end, text


def _names(code: Code, old: str, new: str) -> list[Place]:
    """Names and chains of names in the code itself, which texts and comments are not."""
    silent = (*code.places("string_fragment"), *code.places("comment"))
    found = [m.start() for m in re.finditer(rf"(?<![\w$.]){re.escape(old)}(?![\w$])", code.text)]
    heard = (at for at in found if not any(start <= at < end for start, end in silent))
    return [(at, at + len(old), new) for at in heard]


def _is_number(value: Value) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", value.text))


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    """Where `wanted` stands and is not part of a longer word."""
    before = r"(?<!\w)" if wanted[:1].isalnum() else ""
    after = r"(?![^\W_])" if wanted[-1:].isalnum() else ""
    return (m.start() for m in re.finditer(before + re.escape(wanted) + after, text))


def _escaped(code: Code, start: int, text: str) -> str:
    quote = code.text[start - 1] if code.text[start - 1] in "'\"" else "`"
    return text.replace("\\", "\\\\").replace(quote, "\\" + quote)


def _named(code: Code, name: str) -> list[Setting]:
    return [s for s in code.settings if words(s.name) == words(name)]


def _set_value(_: Scene, *parts: Any) -> Iterator[Edit]:
    """A setting gets another value of the same kind. It must be there once in a step."""
    name, new = first(parts, str), first(parts, Value)

    def places(code: Code) -> Iterable[Place]:
        found = _named(code, name)
        fits = len(found) == 1 and new.kind in _FITTING.get(found[0].kind, ("truth",))
        return _value_of(code, found[0], None, new.text) if fits else []

    if name and new:
        yield Edit(f"set {name} to {new.text}", places)


def _rename(old: str, new: str, owner: str = "") -> Edit:
    """A name becomes another in every place, or with `owner` where it is a key of that object.

    Names in short forms, such as `{ rows }`, mean two things at once and are not renamed by rule.
    """
    of = f"{owner}." if owner else ""

    def places(code: Code) -> Iterable[Place]:
        nodes = [n for n in code.names(old) if not owner or code.is_key_of(n, owner)]
        if any(node.type.startswith("shorthand") for node in nodes):
            return []
        object_ = r"(?:\$|state)" if owner in ("", "state") else re.escape(owner)
        lazy = re.compile(rf"(?<![\w$]){object_}\.({re.escape(old)})(?![\w$])")
        texts = code.places("string_fragment")
        paths = {m.span(1) for a, b in texts for m in lazy.finditer(code.text, a, b)}
        return [(*place, new) for place in {*map(code.place, nodes), *paths}]

    return Edit(f"rename the key {of}{old} to {of}{new}", places)


def _rename_key(_: Scene, old: str, new: str) -> Iterator[Edit]:
    if re.fullmatch(_NAME, old) and re.fullmatch(_NAME, new):
        yield _rename(old, new)
    elif re.fullmatch(_CHAIN, old) and old.rpartition(".")[0] == new.rpartition(".")[0]:
        yield _replace(Value(old, "name"), Value(new, "name"), None)


# ---- lines


def _without_logs(code: Code) -> Iterator[Place]:
    for start, end in code.logs():
        if lines := code.lines_of(start, end):
            yield (*lines, "")
        else:
            yield start, end + len(code.text[end:]) - len(code.text[end:].lstrip(" ")), ""


def _logs_as_comments(code: Code) -> list[Place]:
    found = list(code.logs())
    alone = all(code.lines_of(*place) for place in found)
    return [p for start, end in found for p in _commented(code, start, end)] if alone else []


def _commented(code: Code, start: int, end: int) -> list[Place]:
    """`// ` in front of each line of a place, behind the blanks."""
    lines = re.finditer(r"\n[ \t]*", code.text[start:end])
    return [(at, at, "// ") for at in (start, *(start + line.end() for line in lines))]


def _line_with(code: Code, text: str) -> tuple[int, int] | None:
    """The place of the one line that a text is all of, but for its semicolon."""
    wanted = text.strip().rstrip(";").rstrip()
    line = rf"^[ \t]*({re.escape(wanted)});?[ \t]*$"
    found = list(re.finditer(line, code.text, re.MULTILINE))
    return found[0].span(1) if len(found) == 1 and wanted else None


def _comment_line(_: Scene, text: str) -> Iterator[Edit]:
    def places(code: Code) -> list[Place]:
        span = _line_with(code, text)
        return _commented(code, *span) if span else []

    yield Edit(f"comment out the line {text}", places)


def _add_line(text: str, anchor: str, *, before: bool) -> list[Edit]:
    def places(code: Code) -> Iterator[Place]:
        if span := _line_with(code, anchor):
            begin = code.text.rfind("\n", 0, span[0]) + 1
            close = code.text.find("\n", span[1])
            close = len(code.text) if close < 0 else close
            new = f"{code.text[begin : span[0]]}{text}"
            yield (begin, begin, new + "\n") if before else (close, close, "\n" + new)

    return [Edit(f"add the line {text} {'before' if before else 'after'} {anchor}", places)]


def _without_emoji(code: Code) -> Iterator[Place]:
    """Emojis go, each with the blank beside it."""
    for start, end in (*code.places("string_fragment"), *code.places("comment")):
        for match in _EMOJI.finditer(code.text, start, end):
            begin, close = match.span()
            if code.text[close:end].startswith(" "):
                close += 1
            elif code.text[start:begin].endswith(" "):
                begin -= 1
            yield begin, close, ""


def _replace_by(_: Scene, *parts: Any) -> Iterator[Edit]:
    old, new = (part for part in parts if isinstance(part, Value))
    yield _replace(old, new, first(parts, str))


def _put_instead(scene: Scene, *parts: Any) -> Iterator[Edit]:
    values = [part for part in parts if isinstance(part, Value)]
    return _replace_by(scene, *values[::-1], *(p for p in parts if isinstance(p, str)))


#: The settings that a noun of VALUE_KEY means, the likeliest first.
_MEANT = (
    ("to", "recipient", "recipients"),
    ("from", "sender"),
    ("subject",),
    ("limit", "per_page", "pageSize", "per", "size", "top"),
    ("timeout",),
    ("text", "message", "body"),
    ("url",),
    ("status",),
)


def _settings(scene: Scene) -> set[str]:
    return {s.name for step in scene.coded for s in scene.code(step.key).settings}


def _meant(scene: Scene, word: Word) -> Iterator[str]:
    there = {tuple(words(name)): name for name in _settings(scene)}
    names = (there.get(tuple(words(name))) for name in _MEANT[word.index])
    yield from [name for name in names if name][:1]


def _about_words(scene: Scene, *told: Word) -> Iterator[None]:
    """Words that only say what a literal is. The name of a setting says where it is."""
    names = {tuple(words(name)) for name in _settings(scene)}
    if not any(tuple(words(word.text)) in names for word in told if len(word.text) > 3):
        yield None


def _in_place(edit: Callable[..., Iterator[Edit]]) -> Any:
    """The meaning of a rule whose steps are named in the middle of it."""

    def of(scene: Scene, *parts: Any) -> Iterator[Plan | CodeWish]:
        for made in edit(scene, *parts):
            yield from _code(scene, made, first(parts, Where))

    return of


_REMOVE_LOGS = "remove the console.log lines"

MEANINGS: Meanings = {
    "code": _code,
    "code_in_middle": _in_place(_replace_by),
    "setting_in_middle": _in_place(_set_value),
    "replace_by": _replace_by,
    "put_instead": _put_instead,
    "set_value": _set_value,
    "setting": lambda _, word: [unquoted(word.text)],
    "setting_meant": _meant,
    "about_setting": lambda scene, word: (
        [word.text] if word.type == "SETTING" else [*_meant(scene, word)] or [None]
    ),
    "about_words": _about_words,
    "logs_in_middle": lambda scene, where: _code(scene, where, Edit(_REMOVE_LOGS, _without_logs)),
    "rename_key": _rename_key,
    "key": lambda _, word: [unquoted(word.text)],
    "code_text": lambda _, word: [unquoted(word.text)],
    "remove_logs": lambda _: [Edit(_REMOVE_LOGS, _without_logs)],
    "remove_all_logs": lambda _: [Edit(_REMOVE_LOGS, _without_logs, every=True)],
    "comment_logs": lambda _: [Edit("comment out the console.log lines", _logs_as_comments)],
    "comment_line": _comment_line,
    "remove_emoji": lambda _: [Edit("remove the emojis", _without_emoji)],
    "line_before": lambda _, text, anchor: _add_line(text, anchor, before=True),
    "line_before_that": lambda _, anchor, text: _add_line(text, anchor, before=True),
    "line_after": lambda _, text, anchor: _add_line(text, anchor, before=False),
}

"""Reading a request: every meaning that the whole of it has, by the grammar in a language's words.

A request is understood when all of its words are. Earley's algorithm finds every way to read it; a
way that says of the workflow what is not so has no meaning. Free text (a reason, a name without
quotes) is a last resort: of several meanings those count in which the fewest words are free text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.parsers.earley_forest import PackedNode, SymbolNode, TokenNode

from .scene import Scene, bare, pattern, plain, stem, words

LANGUAGES = ("en", "fr", "es", "pt")

#: Longer requests are no commands, in characters.
LONGEST_REQUEST = 2_000
#: Nor is one of so many words, quoted texts aside: what may join with what grows by their cube.
MOST_WORDS = 60
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\w+")
#: More ways than this to read one part of a request are not followed.
MOST_MEANINGS = 24

#: What a rule's children mean: none when the workflow has nothing of the kind, several when it has.
Meanings = Mapping[str, Callable[..., Iterable[Any]]]

#: Literals, whatever the language. A sentence ends with its full stop, a literal does not.
_CRON = r"(?:[\d*][\d*,/-]*|(?:mon|tue|wed|thu|fri|sat|sun)[a-z,-]*)"
_CLOCK = r"(?:[:h.][0-5]\d(?:[ ]?(?:am|pm|h)(?!\w))?|[ ]?(?:am|pm|h)(?!\w))"
_TELLING_CODE = (
    r"[\w][@/_!:{}.]\w|[a-z][A-Z]|\d[a-zA-Z]|[a-zA-Z_]\d|[A-Z]{2}|\w_|[\w]-\d"  # no plain word
)
_FORMS = {
    "QUOTED": r"\"[^\"\n]+\"|`[^`\n]+`|(?<!\w)'[^\n]+?'(?!\w)",
    "NUMBER": r"(?<![\w.])(?:\d{1,3}(?:[ ]\d{3})+(?!\w)|\d+(?:\.\d+)?(?![\w:]))",
    "CRON_EXPRESSION": rf"(?:{_CRON}[ ]){{4}}{_CRON}",
    "CLOCK": rf"(?<![\w.:])(?:[01]?\d|2[0-3]){_CLOCK}(?![\w:])",
    "ORDINAL": r"(?<!\w)\d{1,2}(?:st|nd|rd|th|er|º|ª|o)(?!\w)",
    "VERSION": r"@?(?<![\d.])(?:\d+\.\d+\.\d+(?:-[\w.]+)?(?![\w.]*\d)|latest(?!\w))",
    "CODEISH": (
        rf"(?<![\w.@/])(?=[^\s\"',;()]*(?:{_TELLING_CODE}))"
        r"[\w$@/{](?:[^\s\"',;()]*[\w}/])?(?!\w)"
    ),
    "EXPRESSION": (
        r"!*\(?state\b[\w.$\[\]()!?]*(?:\s*(?:===?|!==?|>=?|<=?|&&|\|\||[-+*/%])\s*"
        r"(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.$\[\]()!?-]+))*"
    ),
    "STATEMENT": (
        r"[A-Za-z_$][\w$.]*\((?:[^()\n]|\([^()\n]*\))*\);?"
        r"|(?:return|delete|const|let)\s[\w$. =]+;?"
    ),
    "TRUTH": r"(?<!\w)(?:true|false)(?!\w)",
    "DESC": r"(?<!\w)[^\W_][\w'-]*",
    "PUNCT": r"[,.;:!?¿¡…\n]+(?:\s*[,.;:!?¿¡…\n]+)*",
    "COMMA": r",",
}
#: Forms in which case says something.
_CASED = frozenset({"CODEISH", "EXPRESSION", "STATEMENT"})
_NEVER = r"(?!)x"
_ANY = r"[^\s,.;:!?()]+(?:[.:,][^\s,.;:!?()]+)*"
_FREE_TYPES = frozenset({"FREE", "NOUN", "ABOUT", "THERE", "ANY", "SAID", "NAME"})
#: Rules that are given the words of their classes, because it matters which word it was. Others get
#: the workflow's own names and literals: other words have done their part when they were read.
_TELLING = frozenset(
    {"unit", "day", "days_name", "daypart", "month", "number_word", "clock", "past_hour"}
    | {"hour_name", "often", "on", "aside", "free", "noun", "counted", "about_words", "open_step"}
)
_GIVEN = frozenset(
    {"STEP", "LABEL", "SETTING", "VALUE_KEY", "IDENTIFIER", "ADAPTOR", "NAME", *_FORMS}
) - {"PUNCT"}
#: Rules whose text is taken as it was typed, with the words in it that mean nothing elsewhere.
_AS_TYPED = frozenset({"new_name"})
#: Classes whose words can change what a sentence wants: they are never part of free text.
_BINDING = re.compile(r"\w+").findall(
    "JOIN SHOULD WISHES ONLY EXCEPT OTHERS STEP_WORD STEPS_WORD PATH_WORD TRIGGER_WORD "
    "ADAPTOR_WORD STAYS ALONE SO"
)
#: Verbs that want something. They can stand in a statement (`kobo will call us`), but not begin it
#: nor be among the words that only say what a replacement is about.
_VERBS = re.compile(r"\w+").findall(
    "RENAME CALL REMOVE ADD SET USE REPLACE MOVE CONNECT TURN DISCONNECT SWITCH_ON SWITCH_OFF "
    "COMMENT_OUT DONT LEAVE"
)
_ASKING = re.compile(r"\w+").findall("WHEN_ASKED WHAT WHICH WHERE WHY HOW_MANY DO IF")
#: Classes whose words end a name that has no quotes; of the second, but for what `to` and `of` are.
_NO_NAME = re.compile(r"\w+").findall(
    "JOIN SHOULD ONLY EXCEPT ALSO BECAUSE IF THAT INSTEAD AFTER BEFORE BETWEEN NOT ALWAYS DONT "
    "EMPTY NEW CALLED IGNORE"
)
_NO_NAME_BUT = re.compile(r"\w+").findall("FOR WITH IN ON")
_QUOTES = str.maketrans("’‘´“”„«»", "'''" + '"""""')
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of the request: the class that it was read as, and its text as typed.

    `index` is the form's place in its class; `start` and `end` are the word's in the request.
    """

    type: str
    text: str
    index: int = -1
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language: the ways to say each form of a class, and every single word."""

    forms: Mapping[str, tuple[tuple[str, ...], ...]]
    known: frozenset[str]

    def of(self, *classes: str) -> list[str]:
        """Every way to say something of these classes."""
        return [way for c in classes for form in self.forms.get(c, ()) for way in form]

    def index(self, name: str, text: str) -> int:
        """The place in its class of the form that `text` says."""
        said = plain(text)
        return next((n for n, ways in enumerate(self.forms.get(name, ())) if said in ways), -1)


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language. Classes that its file does not have are as in English."""
    text = (files(__package__) / "vocabulary" / f"{language}.txt").read_text("utf-8")
    forms = {} if language == LANGUAGES[0] else dict(vocabulary(LANGUAGES[0]).forms)
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition(": ")
            forms[name] = tuple(tuple(form.split("/")) for form in rest.split(" | "))
    every = (word for of in forms.values() for ways in of for way in ways for word in way.split())
    return Vocabulary(forms, frozenset(every))


def _class(ways: Iterable[str]) -> str:
    """A regular expression for whole words, the longest first."""

    def spelled(way: str) -> str:
        before = r"(?<!\w)" if way[:1].isalnum() else ""
        after = r"(?!\w)" if way[-1:].isalnum() else ""
        return before + r"\s+".join(map(re.escape, way.split())) + after

    ordered = sorted((way for way in ways if way != "-"), key=len, reverse=True)
    return "|".join(map(spelled, ordered)) or _NEVER


def _free(known: Vocabulary) -> dict[str, str]:
    """Words that may be free text, and those that may be part of a name without quotes."""

    def none_of(*classes: str, but: Iterable[str] = ()) -> str:
        single = {way for way in known.of(*classes) if " " not in way} - set(but)
        return rf"(?!(?:{_class(single)}))"

    # `too dangerous` is a reason; a sentence that ends in `too` wants one thing more.
    also = rf"(?!(?:{_class(known.of('ALSO'))})\s*(?:[.,;!?]|$))"
    free = rf"{none_of(*_BINDING)}{also}(?<!\w)[^\W\d_]['\w-]*"
    small = set(known.of("TO", "OF")) - {"in", "for", "with", "on"}
    stops = none_of(*_NO_NAME) + none_of(*_NO_NAME_BUT, but=small)
    return {
        # Whatever it is, a reason ends where something is joined to it.
        "ANY": none_of("JOIN", "BECAUSE") + _ANY,
        "SAID": none_of("BECAUSE", "SHOULD", "WISHES", "SO") + _ANY,
        "FREE": free,
        "NOUN": none_of(*_ASKING, *_VERBS, "IT") + free,
        "NAME": stops + r"(?<!\w)[^\s\"',.;:!?()]+(?:['./][^\s\"',.;:!?()]+)*",
    }


def _document(scene: Scene) -> dict[str, str]:
    """The terminals that the workflow's own names make."""
    codes = [scene.code(step.key) for step in scene.coded]
    settings = {setting.name for code in codes for setting in code.settings}
    names = {
        "STEP": pattern(name for s in scene.steps for name in (s.key, s.name)),
        "TRIGGER": pattern(t.key for t in scene.triggers),
        "LABEL": pattern(e.condition_label or "" for e in scene.edges),
        "SETTING": r"[a-z]\w+" if scene.blind else pattern(settings),
    }
    found = {n: rf"(?<![\w@/.-])(?:{p or _NEVER})(?![\w@]|-\w)" for n, p in names.items()}
    systems = "|".join(map(re.escape, sorted(scene.systems, key=len, reverse=True))) or _NEVER
    written = rf"(?:@openfn/)?(?:language-)?(?:{systems})(?:@[\w.-]*\w)?"
    found["ADAPTOR"] = rf"(?<![\w@/.-]){written}(?![\w-])"
    identifiers = {name for code in codes for name in code.identifiers}
    known = r"[a-z]\w+" if scene.blind else "|".join(map(re.escape, identifiers)) or _NEVER
    found["IDENTIFIER"] = rf"(?<![\w.])(?:{known})(?![\w.])"
    return found


def _said_there(text: str, scene: Scene, known: Vocabulary) -> dict[str, str]:
    """The words of a request that may say what a literal is: words of the workflow, in any of their
    forms, and those that name a value of some kind. Small words may stand among them in front."""
    nouns = {stem(word) for way in known.of("VALUE_NOUN", "VALUE_KEY") for word in way.split()}
    there = scene.stems | nouns
    binding = {*known.of(*_ASKING, *_VERBS, *_BINDING, "BECAUSE", "NOT", "IT", "OF", "FROM", "TO")}
    said = {word for word in re.findall(r"[^\W\d_][\w'-]*", text.lower()) if word not in binding}
    fitting = {w for w in said if scene.blind or {*map(stem, words(w))} & there or _like(w, there)}
    return {
        "THERE": _class(fitting),
        "ABOUT": _class(fitting | {*known.of("AROUND_VALUE")} | (said if scene.blind else set())),
    }


def _like(word: str, there: frozenset[str]) -> bool:
    """Whether a long word begins as one of the workflow does: `limite` as `limit`."""
    short = stem(word)
    return len(short) > 4 and any(
        len(w) > 4 and (short.startswith(w) or w.startswith(short)) for w in there
    )


def _flat(grammar: str) -> str:
    """The grammar with every optional, repeated or grouped piece as a rule of its own.

    Lark writes out all their combinations otherwise: thousands of rules where hundreds will do.
    """
    names: dict[tuple[str, str], str] = {}
    waiting = [re.sub(r"//.*", "", grammar)]
    done: list[str] = []

    def named(match: re.Match[str]) -> str:
        inner, mark = match[1].strip(), match[2]
        if (inner, mark) not in names:
            names[inner, mark] = name = f"_part_{len(names)}"
            again = f"{name} ({inner})" if mark == "*" else f"{name} ({inner}) | {inner}"
            body = {"?": f"| {inner}", "*": f"| {again}", "+": again, "": inner}[mark]
            waiting.append(f"{name}: {body}")
        return names[inner, mark]

    while waiting:
        text = waiting.pop()
        for piece in (r"\(([^()]*)\)([?*+]?)", r"(?<![\w/])(\w+)([?*+])"):
            while re.search(piece, text):
                text = re.sub(piece, named, text)
        done.append(text)
    return "\n".join(done)


@cache
def _parser(language: str) -> Lark:
    known = vocabulary(language)
    grammar = _flat((files(__package__) / "commands.lark").read_text("utf-8"))
    terminals = {name: _class(known.of(name)) for name in known.forms} | _FORMS | _free(known)
    lines = []
    for name in sorted({*re.findall(r"\b[A-Z][A-Z_]+\b", grammar), "IGNORE"}):
        form = terminals.get(name, _NEVER).replace("/", r"\/")
        lines.append(f"{name}: /{form}/{'' if name in _CASED else 'i'}")
    source = "\n".join([grammar, *lines, "%ignore IGNORE", r"%ignore /[\s()]+/"])
    return Lark(source, parser="earley", lexer="dynamic", ambiguity="forest")


def _parse(text: str, language: str, scene: Scene) -> Any:
    """The parse forest of a text. Raises UnexpectedInput when it cannot be read whole.

    A grammar takes half a second to build, so there is one for a language, and the terminals that
    are the workflow's own names are given to it for each text.
    """
    parser: Any = _parser(language)
    matcher = parser.parser.parser.term_matcher.__self__
    document = _document(scene)
    document |= _said_there(text, scene, vocabulary(language))
    matcher.regexps |= {n: re.compile(p, re.IGNORECASE) for n, p in document.items()}
    return parser.parse(text)


def normalised(text: str) -> str:
    """The text without accents and with plain quotes, character for character.

    The marks of a list's items become commas, for they separate as those do.
    """
    straight = "".join(map(bare, text.translate(_QUOTES)))
    return _ITEM.sub(lambda mark: ",".ljust(len(mark[0])), straight)


def corrected(text: str, language: str, scene: Scene) -> tuple[str, list[int]]:
    """The text with misspelled words of the vocabulary put right, and where each character was.

    A word is put right when it is long, is no word of the language or of the workflow, and exactly
    one word of the vocabulary differs from it by one letter or by two neighbours changed about.
    """
    known = {w for w in vocabulary(language).known if len(w) > 4}
    named = {w for s in scene.steps for n in (s.key, s.name) for w in words(n)} | set(scene.systems)
    pieces, places = list[str](), list[int]()
    for match in re.finditer(r"[^\W\d_]{5,}|.", text, re.DOTALL):
        right = word = match[0]
        if len(word) > 4 and word.islower() and word not in known | named:
            near = [w for w in known if _one_slip(word, w)]
            right = near[0] if len(near) == 1 else word
        pieces.append(right)
        places += [match.start() + min(n, len(word) - 1) for n in range(len(right))]
    return "".join(pieces), [*places, len(text)]


def _one_slip(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return len(one) != len(other) and not other.endswith(("s", "e", "d"))
    a, b = one[at:], other[at:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


def languages_of(text: str, scene: Scene) -> list[str]:
    """The languages by how many of the request's words they have, English first among equals."""
    names = {w for s in scene.steps for name in (s.key, s.name) for w in words(name)}
    asked = [w for w in re.findall(r"[a-z']+", normalised(text).lower()) if w not in names]
    counts = {code: sum(w in vocabulary(code).known for w in asked) for code in LANGUAGES}
    return sorted(LANGUAGES, key=lambda code: -counts[code])


def classes_in(text: str, language: str) -> tuple[str, ...]:
    """The classes of a language that have words in a text."""
    found = _classes(language).items()
    return tuple(name for name, form in found if form.search(text))


@cache
def _classes(language: str) -> dict[str, re.Pattern[str]]:
    known = vocabulary(language)
    return {name: re.compile(_class(known.of(name)), re.IGNORECASE) for name in known.forms}


def read(text: str, scene: Scene, language: str, meanings: Meanings) -> list[Any]:
    """Every meaning of the whole request in a language, those with the least free text only."""
    if len(text) > LONGEST_REQUEST or len(_WORD.findall(text)) > MOST_WORDS:
        return []
    right, places = corrected(normalised(text), language, scene)
    try:
        root = _parse(right, language, scene)
    except UnexpectedInput:
        return []
    found = _Walk(text, places, scene, vocabulary(language), meanings).values(root)
    least = min(found.values(), default=0)
    return [value for value, cost in found.items() if cost == least]


class _Walk:
    """Collects the meanings of a parse forest from its leaves up, each node once.

    Every node has sequences of values, each with its cost: how many words of it are free text.
    """

    def __init__(
        self, text: str, places: list[int], scene: Scene, known: Vocabulary, meanings: Meanings
    ) -> None:
        self._text, self._places = text, places
        self._scene, self._known, self._meanings = scene, known, meanings
        self._done: dict[int, dict[tuple[Any, ...], int]] = {}

    def values(self, root: SymbolNode) -> dict[Any, int]:
        """Each meaning of the root, with its cost."""
        waiting: list[tuple[Any, bool]] = [(root, False)]
        entered: set[int] = set()
        # A request of many words makes a deep forest: no recursion.
        while waiting:
            node, below_done = waiting.pop()
            if below_done:
                self._done[id(node)] = self._collected(node)
            elif id(node) not in entered:
                entered.add(id(node))
                waiting.append((node, True))
                sides = (s for packed in node.children for s in (packed.left, packed.right))
                waiting += [(s, False) for s in sides if isinstance(s, SymbolNode)]
        return {value: cost for (value,), cost in self._of(root).items()}

    def _collected(self, node: SymbolNode) -> dict[tuple[Any, ...], int]:
        found: dict[tuple[Any, ...], int] = {}
        for packed in node.children:
            for value, cost in self._packed(node, packed):
                found[value] = min(cost, found.get(value, cost))
        return dict(sorted(found.items(), key=lambda pair: pair[1])[:MOST_MEANINGS])

    def _of(self, node: Any) -> dict[tuple[Any, ...], int]:
        """What was found below a node. A node that holds itself adds nothing."""
        if not isinstance(node, TokenNode):
            return self._done.get(id(node), {})
        token: Any = node.token
        start, end = (self._places[token.start_pos + n] for n in (0, len(token)))
        text = self._text[start:end]
        word = Word(token.type, text, self._known.index(token.type, text), start, end)
        return {(word,): int(token.type in _FREE_TYPES)}

    def _packed(self, parent: Any, packed: PackedNode) -> Iterator[tuple[tuple[Any, ...], int]]:
        sides = [self._of(side) for side in (packed.left, packed.right) if side is not None]
        through = parent.is_intermediate or packed.rule.origin.name.startswith("_")
        for parts in product(*(side.items() for side in sides)):
            inner = tuple(value for values, _ in parts for value in values)
            cost = sum(spent for _, spent in parts)
            for value in [inner] if through else ((v,) for v in self._meaning(packed.rule, inner)):
                yield value, cost

    def _meaning(self, rule: Any, inner: tuple[Any, ...]) -> Iterable[Hashable]:
        name = rule.alias or str(rule.origin.name)
        if name in _AS_TYPED:
            start, end = inner[0].start, inner[-1].end
            inner = (Word(inner[0].type, self._text[start:end], -1, start, end),)
        telling = name in _TELLING
        given = [x for x in inner if telling or not isinstance(x, Word) or x.type in _GIVEN]
        if name in self._meanings:
            return self._meanings[name](self._scene, *given)
        return [given[0] if len(given) == 1 else (name, *given)]

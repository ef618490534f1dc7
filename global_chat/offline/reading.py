"""Reading a request: the grammar, the words of a language, and every meaning that the whole of it has.

A request is understood when all of its words are. The grammar is parsed by Earley's algorithm, which
finds every way to read it; a way that says something about the workflow which is not so gives no
meaning. Free text (a reason, a name without quotes) is a last resort: of several meanings those count
in which the fewest words are free text.
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

from .scene import Scene, bare, pattern, plain, words

LANGUAGES = ("en", "fr", "es", "pt")

#: Longer requests are no commands, in characters.
LONGEST_REQUEST = 2_000
#: More ways than this to read one part of a request are not followed.
MOST_MEANINGS = 64

_QUOTES = str.maketrans("’‘´“”„«»", "''''\"\"\"\""[:4] + '""""')
#: Classes whose forms stand in the order of what they count.
_ORDERED = frozenset({"MONTH_NAME", "NUMBER_WORD"})
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_FREE_TYPES = frozenset({"FREE", "NOUN", "ABOUT", "ANY", "NAME"})
#: Literals, whatever the language. A sentence ends with its full stop, a literal does not.
_FORMS = {
    "QUOTED": r"\"[^\"\n]+\"|`[^`\n]+`|(?<!\w)'[^\n]+?'(?!\w)",
    "NUMBER": r"(?<![\w.])\d{1,3}(?:[ ]\d{3})+(?![\w])|(?<![\w.])\d+(?:\.\d+)?(?![\w:])",
    "CRON_EXPRESSION": r"(?:(?:[\d*][\d*,/-]*|(?:mon|tue|wed|thu|fri|sat|sun)[a-z,-]*)[ ]){4}(?:[\d*][\d*,/-]*|(?:mon|tue|wed|thu|fri|sat|sun)[a-z,-]*)",
    "CLOCK": r"(?<![\w.:])(?:[01]?\d|2[0-3])(?:[:h.][0-5]\d(?:[ ]?(?:am|pm|h)(?!\w))?|[ ]?(?:am|pm|h)(?!\w))(?![\w:])",
    "ORDINAL": r"(?<!\w)\d{1,2}(?:st|nd|rd|th|er|º|ª|o)(?!\w)",
    "VERSION": r"@?(?<![\d.])(?:\d+\.\d+\.\d+(?:-[\w.]+)?(?![\w.]*\d)|latest(?!\w))",
    "CODEISH": r"(?<![\w.@/])(?=[^\s\"',;()]*(?:[\w][@/_!:{}.]\w|[a-z][A-Z]|\d[a-zA-Z]|[a-zA-Z_]\d|[A-Z]{2}|\w_|[\w]-\d))[\w$@/{](?:[^\s\"',;()]*[\w}/])?(?![\w])",
    "EXPRESSION": r"!*\(?state\b[\w.$\[\]()!?]*(?:\s*(?:===?|!==?|>=?|<=?|&&|\|\||[-+*/%])\s*(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.$\[\]()!?-]+))*",
    "STATEMENT": r"[A-Za-z_$][\w$.]*\((?:[^()\n]|\([^()\n]*\))*\);?|(?:return|delete|const|let)\s[\w$. =]+;?",
    "DESC": r"(?<!\w)[^\W_][\w'-]*",
    "ANY": r"[^\s,.;:!?()]+(?:[.:,][^\s,.;:!?()]+)*",
    "PUNCT": r"[,.;:!?¿¡…\n]+(?:\s*[,.;:!?¿¡…\n]+)*",
}  # fmt: skip
#: Forms in which case says something.
_CASED = frozenset({"CODEISH", "EXPRESSION", "STATEMENT"})
_NEVER = r"(?!)x"


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of the request: the class that it was read as, and its text as typed.

    `index` is the form's place in its class, where a class has its forms in an order. `start` and
    `end` are its place in the request.
    """

    type: str
    text: str
    index: int = -1
    start: int = 0
    end: int = 0


Meanings = Mapping[str, Callable[..., Iterable[Any]]]
Forms = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language: forms by class, and the classes whose words bind."""

    language: str
    forms: Mapping[str, tuple[str, ...]]
    loose: frozenset[str]

    @property
    def known(self) -> frozenset[str]:
        """Every single word of it."""
        return frozenset(w for forms in self.forms.values() for form in forms for w in form.split())


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language. Classes that its file does not have are empty."""
    text = (files(__package__) / "vocabulary" / f"{language}.txt").read_text("utf-8")
    forms: dict[str, tuple[str, ...]] = {}
    loose = set()
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(":")
            if name.startswith("~"):
                loose.add(name := name[1:])
            forms[name] = tuple(form.strip() for form in re.split(r"\s\|\s", rest))
    return Vocabulary(language, forms, frozenset(loose))


def _form(text: str) -> str:
    inner = r"\s+".join(map(re.escape, text.split()))
    before = r"(?<![\w])" if re.match(r"\w", text) else ""
    return before + inner + (r"(?![\w])" if re.search(r"\w$", text) else "")


def _class(forms: Iterable[str]) -> str:
    return "|".join(map(_form, sorted(forms, key=len, reverse=True)))


#: Classes whose words can change what a sentence wants: they are never part of free text.
_BINDING = ("JOIN", "SHOULD", "WISHES", "ONLY", "EXCEPT", "OTHERS", "STEP_WORD", "STEPS_WORD",
            "PATH_WORD", "TRIGGER_WORD", "ADAPTOR_WORD", "STAYS", "ALONE")  # fmt: skip
#: Verbs that want something. They can stand in a statement (`kobo will call us`), but neither begin
#: one nor be words that only say what a replacement is about.
_VERBS = ("RENAME", "REMOVE", "ADD", "PLACE", "SET", "USE", "REPLACE", "PIN", "MOVE", "CONNECT",
          "DISCONNECT", "TURN", "SWITCH_ON", "SWITCH_OFF", "COMMENT_OUT", "DONT", "LEAVE", "GIVE")  # fmt: skip
#: More classes whose words end a name that has no quotes.
_NO_NAME = ("EMPTY", "NEW", "CALLED", "JOIN", "SHOULD", "ONLY", "EXCEPT", "ALSO", "BECAUSE", "IF", "THAT", "INSTEAD", "AFTER",
            "BEFORE", "BETWEEN", "NOT", "ON", "FOR", "IGNORE", "WITH", "IN", "ALWAYS", "BACK", "DONT")  # fmt: skip


def _free(known: Vocabulary) -> dict[str, str]:
    """Words that may be free text, and those that may be part of a name without quotes."""

    def without(classes: Iterable[str]) -> str:
        forms = {f for name in classes for f in known.forms.get(name, ()) if " " not in f}
        return rf"(?!(?:{_class(forms)}))" if forms else ""

    kept = set(known.forms.get("OF", ())) | set(known.forms.get("TO", ()))
    names = [f for f in _NO_NAME if f not in ("FOR", "WITH", "IN", "ON")]
    few = {f for n in ("FOR", "WITH", "IN", "ON") for f in known.forms.get(n, ()) if " " not in f}
    few -= kept - {"for", "with", "in", "on"}
    # `too dangerous` is a reason; a sentence that ends in `too` wants one thing more.
    also = rf"(?!(?:{_class(known.forms.get('ALSO', ())) or _NEVER})\s*(?:[.,;!?]|$))"
    free = rf"{without(_BINDING)}{also}(?<!\w)[^\W\d_]['\w-]*"
    return {
        "FREE": free,
        "NOUN": without(("QUESTION_WORD", "IT", "JOIN", *_VERBS)) + free,
        "ABOUT": without(("QUESTION_WORD", *_VERBS)) + free,
        "NAME": rf"{without(names)}(?!(?:{_class(few)}))(?<!\w)[^\s\"',.;:!?()]+(?:['./][^\s\"',.;:!?()]+)*",
    }


def _document(scene: Scene) -> dict[str, str]:
    """The terminals that the workflow's own names make."""
    systems = pattern_of(sorted(scene.systems, key=len, reverse=True))
    code = [scene.code(step.key) for step in scene.coded]
    identifiers = {name for parsed in code for name in parsed.identifiers}
    settings = {name for parsed in code for name in parsed.settings}
    bounded = {
        "STEP": pattern(name for s in scene.steps for name in (s.key, s.name)),
        "TRIGGER": pattern(t.key for t in scene.triggers),
        "LABEL": pattern(e.condition_label or "" for e in scene.edges),
        "SETTING": r"[a-z]\w+" if scene.blind else pattern(settings),
    }
    found = {n: rf"(?<![\w@/.-])(?:{p})(?![\w@]|-\w)" if p else _NEVER for n, p in bounded.items()}
    found["ADAPTOR"] = rf"(?<![\w@/.-])(?:@openfn/)?(?:language-)?(?:{systems or _NEVER})(?:@[\w.-]*\w)?(?![\w-])"
    identifier = r"[a-z]\w+" if scene.blind else pattern_of(identifiers) or _NEVER
    found["IDENTIFIER"] = rf"(?<![\w.])(?:{identifier})(?![\w.])"
    return found


def pattern_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, texts))


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
    terminals = {name: _class(forms) for name, forms in known.forms.items()}
    terminals = {**terminals, **_FORMS, **_free(known)}
    used = sorted({*re.findall(r"\b[A-Z][A-Z_]+\b", grammar), "IGNORE"})
    lines = [
        f"{name}: /{terminals.get(name, _NEVER).replace('/', chr(92) + '/')}/"
        + ("" if name in _CASED else "i")
        for name in used
    ]
    source = "\n".join([grammar, *lines, "%ignore IGNORE", r"%ignore /[\s()]+/"])
    return Lark(source, parser="earley", lexer="dynamic", ambiguity="forest")


def _parse(text: str, language: str, scene: Scene) -> Any:
    """The parse forest of a text. Raises UnexpectedInput when it cannot be read whole.

    A grammar takes half a second to build, so there is one for a language, and the terminals that
    are the workflow's own names are given to it for each text.
    """
    parser: Any = _parser(language)
    matcher = parser.parser.parser.term_matcher.__self__
    matcher.regexps |= {n: re.compile(p, re.IGNORECASE) for n, p in _document(scene).items()}
    return parser.parse(text)


@cache
def _classes(language: str) -> dict[str, re.Pattern[str]]:
    forms = vocabulary(language).forms.items()
    return {name: re.compile(_class(of), re.IGNORECASE) for name, of in forms}


def classes_in(text: str, scene: Scene) -> tuple[str, ...]:
    """The classes that have words in a text, of the language that it is in."""
    found = _classes(languages_of(text, scene)[0]).items()
    return tuple(name for name, form in found if form.search(normalised(text)))


def normalised(text: str) -> str:
    """The text without accents and with plain quotes, character for character."""
    plain_quotes = "".join(map(bare, text.translate(_QUOTES)))
    # The marks of a list's items separate as commas do.
    return _ITEM.sub(lambda mark: ",".ljust(len(mark[0])), plain_quotes)


def corrected(text: str, language: str, scene: Scene) -> tuple[str, list[int]]:
    """The text with misspelled words of the vocabulary put right, and where each character was.

    A word is put right when it is long, is no word of the language or of the workflow, and exactly
    one word of the vocabulary differs from it by one letter or by two neighbours changed about.
    """
    known = vocabulary(language).known
    named = {w for s in scene.steps for n in (s.key, s.name) for w in words(n)} | set(scene.systems)
    pieces, places = [], []
    for match in re.finditer(r"[^\W\d_]{5,}|.", text, re.DOTALL):
        word = match[0]
        right = word
        if len(word) > 4 and word.islower() and word not in known and word not in named:
            near = [w for w in known if len(w) > 4 and _one_slip(word, w)]
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


def read(text: str, scene: Scene, language: str, meanings: Meanings) -> list[Any]:
    """Every meaning of the whole request in a language, those with the least free text only."""
    if len(text) > LONGEST_REQUEST:
        return []
    right, places = corrected(normalised(text), language, scene)
    try:
        root = _parse(right, language, scene)
    except UnexpectedInput:
        return []
    found = _Walk((text, places), scene, vocabulary(language).forms, meanings).values(root)
    least = min(found.values(), default=0)
    return [value for value, cost in found.items() if cost == least]


class _Walk:
    """Collects the meanings of a parse forest from its leaves up, each node once."""

    def __init__(self, text: tuple[str, list[int]], scene: Scene, forms: Forms, meanings: Meanings) -> None:
        self._text, self._places = text
        self._scene, self._forms, self._meanings = scene, forms, meanings
        self._done: dict[int, dict[tuple[Any, ...], int]] = {}

    def values(self, root: SymbolNode) -> dict[Any, int]:
        """Each meaning of the root, with the number of its free words."""
        waiting: list[tuple[Any, bool]] = [(root, False)]
        entered: set[int] = set()
        # A request of many words makes a deep forest: no recursion.
        while waiting:
            node, inside_done = waiting.pop()
            if inside_done:
                self._done[id(node)] = self._collected(node)
            elif id(node) not in entered:
                entered.add(id(node))
                waiting.append((node, True))
                sides = (s for packed in node.children for s in (packed.left, packed.right))
                waiting += [(s, False) for s in sides if isinstance(s, SymbolNode)]
        return {value: cost for (value,), cost in self._of(root).items()}

    def _collected(self, node: SymbolNode) -> dict[tuple[Any, ...], int]:
        """Sequences of values of one node, with their cost."""
        found: dict[tuple[Any, ...], int] = {}
        for packed in node.children:
            for value, cost in self._packed(node, packed):
                found[value] = min(cost, found.get(value, cost))
        return dict(sorted(found.items(), key=lambda pair: pair[1])[:MOST_MEANINGS])

    def _of(self, node: Any) -> dict[tuple[Any, ...], int]:
        """What was found below a node. A node that holds itself adds nothing."""
        return self._token(node) if isinstance(node, TokenNode) else self._done.get(id(node), {})

    def _token(self, node: TokenNode) -> dict[tuple[Any, ...], int]:
        token: Any = node.token
        start = token.start_pos
        place = self._places[start], self._places[start + len(token)]
        text = self._text[slice(*place)]
        forms = self._forms.get(token.type, ()) if token.type in _ORDERED else ()
        word = Word(token.type, text, forms.index(plain(text)) if plain(text) in forms else -1, *place)
        return {(word,): int(token.type in _FREE_TYPES)}

    def _packed(self, parent: Any, packed: PackedNode) -> Iterator[tuple[tuple[Any, ...], int]]:
        sides = [self._of(side) for side in (packed.left, packed.right) if side is not None]
        for parts in product(*(side.items() for side in sides)):
            inner = tuple(value for values, _ in parts for value in values)
            cost = sum(spent for _, spent in parts)
            if parent.is_intermediate or str(packed.rule.origin.name).startswith("_"):
                yield inner, cost
                continue
            for value in self._meaning(packed.rule, inner):
                yield (value,), cost

    def _meaning(self, rule: Any, inner: tuple[Any, ...]) -> Iterable[Hashable]:
        name = rule.alias or str(rule.origin.name)
        telling = name in _TELLING
        if name in _AS_TYPED:
            # Words that mean nothing elsewhere belong to a name that they stand in.
            first, last = inner[0].start, inner[-1].end
            inner = (Word(inner[0].type, self._text[first:last], -1, first, last),)
        kept = [x for x in inner if telling or not isinstance(x, Word) or x.type in _LITERAL]
        if name in self._meanings:
            result: Iterable[Hashable] = self._meanings[name](self._scene, *kept)
            return result
        return [kept[0] if len(kept) == 1 else (name, *kept)]


#: What a rule is given: the workflow's own names and literals. Other words have done their part when
#: they were read, but for these few rules, to which it matters what word it was.
_LITERAL = frozenset({"STEP", "LABEL", "SETTING", "IDENTIFIER", "ADAPTOR", "NAME", *_FORMS}) - {"PUNCT"}
_AS_TYPED = frozenset({"new_name"})
_TELLING = frozenset(
    {"unit", "day", "daypart", "month", "number_word", "clock", "half_past", "quarter_past", "truth",
     "step_set", "aside", "free", "noun"}
)  # fmt: skip


def languages_of(text: str, scene: Scene) -> list[str]:
    """The languages by how many of the request's words they have, English first among equals."""
    names = {w for s in scene.steps for name in (s.key, s.name) for w in words(name)}
    asked = [w for w in re.findall(r"[a-z']+", normalised(text).lower()) if w not in names]
    counts = {code: sum(w in vocabulary(code).known for w in asked) for code in LANGUAGES}
    return sorted(LANGUAGES, key=lambda code: -counts[code])

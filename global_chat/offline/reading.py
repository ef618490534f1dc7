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
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import Any

from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.parsers.earley_forest import PackedNode, SymbolNode, TokenNode

from .scene import Scene, bare, pattern, plain, words

LANGUAGES = ("en",)

#: Longer requests are no commands, in characters.
LONGEST_REQUEST = 2_000
#: More ways than this to read one part of a request are not followed.
MOST_MEANINGS = 64

_QUOTES = str.maketrans("’‘´“”„«»", "''''\"\"\"\""[:4] + '""""')
#: Classes whose forms stand in the order of what they count.
_ORDERED = frozenset({"MONTH_NAME", "NUMBER_WORD"})
_FREE_TYPES = frozenset({"FREE", "ANY", "NAME"})
#: Literals, whatever the language. A sentence ends with its full stop, a literal does not.
_FORMS = {
    "QUOTED": r"\"[^\"\n]+\"|`[^`\n]+`|(?<!\w)'[^\n]+?'(?!\w)",
    "NUMBER": r"(?<![\w.])\d{1,3}(?:[ ]\d{3})+(?![\w])|(?<![\w.])\d+(?:\.\d+)?(?![\w:])",
    "CLOCK": r"(?<![\w.:])(?:[01]?\d|2[0-3])(?:[:h.][0-5]\d(?:[ ]?(?:am|pm|h)(?!\w))?|[ ]?(?:am|pm|h)(?!\w))(?![\w:])",
    "ORDINAL": r"(?<!\w)\d{1,2}(?:st|nd|rd|th|er|º|ª|o)(?!\w)",
    "VERSION": r"@?(?<![\d.])(?:\d+\.\d+\.\d+(?:-[\w.]+)?(?![\w.]*\d)|latest(?!\w))",
    "CODEISH": r"(?<![\w.@/])(?=[^\s\"',;()]*(?:[\w][@/_!:{}.]\w|[a-z][A-Z]|\d[a-zA-Z]|[a-zA-Z_]\d|[A-Z]{2}|\w_|[\w]-\d))[\w$@/{](?:[^\s\"',;()]*[\w}/])?(?![\w])",
    "EXPRESSION": r"!*\(?state\b[\w.$\[\]()!?]*(?:\s*(?:===?|!==?|>=?|<=?|&&|\|\||[-+*/%])\s*(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.$\[\]()!?-]+))*",
    "STATEMENT": r"[A-Za-z_$][\w$.]*\((?:[^()\n]|\([^()\n]*\))*\);?|(?:return|delete|const|let)\s[\w$. =]+;?",
    "DESC": r"(?<!\w)[^\W_][\w'-]*",
    "ANY": r"[^\s,.;:!?()]+(?:[.:,][^\s,.;:!?()]+)*",
    "PUNCT": r"[,.;:!?…]+(?:\s*[,.;:!?…]+)*",
}  # fmt: skip
_NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of the request: the class that it was read as, and its text as typed.

    `index` is the form's place in its class, where a class has its forms in an order.
    """

    type: str
    text: str
    index: int = -1


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


def _free(known: Vocabulary) -> dict[str, str]:
    """Words that may be free text: those that bind nowhere, and for names a few more."""
    binding = {f for n, forms in known.forms.items() if n not in known.loose for f in forms}
    single = [f for f in binding if re.fullmatch(r"[^\W\d]+", f)]
    stops = ("JOIN", "BECAUSE", "ONLY", "IF", "THAT", "EXCEPT", "INSTEAD", "AFTER", "BEFORE",
             "BETWEEN", "NOT", "ON", "FOR", "IGNORE", "WITH", "IN", "ALWAYS", "BACK", "ALSO")  # fmt: skip
    name = {f for n in stops for f in known.forms.get(n, ()) if " " not in f}
    name -= {f for n in ("OF", "TO") for f in known.forms.get(n, ())} - {"in", "for", "with", "on"}
    return {
        "FREE": rf"(?!(?:{_class(single)}))(?<!\w)[^\W\d_]['\w-]*",
        "NAME": rf"(?!(?:{_class(name)}))(?<!\w)[^\s\"',.;:!?()]+(?:['./][^\s\"',.;:!?()]+)*",
    }


def _document(scene: Scene) -> dict[str, str]:
    """The terminals that the workflow's own names make."""
    systems = pattern_of(sorted(scene.systems, key=len, reverse=True))
    settings = {name for step in scene.coded for name in scene.code(step.key).settings}
    bounded = {
        "STEP": pattern(name for s in scene.steps for name in (s.key, s.name)),
        "TRIGGER": pattern(t.key for t in scene.triggers),
        "LABEL": pattern(e.condition_label or "" for e in scene.edges),
        "SETTING": pattern(settings),
    }
    found = {n: rf"(?<![\w@/.-])(?:{p})(?![\w@]|-\w)" if p else _NEVER for n, p in bounded.items()}
    found["ADAPTOR"] = rf"(?<![\w@/.-])(?:@openfn/)?(?:language-)?(?:{systems or _NEVER})(?:@[\w.-]*\w)?(?![\w-])"
    return found


def pattern_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, texts))


@lru_cache(maxsize=32)
def _parser(language: str, document: tuple[tuple[str, str], ...]) -> Lark:
    known = vocabulary(language)
    grammar = (files(__package__) / "commands.lark").read_text("utf-8")
    terminals = {name: _class(forms) for name, forms in known.forms.items()}
    terminals = {**terminals, **_FORMS, **_free(known), **dict(document)}
    used = set(re.findall(r"\b[A-Z][A-Z_]+\b", re.sub(r"//.*", "", grammar)))
    lines = [
        f"{name}: /{terminals.get(name, _NEVER).replace('/', chr(92) + '/')}/{'' if name in ('CODEISH', 'EXPRESSION', 'STATEMENT') else 'i'}"
        for name in sorted({*used, "IGNORE"})
    ]
    ignored = ["%ignore IGNORE", r"%ignore /[\s()]+/"]
    source = "\n".join([grammar, *lines, *ignored])
    return Lark(source, parser="earley", lexer="dynamic", ambiguity="forest")


def normalised(text: str) -> str:
    """The text without accents and with plain quotes, character for character."""
    return "".join(map(bare, text.translate(_QUOTES)))


def read(text: str, scene: Scene, language: str, meanings: Meanings) -> list[Any]:
    """Every meaning of the whole request in a language, those with the least free text only."""
    if len(text) > LONGEST_REQUEST:
        return []
    plain_text = normalised(text)
    parser = _parser(language, tuple(_document(scene).items()))
    try:
        root: Any = parser.parse(plain_text)
    except UnexpectedInput:
        return []
    found = _Walk(text, scene, vocabulary(language).forms, meanings).values(root)
    least = min(found.values(), default=0)
    return [value for value, cost in found.items() if cost == least]


class _Walk:
    """Collects the meanings of a parse forest from its leaves up, each node once."""

    def __init__(self, text: str, scene: Scene, forms: Forms, meanings: Meanings) -> None:
        self._text, self._scene, self._forms, self._meanings = text, scene, forms, meanings
        self._done: dict[int, dict[tuple[Any, ...], int]] = {}

    def values(self, root: SymbolNode) -> dict[Any, int]:
        """Each meaning of the root, with the number of its free words."""
        return {value: cost for (value,), cost in self._of(root).items()}

    def _of(self, node: Any) -> dict[tuple[Any, ...], int]:
        """Sequences of values below a node, with their cost."""
        if isinstance(node, TokenNode):
            return self._token(node)
        if id(node) not in self._done:
            self._done[id(node)] = {}  # what goes through itself adds nothing
            found: dict[tuple[Any, ...], int] = {}
            for packed in node.children:
                for value, cost in self._packed(node, packed):
                    found[value] = min(cost, found.get(value, cost))
            cheapest = sorted(found.items(), key=lambda pair: pair[1])[:MOST_MEANINGS]
            self._done[id(node)] = dict(cheapest)
        return self._done[id(node)]

    def _token(self, node: TokenNode) -> dict[tuple[Any, ...], int]:
        token: Any = node.token
        start = token.start_pos
        text = self._text[start : start + len(token)]
        forms = self._forms.get(token.type, ()) if token.type in _ORDERED else ()
        word = Word(token.type, text, forms.index(plain(text)) if plain(text) in forms else -1)
        return {(word,): int(token.type in _FREE_TYPES)}

    def _packed(self, parent: Any, packed: PackedNode) -> Iterator[tuple[tuple[Any, ...], int]]:
        sides = [self._of(side) for side in (packed.left, packed.right) if side is not None]
        for parts in product(*(side.items() for side in sides)):
            inner = tuple(value for values, _ in parts for value in values)
            cost = sum(spent for _, spent in parts)
            if parent.is_intermediate or packed.rule.origin.name.startswith("_"):
                yield inner, cost
                continue
            for value in self._meaning(packed.rule, inner):
                yield (value,), cost

    def _meaning(self, rule: Any, inner: tuple[Any, ...]) -> Iterable[Hashable]:
        name = rule.alias or rule.origin.name
        if name in self._meanings:
            kept = [x for x in inner if not isinstance(x, Word) or x.type in _KEPT]
            result: Iterable[Hashable] = self._meanings[name](self._scene, *kept)
            return result
        kept = [x for x in inner if not isinstance(x, Word) or x.type in _KEPT]
        return [kept[0] if len(kept) == 1 else (name, *kept)]


#: Words whose text or class matters; the others have done their part when they were read.
_KEPT = frozenset({
    "STEP", "LABEL", "SETTING", "ADAPTOR", "QUOTED", "NUMBER", "CLOCK", "ORDINAL", "VERSION",
    "CODEISH", "DOTTED", "EXPRESSION", "STATEMENT", "DESC", "NAME", "FREE", "MONTH_NAME",
    "NUMBER_WORD", "FIRST", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "SUNDAY", "MONDAY",
    "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "MORNING", "AFTERNOON", "EVENING",
    "NIGHT", "OCLOCK", "BACK", "EXCEPT", "ALL", "BOTH", "AT_END",
})  # fmt: skip


def language_of(text: str, scene: Scene) -> str:
    """The language whose words the request is made of, English when none has more of them."""
    names = {w for s in scene.steps for name in (s.key, s.name) for w in words(name)}
    asked = [w for w in re.findall(r"[a-z']+", normalised(text).lower()) if w not in names]
    counts = [sum(w in vocabulary(code).known for w in asked) for code in LANGUAGES]
    return LANGUAGES[counts.index(max(counts))]

"""Reading questions: what is asked, about which parts, and the answer that the workflow gives.

A question is a composition: a word that asks, the noun that it asks for, and the parts that it is
about, in any order. Each word has classes of the vocabulary or is the workflow's own. A topic is
asked for when all that it needs is said, and nothing that it has no use for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from global_chat.workflow.parts import Step

from . import answers
from .answers import Answer
from .phrases import ALWAYS, FAILURE, SUCCESS, unquoted
from .reading import LONGEST_REQUEST, languages_of, normalised, vocabulary
from .scene import Scene, pattern, plain, stem, system_of, words

_classes = re.compile(r"\w+").findall
_ASKING = frozenset(_classes("WHAT WHICH WHERE WHY HOW_MANY EXPLAIN WHEN_ASKED DO"))
#: Classes that may stand in any question; those that one can be about; and verbs of commands.
_SMALL = frozenset(
    _classes(
        "IGNORE SUBJECT DETERMINER AUX DO JOIN OF IN ON TO FOR WITH AT FROM THAT ONLY SHOULD BE IT "
        "THIS THIS_ONE HERE SMALL"
    )
)
_PARTS = frozenset(
    _classes(
        "STEP_WORD STEPS_WORD PATH_WORD TRIGGER_WORD WORKFLOW_WORD SCHEDULE_WORD "
        "ADAPTOR_WORD CONDITION_WORD CODE_WORD NAME_WORD CREDENTIAL_WORD STATE_WORD "
        "VERSION_WORD WEBHOOK LOGS RUN STARTS COMES NEXT AFTER BEFORE FAILS SUCCEEDS ON_FAILURE "
        "ON_SUCCESS ALWAYS IF ACTIVE NOT CHANGED USES WRITES EMPTY FIRST LAST ALL OTHERS DAY_NAME "
        "DAYS_NAME DAYPART OFTEN HOUR_NAME UNIT WHAT_MUST_BE"
    )
)
_VERBS = frozenset(_classes("RENAME REMOVE ADD SET REPLACE MOVE CONNECT DISCONNECT COMMENT_OUT"))
#: More steps than these are not meant by a word of their names; more strange words not passed over.
_MOST_DESCRIBED, _MOST_STRANGE = 3, 2

#: What can be asked, the special before the general: an answer, the classes that it needs (one of
#: each group), and those that it also allows.
_TOPICS = """
fails: FAILS|ON_FAILURE; $flow IF FAILS ON_FAILURE
succeeds: SUCCEEDS|ON_SUCCESS; $flow IF
always: ALWAYS WHICH|STEPS_WORD; $what RUN
changed: CHANGED WHAT|WHEN_ASKED|WHICH|DO; $what STEP CODE_WORD LAST SCHEDULE_WORD $time
credentials: CREDENTIAL|CREDENTIAL_WORD; $what STEP CREDENTIAL USES WHERE NAME_WORD
between: CONDITION_WORD|WHAT_MUST_BE STEP; $flow IF STEP
empty: EMPTY STEP_WORD|STEPS_WORD|WHICH|CODE_WORD; $what CODE_WORD NOT
steps_with: ADAPTOR; $what COMES STEP WHERE USES ADAPTOR_WORD VERSION_WORD WRITES HOW_MANY RUN
adaptors: ADAPTOR_WORD|VERSION_WORD; $what STEP USES VERSION_WORD RUN OTHERS
where_used: TOKEN; $what STEP WHERE USES WRITES CODE_WORD STATE_WORD CONDITION_WORD NAME_WORD RUN
written: STATE_WORD|WRITES STEP; $what WRITES STATE_WORD CODE_WORD
ends: FIRST|LAST; $what RUN COMES NAME_WORD
after: AFTER|NEXT STEP; $flow STEP
before: BEFORE STEP; $flow STEP
between: PATH_WORD STEP; $flow STEP
is_on: ACTIVE; TRIGGER_WORD TRIGGER WORKFLOW_WORD SCHEDULE_WORD RUN STEP STEP_WORD PATH_WORD NOT WHY
is_on: ACTIVE PATH_WORD|STEPS_WORD; $what NOT
is_on: WHY RUN|COMES|NOT|ACTIVE; $what STEP NOT OTHERS RUN COMES TRIGGER_WORD $time
when: WHEN_ASKED; $what STEP TRIGGER_WORD SCHEDULE_WORD RUN COMES NEXT IF $time UNIT ALWAYS ALL
starts: $anytime DO; WORKFLOW_WORD SCHEDULE_WORD RUN $time TRIGGER_WORD
starts: SCHEDULE_WORD|TRIGGER_WORD|WEBHOOK|TRIGGER; $what RUN COMES NAME_WORD
starts: WHAT|WHICH|EXPLAIN RUN|STARTS WORKFLOW_WORD|IT|THIS; EXPLAIN
steps: STEPS_WORD HOW_MANY|WHICH|EXPLAIN|WHAT; $what NAME_WORD COMES
paths: PATH_WORD WHICH|EXPLAIN|HOW_MANY|WHAT; $what CONDITION_WORD
logs: LOGS; $what STEP WHERE USES WRITES CODE_WORD
which: WHICH STEP_WORD STEP; $verbs WRITES USES RUN COMES
explain_step: STEP WHAT|EXPLAIN; STEP_WORD CODE_WORD COMES
explain_step: CODE_WORD WHAT|EXPLAIN; STEP_WORD
explain_workflow: WORKFLOW_WORD WHAT|EXPLAIN; ALL NAME_WORD COMES
explain_open: WHAT|EXPLAIN THIS|THIS_ONE|HERE|IT; STEP_WORD COMES
"""
_SHORT = {
    "$what": "WHAT WHICH EXPLAIN STEP_WORD STEPS_WORD WORKFLOW_WORD ALL HOW_MANY",
    "$flow": "WHAT WHICH STEP STEP_WORD STEPS_WORD WORKFLOW_WORD ALL RUN COMES NEXT PATH_WORD NOT "
    "ALWAYS OTHERS AFTER WHEN_ASKED WRITES USES",
    "$verbs": "RENAME REMOVE ADD SET REPLACE MOVE CONNECT DISCONNECT",
    "$time": "DAY_NAME DAYS_NAME DAYPART OFTEN HOUR_NAME CLOCK",
    "$anytime": "DAY_NAME|DAYS_NAME|DAYPART|OFTEN|HOUR_NAME|CLOCK",
}
#: Questions that the answer to another one has answered already: `how many steps, and which?`
_NO_MORE = (["which"], ["which", "ones"])
#: Classes of words that may stand within a description.
_SILENT = frozenset({"DETERMINER", "IGNORE", "OF", "ON"})
#: Topics that are about the open step when they name none.
_OF_OPEN_STEP = frozenset(
    _classes("fails succeeds adaptors written after before explain_step explain_open between")
)
#: Topics that name what they are about well enough for a strange word to be passed over.
_STRONG = frozenset(_classes("fails succeeds credentials steps_with where_used"))


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a question: its classes, and the part of the workflow that it is."""

    classes: frozenset[str]
    text: str
    part: Any = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A sentence that asks. `steps` are those that it is about, `named` when by name; `strange`
    words say nothing here."""

    tokens: tuple[Token, ...]
    steps: tuple[Step, ...] = ()
    strange: tuple[str, ...] = ()
    named: bool = False

    def has(self, classes: frozenset[str]) -> bool:
        return any(token.classes & classes for token in self.tokens)

    def about(self, step: Step) -> Asked:
        """The same about a step that is not named."""
        tokens = (*self.tokens, Token(frozenset({"STEP"}), "", step))
        return replace(self, tokens=tokens, steps=(step,))

    def part(self, name: str) -> Any:
        return next((token.part for token in self.tokens if name in token.classes), None)

    def ends_with(self, name: str) -> bool:
        """Whether the last step stands before a word of a class: `Load comes after what?`."""
        said = [token.classes for token in self.tokens if token.classes & {"STEP", name}]
        return bool(said) and name in said[-1]

    def before_last(self, name: str) -> list[Any]:
        """The parts before the last word of a class that does not begin the sentence."""
        at = max((n for n, t in enumerate(self.tokens) if n and name in t.classes), default=0)
        return [token.part for token in self.tokens[:at]]

    def nearest_to(self, classes: frozenset[str]) -> list[Step]:
        """The steps, those nearest to a word of these classes first."""
        at = next((n for n, t in enumerate(self.tokens) if t.classes & classes), 0)
        named = [(abs(n - at), t.part) for n, t in enumerate(self.tokens) if "STEP" in t.classes]
        return [step for _, step in sorted(named, key=lambda pair: pair[0])] or list(self.steps)


# ---- the answers to topics


def _joined(told: list[Answer]) -> Answer | None:
    return Answer("\n\n".join(one.text for one in told), told[0].about) if told else None


def _result(unwanted: str, verb: str, kind: str) -> Callable[[Scene, Asked], Answer | None]:
    """What runs when a step fails or succeeds; of two steps, also when the other one runs."""

    def of(scene: Scene, asked: Asked) -> Answer | None:
        if not asked.steps:
            return answers.paths_of(scene, kind)
        step, *others = asked.nearest_to(frozenset({"FAILS", "SUCCEEDS"}))
        if not others and step in asked.before_last("IF"):
            return answers.when_step_runs(scene, step)  # `does Tell run if it fails?`
        told = [answers.on_result(scene, unwanted, verb, step)]
        return _joined([*told, *(answers.when_step_runs(scene, other) for other in others)])

    return of


def _order(ask: Any, other_way: Any, name: str) -> Callable[[Scene, Asked], Answer | None]:
    """What follows or precedes; of two steps, the path between them."""

    def of(scene: Scene, asked: Asked) -> Answer | None:
        if len(asked.steps) == 2:
            return answers.condition_between(scene, *asked.steps)
        told = other_way if asked.ends_with(name) else ask
        return _joined([told(scene, step) for step in asked.steps])

    return of


def _written(asked: Asked) -> Answer | None:
    """What a step puts on state; of one that is not named, only when state is."""
    clear = asked.steps and (asked.named or asked.has(frozenset({"STATE_WORD"})))
    return answers.written(*asked.steps) if clear else None


def _explained(scene: Scene, asked: Asked) -> Answer | None:
    return _joined([answers.explain_step(scene, step) for step in asked.steps])


_ANSWERS: dict[str, Callable[[Scene, Asked], Answer | None]] = {
    "fails": _result(SUCCESS, "fails", FAILURE),
    "succeeds": _result(FAILURE, "succeeds", SUCCESS),
    "always": lambda scene, _: answers.paths_of(scene, ALWAYS),
    "changed": lambda *_: answers.changed(),
    "credentials": lambda s, asked: answers.credentials(s, asked.part("CREDENTIAL"), *asked.steps),
    "between": lambda s, asked: answers.condition_between(s, *asked.steps) if asked.steps else None,
    "empty": lambda scene, _: answers.empty_steps(scene),
    "steps_with": lambda scene, asked: answers.steps_with(scene, asked.part("ADAPTOR")),
    "adaptors": lambda scene, asked: answers.adaptors(scene, *asked.steps),
    "where_used": lambda s, asked: answers.where_used(s, asked.part("TOKEN"), *asked.steps),
    "written": lambda _, asked: _written(asked),
    "ends": lambda s, asked: answers.ends(s, last=not asked.has(frozenset({"FIRST"}))),
    "after": _order(answers.after, answers.before, "AFTER"),
    "before": _order(answers.before, answers.after, "BEFORE"),
    "is_on": lambda scene, asked: answers.is_it_on(scene, *asked.steps),
    "when": lambda scene, asked: answers.when(scene, *asked.steps),
    "starts": lambda scene, _: answers.start(scene),
    "steps": lambda scene, _: answers.steps(scene),
    "paths": lambda scene, _: answers.paths_of(scene),
    "logs": lambda scene, asked: answers.where_used(scene, "console.log", *asked.steps),
    "which": _explained,
    "explain_step": _explained,
    "explain_workflow": lambda scene, _: answers.explain_workflow(scene),
    "explain_open": lambda s, asked: _explained(s, asked) or answers.explain_workflow(s),
}


@cache
def _topics() -> list[tuple[str, list[frozenset[str]], frozenset[str]]]:
    text = re.sub(r"\$\w+", lambda short: _SHORT[short[0]], _TOPICS.strip())
    found = []
    for line in text.splitlines():
        name, needs, may = re.split(r"[:;] ?", line)
        groups = [frozenset(group.split("|")) for group in needs.split()]
        found.append((name, groups, frozenset(may.split()).union(_SMALL, *groups)))
    return found


# ---- reading

_CLOCK = r"\b\d{1,2}(?::\d\d|[ ]?[ap]m\b)"
#: A word that only code, a setting or an address can be.
_CODE = (
    r"(?<![\w.@/-])(?=[^\s\"',;()?]*(?:\w[._@/:{}!]+\w|(?-i:[a-z][A-Z])|\d[a-z]|[a-z]\d))"
    r"[\w$@/](?:[^\s\"',;()?]*[\w/])?"
)


def answers_to(text: str, scene: Scene) -> list[Answer]:
    """The answers to every question in a text; none unless each of them was understood."""
    if len(text) > LONGEST_REQUEST:
        return []
    for language in languages_of(text, scene)[:2]:
        asked = list(_questions(text, scene, language))
        found = [_answer(scene, question) for question in asked]
        told = [answer for answer in found if answer]
        if told and len(told) == len(found):
            return list(dict.fromkeys(told))
    return []


def unknown_words(text: str, scene: Scene) -> list[str]:
    """The words of a question that no class has: what it may be about."""
    language = languages_of(text, scene)[0]
    return [t.text for t in _tokens(text, scene, language) if not t.classes and t.text.isalnum()]


def is_question(text: str, scene: Scene) -> bool:
    """Whether a text asks rather than wants."""
    return any(True for _ in _questions(text, scene, languages_of(text, scene)[0]))


def asks_first(text: str, scene: Scene) -> bool:
    """Whether a text begins as only questions do, so that it can want nothing."""
    for token in _tokens(text[:LONGEST_REQUEST], scene, languages_of(text, scene)[0]):
        if "IGNORE" not in token.classes:
            return bool(token.classes & (_ASKING - {"EXPLAIN"})) and "IF" not in token.classes
    return False


def _answer(scene: Scene, asked: Asked) -> Answer | None:
    """The answer of the first topic that a question fits, whole."""
    here = scene.open_step
    for of in (asked, asked.about(here)) if here and not asked.steps else (asked,):
        said = [token.classes for token in of.tokens if token.classes]
        for name, needs, allowed in _topics():
            fits = all(classes & allowed for classes in said) and all(map(of.has, needs))
            if fits and (of.steps or not here or name not in _OF_OPEN_STEP):
                answer = _ANSWERS[name](scene, of)
                if answer:
                    return _marked(answer, asked, known=name in _STRONG)
    return None


def _marked(answer: Answer, asked: Asked, *, known: bool) -> Answer | None:
    """The answer, with the words that had no part in it; None when they are too many."""
    if not asked.strange:
        return answer
    most = _MOST_STRANGE if known else 1
    if len(asked.strange) > most or not (known or asked.steps):
        return None
    passed = " and ".join(f"“{word}”" for word in asked.strange)
    head = f"I passed over {passed}, which I do not understand. What the workflow says:"
    return Answer(f"{head}\n\n{answer.text}", answer.about)


def _questions(text: str, scene: Scene, language: str) -> Iterator[Asked]:
    """The sentences that ask. One that begins with a command makes the text no question."""
    sentence: list[Token] = []
    found: list[Asked] = []
    tokens = [*_tokens(text, scene, language), Token(frozenset(), "\n")]
    for token, following in pairwise([*tokens, tokens[-1]]):
        also = "JOIN" in token.classes and following.classes & (_ASKING - {"DO", "EXPLAIN"})
        if token.text[:1] not in ".?!;\n" and not also:
            sentence.append(token)
            continue
        told = [t for t in sentence if not t.classes & {"IGNORE", "JOIN"} or t.classes & _ASKING]
        if [t.text.lower() for t in told] in _NO_MORE:
            told = []
        if told and ("?" in token.text or told[0].classes & _ASKING - {"DO"} or _asks(told)):
            found.append(_about(scene, told))
        elif told and told[0].classes & _VERBS and " " not in told[0].text:
            return
        sentence = []
    yield from found


def _asks(told: list[Token]) -> bool:
    """Whether words ask without a question mark: `does it …`, `Load: which adaptor`."""
    inside = any(t.classes & {"HOW_MANY", "WHERE", "WHY", "WHICH"} for t in told)
    return (inside and not any(t.classes & _VERBS for t in told)) or (
        "DO" in told[0].classes and told[0].text != "do"
    )


def _about(scene: Scene, told: list[Token]) -> Asked:
    """A sentence with the steps that it names, or describes by words of their names."""
    own = {stem(word) for word in words(scene.name)}
    named = any("STEP" in token.classes for token in told)
    found, strange = list[Token](), list[str]()
    for token in told:
        said = not token.classes and token.text[0].isalnum()
        meant = scene.described(token.text) if said else ()
        earlier = found[-1].part if found and "DESCRIBED" in found[-1].classes else None
        if earlier and said and (both := [step for step in earlier if step in meant]):
            found[-1] = replace(found[-1], part=both)
        elif said and not named and meant:
            found.append(Token(frozenset({"STEP", "DESCRIBED"}), token.text, list(meant)))
        elif said and stem(token.text) not in own:
            strange.append(token.text)
        elif not said and not token.classes <= _SILENT:
            found.append(token)
    tokens = list[Token]()
    for token in found:
        if "DESCRIBED" not in token.classes:
            tokens.append(token)
        elif len(token.part) <= _MOST_DESCRIBED:
            tokens += [Token(frozenset({"STEP"}), token.text, step) for step in token.part]
        else:
            strange.append(token.text)
    steps = dict.fromkeys(token.part for token in tokens if "STEP" in token.classes)
    return Asked(tuple(tokens), tuple(steps), tuple(strange), named)


def _tokens(text: str, scene: Scene, language: str) -> Iterator[Token]:
    """The pieces of a text. The workflow's own names come before the words of the language."""
    plain_text = normalised(text)
    ways, spelled = _ways(language)
    own = {
        "STEP": pattern(name for s in scene.steps for name in (s.key, s.name)),
        "CREDENTIAL": pattern(scene.credentials.values()),
        "TRIGGER": pattern(t.key for t in scene.triggers),
        "ADAPTOR": rf"(?:@openfn/)?(?:language-)?(?:{'|'.join(map(re.escape, scene.systems))})"
        r"(?:@[\w.-]*\w)?"
        if scene.systems
        else "",
    }
    forms = [r"(?P<QUOTED>\"[^\"\n]+\"|`[^`\n]+`|(?<!\w)'[^'\n]+'(?!\w))"]
    forms += [rf"(?P<{n}>(?<![\w@/.-])(?:{p})(?![\w@]|[-.]\w))" for n, p in own.items() if p]
    forms += [rf"(?P<CLOCK>{_CLOCK})", rf"(?P<CODE>{_CODE})", rf"(?P<WAY>{spelled})"]
    forms += [r"(?P<WORD>\w+)", r"(?P<END>[.?!;\n]+)", r"(?P<OTHER>\S)"]
    for found in re.finditer("|".join(forms), plain_text, re.IGNORECASE):
        kind, said = found.lastgroup or "", text[found.start() : found.end()]
        yield from _token(scene, kind, said, ways)


def _token(scene: Scene, kind: str, said: str, ways: dict[str, frozenset[str]]) -> Iterator[Token]:
    if kind in ("STEP", "QUOTED") and (named := scene.named(unquoted(said))):
        yield from (Token(frozenset({"STEP"}), said, step) for step in named)
    elif kind in ("CREDENTIAL", "QUOTED") and unquoted(said) in scene.credentials.values():
        yield Token(frozenset({"CREDENTIAL"}), said, unquoted(said))
    elif kind == "ADAPTOR":
        yield Token(frozenset({kind}), said, system_of(said))
    elif kind == "WAY":
        yield Token(ways[" ".join(plain(said).split())], said)
    elif kind in ("QUOTED", "CODE") or (
        kind == "WORD" and not scene.blind and said in scene.settings
    ):
        yield Token(frozenset({"TOKEN"}), said, unquoted(said))
    elif kind in ("TRIGGER", "CLOCK"):
        yield Token(frozenset({kind}), said)
    else:
        yield Token(frozenset(), said)


@cache
def _ways(language: str) -> tuple[dict[str, frozenset[str]], str]:
    """Every way to say something of the classes of questions, and a pattern for all of them."""
    known = vocabulary(language)
    found: dict[str, set[str]] = {}
    for name in _ASKING | _SMALL | _PARTS | _VERBS:
        for way in known.of(name):
            found.setdefault(way, set()).add(name)
    found.pop("-", None)
    for classes in found.values():
        if {"RUN", "COMES"} <= classes:
            classes.discard("SCHEDULE_WORD")  # `run` is a schedule only in a command
    longest = sorted(found, key=len, reverse=True)
    spelled = (r"\s+".join(map(re.escape, way.split())) for way in longest if way[0].isalnum())
    ways = {way: frozenset(classes) for way, classes in found.items()}
    return ways, rf"(?<!\w)(?:{'|'.join(spelled)})(?:(?!\w)|(?<='))"

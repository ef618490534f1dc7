"""What a request asks for, as far as a merge must know: removals, and switching on or off.

A model's reply that leaves out a step or flips `enabled` is only followed when the user asked for
that. The words are matched without accents or case, in English, French, Spanish, Portuguese,
Swahili and German, after the names of the workflow's own steps were taken out of the text:
a step called "Remove duplicates" is no request to remove anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from global_chat.workflow.merging.intent_words import (
    NEGATED_AFTER,
    NEGATED_BEFORE,
    OFF,
    ON,
    OWN_DENIAL,
    PATH,
    POINTING,
    REMOVAL,
    STEP_NOUN,
    TRIGGER,
)
from global_chat.workflow.parts import Step, Trigger

_CLAUSE_END = re.compile(r"[.,;:!?\n()]")
#: Names this short are everyday words ("a", "on"): they count only when quoted or called a step.
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Intent:
    """What one request asks. `named` and `named_triggers` hold keys of steps and of triggers,
    `words` the letters and digits of the whole request."""

    removes: bool = False
    points: bool = False
    named: frozenset[str] = frozenset()
    named_triggers: frozenset[str] = frozenset()
    switches_on: bool = False
    switches_off: bool = False
    words: str = ""
    about_triggers: bool = True
    about_paths: bool = True

    def may_remove_step(self, key: str, focus: str | None, *, confirmed: bool) -> bool:
        """Whether leaving out step `key` is what was asked.

        `focus` is the page's step, which counts as named by "this" or when no step is named.
        `confirmed` says that the model left the step out again after being told.
        """
        if not self.removes or confirmed:
            return self.removes
        return key in self.named or (key == focus and (self.points or not self.named))

    def may_remove_trigger(self, key: str, *, confirmed: bool) -> bool:
        """Whether leaving out trigger `key` is what was asked."""
        return self.removes and (confirmed or key in self.named_triggers)

    def mentions(self, text: str) -> bool:
        """Whether the request holds the words of `text`, whatever stands between them."""
        words = "".join(_words(text))
        return bool(words) and words in self.words

    def may_switch(self, to: bool, *, trigger: bool) -> bool:
        """Whether the request asks to switch a trigger (or else a path) on (`to`) or off."""
        about = self.about_triggers if trigger else self.about_paths
        return about and (self.switches_on if to else self.switches_off)


def read(request: str, steps: Iterable[Step] = (), triggers: Iterable[Trigger] = ()) -> Intent:
    """What `request`, in any of the languages above, asks of a workflow of these parts."""
    text = _plain(request)
    named, rest = _take_out_names(text, tuple(steps))
    paths, schedule = bool(PATH.search(rest)), bool(TRIGGER.search(rest))
    on, off = _switching(rest)
    return Intent(
        removes=any(not _negated(rest, hit) for hit in REMOVAL.finditer(rest)),
        points=bool(POINTING.search(rest)),
        named=named,
        named_triggers=_named_triggers(text, rest, tuple(triggers)),
        words="".join(_words(request)),
        switches_on=on,
        switches_off=off,
        about_triggers=schedule or not paths,
        about_paths=paths or not schedule,
    )


def _plain(text: str) -> str:
    """Case, accents, width and curly apostrophes folded away; everything else as it was."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    decomposed = unicodedata.normalize("NFD", folded)
    # Only the marks of Latin letters go: in Devanagari or Thai a mark is half of the word.
    return re.sub("(?<=[a-z])[\u0300-\u036f]+", "", decomposed)


def _words(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", _plain(name)))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds a name of these words, whatever stands between them."""
    body = r"[\W_]*".join(re.escape(word) for word in words)
    if sum(map(len, words)) <= _SHORT and words[0][0].isascii():
        return re.compile(rf"[\"'`«“]{body}[\"'`»”]|\b{STEP_NOUN}\s+{body}\b")
    # Scripts without case write words together or glue articles to them: no word ends there.
    start = r"(?<![^\W_])" if _cased(words[0][0]) else ""
    end = r"(?![^\W_])" if _cased(words[-1][-1]) else ""
    return re.compile(start + body + end)


def _cased(character: str) -> bool:
    return character.isdigit() or character.upper() != character.lower()


def _take_out_names(text: str, steps: Sequence[Step]) -> tuple[frozenset[str], str]:
    """The keys of the steps that `text` names, and the text without those names.

    The longest names go first, so that "Fetch 2" does not name "Fetch" too.
    """
    squeezed = "".join(_words(text))
    keys_of: dict[tuple[str, ...], set[str]] = {}
    for step in steps:
        for words in {_words(step.key), _words(step.name)}:
            if words and "".join(words) in squeezed:
                keys_of.setdefault(words, set()).add(step.key)
    named: set[str] = set()
    for words in sorted(keys_of, key=lambda w: (-len("".join(w)), w)):
        # A verb may double as a one-word name ("Delete"): what opens the request is the verb.
        verb = text.startswith(words[0]) and len(words) == 1 and _is_verb(words[0])
        opening, rest = (words[0], text[len(words[0]) :]) if verb else ("", text)
        rest, hits = _pattern(words).subn(" ◦ ", rest)
        if hits:
            named |= keys_of[words]
            text = opening + rest
    return frozenset(named), text


def _is_verb(word: str) -> bool:
    return any(verbs.fullmatch(word) for verbs in (REMOVAL, ON, OFF))


def _named_triggers(text: str, rest: str, triggers: Sequence[Trigger]) -> frozenset[str]:
    if TRIGGER.search(rest):
        return frozenset(trigger.key for trigger in triggers)
    named = ((t.key, _words(t.key)) for t in triggers)
    return frozenset(key for key, words in named if words and _pattern(words).search(text))


def _switching(text: str) -> tuple[bool, bool]:
    """Whether something is to be on, and whether something is to be off.

    A denied word means its opposite: what "should not be enabled" is to be off.
    """
    on = [_negated(text, hit) for hit in ON.finditer(text)]
    off = [_negated(text, hit) for hit in OFF.finditer(text)]
    return (False in on or True in off), (False in off or True in on)


def _negated(text: str, hit: re.Match[str]) -> bool:
    """Whether the clause around `hit` denies it ("do not remove", « ne supprime pas »)."""
    if OWN_DENIAL.search(hit[0]):
        return False
    before = _CLAUSE_END.split(text[: hit.start()])[-1].split()[-4:]
    after = _CLAUSE_END.split(text[hit.end() :], maxsplit=1)[0].split()[:3]
    return bool(NEGATED_BEFORE.search(" ".join(before)) or NEGATED_AFTER.search(" ".join(after)))

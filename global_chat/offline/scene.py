"""What a request can be about: the parts of one workflow, found by name or by description.

A name is matched whatever its case, accents and separators are, and in no other way. A description
(`the email step`) picks out the steps that have all of its words. Both may pick out several steps:
whoever asks gets all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from global_chat.contract.specifier import newest, parse_specifier
from global_chat.workflow.document import Workflow
from global_chat.workflow.javascript import Code
from global_chat.workflow.outline import read_outline
from global_chat.workflow.parts import Edge, Step, Trigger
from global_chat.yaml.nodes import Scalar, resolve

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = re.compile(r"(?:ations?|ions?|ings?|ers?|ed|es|s|e)$")


def bare(character: str) -> str:
    """The character without its accents."""
    return unicodedata.normalize("NFKD", character)[:1] if ord(character) > 127 else character


def plain(text: str) -> str:
    """The text without accents and in lower case; only for comparing."""
    if not text.isascii():
        text = "".join(map(bare, unicodedata.normalize("NFC", text)))
    return text.casefold()


def words(text: str | None) -> list[str]:
    """The words of a name, accents and case aside; humps of camelCase are words of their own."""
    return _WORD.findall(plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text or "")))


#: What systems whose names do not say it are there for.
_ROLES = {
    **dict.fromkeys(("gmail", "mailgun", "msgraph"), "mail email correo courriel"),
    **dict.fromkeys(("twilio", "rapidpro", "africastalking"), "sms message text"),
    **dict.fromkeys(("postgresql", "mysql", "mssql"), "database db sql"),
    "googlesheets": "sheet spreadsheet planilla folha feuille",
    "salesforce": "sf crm",
}
#: Words that describe nothing.
_SMALL = frozenset(words("to of for in on at and the a an de la le les du des do da del el os as"))


def stem(word: str) -> str:
    """The word without its grammatical ending: `sending` and `sends` are `send`."""
    short = _ENDINGS.sub("", word)
    short = short[:-1] if len(short) > 3 and short[-1:] == short[-2:-1] else short
    return short if len(short) > 2 else word


def system_of(adaptor: str | None) -> str:
    """The short name of an adaptor: `@openfn/language-http@7.3.2` is `http`."""
    found = parse_specifier((adaptor or "").lower())
    return found.name if found else ""


def pattern(names: Iterable[str]) -> str:
    """A regular expression for names, longest first, whatever separates their words."""
    spelled = {tuple(words(name)) for name in names} - {()}
    ordered = sorted(spelled, key=lambda parts: -len("".join(parts)))
    return "|".join(r"[^\w\n]?[\s_]?".join(map(re.escape, parts)) for parts in ordered)


class Scene:
    """One workflow's parts, indexed for the words of a request.

    `open_step` is the step on the page. `adaptors` are the known versions by package name. A scene
    that is `blind` was read from an outline: there is code, and nothing is known of it.
    """

    def __init__(
        self,
        name: str | None,
        steps: Sequence[Step],
        triggers: Sequence[Trigger],
        edges: Sequence[Edge],
        open_step: Step | None = None,
    ) -> None:
        self.name = name or ""
        self.steps, self.triggers, self.edges = tuple(steps), tuple(triggers), tuple(edges)
        self.by_key = {step.key: step for step in self.steps}
        self.open_step = open_step
        self.adaptors: Mapping[str, Collection[str]] = {}
        self.credentials: Mapping[str, str] = {}
        self.blind = False
        self._code: dict[str, Code] = {}

    @classmethod
    def of(
        cls,
        workflow: Workflow,
        open_step: Step | None = None,
        adaptors: Mapping[str, Collection[str]] | None = None,
    ) -> Scene:
        """The scene of a document."""
        parts = workflow.steps, workflow.triggers, workflow.edges
        scene = cls(workflow.name, *parts, open_step)
        scene.adaptors = adaptors or {}
        scene.credentials = dict(_credentials(workflow))
        return scene

    @classmethod
    def of_outline(cls, text: str, open_step: str | None = None) -> Scene:
        """The scene of an outline; `open_step` is the key or the name of a step."""
        found = read_outline(text)
        named = [step for step in found.steps if open_step in (step.key, step.name)]
        step = named[0] if len(named) == 1 else None
        scene = cls(found.name, found.steps, found.triggers, found.edges, step)
        scene.blind = True
        return scene

    @cached_property
    def systems(self) -> dict[str, str]:
        """Package names by short adaptor name, of the catalogue and of the document."""
        packages = {*self.adaptors, *filter(None, map(_package, self.steps))}
        return {system_of(package): package for package in sorted(packages)}

    def named(self, text: str) -> tuple[Step, ...]:
        """The steps of this key or name."""
        wanted = words(text)
        alike = (s for s in self.steps if wanted and wanted in (words(s.key), words(s.name)))
        return tuple(s for s in self.steps if text in (s.key, s.name)) or tuple(alike)

    def described(self, told: str) -> tuple[Step, ...]:
        """The steps that have every word of a description in their name, key or adaptor.

        `mail` is in that of every adaptor that sends mails.
        """
        wanted = {stem(word) for word in words(told) if word not in _SMALL}
        joined = {stem("".join(words(told)))}
        return tuple(
            s
            for s in self.steps
            if wanted and (all(_has(has := _stems(s), w) for w in wanted) or joined & has)
        )

    def ends(self) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """The steps that a run begins with, and those that nothing comes after."""
        begun = {edge.target for edge in self.edges if edge.source_trigger}
        first = tuple(step for step in self.steps if step.key in begun)
        return first, tuple(step for step in self.steps if not self.out_of(step.key))

    def into(self, key: str) -> tuple[Edge, ...]:
        """The paths that lead to a step."""
        return tuple(edge for edge in self.edges if edge.target == key)

    def out_of(self, key: str | None) -> tuple[Edge, ...]:
        """The paths that leave a step."""
        return tuple(edge for edge in self.edges if key and edge.source_step == key)

    def between(self, source: str | None, target: str) -> tuple[Edge, ...]:
        """The paths from one step to another."""
        return tuple(edge for edge in self.out_of(source) if edge.target == target)

    def title(self, key: str | None) -> str:
        """What a person calls a step."""
        step = self.by_key.get(key or "")
        return step.name if step else key or "?"

    def path_title(self, edge: Edge) -> str:
        """`Fetch → Load`."""
        return f"{self.title(edge.source_step or edge.source_trigger)} → {self.title(edge.target)}"

    def code(self, key: str) -> Code:
        """The parsed code of a step."""
        if key not in self._code:
            self._code[key] = Code(self.by_key[key].code or "")
        return self._code[key]

    @property
    def coded(self) -> Iterator[Step]:
        """The steps whose code stands in the document."""
        return (step for step in self.steps if step.has_code)

    @cached_property
    def settings(self) -> frozenset[str]:
        """The names of every setting in the code of the steps."""
        return frozenset(s.name for step in self.coded for s in self.code(step.key).settings)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of the steps' names, adaptors and code, by their stems."""
        texts = [part for s in self.steps for part in (s.key, s.name, s.adaptor, s.code)]
        found = {w for text in texts for w in (*words(text), *re.findall(r"\w+", text or ""))}
        return frozenset(map(stem, found))

    def specifier(self, system: str, version: str | None = None) -> str | None:
        """How an adaptor is written: in the version given, else the one in use here, else newest.

        None when no adaptor has this name or nothing is known of its versions.
        """
        package = self.systems.get(system)
        if package is None:
            return None
        used = (s.adaptor or "" for s in self.steps if _package(s) == package)
        version = version or next((a.removeprefix(package + "@") for a in used), None)
        version = version or newest(self.adaptors.get(package, ()))
        return f"{package}@{version}" if version else None

    def new_key(self, name: str) -> str:
        """A key for a new step, in the manner of its neighbours."""
        key = re.sub(r"[^\w-]+", "-", name).strip("-")
        if self.steps and all(s.key == s.key.lower() for s in self.steps):
            key = key.lower()
        numbered = (f"{key}-{number}" for number in range(2, len(self.steps) + 3))
        return key if key not in self.by_key else next(k for k in numbered if k not in self.by_key)


def _package(step: Step) -> str | None:
    found = parse_specifier(step.adaptor)
    return found.package if found else None


def _stems(step: Step) -> set[str]:
    system = system_of(step.adaptor)
    does = _ROLES.get(system, "").split()
    return {stem(w) for w in (*words(step.name), *words(step.key), *words(system), system, *does)}


def _has(stems: set[str], wanted: str) -> bool:
    """Whether a word is among others, or is how a long one of them begins."""
    return wanted in stems or (len(wanted) > 3 and any(s.startswith(wanted) for s in stems))


def _credentials(workflow: Workflow) -> Iterator[tuple[str, str]]:
    for placed in workflow.layout.steps if workflow.layout else ():
        for key in ("credential", "keychain_credential", "configuration"):
            entry = placed.mapping.own.get(key) if placed.mapping else None
            value = resolve(entry.value) if entry else None
            if isinstance(value, Scalar) and not value.is_null:
                yield placed.part.key, value.text

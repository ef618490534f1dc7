"""The embedded router: a small classifier that stands behind the model seam and answers the router.

It reads the router's rendered request, as any model does. A request that the grammar reads as a
change of structure needs no guess; for the rest, plain features with trained weights say where it
goes and which step it means, and how likely that is right. `weights.tsv` is made by
`python training/router.py`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from global_chat.contract.errors import BadRequest
from global_chat.contract.names import NO_MODEL, Destination, Usage
from global_chat.model.seam import Model, ModelEvent, ModelRequest, Reply, TextPiece
from global_chat.workflow.parts import Page, Step

from .answers import Answer
from .reading import classes_in, languages_of, normalised
from .scene import Scene, stem, system_of, words
from .understanding import Wish, understand

DESTINATIONS: tuple[Destination, ...] = ("job_code_agent", "workflow_agent", "planner")
#: How sure a reading by the grammar is: it was right so often on requests that were not its own.
READ_CHANCE = 0.97

Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """What the router is asked. `recent` are the texts of the turns before, oldest first."""

    content: str
    page: Page
    scene: Scene
    recent: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """none (no workflow), overview, settings or step."""
        if not self.scene.steps:
            return "none"
        if self.page.settings:
            return "settings"
        return "step" if self.scene.open_step else "overview"


@dataclass(frozen=True, slots=True)
class Guess:
    """A decision. `chance` is how likely destination and step are both right, 0 to 1."""

    destination: Destination
    job_key: str | None
    chance: float

    def as_json(self) -> str:
        """What the router answers. The confidence is how many times in five it is right."""
        confidence = min(5, max(1, round(self.chance * 5)))
        said = {"destination": self.destination, "confidence": confidence, "job_key": self.job_key}
        return json.dumps(said, ensure_ascii=False)


class OfflineRouter:
    """Answers the router when it is sure enough, and leaves everything else to `model`.

    `threshold` is the chance of being right, 0 to 1, under which `model` is asked after all.
    Without a `model` it always answers, and refuses other agents' requests.
    """

    def __init__(self, model: Model | None = None, threshold: float = 0.8) -> None:
        self._model, self._threshold = model, threshold

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply. Raises what the model behind raises, `BadRequest` without one."""
        if request.agent == "router":
            said = decide(read_question(request))
            if self._model is None or said.chance >= self._threshold:
                text = said.as_json()
                yield TextPiece(text)
                yield Reply(({"type": "text", "text": text},), "end_turn", Usage(), NO_MODEL)
                return
        if self._model is None:
            raise BadRequest("Without a model only the route can be decided: add --routes-only.")
        async with aclosing(self._model.complete(request)) as behind:
            async for event in behind:
                yield event


# ---- the request


def read_question(request: ModelRequest) -> Question:
    """The question in a router's request. What is missing stays empty."""
    text = request.messages[-1].content if request.messages else ""
    text = text if isinstance(text, str) else ""
    page = Page.parse(_block(text, "page"))
    scene = Scene.of_outline(_block(text, "workflow"), page.step)
    attached = re.findall(r'"([^"]*)"', _block(text, "attached"))
    recent = tuple(part for part in _block(text, "recent_turns").split("\n") if part)
    return Question(_block(text, "request") or text, page, scene, recent, tuple(attached))


def _block(text: str, tag: str) -> str:
    """The text of the first block with this tag. A tag that its text holds makes it numbered."""
    found = re.search(rf"^<({tag}(?:_\d+)?)>\n", text, re.MULTILINE)
    end = text.find(f"\n</{found[1]}>", found.end() - 1) if found else -1
    return text[found.end() : max(end, found.end())] if found and end >= 0 else ""


# ---- the decision


def decide(question: Question, weights: Weights | None = None) -> Guess:
    """Where a request goes. Without steps there is only the planner."""
    if not question.scene.steps:
        return Guess("planner", None, 1.0)
    return _read(question) or guess(question, weights or load_weights())


def _read(question: Question) -> Guess | None:
    """What the grammar says, when it reads the request in one way."""
    routes = {
        _route_of(found, question.scene) for found in understand(question.content, question.scene)
    }
    if len(routes) != 1:
        return None
    (destination, key) = routes.pop()
    return Guess(destination, key, READ_CHANCE)


def _route_of(found: Wish | Answer, scene: Scene) -> tuple[Destination, str | None]:
    """Where one reading belongs."""
    if isinstance(found, Answer):
        if isinstance(found.about, Step):
            return "job_code_agent", found.about.key
        return ("planner" if found.about == "whole" else "workflow_agent"), None
    if not found.code:
        return "workflow_agent", None
    here = frozenset({scene.open_step.key}) if scene.open_step else frozenset()
    keys = frozenset().union(*(here if wish.keys is None else wish.keys for wish in found.code))
    if found.plan or len(keys) != 1:
        return "planner", None
    return "job_code_agent", next(iter(keys))


def guess(question: Question, weights: Weights) -> Guess:
    """What the classifier says."""
    scores = weights.scores(features(question))
    chances = softmax([score * weights.sharpness for score in scores])
    place = max(range(3), key=lambda i: chances[i])
    if DESTINATIONS[place] != "job_code_agent":
        return Guess(DESTINATIONS[place], None, chances[place])
    steps = candidates(question)
    likely = softmax(
        [sum(weights.step.get(n, 0.0) * v for n, v in f.items()) for f in steps.values()]
    )
    best = max(range(len(likely)), key=lambda i: likely[i])
    return Guess("job_code_agent", list(steps)[best], chances[place] * likely[best])


def softmax(scores: Sequence[float]) -> list[float]:
    """Scores as chances that sum to one."""
    raised = [math.exp(score - max(scores)) for score in scores]
    return [value / sum(raised) for value in raised]


# ---- features

_LITERALS = {
    "quoted": r"\"[^\"\n]+\"|(?<!\w)'[^'\n]+'(?!\w)|`[^`]+`",
    "code": r"[\w$]+(?:[._@/:][\w$]+)+|\w+_\w+|\b[a-z]+[A-Z]\w*|\w+\([^)]*\)|=>|[<>=!]=+",
    "number": r"\b\d+(?:[.:,]\d+)*\b",
}
_CLAUSES = re.compile(r"[.,;:!?\n]+|\b(?:and|but|then|et|puis|mais|y|pero|luego|e|depois)\b")


def masked(question: Question) -> str:
    """The request without names of steps and literals, in lower case."""
    text = normalised(question.content)
    names = sorted(
        {n for s in question.scene.steps for n in (s.name, s.key)}, key=len, reverse=True
    )
    for name in names:
        spelled = r"[\W_]*".join(map(re.escape, words(name)))
        if spelled:
            text = re.sub(rf"(?<!\w){spelled}(?!\w)", " STEP ", text, flags=re.IGNORECASE)
    for kind, form in _LITERALS.items():
        text = re.sub(form, f" {kind.upper()} ", text)
    return text.lower()


def features(question: Question) -> Features:
    """Plain features of a request, each with a name."""
    kind, text = question.kind, masked(question)
    found: Features = {"bias": 1.0, f"page:{kind}": 1.0}
    spoken = re.findall(r"[^\W\d_]+", text)
    named = {s.key for s in named_steps(question)}
    open_key = question.scene.open_step.key if question.scene.open_step else None
    flags = [
        f"named:{min(len(named), 3)}",
        *(f"{k}s" for k in _LITERALS if k in spoken),
        *(["asks"] if "?" in question.content else []),
        *(["other"] if named - {open_key} else []),
        *(["open"] if open_key in named else []),
        *(["described"] if not named and described_steps(question) else []),
        *(["history"] if question.recent else []),
        *(f"attached:{'log' if 'log' in a else 'clip'}" for a in question.attached),
        f"length:{min(len(spoken) // 8, 4)}",
        f"clauses:{min(len(_CLAUSES.findall(text)), 3)}",
        *(f"begins:{word}" for word in spoken[:1]),
        *(f"class:{name}" for name in classes_in(text, languages_of(text, question.scene)[0])),
    ]
    for flag in flags:
        found[flag] = found[f"{flag}@{kind}"] = 1.0
    stems = [stem(word) for word in spoken]
    for word in stems:
        found[f"w:{word}"] = 1.0
    for pair in pairwise(stems):
        found[f"b:{' '.join(pair)}"] = 1.0
    return found


def named_steps(question: Question) -> list[Step]:
    """The steps whose whole name is in the request."""
    text = f" {' '.join(words(question.content))} "
    spelled = ((s, {" ".join(words(n)) for n in (s.name, s.key)}) for s in question.scene.steps)
    return [s for s, names in spelled if any(f" {n} " in text for n in names if n)]


def described_steps(question: Question) -> dict[str, float]:
    """How much of each step's name is in the request, 0 to 1, where any of it is telling."""
    asked = {stem(word) for word in words(question.content)}
    steps = question.scene.steps
    own = {
        s.key: {stem(w) for w in (*words(s.name), system_of(s.adaptor)) if len(w) > 2}
        for s in steps
    }
    common = {
        w for w in asked if sum(w in stems for stems in own.values()) > max(1, len(steps) // 4)
    }
    shares = {key: len((asked - common) & stems) / max(1, len(stems)) for key, stems in own.items()}
    return {key: share for key, share in shares.items() if share > 0}


def candidates(question: Question) -> dict[str, Features]:
    """The features of each step, by key."""
    named = [s.key for s in named_steps(question)]
    described = described_steps(question)
    earlier = " ".join(words(" ".join(question.recent)))
    open_step = question.scene.open_step
    found: dict[str, Features] = {}
    for step in question.scene.steps:
        is_open = step is open_step
        found[step.key] = {
            "named": float(step.key in named),
            "named alone": float(named == [step.key]),
            "described": described.get(step.key, 0.0),
            "described best": float(
                bool(described) and described.get(step.key) == max(described.values())
            ),
            "open": float(is_open),
            "open, none named": float(is_open and not named),
            "open, none described": float(is_open and not named and not described),
            "earlier": float(" ".join(words(step.name)) in earlier),
            "empty": float(not step.has_code),
        }
    return found


# ---- weights


@dataclass(frozen=True, slots=True)
class Weights:
    """What training found: weights by feature, and for steps."""

    plain: dict[str, tuple[float, ...]]
    step: dict[str, float]
    sharpness: float

    def scores(self, found: Features) -> list[float]:
        """A score for each destination."""
        scores = [0.0, 0.0, 0.0]
        for row, value in [(self.plain[n], v) for n, v in found.items() if n in self.plain]:
            for index in range(3):
                scores[index] += row[index] * value
        return scores


@cache
def load_weights() -> Weights:
    """The weights that ship with the program."""
    groups: dict[str, dict[str, tuple[float, ...]]] = {"plain": {}, "step": {}}
    for group, name, numbers in _lines():
        groups.setdefault(group, {})[name] = numbers
    step = {name: numbers[0] for name, numbers in groups["step"].items()}
    return Weights(groups["plain"], step, groups["setting"]["sharpness"][0])


def _lines() -> Iterator[tuple[str, str, tuple[float, ...]]]:
    for line in (files(__package__) / "weights.tsv").read_text("utf-8").splitlines():
        group, name, *values = line.split("\t")
        yield group, name, tuple(map(float, values))

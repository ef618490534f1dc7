"""Which step a request means: every step is a candidate, and plain features choose among them."""

from __future__ import annotations

from ..language.folding import folded, words
from ..language.lexicon import has
from ..language.masking import mask
from ..language.mentions import alike, exact_mentions, partial_mentions
from ..request.outline import OutlineStep
from .reading import Features, Reading


def candidates(reading: Reading) -> dict[str, Features]:
    """The features of each step, by key."""
    steps = reading.question.outline.steps
    partial = {m.key: m.weight for m in partial_mentions(reading.masked, steps)}
    named = [m for m in reading.exact if not reading.is_reference(m)]
    referred = {m.key for m in reading.exact} - {m.key for m in named}
    recent = _recent(reading)
    best = max(partial.values(), default=0.0)
    plain = folded(reading.masked)
    here = has("this_step", plain)
    asked_words = set(words(reading.masked))
    loose = [m.key for m in mask(reading.text, steps).steps if not m.exact]
    found = {
        step.key: _features(
            reading,
            step,
            partial.get(step.key, 0.0),
            best,
            named,
            referred,
            recent,
            here,
            asked_words,
        )
        for step in steps
    }
    for key, values in found.items():
        values["loose"] = float(key in loose and not named)
        values["loose:only"] = float(loose == [key] and not named)
        values["open+no loose"] = float(values["open"] > 0 and not named and not loose)
    return found


def _features(
    reading: Reading,
    step: OutlineStep,
    partial: float,
    best: float,
    named: list,  # type: ignore[type-arg]
    referred: set[str],
    recent: dict[str, float],
    here: bool,
    asked: set[str],
) -> Features:
    keys = [m.key for m in named]
    is_open = step is reading.question.open_step
    found: Features = {
        "open": float(is_open),
        "open+here": float(is_open and here),
        "open+alone": float(is_open and not keys),
        "named": float(step.key in keys),
        "named:first": float(bool(keys) and keys[0] == step.key),
        "named:only": float(set(keys) == {step.key}),
        "referred": float(step.key in referred),
        "partial": partial if not keys else 0.0,
        "partial:best": float(partial == best and best >= 0.5 and not keys),
        "partial:sure": float(partial == best and best >= 0.9 and not keys),
        "partial:away": float(
            partial == best and best >= 0.9 and not keys and not is_open and here
        ),
        "system": float(any(alike(w, step.system) for w in asked if len(step.system) > 3)),
        "empty": float(not step.has_code),
    }
    for source, weight in recent.items():
        if source.endswith(f":{step.key}"):
            found[source.removesuffix(f":{step.key}")] = weight
    return found


def _recent(reading: Reading) -> dict[str, float]:
    """Which steps the turns before named, by who named them."""
    steps = reading.question.outline.steps
    found: dict[str, float] = {}
    for role, text in reading.question.recent:
        for mention in exact_mentions(text, steps):
            found[f"recent:{role}:{mention.key}"] = 1.0
        for mention in partial_mentions(text, steps):
            if mention.weight >= 0.9:
                found.setdefault(f"recent:partial:{mention.key}", 1.0)
    return found

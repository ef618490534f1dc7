"""Answers over several steps: what the workflow does, who reads and writes a key of the state."""

from __future__ import annotations

import re

from ..code.explaining import explain, state_keys
from ..code.javascript import Code
from ..language.folding import folded, words
from ..language.mentions import exact_mentions
from ..language.saying import Voice
from ..request.outline import Outline

_KEY = re.compile(r"\bstate\.(\w+)|\$\.(\w+)")


def asked_key(content: str, codes: dict[str, str]) -> str | None:
    """The key of the state that a question is about: written as `state.x`, or by its bare name."""
    if match := _KEY.search(content):
        return match[1] or match[2]
    used = {key for code in codes.values() for keys in state_keys(Code(code)) for key in keys}
    asked = [
        w
        for w in re.findall(r"\w+", content)
        if w in used and w not in ("data", "response", "errors")
    ]
    about = re.search(
        (
            r"\b(?:who|where|which steps?|used?|uses|read|set|written|fill\w*|comes? from|ou"
            r"|donde|onde|wapi|come)\b"
        ),
        folded(content),
    )
    return asked[0] if asked and about else None


def explain_key(key: str, outline: Outline, codes: dict[str, str], voice: Voice) -> str:
    """Which steps write and which read a key of the state, in the order of a run."""
    names = {step.key: step.name for step in outline.steps}
    readers, writers = [], []
    for step in outline.order():
        read, written = state_keys(Code(codes.get(step.key, "")))
        if key in written:
            writers.append(names[step.key])
        if key in read:
            readers.append(names[step.key])
    if not readers and not writers:
        return voice.say("key_unknown", key=key)
    parts = []
    if writers:
        parts.append(voice.say("key_written", key=key, steps=", ".join(writers)))
    if readers:
        parts.append(voice.say("key_read", key=key, steps=", ".join(readers)))
    return " ".join(parts)


def explain_workflow(content: str, outline: Outline, codes: dict[str, str], voice: Voice) -> str:
    """Every step in order, or those that the question names."""
    named = {m.key for m in exact_mentions(content, outline.steps)}
    steps = [s for s in outline.order() if not named or s.key in named]
    trigger = outline.triggers[0].what if outline.triggers else "—"
    parts = (
        []
        if named
        else [
            voice.say(
                "workflow_explained", name=outline.name, trigger=trigger, count=str(len(steps))
            )
        ]
    )
    if len(steps) > 12 and not named:
        parts += [f"{n}. {s.name} ({s.system})" for n, s in enumerate(steps, start=1)]
        return "\n".join(parts)
    parts += [explain(codes.get(s.key, ""), s.name, voice) for s in steps]
    return "\n\n".join(parts)


def passages(result: str, question: str, voice: Voice) -> str:
    """The best passage of a search, quoted, with its source; a second one when it is as good."""
    found = re.findall(
        r"^## (.+)\nSource: (.+)\n\n(.*?)(?=\n\n## |\Z)", result, re.DOTALL | re.MULTILINE
    )
    if not found:
        return f"{voice.say('nothing_documented')} {voice.say('needs_key')}"
    asked = set(words(question))
    parts = [voice.say("from_documentation")]
    for title, source, text in found[:2]:
        quoted = "\n".join(f"> {line}".rstrip() for line in _opening(text, asked).splitlines())
        parts.append(f"**{title}**\n\n{quoted}\n\n{voice.say('source', source=source)}")
    return "\n\n".join(parts)


def _opening(text: str, asked: set[str]) -> str:
    """The paragraphs that speak of the question's words, at most three; else the first."""
    paragraphs = [
        p for p in re.split(r"\n\n(?=\S)", text.strip()) if p.strip() and not p.startswith("```")
    ]
    scored = sorted(paragraphs, key=lambda p: -len(asked & set(words(p))))
    best = [p for p in scored if asked & set(words(p))][:2] or paragraphs[:1]
    return "\n\n".join(p for p in paragraphs if p in best)

"""Judges one turn by what a request expects: `failures(before, after, expect, page, answer)`.

`expect` has the keys of `benchmarks/requests/README.md`. Both documents are read by the program's
own reader; every part that the request does not speak of must be as it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from global_chat.workflow.document import Workflow
from global_chat.workflow.parts import Edge, Step

Expect = dict[str, Any]


def failures(
    before: str, after: str | None, expect: Expect, page: str | None, answer: str
) -> list[str]:
    """What is not as expected; empty when all of it is. `after` is None when nothing changed."""
    said = list(_words(expect, answer))
    if expect.get("no_change"):
        return said + (["the workflow changed"] if after not in (None, before) else [])
    if after is None:
        return [*said, "nothing changed"]
    digest = expect.get("document_sha256")
    if digest and hashlib.sha256(after.encode()).hexdigest() != digest:
        said.append("some byte is not as expected")
    scope = f"workflows/{expect['scope']}" if expect.get("scope") else page
    judged = _Judged(Workflow.read(before, scope), Workflow.read(after, scope), expect)
    return [*said, *judged.steps(), *judged.code(), *judged.trigger(), *judged.edges()]


def _words(expect: Expect, answer: str) -> Iterator[str]:
    low = answer.lower()
    for any_of in expect.get("response_mentions", []):
        if not any(word.lower() in low for word in any_of):
            yield f"the answer mentions none of {any_of}"
    for word in expect.get("response_never", []):
        if word.lower() in low:
            yield f"the answer says {word!r}"


class _Judged:
    def __init__(self, before: Workflow, after: Workflow, expect: Expect) -> None:
        self.before, self.after, self.expect = before, after, expect
        self.old = {step.key: step for step in before.steps}
        names = {name: key for key, name in expect.get("renamed", {}).items()}
        #: The old key of each step, whatever it is called now.
        self.back = {s.key: names.get(s.name, s.key) for s in after.steps}
        self.new = {self.back[step.key]: step for step in after.steps}
        self.added = [key for key in self.new if key not in self.old]

    def named(self, key: str) -> list[str]:
        """The keys that an expectation names; `~` begins a pattern for added steps."""
        if not key.startswith("~"):
            return [key]
        return [k for k in self.added if re.search(key[1:], _spelled(self.new[k]), re.IGNORECASE)]

    def steps(self) -> Iterator[str]:
        expect, wanted = self.expect, self.expect.get("added_steps", [])
        gone = [key for key in self.old if key not in self.new]
        if sorted(gone) != sorted(expect.get("removed_steps", [])):
            yield f"removed: {gone}"
        count = wanted if isinstance(wanted, int) else len(wanted)
        missing = [] if isinstance(wanted, int) else [w for w in wanted if not self.named(f"~{w}")]
        if missing or len(self.added) != count:
            yield f"added: {self.added}"
        for key, name in expect.get("renamed", {}).items():
            if key not in self.new or self.new[key].name != name:
                yield f"{key} is not called {name!r}"
        for key in self.old.keys() & self.new.keys():
            a, b = self.old[key], self.new[key]
            if a.name != b.name and key not in expect.get("renamed", {}):
                yield f"{key}: another name"
            if a.adaptor != b.adaptor and key not in expect.get("adaptors", {}):
                yield f"{key}: another adaptor"
            if a.id != b.id:
                yield f"{key}: another id"
        for key, adaptor in expect.get("adaptors", {}).items():
            if not any((self.new[k].adaptor or "").startswith(adaptor) for k in self.named(key)):
                yield f"{key}: not {adaptor}"

    def code(self) -> Iterator[str]:
        changed = self.expect.get("changed_steps", [])
        for key in self.old.keys() & self.new.keys():
            same = self.old[key].code == self.new[key].code
            if same == (key in changed):
                yield f"{key}: code {'as it was' if same else 'changed'}"
        for key, text in self.expect.get("body_equals", {}).items():
            if self._code(key) != text:
                yield f"{key}: other code"
        for key, text in self.expect.get("body_same_code", {}).items():
            if _squeezed(self._code(key)) != _squeezed(text):
                yield f"{key}: other code"
        for key, texts in self.expect.get("body_contains", {}).items():
            for text in texts:
                any_of = [text] if isinstance(text, str) else text
                if not any(one in self._code(key) for one in any_of):
                    yield f"{key}: {any_of} is not in its code"
        for key, texts in self.expect.get("body_not_contains", {}).items():
            yield from (
                f"{key}: {text!r} is in its code" for text in texts if text in self._code(key)
            )
        if self.expect.get("added_empty") and any(self.new[k].has_code for k in self.added):
            yield "an added step has code"

    def _code(self, key: str) -> str:
        found = [self.new[k] for k in self.named(key) if k in self.new]
        return (found[0].code or "") if found else ""

    def trigger(self) -> Iterator[str]:
        wanted = self.expect.get("trigger")
        now = self.after.triggers[0] if self.after.triggers else None
        then = self.before.triggers[0] if self.before.triggers else None
        for key, value in (wanted or {}).items():
            have = (
                str(getattr(now, key, None))
                if key == "cron_expression"
                else getattr(now, key, None)
            )
            if have not in (value if isinstance(value, list) else [value]):
                yield f"the trigger's {key} is {have!r}"
        if not wanted and _facts(now) != _facts(then):
            yield "the trigger changed"

    def edges(self) -> Iterator[str]:
        new = [_Path.of(e, self.back) for e in self.after.edges]
        free, gone = set[tuple[str, str]](), set(self.expect.get("removed_steps", []))
        for source, target, kind in self.expect.get("edges_must", []):
            free.add((source, target))
            there = self._between(new, source, target)
            if not there or (kind and all(path.kind != kind for path in there)):
                yield f"no path {source} -> {target} {kind or ''}"
        for source, target in self.expect.get("edges_must_not", []):
            free.add((source, target))
            if self._between(new, source, target):
                yield f"a path {source} -> {target}"
        for source, target, on in self.expect.get("edges_enabled", []):
            if not any(path.enabled is on for path in self._between(new, source, target)):
                yield f"the path {source} -> {target} is not enabled={on}"
        for source, target, parts in self.expect.get("edges_expression", []):
            there = self._between(new, source, target)
            if not any(all(part in path.expression for part in parts) for path in there):
                yield f"the path {source} -> {target} has another expression"
        listed = {(s, t) for s, t, *_ in self.expect.get("edges_enabled", [])}
        for path in (_Path.of(e, {}) for e in self.before.edges):
            ends = (path.source, path.target)
            if ends not in free | listed and not gone & set(ends) and path not in new:
                yield f"the path {path.source} -> {path.target} changed"

    def _between(self, paths: list[_Path], source: str, target: str) -> list[_Path]:
        sources = None if source == "*" else self.named(source)
        targets = self.named(target)
        return [
            p for p in paths if (sources is None or p.source in sources) and p.target in targets
        ]


class _Path(tuple[Any, ...]):
    """The facts of a path that count: its ends by their old keys, its condition, its switch."""

    @classmethod
    def of(cls, edge: Edge, back: dict[str, str]) -> _Path:
        source = (
            "@trigger"
            if edge.source_trigger
            else back.get(edge.source_step or "", edge.source_step)
        )
        target = back.get(edge.target or "", edge.target)
        kind = edge.condition_type or "always"
        expression = (edge.condition_expression or "").strip() if kind == "js_expression" else ""
        return cls((source, target, kind, expression, edge.enabled is not False))

    @property
    def source(self) -> str:
        return str(self[0])

    @property
    def target(self) -> str:
        return str(self[1])

    @property
    def kind(self) -> str:
        return str(self[2])

    @property
    def expression(self) -> str:
        return str(self[3])

    @property
    def enabled(self) -> bool:
        return bool(self[4])


def _facts(trigger: Any) -> tuple[Any, ...]:
    return (trigger.type, trigger.cron_expression, trigger.enabled) if trigger else ()


def _spelled(step: Step) -> str:
    return f"{step.key} {step.name} {step.adaptor or ''}"


def _squeezed(code: str) -> list[str]:
    return [line.rstrip() for line in code.splitlines() if line.strip()]

"""The workflow that came out against the parts that were expected to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .case import Expect, Holds
from .document_diff import DocumentDiff, covers, document_diff, other_bytes
from .outcome import Outcome

Found = tuple[str, str]


def document_differences(expect: Expect, outcome: Outcome) -> Iterator[Found]:
    """Differences as (name of the expectation, sentence)."""
    wanted = (expect.changed, expect.added, expect.removed, expect.moved)
    if outcome.after == outcome.workflow and not any(wanted):
        return
    diff = document_diff(outcome.workflow, outcome.after)
    yield from _paths("changed", tuple(expect.changed), diff.changed)
    yield from _paths("added", tuple(expect.added), diff.added)
    yield from _paths("removed", expect.removed, diff.removed)
    for path, holds in (*expect.changed.items(), *expect.added.items()):
        yield from _holds(path, holds, diff)
    for path in expect.moved:
        yield from _moved(path, diff)
    others = other_bytes(outcome.workflow, outcome.after, diff, expect.moved)
    if others:
        yield (
            "changed",
            "outside the parts that changed, these lines differ too:\n" + "\n".join(others),
        )


def _paths(key: str, expected: Sequence[str], got: Sequence[str]) -> Iterator[Found]:
    """Every path that changed must be covered by an expected one, and every expected one used.

    Of `added`, a path below another one only says what that part must hold.
    """
    for path in got:
        if not any(covers(wanted, path) for wanted in expected):
            yield key, f"{path} was {key}, which was not expected"
    for wanted in expected:
        below = any(covers(other, wanted) for other in expected if other != wanted)
        if not below and not any(covers(wanted, path) for path in got):
            yield key, f"{wanted} was to be {key} and was not"


def _holds(path: str, holds: Holds, diff: DocumentDiff) -> Iterator[Found]:
    if not (holds.contains or holds.lacks or holds.equals is not None):
        return
    text = _text(path, diff)
    if text is None:
        yield "changed", f"{path} is not in the document"
        return
    if holds.equals is not None and text != holds.equals:
        yield "changed", f"{path} is {text!r}, not {holds.equals!r}"
    for words in holds.contains:
        if words not in text:
            yield "changed", f"{words!r} is not in {path}"
    for words in holds.lacks:
        if words in text:
            yield "changed", f"{words!r} is in {path}"


def _text(path: str, diff: DocumentDiff) -> str | None:
    """The text of a part; of a mapping or list the texts of everything in it."""
    part = diff.after.get(path)
    if part is None or part.text is not None:
        return part.text if part else None
    return "\n".join(_texts(path, diff.after))


def _texts(path: str, after: Mapping[str, object]) -> Iterator[str]:
    for below, part in after.items():
        text = getattr(part, "text", None)
        if covers(path, below) and text is not None:
            yield f"{below.removeprefix(path + '.')}: {text}"


def _moved(path: str, diff: DocumentDiff) -> Iterator[Found]:
    if path not in diff.before or path not in diff.after:
        yield "moved", f"{path} is not in both documents"
    elif path in diff.changed:
        yield "moved", f"{path} was to keep its value and did not"

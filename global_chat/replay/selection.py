"""Which of the cases are run: by name, and by share for machines that split the work."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from global_chat.contract.errors import BadRequest

from .case import Case


def matching(cases: Sequence[Case], filters: Sequence[str]) -> tuple[Case, ...]:
    """The cases that any of the filters is about; all without a filter.

    A filter is a piece of a case's name, title or kind, or with `*` or `?` a pattern for its name.
    """
    if not filters:
        return tuple(cases)
    return tuple(case for case in cases if any(_is_about(f.lower(), case) for f in filters))


def _is_about(wanted: str, case: Case) -> bool:
    if "*" in wanted or "?" in wanted:
        return fnmatchcase(case.id.lower(), wanted)
    return any(wanted in text.lower() for text in (case.id, case.title, case.kind or ""))


def shard(cases: Sequence[Case], which: str | None) -> tuple[Case, ...]:
    """One share of the cases: `2/3` is the second of three. Every case is in exactly one.

    Raises `BadRequest` for anything else.
    """
    if which is None:
        return tuple(cases)
    part, _, of = which.partition("/")
    if not (part.isascii() and part.isdigit() and of.isascii() and of.isdigit()):
        raise BadRequest(f"--shard takes I/N, such as 1/3; {which!r} is not that.")
    number, total = int(part), int(of)
    if not 1 <= number <= total:
        raise BadRequest(f"--shard {which}: the first number goes from 1 to {total}.")
    return tuple(cases[number - 1 :: total])

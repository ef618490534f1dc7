"""Plans the steps of a merge: which ones the reply keeps, renames, adds and leaves out.

Code and ids come from the document, never from the reply.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

from global_chat.workflow.drafting import placeholder_owner
from global_chat.workflow.finding import fold
from global_chat.workflow.merging.match import Traces, match_steps, raw_text, traces
from global_chat.workflow.merging.plan import (
    EMPTY_BODY,
    Findings,
    Names,
    Planned,
    Request,
    fresh_id,
)
from global_chat.workflow.parts import Step
from global_chat.workflow.reading.forms import Layout, Placed
from global_chat.workflow.reading.source import Source


def plan_steps(
    old: Layout, source: Source, reply: Layout, request: Request, found: Findings
) -> list[Planned[Step]]:
    """The steps of the result, one for each of the reply, which `source` holds."""
    before = tuple(p.part for p in old.steps)
    given = [_Given.read(source, placed, reply.body_key) for placed in reply.steps]
    partners = match_steps(before, [g.part for g in given], [g.trace for g in given])
    pairs = list(zip(given, partners, strict=True))
    _check_missing(before, {s.key for s in partners if s}, request, found)
    fresh = [g.part for g, partner in pairs if partner is None]
    _check_keys(before, fresh, found)
    kept = {id(g): _kept_step(g, partner, fresh, found) for g, partner in pairs if partner}
    names = Names(step.name for step in kept.values())
    keys = Names((*(s.key for s in kept.values()), *(t.part.key for t in old.triggers)))
    planned = [
        Planned(partner, kept.get(id(g)) or _new_step(g, old, keys, names, found))
        for g, partner in pairs
    ]
    _check_renames(planned, found)
    return planned


@dataclass(frozen=True, slots=True)
class _Given:
    """A step as the reply has it. `name` and `code` are None where it says nothing."""

    part: Step
    trace: Traces
    name: str | None
    code: str | None

    @classmethod
    def read(cls, source: Source, placed: Placed[Step], body_key: str) -> _Given:
        name = raw_text(source, placed.mapping, "name")
        code = raw_text(source, placed.mapping, body_key)
        return cls(placed.part, traces(source, placed, "job", body_key), name, code)

    @property
    def holds_code(self) -> bool:
        """Whether it brings code of its own: no placeholder, and more than comments."""
        code = self.code or ""
        lines = (line.strip() for line in code.splitlines())
        return not placeholder_owner(code) and any(x and not x.startswith("//") for x in lines)


def _check_missing(
    before: tuple[Step, ...], kept: set[str], request: Request, found: Findings
) -> None:
    lost = [
        step
        for step in before
        if step.key not in kept
        and not request.intent.may_remove_step(step.key, request.focus, confirmed=request.confirmed)
    ]
    if lost:
        names = ", ".join(f"{step.name} (`{step.key}`)" for step in lost)
        found.problems.append(
            f"The reply leaves out these steps: {names}. If the request asks to remove them, leave "
            "them out again; otherwise include them, unchanged, with their placeholders."
        )


def _check_keys(before: tuple[Step, ...], fresh: list[Step], found: Findings) -> None:
    """No step makes room for a new one: whatever refers to its key means the old one."""
    owner = {step.key: step for step in before}
    for step in fresh:
        if step.key in owner:
            found.problems.append(
                f"The key `{step.key}` is that of the step {owner[step.key].name}. Leave it there, "
                f"and give the new step {step.name} a key of its own."
            )


def _new_step(given: _Given, old: Layout, keys: Names, names: Names, found: Findings) -> Step:
    """A step that the document has not. Its key and name are made unique, its id is fresh."""
    part = given.part
    name = names.unique(part.name.strip() or part.key, " ")
    code = EMPTY_BODY
    if given.trace.code_of:
        found.warnings.append(f"The new step {name} is empty: code of other steps is not copied.")
    elif given.holds_code and not old.steps:
        code = part.code or EMPTY_BODY  # nothing is there yet that it could be mistaken for
    elif given.holds_code:
        found.warnings.append(
            f"Code that came with the new step {name} was left out: it is written separately, "
            "once the step is there."
        )
    new_id = fresh_id((p.part.id for p in old.steps), old)
    return Step(keys.unique(part.key, "-"), name, part.adaptor, code, id=new_id)


def _kept_step(given: _Given, old: Step, fresh: list[Step], found: Findings) -> Step:
    """What the reply makes of a step that the document has. What it does not say stays.

    A step does not make room for a new one: a name that one of `fresh` wants stays its own.
    """
    _check_same(given, old, found)
    if given.holds_code and (given.code or "").strip() != (old.code or "").strip():
        found.warnings.append(
            f"Code that came with the step {old.name} was left out: its own code is unchanged."
        )
    part = given.part
    name = (given.name or "").strip() or old.name
    same_name = _alike(name, old.name, exactly=True) or old.name in {step.name for step in fresh}
    return replace(
        old,
        key=old.key if _alike(part.key, old.key) else part.key,
        name=old.name if same_name else name,
        adaptor=part.adaptor or old.adaptor,
    )


def _alike(one: str, other: str, *, exactly: bool = False) -> bool:
    """Whether two texts differ in the way they are encoded at most; for keys also in accents,
    case and punctuation, which models tidy up unasked."""
    if exactly:
        return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    folds = [unicodedata.normalize("NFD", fold(text)) for text in (one, other)]
    bare = ["".join(c for c in text if not unicodedata.combining(c)) for text in folds]
    return one == other or (bare[0] == bare[1] != "")


def _check_same(given: _Given, old: Step, found: Findings) -> None:
    """A key alone does not make a step the same when name and code are others, and nothing else
    points back: then the reply has put a new step in the place of the old one."""
    part, trace = given.part, given.trace
    renamed = part.key == old.key and fold(part.name) != fold(old.name)
    points_back = old.key in (trace.code_of, trace.id_of) or (old.id and trace.id == old.id)
    code = (given.code or "").strip()
    owner = placeholder_owner(code)
    wrote = code and code != (old.code or "").strip() and not (owner and not trace.code_of)
    if renamed and wrote and not points_back:
        found.problems.append(
            f"The key `{old.key}` is that of the step {old.name}, but the reply holds another step "
            f"({part.name}) there. Keep {old.name} with its placeholder, and give a new step a key "
            "of its own; to rename the step, keep its placeholder."
        )


def _check_renames(planned: list[Planned[Step]], found: Findings) -> None:
    """Nobody is given a name or key that another has; what was so before may stay so."""
    texts: tuple[tuple[str, Callable[[Step], str]], ...]
    texts = (("name", lambda step: step.name), ("key", lambda step: step.key))
    for what, of in texts:
        first: dict[str, Planned[Step]] = {}
        for part in planned:
            other = first.setdefault(of(part.new), part)
            if other is not part and any(p.old and of(p.old) != of(p.new) for p in (part, other)):
                found.problems.append(
                    f"Two steps would have the {what} `{of(part.new)}`. Every step needs a {what} "
                    "of its own."
                )

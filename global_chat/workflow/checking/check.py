"""Whether the app would take a workflow, and whether it would run: problems with their places.

An error is what the app refuses to save or run; a warning is what a person should look at. The
rules are the app's own: its validations of jobs, triggers and edges, and what its editor lets
people draw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from global_chat.contract.adaptor_facts import AdaptorFacts
from global_chat.workflow.checking.adaptors import adaptor_problem
from global_chat.workflow.checking.code import CodeProblem, code_problems
from global_chat.workflow.checking.flow import edge_problems, flow_problems, reference_problems
from global_chat.workflow.checking.part_rules import Places, part_problems
from global_chat.workflow.forms.layout import Layout, Placed
from global_chat.workflow.parts import Problem, Step
from global_chat.yaml.block_scalars import content_indent, header_span
from global_chat.yaml.nodes import Scalar, find, resolve
from global_chat.yaml.source import Source

if TYPE_CHECKING:
    from global_chat.workflow.document import Workflow


#: What is known of the code of an adaptor, by its specifier; None when nothing is.
FactsOf: TypeAlias = Callable[[str], AdaptorFacts | None]


def check(
    workflow: Workflow,
    adaptors: Mapping[str, Collection[str]] | None = None,
    facts: FactsOf | None = None,
    code_of: Collection[str] | None = None,
) -> tuple[Problem, ...]:
    """The problems of the workflow, in the order of their places; none for an empty one.

    `adaptors` holds the known versions by package name; without it adaptors are only checked for
    how they are written. `facts` knows the operations that a step's code may use. `code_of` are the
    keys of the steps whose code is looked at; without it all are.
    """
    if workflow.layout is None:
        return ()
    # Steps share adaptors, and what knows an adaptor may ask a database for it.
    once = cache(facts) if facts else None
    code = _code(Places(workflow.source, workflow.layout), once, code_of)
    return _in_order([*check_structure(workflow, adaptors), *code])


def check_structure(
    workflow: Workflow, adaptors: Mapping[str, Collection[str]] | None = None
) -> tuple[Problem, ...]:
    """The same without the code of steps, which takes the most time and which no patch changes."""
    if workflow.layout is None:
        return ()
    places = Places(workflow.source, workflow.layout)
    return _in_order(
        [
            *part_problems(places),
            *edge_problems(places),
            *reference_problems(places),
            *flow_problems(places),
            *_adaptors(places, adaptors),
        ]
    )


def _in_order(found: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(found, key=lambda p: (p.line or 0, p.column or 0, p.rule)))


def _adaptors(places: Places, known: Mapping[str, Collection[str]] | None) -> Iterator[Problem]:
    for placed in places.layout.steps:
        step = placed.part
        if step.adaptor is None:
            message = f"The step {step.name} has no adaptor."
            hint = "Give it one, such as @openfn/language-common@latest."
            yield places.problem("warning", "adaptor-missing", message, placed, suggestion=hint)
        elif wrong := adaptor_problem(step.adaptor, known):
            rule, message, suggestion = wrong
            key = "adaptor" if placed.mapping and find(placed.mapping, "adaptor") else "adaptors"
            yield places.problem("warning", rule, message, placed, key, suggestion)


def _code(
    places: Places, facts: FactsOf | None, code_of: Collection[str] | None
) -> Iterator[Problem]:
    source, layout = places.source, places.layout

    @cache
    def found(code: str, adaptor: str | None) -> tuple[CodeProblem, ...]:
        return code_problems(code, facts(adaptor) if facts and adaptor else None, adaptor)

    for placed in layout.steps:
        looked_at = code_of is None or placed.part.key in code_of
        if looked_at and placed.part.code and placed.part.has_code:
            # Large workflows are often made of copies of a step.
            for problem in found(placed.part.code, placed.part.adaptor):
                line, column = _position(source, layout, placed, problem)
                message = f"{placed.part.name}: {problem.message}"
                yield Problem("warning", problem.rule, message, line, column)


def _position(
    source: Source, layout: Layout, placed: Placed[Step], problem: CodeProblem
) -> tuple[int, int]:
    """Where in the document a place of the code is. In a quoted or folded body that is the place
    of the body."""
    entry = find(placed.mapping, layout.body_key) if placed.mapping else None
    body = resolve(entry.value) if entry else None
    if not isinstance(body, Scalar):
        return source.position(placed.node.start)
    if body.style != "|":
        return source.position(body.start)
    header = header_span(source.text, body.start, body.end)[1]
    indent = content_indent(source.text, body.start, body.end) or 0
    return source.line(header) + 1 + problem.row, indent + problem.column + 1

"""A value that begins with `!` is an expression that nobody quoted: read whole, or refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import InvalidWorkflow
from global_chat.workflow.document import Workflow
from global_chat.yaml.compose import compose
from global_chat.yaml.nodes import Mapping, Scalar, Sequence, resolve
from global_chat.yaml.source import Source

pytestmark = pytest.mark.unit

EXPORT = """\
name: W
jobs:
  a: {{name: A, adaptor: '@openfn/language-common@latest', body: fn()}}
  b: {{name: B, adaptor: '@openfn/language-common@latest', body: fn()}}
triggers:
  webhook: {{type: webhook, enabled: true}}
edges:
  webhook->a: {{source_trigger: webhook, target_job: a, condition_type: always}}
  a->b:
    source_job: a
    target_job: b
    condition_type: js_expression
    condition_expression: {0}
    enabled: true
"""
PORTABLE = """\
name: W
steps:
  - {{id: webhook, type: webhook, next: a}}
  - id: a
    adaptor: '@openfn/language-common@latest'
    next:
      b:
        condition: {0}
  - {{id: b, adaptor: '@openfn/language-common@latest'}}
"""
PLACES = (
    "k: {0}\nl: 1\n",
    "k: {0}   # why\nl: 1\n",
    "k: &a {0}\nl: *a\n",
    "k:\n  {0}\nl: 1\n",
    "k:\n  - {0}\n  - 1\n",
    "k:\r\n  - &a {0}\r\n  - *a\r\n",
    "k: {{c: {0} }}\n",
    "k: {{a: 1, c: {0}\n  }}\n",
    "k: [ {0} ]\n",
    "{0}",
)
_TOKENS = st.sampled_from(
    [
        *("!", "!!", "state", "str", ".error", ".data", "['a']", '["b"]', "(x)", "?.n", "\\n", "é"),
        *(" && ", " || ", " === ", " != ", " > ", " | ", " & ", " ? ", ":", " : ", " #", "#", "&a"),
        *(
            "'q'",
            '"q"',
            "`t`",
            "[",
            "]",
            "{",
            "}",
            ",",
            ", ",
            "*",
            "%",
            "@",
            "<",
            ">",
            "|",
            "-",
            "1",
        ),
    ]
)
_EXPRESSIONS = st.lists(_TOKENS, min_size=1, max_size=8).map(lambda t: "!" + "".join(t).strip())


def _value(text: str) -> Scalar | None:
    """The scalar at the place of `PLACES` that `text` was made from."""
    node = compose(Source(text))
    content = resolve(node) if node else None
    while not isinstance(content, Scalar):
        if isinstance(content, Mapping):
            entries = [e for e in content.entries if getattr(e.key, "text", "") in ("k", "c")]
            content = resolve(entries[0].value) if entries else None
        elif isinstance(content, Sequence):
            content = resolve(content.items[0])
        else:
            return None
    return content


@given(st.sampled_from(PLACES), _EXPRESSIONS)
@settings(max_examples=400, deadline=None)
@example("k: {0}\nl: 1\n", "!state.error && state.data.n > 0")
@example("k: &a {0}\nl: *a\n", "!x")
@example("k: {{c: {0} }}\n", "!state.error && state.data.n > 0")
@example("k: {0}   # why\nl: 1\n", "!!state.errors || !x")
@example("k: {0}\nl: 1\n", "!!str && x")
def test_it_is_read_as_far_as_any_plain_text_or_refused(place: str, expression: str) -> None:
    """The same place with a letter for the first `!` says how far a plain text goes there."""
    text, ordinary = place.format(expression), place.format("n" + expression[1:])
    try:
        expected = _value(ordinary)
    except InvalidWorkflow:
        expected = None
    try:
        found = _value(text)
    except InvalidWorkflow as refusal:
        assert refusal.details["line"] >= 1
        return
    if found and not found.tag and not found.style:
        assert expected
        assert found.text == "!" + expected.text[1:]
        assert (found.start, found.end) == (expected.start, expected.end)
    elif found:
        # `!!str 'x'` and the like: a tag that YAML itself has, or one of a block scalar
        assert found.style or str(found.tag).startswith("tag:yaml.org,2002:")


WHOLE = "!state.error && state.data.n > 0"


@pytest.mark.parametrize("document", [EXPORT, PORTABLE], ids=["export", "portable"])
@pytest.mark.parametrize(
    ("written", "expression"),
    [
        (WHOLE, WHOLE),
        (f"{WHOLE} # not on errors", WHOLE),
        (f"&c {WHOLE}", WHOLE),
        ("!state.error &&\n          state.data.n > 0", WHOLE),
        ("!(state.a || state.b)", "!(state.a || state.b)"),
        ("!!state.data && !state.n", "!!state.data && !state.n"),
        ("! state.data", "! state.data"),
    ],
)
def test_an_unquoted_condition_is_shown_whole(document: str, written: str, expression: str) -> None:
    workflow = Workflow.read(document.format(written))
    assert workflow.edges[-1].condition_expression == expression
    assert f"b (if {expression})" in workflow.outline()
    assert expression in workflow.draft()


@pytest.mark.parametrize("written", ["!a ? {b: 1} : 2", "!state.x: y", "!<x> y"])
def test_one_that_ends_early_is_refused_with_its_line(written: str) -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        Workflow.read(EXPORT.format(written))
    assert refused.value.details["line"] == 13
    assert "quotes" in refused.value.message


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("!!str 5", "5"),
        ("!!str", ""),
        ("!js |\n  a !b\n  !c\n", "a !b\n!c\n"),
        ("!!str >-\n  !a\n", "!a"),
        ("'!a'", "!a"),
        ('[!!str "!a", 1]', "!a"),
        ("|\n  x({ a: 1 }, !b);\n  !c && d();\n", "x({ a: 1 }, !b);\n!c && d();\n"),
    ],
)
def test_tags_of_yaml_and_texts_with_the_sign_stay_what_they_are(written: str, text: str) -> None:
    value = _value(f"k: {written}")
    assert value is not None
    assert value.text == text

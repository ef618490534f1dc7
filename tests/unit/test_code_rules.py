"""What a step's code may not do is found, and what is right is left alone."""

from __future__ import annotations

import pytest

from global_chat.contract.adaptor_facts import AdaptorFacts, OperationFacts
from global_chat.workflow.checking.code import code_problems, new_code_problems

pytestmark = pytest.mark.unit

ADAPTOR = "@openfn/language-http@7.3.2"
HTTP = AdaptorFacts(
    ADAPTOR,
    exact=True,
    operations={name: OperationFacts() for name in ("get", "post", "request", "tracker.import")},
    common=frozenset({"fn", "each", "fnIf", "combine", "dataValue"}),
    common_operations=frozenset({"fn", "each", "fnIf", "combine"}),
    helpers=frozenset({"util.encode"}),
    readers=frozenset({"dataValue"}),
    namespaces=frozenset({"util", "dateFns"}),
)

RIGHT = [
    "get('/visits', { query: { since: $.cursor } });",
    "get(`/visits/${$.id}`).then(state => { state.n = 1; return state; }).catch((e, s) => s);",
    "post('/x', state => state.data);",
    "post('/x', { ids: $.ids, at: dateFns.format(new Date(), 'yyyy') });",
    "fn(state => ({ ...state, n: 1 }));",
    "fn(state => { if (state.a) { return state; } return { ...state, b: 1 }; });",
    "fn(async state => { const s = await get('/x')(state); return s; });",
    "fn(state => get('/x')(state));",
    "fn(state => { throw new Error('no'); });",
    "const load = row => post('/x', row);\nfn(state => state);\nload(1);",
    "export const clean = x => x;\nexport function tidy(x) { return x; }\nfn(clean);",
    "import { get as fetchIt } from '@openfn/language-http';\nfetchIt('/x');",
    "each('$.data[*]', post('/x', state => state.data));",
    "each($.data.rows, fn(state => { const { data } = state; return { ...state, data }; }));",
    "tracker.import('CREATE', $.payload, {});",
    "collections.get('settings', 'k').then(state => state);",
    "fnIf($.data.length > 0, post('/x', $.data));",
    "const state = 3;\npost('/x', state);",
    "get('/x', { errors: { 404: state => { console.log('none'); return state; } } });",
    "fn(state => { const get = key => state[key]; get('a'); return state; });",
    "util.whatever('x');",
    "fn(state => combine(...state.rows.map(r => post('/x', r)))(state));",
    "fn(state => { state.rows.forEach(row => { row.fn = 1; }); return state; });",
    "fn(function (state) { return state; });",
    "fn(prepare);\nfunction prepare(state) { return state; }",
    "fn(async state => { const load = get('/x'); const s = await load(state); return s; });",
    "fn(async state => { const { data } = await get('/x')(state); return { ...state, data }; });",
    "get('/x').then(state => { if (state.a) { return state; } return { ...state, b: 1 }; });",
    "get('/x').catch(error => { console.log(error); throw error; });",
    "fn(state => { if (!state.a) { return state; } else { throw new Error('no'); } });",
]

RUN = "operation-not-run"

WRONG = [
    ("get('/x'", "code-syntax", 1),
    ("const fs = require('fs');\nfn(state => state);", "code-require", 1),
    ("import _ from 'lodash';\nfn(state => state);", "code-import", 1),
    ("await get('/x');", "code-await", 1),
    ("getVisits('/x');", "unknown-operation", 1),
    ("fn(state => state);\ntracker.push('x');", "unknown-operation", 2),
    ("dataValue('x');", "not-an-operation", 1),
    ("fn(state => {\n  post('/x', state.data);\n  return state;\n});", "operation-not-run", 2),
    ("fn(s => {\n  s.a.map(r => {\n    get(r);\n  });\n  return s;\n});", "operation-not-run", 3),
    ("fn(state => {\n  return get('/x');\n});", "operation-not-run", 2),
    ("fn(s => {\n  s.rows.forEach(r => post('/x', r));\n  return s;\n});", "operation-not-run", 2),
    ("fn(state => get('/x'));", "operation-not-run", 1),
    ("fn(async state => {\n  await get('/x');\n  return state;\n});", "operation-not-run", 2),
    ("fn(state => {\n  state.n = 1;\n});", "fn-returns", 1),
    ("fn(state => {\n  if (state.a) { throw state.a; }\n  state.n = 1;\n});", "fn-returns", 1),
    ("get('/x').catch((error, state) => {\n  state.error = error;\n});", "fn-returns", 1),
    ("fn(state => {\n  const r = get('/x');\n  state.a = r.data;\n  return state;\n});", RUN, 2),
    ("fn(async state => {\n  const { data } = await get('/x');\n  return data;\n});", RUN, 2),
    ("fn(async state => {\n  return { ...state, a: (await get('/x')).data };\n});", RUN, 2),
    ("fn(state => {\n  state.rows.forEach(r => { return r; });\n});", "fn-returns", 1),
    ("post('/x', state.data);", "early-state", 1),
    ("post(`/x/${state.id}`, {});", "early-state", 1),
    ("get('/x', { query: { since: state.cursor } });", "early-state", 1),
    ("const id = $.data.id;\nfn(state => state);", "lazy-state", 1),
    ("fn(state => {\n  state.n = $.data.n;\n  return state;\n});", "lazy-state", 2),
    ("post('/x', state => ({ id: $.id }));", "lazy-state", 1),
]  # fmt: skip


@pytest.mark.parametrize("code", RIGHT)
def test_right_code_is_left_alone(code: str) -> None:
    assert code_problems(code, HTTP, ADAPTOR) == ()


@pytest.mark.parametrize(("code", "rule", "line"), WRONG)
def test_wrong_code_is_found_once_where_it_stands(code: str, rule: str, line: int) -> None:
    assert [(p.rule, p.row + 1) for p in code_problems(code, HTTP, ADAPTOR)] == [(rule, line)]


@pytest.mark.parametrize(
    "code", ["anything('x');", "get('/x').then(s => s);", "import x from 'y';"]
)
def test_nothing_is_said_of_names_when_the_adaptor_is_not_known(code: str) -> None:
    assert code_problems(code, None) == ()


def test_only_what_an_edit_brought_counts() -> None:
    before = "post('/x', state.data);\nfn(state => { state.a = 1; });"
    after = (
        "post('/y', state.data);\nfn(state => { state.a = 2; });\nfn(state => { state.b = 1; });"
    )
    assert [(p.rule, p.row) for p in new_code_problems(before, after, HTTP, ADAPTOR)] == [
        ("fn-returns", 2)
    ]
    assert new_code_problems(before, before, HTTP, ADAPTOR) == ()


def test_code_that_takes_too_long_to_parse_is_said_to_be_unchecked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("global_chat.workflow.javascript.PARSING_SECONDS", 0.05)
    (problem,) = code_problems("/[" * 20_000)
    assert problem.rule == "code-unchecked"
    assert code_problems("fn(state => state);\n" * 200) == ()

"""An adaptor's package, read: whatever is in the archive, nothing breaks and nothing is written."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import ProviderError
from global_chat.knowledge import adaptor_package
from global_chat.knowledge.adaptor_docs import AdaptorDocs, Operation, Parameter
from global_chat.knowledge.adaptor_package import read_package
from global_chat.knowledge.adaptor_text import MOST_FROM_PACKAGE, render_package
from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.declarations import read_functions, read_statements, read_types
from tests.registry import ALPACA, HTTP_TYPES, package, packed

pytestmark = pytest.mark.unit


def test_only_expected_files_are_read_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = {
        "../../outside.txt": b"x",
        "/etc/evil": b"x",
        "package/../package.json": b"x",
        "package/types/../../../x.d.ts": b"x",
        "package/dist/index.js": b"x",
    }
    found = adaptor_package.read_members(packed({**evil, **package()}))
    assert sorted(found) == ["ast.json", "package.json", "types/http.d.ts", "types/index.d.ts"]
    assert b"Alpaca" in found["package.json"]
    assert list(tmp_path.iterdir()) == []


def test_links_in_an_archive_lead_nowhere() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo("package/ast.json")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
    assert adaptor_package.read_members(buffer.getvalue()) == {}


def test_bombs_are_defused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptor_package, "LARGEST_UNPACKED", 1_000_000)
    with pytest.raises(ProviderError, match="too large"):
        adaptor_package.read_members(gzip.compress(bytes(5_000_000)))
    monkeypatch.setattr(adaptor_package, "LARGEST_MEMBER", 100)
    with pytest.raises(ProviderError, match=r"ast\.json is too large"):
        adaptor_package.read_members(packed({"package/ast.json": bytes(1_000)}))
    monkeypatch.setattr(adaptor_package, "MOST_MEMBERS", 3)
    with pytest.raises(ProviderError, match="too many"):
        adaptor_package.read_members(packed({f"package/{n}": b"" for n in range(5)}))


def test_headers_that_announce_headers_without_end_are_a_broken_archive() -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 512
    block = header.tobuf() + b"package/ast.json".ljust(512, b"\0")
    with pytest.raises(ProviderError, match="cannot be read"):
        adaptor_package.read_members(gzip.compress(block * 3_000))


@pytest.mark.parametrize("cut", [0, 1, 10, 100, -1, -9])
def test_a_broken_archive_is_a_failure_with_a_sentence(cut: int) -> None:
    with pytest.raises(ProviderError):
        adaptor_package.read_members(packed(package())[:cut])


@settings(max_examples=80, deadline=None)
@given(content=st.binary(max_size=300), at=st.integers(0, 400), compress=st.booleans())
def test_no_bytes_make_the_reader_crash(content: bytes, at: int, compress: bool) -> None:
    archive = packed(package())
    spoilt = archive[:at] + content + archive[at + len(content) :]
    with contextlib.suppress(ProviderError):
        adaptor_package.read_members(gzip.compress(content) if compress else spoilt)


CATALOGUE = Catalogue.load()

KEYS = ["name", "params", "docs", "tags", "title", "type", "description", "caption"]
KEYS += ["elements", "expression", "applications", "operations", "common"]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=50, deadline=None)
@given(operations=JSON, common=JSON, whole=JSON)
def test_an_ast_of_any_shape_is_read_as_far_as_it_makes_sense(
    operations: object, common: object, whole: object
) -> None:
    for ast in ({"operations": operations, "common": common}, whole):
        files = {
            "package.json": json.dumps({"name": ALPACA, "version": "1.2.3"}).encode(),
            "ast.json": json.dumps(ast).encode(),
        }
        docs = read_package(files, ALPACA, "1.2.3")
        assert docs.specifier in render_package(docs, CATALOGUE, "anything at all")


@settings(max_examples=80, deadline=None)
@given(text=st.text("/*@ \n{}[]()<>=,:.abc-'\"?`$\\", max_size=300))
def test_declarations_may_hold_anything(text: str) -> None:
    read_functions(read_statements(text + HTTP_TYPES))
    read_types(read_statements(text))


def test_declarations_fill_in_for_an_empty_ast() -> None:
    files = {k.removeprefix("package/"): v for k, v in package().items()}
    files["ast.json"] = b'{"operations": [], "common": []}'
    files["types/index.d.ts"] = b'export * as farm from "./http.js";'
    (operation,) = read_package(files, ALPACA, "1.2.3").operations
    assert operation.signature == "farm.get(path, options?)"
    assert operation.parameters[1].description == "more"
    assert operation.examples[0].code == "http.get('/alpacas', {\n  query: { max: 1 },\n});"


OLD = b"""
exports.get = get;
exports.execute = execute;
/**
 * Ask the farm.
 * @param {string} path - where
 */
function get(path, params = {}) { return state => state; }
/** Runs a job. */
function execute() {}
/** Known inside the file only. */
function inner() {}
"""


def test_a_package_from_before_declarations_is_read_from_its_code() -> None:
    files = {"package.json": json.dumps({"name": ALPACA, "version": "1.0.0"}).encode()}
    docs = read_package({**files, "lib/Adaptor.js": OLD}, ALPACA, "1.0.0")
    assert [op.signature for op in docs.operations] == ["get(path, params?)"]
    text = render_package(docs, CATALOGUE, "")
    assert "Which functions of common it includes is not known." in text


def test_functions_are_found_through_every_way_to_export_a_module() -> None:
    about = {"name": ALPACA, "version": "1.0.0", "types": "./dist/all.d.ts"}
    files = {
        "package.json": json.dumps(about),
        "dist/all.d.ts": "import * as farm from './farm';\nexport { farm };\n"
        "export * as wool from './wool';\nexport * from './round';",
        "dist/farm.d.ts": "/** Feeds. */\nexport function feed(hay: number): Operation;",
        "dist/wool/index.d.ts": "export * from './shear';\nexport * from './dye';",
        "dist/wool/shear.d.ts": "/** Shears. */\nexport function shear(): Operation;",
        "dist/wool/dye.d.ts": "/** Dyes. */\nexport function dye(): Operation;",
        "dist/round.d.ts": "export * from './round';",
    }
    docs = read_package({path: text.encode() for path, text in files.items()}, ALPACA, "1.0.0")
    assert [op.name for op in docs.operations] == ["farm.feed", "wool.shear", "wool.dye"]


def test_what_a_package_leaves_open_comes_from_the_catalogue() -> None:
    options = Parameter(name="options", optional=True, keys=(Parameter(name="depth"),))
    known = AdaptorDocs(
        package=ALPACA,
        version="2.5.0",
        operations=(
            Operation(name="shear", parameters=(options,), state=(Parameter(name="data"),)),
            Operation(name="legs", kind="function"),
        ),
    )
    plain = Operation(name="shear", parameters=(Parameter(name="options", description="how"),))
    for version, line, exact in (
        ("2.1.0", "shear(options?) → state.data", False),
        ("2.1.0", "shear(options?) → state.data", True),
        ("1.0.0", "shear(options) → not known", False),
    ):
        docs = AdaptorDocs(package=ALPACA, version=version, operations=(plain,))
        text = render_package(docs.completed(known, exact=exact), CATALOGUE, "")
        assert line in text and "options: how" in text
        assert ("{ depth: any }" in text) == (version == "2.1.0")
        assert ("legs()" in text) == exact


RENAMED = """
/**
 * The rows.
 * @typedef {Object} Herd
 * @property {Wool} wool - the wool
 */
/**
 * @typedef {Object} Wool
 * @property {number} grams - how much
 */
/**
 * Bring animals in.
 * @param {string} strategy - how
 * @param {Herd} herd - which
 * @state {array} data - those that came
 * @state references - what was there
 * @returns {Operation}
 */
declare function _import(strategy: string, herd: Herd): Operation;
export { _import as import };
/**
 * Send animals away.
 * @alias export
 */
export function exportAnimals(...names: string[]): Operation;
/**
 * Count legs.
 * @returns {number}
 */
export function legs(animal: object): number;
/** Known inside the file only. */
declare function inner(): Operation;
/** How to feed. */
export interface Feed {
  /** in kilograms */
  hay?: number;
}
"""


def test_functions_are_known_by_the_name_that_code_calls_them_by() -> None:
    found = {op.name: op for op in read_functions(read_statements(RENAMED), "tracker.")}
    assert list(found) == ["tracker.import", "tracker.export", "tracker.legs"]
    brought = found["tracker.import"]
    assert [(key.name, key.type) for key in brought.state or ()] == [
        ("data", "array"),
        ("references", ""),
    ]
    assert brought.returns == "Operation" and brought.kind == "operation"
    assert found["tracker.legs"].kind == "function"
    assert found["tracker.export"].signature == "tracker.export(...names)"


def test_packages_may_be_read_in_several_threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read_statements, [RENAMED + OLD.decode() * 40] * 40))
    assert len({len(read_functions(statements)) for statements in found}) == 1


def test_types_are_read_from_comments_and_from_declarations() -> None:
    types = {type_.name: type_.properties for type_ in read_types(read_statements(RENAMED))}
    assert list(types) == ["Herd", "Wool", "Feed"]
    (hay,) = types["Feed"]
    assert (hay.name, hay.type, hay.optional) == ("hay", "number", True)
    assert hay.description == "in kilograms"


def test_a_type_inside_an_option_type_is_described_too() -> None:
    docs = AdaptorDocs(
        package=ALPACA,
        version="1.0.0",
        operations=read_functions(read_statements(RENAMED)),
        types=read_types(read_statements(RENAMED)),
    )
    text = render_package(docs, CATALOGUE, "")
    assert "wool (Wool): the wool" in text and "grams (number): how much" in text
    assert (
        "import(strategy, herd) → state.data: array, state.references (+ the former data)" in text
    )
    assert "Helpers, called inside functions: legs(animal): number" in text


def test_the_text_for_a_prompt_is_cut_by_whole_entries() -> None:
    operations = tuple(
        Operation(name=f"op{n}", description="word " * 200, parameters=(Parameter(name="x"),))
        for n in range(300)
    )
    docs = AdaptorDocs(package=ALPACA, version="1.0.0", operations=operations)
    for request in ("please use op299", "OP299 por favor"):
        text = render_package(docs, CATALOGUE, request)
        assert len(text) <= MOST_FROM_PACKAGE
        described, _, others = text.partition("Other operations")
        assert described.index("op299(x)") < described.index("op0(x)") and "op150(x)" in others


@pytest.mark.parametrize("text", ["/**" * 20_000, "/***/" * 20_000, "/** @param {" * 3_000])
def test_declarations_made_to_be_slow_are_not(text: str) -> None:
    statements = read_statements(text)
    assert read_functions(statements) == () and read_types(statements) == ()

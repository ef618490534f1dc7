"""An adaptor's package, read: whatever is in the archive, nothing breaks and nothing is written."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.errors import ProviderError
from global_chat.knowledge import tarball
from global_chat.knowledge.adaptor_docs import AdaptorDocs, Operation, Parameter
from global_chat.knowledge.adaptor_package import read_package
from global_chat.knowledge.adaptor_text import MOST_CHARACTERS, render_docs
from global_chat.knowledge.declarations import read_functions, read_types
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
    found = tarball.read_members(packed({**evil, **package()}))
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
    assert tarball.read_members(buffer.getvalue()) == {}


def test_bombs_are_defused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "LARGEST_UNPACKED", 1_000_000)
    with pytest.raises(ProviderError, match="too large"):
        tarball.read_members(gzip.compress(bytes(5_000_000)))
    monkeypatch.setattr(tarball, "LARGEST_MEMBER", 100)
    with pytest.raises(ProviderError, match=r"ast\.json is too large"):
        tarball.read_members(packed({"package/ast.json": bytes(1_000)}))
    monkeypatch.setattr(tarball, "MOST_MEMBERS", 3)
    with pytest.raises(ProviderError, match="too many"):
        tarball.read_members(packed({f"package/{n}": b"" for n in range(5)}))


@pytest.mark.parametrize("cut", [0, 1, 10, 100, -1, -9])
def test_a_broken_archive_is_a_failure_with_a_sentence(cut: int) -> None:
    with pytest.raises(ProviderError):
        tarball.read_members(packed(package())[:cut])


@settings(max_examples=80, deadline=None)
@given(content=st.binary(max_size=300), at=st.integers(0, 400), compress=st.booleans())
def test_no_bytes_make_the_reader_crash(content: bytes, at: int, compress: bool) -> None:
    archive = packed(package())
    spoilt = archive[:at] + content + archive[at + len(content) :]
    with contextlib.suppress(ProviderError):
        tarball.read_members(gzip.compress(content) if compress else spoilt)


KEYS = ["name", "params", "docs", "tags", "title", "type", "description", "caption"]
KEYS += ["elements", "expression", "applications", "operations", "common"]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
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
        assert docs.specifier in render_docs(docs, "anything at all")


@settings(max_examples=80, deadline=None)
@given(text=st.text("/*@ \n{}[]()<>=,:.abc-'\"?`$\\", max_size=300))
def test_declarations_may_hold_anything(text: str) -> None:
    read_functions(text + HTTP_TYPES)
    read_types(text)


def test_declarations_fill_in_for_an_empty_ast() -> None:
    files = {k.removeprefix("package/"): v for k, v in package().items()}
    files["ast.json"] = b'{"operations": [], "common": []}'
    files["types/index.d.ts"] = b'export * as farm from "./http.js";'
    (operation,) = read_package(files, ALPACA, "1.2.3").operations
    assert operation.signature == "farm.get(path, options)"
    assert operation.parameters[1].description == "more"
    assert operation.examples[0].code == "http.get('/alpacas', {\n  query: { max: 1 },\n});"


def test_the_text_for_a_prompt_is_cut_by_whole_entries() -> None:
    operations = tuple(
        Operation(name=f"op{n}", description="word " * 200, parameters=(Parameter(name="x"),))
        for n in range(300)
    )
    docs = AdaptorDocs(package=ALPACA, version="1.0.0", operations=operations)
    text = render_docs(docs, "please use op299")
    assert len(text) <= MOST_CHARACTERS
    assert text.split("\n\n")[1].startswith("op299(x)")
    assert text.endswith("more entries are left out.)")


@pytest.mark.parametrize("text", ["/**" * 300_000, "/***/" * 300_000, "/** @param {" * 100_000])
def test_declarations_made_to_be_slow_are_not(text: str) -> None:
    assert read_functions(text) == () and read_types(text) == ()

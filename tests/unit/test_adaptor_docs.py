"""Adaptor docs for a turn and for `docs sync`, from honest, lying and absent registries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from global_chat.contract.errors import BadRequest
from global_chat.knowledge.adaptor_docs import AdaptorDocs, Operation
from global_chat.knowledge.adaptors import AdaptorShelf
from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.library import Library
from global_chat.knowledge.registry import Listing, clean_address, without_login
from global_chat.knowledge.store import Store
from tests.registry import ALPACA, FakeRegistry, integrity, package, packed

pytestmark = pytest.mark.unit


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    fake = FakeRegistry()
    yield fake
    fake.close()


async def failure(library: Library, name: str = "alpaca") -> str:
    (result,) = await library.sync([name])
    assert result.outcome == "failed" and result.error is not None
    return result.error.message


async def test_a_synced_adaptor_is_described_and_found(registry: FakeRegistry) -> None:
    registry.has(packed(package()))
    library = Library(None, registry=registry.address)
    (result,) = await library.sync(["alpaca@1.2.3"])
    assert (result.specifier, result.outcome, result.operations) == (f"{ALPACA}@1.2.3", "stored", 3)
    docs = await library.adaptor_docs(f"{ALPACA}@1.2.3", "shear them")
    assert docs.note and "its own documentation" in docs.note
    assert docs.specifier == f"{ALPACA}@1.2.3"
    assert docs.text.startswith(f"{ALPACA}@1.2.3 (Alpaca farm)\n")
    for part in (
        "shear(animal, options?) →",
        "- animal (string): Whom",
        "options.depth: In mm",
        "(A close cut)",
    ):
        assert part in docs.text
    for part in ("depth (number)", "http.get(path, options?)", "From common: fn(func)"):
        assert part in docs.text
    assert "hidden" not in docs.text and "secret" not in docs.text
    found = await library.search("shear an alpaca for its wool")
    assert found[0].source == f"{ALPACA}@1.2.3"


async def test_what_is_stored_is_not_fetched_again(registry: FakeRegistry, tmp_path: Path) -> None:
    registry.has(packed(package()))
    await Library(tmp_path, registry=registry.address).sync(["alpaca"])
    asked = len(registry.asked)
    again = Library(tmp_path, registry=registry.address)
    await again.adaptor_docs("alpaca@1.2.3", "feed")
    assert len(registry.asked) == asked
    (result,) = await again.sync()
    assert result.outcome == "already stored"


async def test_a_turn_fetches_missing_docs_once(registry: FakeRegistry) -> None:
    registry.has(packed(package()))
    library = Library(None, registry=registry.address)
    assert "Give it hay." in (await library.adaptor_docs("alpaca@1.2.3", "feed")).text
    await library.adaptor_docs("alpaca@1.2.3", "feed")
    assert len(registry.asked) == 2  # the list of versions, the archive


async def test_a_fetch_that_failed_is_a_note_and_not_repeated(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    for _ in range(2):
        library = Library(tmp_path, registry=registry.address)
        docs = await library.adaptor_docs("http@7.3.2", "put the patient there")
        assert docs.text.startswith("@openfn/language-http@7.3.2 (HTTP)\n")
        assert "put(path, data, options?)" in docs.text
    assert len(registry.asked) == 1


async def test_a_slow_registry_holds_a_turn_up_for_a_bounded_time(registry: FakeRegistry) -> None:
    registry.delay = 3.0
    library = Library(None, registry=registry.address, fetch_seconds=0.2)
    docs = await library.adaptor_docs("http@7.3.2", "get")
    assert docs.note and "in time" in docs.note
    assert "get(path, options?)" in docs.text


async def test_a_registry_that_is_not_there_costs_a_note() -> None:
    library = Library(None, registry="http://127.0.0.1:9")
    docs = await library.adaptor_docs("http@7.3.2", "get")
    assert docs.note and "cannot be reached" in docs.note


async def test_turns_go_on_using_the_registry_of_the_last_sync(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    registry.has(packed(package()))
    before = Library(tmp_path)
    assert "no adaptor of this name" in (await before.adaptor_docs("alpaca@1.2.3", "")).text
    before.close()
    syncing = Library(tmp_path, registry=registry.address)
    await syncing.sync(["alpaca@9.9.9"])
    assert syncing.status().synced is None  # nothing was got from it
    await syncing.sync(["alpaca"])
    syncing.close()
    registry.has(packed(package("1.3.0")), "1.3.0")
    later = Library(tmp_path)
    synced = later.status().synced
    assert synced is not None and synced.registry == registry.address
    docs = await later.adaptor_docs("alpaca@1.3.0", "shear")
    assert docs.specifier == f"{ALPACA}@1.3.0" and "Take the wool off" in docs.text
    assert Catalogue.load().get("alpaca") is None
    assert "1.3.0" in later.catalogue.versions[ALPACA]
    later.close()
    asked = len(registry.asked)
    await Library(tmp_path, offline=True).adaptor_docs("alpaca@2.0.0", "shear")
    assert len(registry.asked) == asked


async def test_a_note_says_which_knowledge_was_used(registry: FakeRegistry) -> None:
    known = await Library(None).adaptor_docs("http@7.3.2", "get")
    assert known.note == "@openfn/language-http@7.3.2 is described by the list of 20 August 2026."
    unknown = await Library(None).adaptor_docs("alpaca", "get")
    assert unknown.note and "`global-chat docs sync alpaca` adds it" in unknown.note


async def test_offline_asks_nobody(registry: FakeRegistry) -> None:
    registry.has(packed(package()))
    library = Library(None, registry=registry.address, offline=True)
    docs = await library.adaptor_docs("alpaca@1.2.3", "shear")
    assert "no adaptor of this name is known" in docs.text
    with pytest.raises(BadRequest, match="GLOBAL_CHAT_REGISTRY"):
        await library.sync(["alpaca"])
    assert registry.asked == []


async def test_the_nearest_version_says_that_it_is_another(registry: FakeRegistry) -> None:
    registry.has(packed(package()))
    library = Library(None, registry=registry.address)
    await library.sync(["alpaca"])
    docs = await library.adaptor_docs("alpaca@1.3.0", "shear")
    assert "The step uses version 1.3.0" in docs.text and "1.2.3, the nearest" in docs.text
    assert docs.specifier == f"{ALPACA}@1.2.3"
    assert docs.note and "1.3.0" in docs.note
    older = await library.adaptor_docs("http@6.5.4", "get")
    assert "7.3.2, the nearest known version" in older.text


@pytest.mark.parametrize(
    ("wanted", "described"), [("3.0.0", "3.1.5"), ("7.0.0", "7.3.2"), ("7.3.2", "7.3.2")]
)
async def test_the_nearest_of_what_was_synced_and_the_catalogue_is_described(
    tmp_path: Path, wanted: str, described: str
) -> None:
    old = AdaptorDocs("@openfn/language-http", "3.1.5", operations=(Operation("get"),))
    AdaptorShelf(Store(tmp_path)).put(old, Listing(old.package, {}, None))
    docs = await Library(tmp_path).adaptor_docs(f"http@{wanted}", "")
    assert docs.specifier == f"@openfn/language-http@{described}"


async def test_latest_is_the_newest_known(registry: FakeRegistry) -> None:
    registry.has(packed(package("2.0.0")), "2.0.0")
    library = Library(None, registry=registry.address)
    await library.sync(["alpaca"])
    assert (await library.adaptor_docs("alpaca@latest", "")).specifier == f"{ALPACA}@2.0.0"
    assert (await library.adaptor_docs("http", "")).specifier == "@openfn/language-http@7.3.2"
    assert library.catalogue.versions[ALPACA] == {"2.0.0"}


@pytest.mark.parametrize("written", ["", "   ", "../../x", "not an adaptor"])
async def test_what_is_no_adaptor_has_no_text(written: str) -> None:
    assert (await Library(None).adaptor_docs(written, "x")).text == ""


async def test_content_that_was_not_announced_is_refused(registry: FakeRegistry) -> None:
    library = Library(None, registry=registry.address)
    archive = packed(package())
    for wrong in (
        {"integrity": integrity(b"something else")},
        {"integrity": "sha512-!!!not base64!!!"},
        {"integrity": f"{integrity(archive, 'sha256')} {integrity(b'x')}"},  # the strongest counts
    ):
        registry.has(archive, **wrong)
        assert "not what the registry announced" in await failure(library)
    registry.has(archive, integrity=None, shasum="0" * 40)
    assert "not what the registry announced" in await failure(library)
    for none in ({"integrity": None}, {"integrity": "md5-AAAA", "shasum": "0" * 40}):
        registry.has(archive, **none)
        assert "no checksum" in await failure(library)
    assert not library.status().adaptors


async def test_an_old_packages_sha1_is_checked(registry: FakeRegistry) -> None:
    archive = packed(package())
    registry.has(archive, integrity=None, shasum=hashlib.sha1(archive).hexdigest())
    (result,) = await Library(None, registry=registry.address).sync(["alpaca"])
    assert result.outcome == "stored"


async def test_a_package_without_documentation_does_not_hide_what_is_known(
    registry: FakeRegistry,
) -> None:
    files = package()
    registry.has(packed({"package/package.json": files["package/package.json"]}))
    assert "documents no operation" in await failure(Library(None, registry=registry.address))


async def test_another_package_under_this_name_is_refused(registry: FakeRegistry) -> None:
    registry.has(packed(package("6.6.6")))
    assert "something other" in await failure(Library(None, registry=registry.address))


async def test_archives_are_only_fetched_from_the_configured_registry(
    registry: FakeRegistry,
) -> None:
    registry.has(packed(package()), tarball="http://127.0.0.1:9/elsewhere.tgz")
    (result,) = await Library(None, registry=registry.address).sync(["alpaca"])
    assert result.outcome == "stored"
    assert registry.asked[-1] == f"/{ALPACA}/-/language-alpaca-1.2.3.tgz"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"versions": 3}', b'{"versions": {"1.2.3": null}}', b"[" * 99_999],
)
async def test_a_registry_that_talks_nonsense_is_a_failure_with_a_sentence(
    registry: FakeRegistry, body: bytes
) -> None:
    registry.answers[f"/{ALPACA.replace('/', '%2F')}"] = (200, body)
    assert "alpaca" in await failure(Library(None, registry=registry.address))


@pytest.mark.parametrize(
    ("status", "words"), [(401, "asks for a login"), (403, "login"), (404, "has no"), (500, "500")]
)
async def test_refusals_are_told_apart(registry: FakeRegistry, status: int, words: str) -> None:
    registry.answers[f"/{ALPACA.replace('/', '%2F')}"] = (status, b"")
    assert words in await failure(Library(None, registry=registry.address))


async def test_one_failure_does_not_stop_the_others(registry: FakeRegistry) -> None:
    registry.has(packed(package()))
    told: list[str] = []
    results = await Library(None, registry=registry.address).sync(
        ["nope", "alpaca", "a b", "alpaca@9.9.9"], lambda result: told.append(result.specifier)
    )
    assert [r.outcome for r in results] == ["failed", "stored", "failed", "failed"]
    assert len(told) == 4
    assert results[3].error is not None and "The nearest is 1.2.3." in results[3].error.message


@pytest.mark.parametrize(
    "address", ["ftp://me:pw@x.test", "https://", "https://[::1", "http://me:p/w@x.test", "\0"]
)
async def test_an_address_that_is_none_costs_a_note(address: str) -> None:
    library = Library(None, registry=clean_address(address))
    docs = await library.adaptor_docs("http@7.3.2", "get")
    assert docs.note and "not an http(s) address" in docs.note
    assert "get(path, options?)" in docs.text
    with pytest.raises(BadRequest, match="not an http") as raised:
        await library.sync(["http"])
    assert "pw" not in str(raised.value) + docs.note + without_login(address)


def test_a_login_in_the_address_is_shown_nowhere() -> None:
    address = clean_address("https://me:p@ss@registry.test/npm/?x=1") or ""
    assert address == "https://me:p@ss@registry.test/npm"
    assert without_login(address) == "https://registry.test/npm"


async def test_halves_of_characters_in_a_package_are_no_crash(registry: FakeRegistry) -> None:
    files = package()
    files["package/ast.json"] = files["package/ast.json"].replace(b"Give it hay", b"Give \\ud800")
    assert b"ud800" in files["package/ast.json"]
    registry.has(packed(files))
    library = Library(None, registry=registry.address)
    assert "Give \ufffd" in (await library.adaptor_docs("alpaca@1.2.3", "feed")).text


async def test_what_was_synced_can_be_removed(registry: FakeRegistry) -> None:
    library = Library(None, registry=registry.address)
    for version in ("1.2.3", "1.3.0"):
        registry.has(packed(package(version)), version)
        await library.sync([f"alpaca@{version}"])
    assert library.remove("alpaca@1.3.0") == f"{ALPACA}@1.3.0"
    found = await library.search("shear an alpaca for its wool")
    assert found[0].source == f"{ALPACA}@1.2.3"
    assert library.remove("alpaca") == f"{ALPACA}@1.2.3"
    assert not library.status().adaptors and ALPACA not in library.catalogue.versions
    assert not any(ALPACA in p.source for p in await library.search("shear an alpaca"))
    with pytest.raises(BadRequest, match="neither added nor synced"):
        library.remove("alpaca")

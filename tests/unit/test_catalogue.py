"""The adaptor catalogue: what exists, what is nearest, what a workflow should not use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.contract.specifier import (
    nearest_version,
    newest,
    parse_specifier,
    version_order,
)
from global_chat.knowledge import catalogue as catalogue_module
from global_chat.knowledge.adaptor_text import MOST_FROM_CATALOGUE, render_catalogue
from global_chat.knowledge.catalogue import Catalogue, pack

pytestmark = pytest.mark.unit

HTTP = "@openfn/language-http"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load()


def test_every_adaptor_has_a_package_a_version_and_a_line(catalogue: Catalogue) -> None:
    adaptors = list(catalogue)
    assert len(adaptors) > 100
    assert all(parse_specifier(a.specifier) for a in adaptors)
    assert len(catalogue.lines().splitlines()) == len(adaptors)


def test_the_lines_for_a_prompt_stay_short(catalogue: Catalogue) -> None:
    assert len(catalogue.lines()) < 3_000
    assert "http@7.3.2" in catalogue.lines().splitlines()
    assert "cht@1.2.2 (Community Health Toolkit (CHT))" in catalogue.lines().splitlines()


def test_the_catalogue_says_of_when_it_is(catalogue: Catalogue) -> None:
    assert catalogue.date == date(2026, 8, 20)


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A catalogue of one adaptor in place of the one that ships."""
    line = {
        "adaptor": "@openfn/language-alpaca",
        "version": "1.2.3",
        "label": None,
        "operations": [{"name": "feed", "namespace": None, "kind": "operation", "params": []}],
        "includes": {"from": "@openfn/language-common", "names": ["fn"]},
        "configuration": [{"name": "farm"}],
    }
    (tmp_path / "lines").write_text(json.dumps(line) + "\n")
    target = tmp_path / "packed"
    pack(tmp_path / "lines", date(2026, 1, 2), target)
    monkeypatch.setattr(catalogue_module, "CATALOGUE_FILE", target)
    Catalogue.load.cache_clear()
    yield target
    Catalogue.load.cache_clear()


def test_the_packed_file_is_made_from_lines_and_always_the_same(packed: Path) -> None:
    loaded = Catalogue.load()
    assert loaded.date == date(2026, 1, 2)
    docs = loaded.docs("alpaca")
    assert docs and docs.specifier == "@openfn/language-alpaca@1.2.3"
    assert [op.name for op in docs.operations] == ["feed"] and docs.configuration == ("farm",)
    before = packed.read_bytes()
    pack(packed.parent / "lines", date(2026, 1, 2), packed)
    assert packed.read_bytes() == before


def test_operations_are_known_before_anything_is_fetched(catalogue: Catalogue) -> None:
    docs = catalogue.docs("salesforce")
    assert docs and "upsert(sObjectName, externalId, records)" in {
        op.signature for op in docs.operations
    }
    assert catalogue.docs("no-such-adaptor") is None


def test_a_checker_learns_what_code_may_call(catalogue: Catalogue) -> None:
    facts = catalogue.facts("@openfn/language-dhis2@8.2.1")
    assert facts is not None and facts.exact
    assert facts.operations["tracker.import"].writes_data is True
    assert facts.operations["collections.set"].writes_data is False
    assert "util.attr" in facts.helpers and "fn" in facts.common_operations
    assert {"dataValue", "dateFns"} <= facts.common - facts.common_operations
    assert "tracker" in facts.namespaces and not facts.open_ended


def test_facts_of_another_version_are_given_only_within_the_major(catalogue: Catalogue) -> None:
    near = catalogue.facts("dhis2@8.0.0")
    assert near is not None and not near.exact
    assert catalogue.facts("dhis2@6.0.0") is None
    assert catalogue.facts("no-such-adaptor") is None


def test_names_from_elsewhere_are_known(catalogue: Catalogue) -> None:
    fhir = catalogue.facts("fhir-4")
    assert fhir and {"builders.patient", "b.patient"} <= fhir.helpers
    sftp = catalogue.facts("sftp")
    assert sftp and sftp.open_ended


def test_words_that_fit_nothing_find_nothing(catalogue: Catalogue) -> None:
    assert catalogue.nearest("") is None
    assert catalogue.nearest("zzzzqqqq") is None


def test_every_adaptor_can_be_described(catalogue: Catalogue) -> None:
    for adaptor in catalogue:
        docs = catalogue.docs(adaptor.package)
        assert docs is not None
        text = render_catalogue(docs, catalogue, "get the patients")
        assert len(text) <= MOST_FROM_CATALOGUE, adaptor
        assert "collections.get(name" in text, adaptor
        assert all(name in text for name in docs.configuration), adaptor
        for operation in docs.operations:
            if operation.kind == "operation":
                assert f"{operation.signature} → " in text or operation.deprecated, operation.name


def test_the_text_for_a_step_does_not_depend_on_the_request(catalogue: Catalogue) -> None:
    docs = catalogue.docs("dhis2")
    assert docs
    one, other = (render_catalogue(docs, catalogue, r) for r in ("import events", "x"))
    assert one == other
    assert "From the program's own list of 20 August 2026." in one
    assert (
        "tracker.import(strategy, payload, options?) → state.data, state.response, "
        "state.references (+ the former data)" in one
    )
    assert "  - options (object) { async?: boolean, parseAs?: string, apiVersion?: string }" in one
    assert one.index("create(") < one.index("upsert(") < one.index("tracker.import(")


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        (f"{HTTP}@7.3.2", f"{HTTP}@7.3.2"),
        ("htpp", f"{HTTP}@7.3.2"),
        (f"{HTTP}@99.0.0", f"{HTTP}@7.3.2"),
        ("@openfn/http", f"{HTTP}@7.3.2"),
        ("HTTP", f"{HTTP}@7.3.2"),
        ("kobo@1.0.0", "@openfn/language-kobotoolbox@4.3.2"),
        ("dhis@2", "@openfn/language-dhis2@8.2.1"),
    ],
)
def test_the_nearest_real_adaptor_is_named(
    catalogue: Catalogue, written: str, nearest: str
) -> None:
    assert catalogue.nearest(written) == nearest


def test_versions_learned_from_a_registry_count(catalogue: Catalogue) -> None:
    more = catalogue.with_versions({HTTP: {"8.0.0"}, "@openfn/language-new": {"1.0.0"}})
    assert more.versions[HTTP] == {"7.3.2", "8.0.0"}
    lines = more.lines().splitlines()
    assert "http@8.0.0" in lines and "new@1.0.0" in lines


@pytest.mark.parametrize(
    "written", ["http", "language-http", HTTP, f"{HTTP}@latest", f" {HTTP} ", f"{HTTP}@^7.0.0"]
)
def test_one_adaptor_may_be_written_in_many_ways(written: str) -> None:
    found = parse_specifier(written)
    assert found is not None and (found.package, found.version) == (HTTP, None)


@pytest.mark.parametrize(
    "written",
    [
        "",
        None,
        "../../etc/passwd",
        "@openfn/../x",
        "http@7.3.2@1",
        "a b",
        "@/x",
        "x" * 300,
        "http/x",
    ],
)
def test_what_is_no_package_name_is_not_taken_for_one(written: str | None) -> None:
    assert parse_specifier(written) is None


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_may_be_looked_up(text: str) -> None:
    catalogue = Catalogue.load()
    found = parse_specifier(text)
    assert found is None or "/" not in found.package.removeprefix("@").partition("/")[2]
    near = catalogue.nearest(text)
    assert near is None or catalogue.get(near) is not None


def test_versions_are_ordered_by_value_and_releases_come_after_their_candidates() -> None:
    written = ["7.10.0", "7.9.1", "7.10.0-beta.2", "10.0.0", "7.9.0"]
    ordered = sorted(written, key=version_order)
    assert ordered == ["7.9.0", "7.9.1", "7.10.0-beta.2", "7.10.0", "10.0.0"]
    assert newest(["2.0.0-rc.1", "1.0.0"]) == "1.0.0"
    assert newest([]) is None


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [
        ("6.5.4", "6.4.3"),
        ("7.3.2", "7.2.10"),
        ("1.0.0", "5.0.0"),
        ("5.0.0", "5.0.0"),
        (None, "7.2.10"),
    ],
)
def test_the_nearest_version_keeps_the_major_number_if_it_can(
    wanted: str | None, nearest: str
) -> None:
    assert nearest_version(wanted, ["5.0.0", "6.4.3", "7.0.0", "7.2.10"]) == nearest

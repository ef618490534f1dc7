"""The adaptor catalogue: what exists, what is nearest, what a workflow should not use."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.knowledge.catalogue import Catalogue
from global_chat.knowledge.specifier import (
    nearest_version,
    newest,
    parse_specifier,
    version_order,
)

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


def test_operations_are_known_before_anything_is_fetched(catalogue: Catalogue) -> None:
    assert "upsert(sObjectName, externalId, records)" in catalogue.operations("salesforce")
    assert catalogue.operations("@openfn/language-dhis2@8.2.1")
    assert catalogue.operations("no-such-adaptor") == ()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Kobo form submissions", "kobotoolbox"),
        ("postgres database", "postgresql"),
        ("Community Health Toolkit", "cht"),
        ("google sheet", "googlesheets"),
        ("send an SMS with Twilio", "twilio"),
        ("OpenMRS", "openmrs"),
    ],
)
def test_a_systems_name_finds_its_adaptor(catalogue: Catalogue, words: str, name: str) -> None:
    assert catalogue.find(words)[0].name == name


def test_words_that_fit_nothing_find_nothing(catalogue: Catalogue) -> None:
    assert catalogue.find("") == ()
    assert catalogue.find("zzzzqqqq") == ()
    assert catalogue.nearest("zzzzqqqq") is None


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


def test_a_version_newer_than_any_known_is_a_problem_and_an_older_one_is_not(
    catalogue: Catalogue,
) -> None:
    problem = catalogue.problem(f"{HTTP}@99.0.0")
    assert problem and "99.0.0" in problem and f"{HTTP}@7.3.2" in problem
    assert catalogue.problem(f"{HTTP}@6.5.4") is None
    assert catalogue.problem(f"{HTTP}@latest") is None
    unknown = catalogue.problem("@openfn/language-htpp@1.0.0")
    assert unknown and HTTP in unknown


def test_versions_learned_from_a_registry_count(catalogue: Catalogue) -> None:
    more = catalogue.with_versions({HTTP: {"8.0.0"}, "@openfn/language-new": {"1.0.0"}})
    assert more.versions[HTTP] == {"7.3.2", "8.0.0"}
    assert more.problem(f"{HTTP}@8.0.0") is None
    assert more.problem("new@1.0.0") is None
    assert "http@8.0.0" in more.lines().splitlines()


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
    catalogue.find(text)
    near = catalogue.nearest(text)
    assert near is None or catalogue.problem(near) is None


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

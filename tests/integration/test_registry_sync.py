"""Adaptor docs from the real package registry; skipped when none is configured or answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from global_chat.cli.docs import npm_registry
from global_chat.contract.errors import ConnectionFailed, TimedOut
from global_chat.knowledge.library import Library
from global_chat.knowledge.registry import clean_address, registry_address

pytestmark = pytest.mark.integration

OPERATIONS = {
    "http": "get(path, options)",
    "common": "each(dataSource, operation)",
    "fhir": "createTransactionBundle(entries, callback)",
    "openmrs": "http.get(path, options)",
    "mssql": "upsertMany(table, uuid, records, options)",
    "http@3.1.5": "parseCSV(target, config)",  # code alone
    "http@4.0.0": "post(path, params, callback)",  # with everything that it depends on
    "collections": "collections.set(name, keyGen, values",
}


@pytest.fixture
def registry() -> str:
    found = clean_address(registry_address(os.environ) or npm_registry())
    if found is None:
        pytest.skip("no package registry is configured")
    return found


async def test_real_adaptors_are_synced_described_and_found(registry: str, tmp_path: Path) -> None:
    library = Library(tmp_path, registry=registry)
    results = await library.sync(list(OPERATIONS))
    if all(isinstance(r.error, ConnectionFailed | TimedOut) for r in results):
        pytest.skip("the package registry does not answer")
    assert [r.outcome for r in results] == ["stored"] * len(OPERATIONS), results
    for name, signature in OPERATIONS.items():
        docs = await library.adaptor_docs(name, signature)
        assert signature in docs.text.replace("?", ""), name
    found = await library.search("insert or update many rows in SQL Server with upsertMany")
    assert any(p.source.startswith("@openfn/language-mssql@") for p in found)
    again = await Library(tmp_path, registry=registry).sync()
    assert {r.outcome for r in again} == {"already stored"}
    library.close()


def test_the_command_syncs_for_real(registry: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "GLOBAL_CHAT_CACHE": str(tmp_path),
        "GLOBAL_CHAT_REGISTRY": registry,
    }
    code = "from global_chat.cli.docs import docs_app; docs_app()"
    done = subprocess.run(
        [sys.executable, "-c", code, "sync", "collections"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if "cannot be reached" in done.stderr:
        pytest.skip("the package registry does not answer")
    assert done.returncode == 0, done.stderr
    assert "stored" in done.stdout

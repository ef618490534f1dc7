"""The library's database: there from the first run, and never the reason why a turn fails."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from global_chat.knowledge.adaptor_docs import AdaptorDocs
from global_chat.knowledge.adaptors import AdaptorShelf
from global_chat.knowledge.library import Library, Reference, passages_text
from global_chat.knowledge.registry import Listing, registry_address
from global_chat.knowledge.search import Passage
from global_chat.knowledge.store import Store, cache_folder

pytestmark = pytest.mark.unit

CURSOR = "fetch only records that are new since the last run"


def sources(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.source for passage in passages]


@pytest.fixture(scope="module")
def shared() -> Library:
    return Library(None)


async def test_the_handbook_answers_from_the_first_run(tmp_path: Path) -> None:
    found = await Library(tmp_path).search(CURSOR)
    assert found[0].source == "handbook/cursors.md"
    assert "cursor(" in found[0].text
    assert (tmp_path / "knowledge.db").is_file()


async def test_what_one_process_indexed_the_next_one_finds(tmp_path: Path) -> None:
    first = Library(tmp_path)
    page = tmp_path / "own" / "clinic.md"
    page.parent.mkdir()
    page.write_text("# Clinic codes\n\nThe walrus protocol is used in Quelimane.")
    first.add(page.parent)
    first.close()
    second = Library(tmp_path)
    assert (await second.search("walrus protocol"))[0].title == "Clinic codes"
    assert second.notes == ()


async def test_a_changed_handbook_is_indexed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Library(tmp_path).search(CURSOR)
    new = {"new.md": b"---\ntitle: Quokka rules\n---\nQuokkas are fed at noon."}
    for module in ("library", "pages"):
        monkeypatch.setattr(f"global_chat.knowledge.{module}.handbook_files", lambda: new)
    library = Library(tmp_path)
    assert (await library.search("quokka"))[0].source == "handbook/new.md"
    pages = {s.name: s.pages for s in library.status().sources}
    assert pages["handbook"] == 1


async def test_a_file_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "knowledge.db").write_bytes(b"not a database at all" * 500)
    library = Library(tmp_path)
    assert sources(await library.search(CURSOR))[0] == "handbook/cursors.md"
    assert "built anew" in library.notes[0]


async def test_damage_that_shows_late_is_repaired_and_lost_folders_are_named(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.md").write_text("# Otters\n\n" + "Otters swim. " * 20_000)
    library = Library(tmp_path)
    library.add(own)
    library.status()
    library.close()
    with sqlite3.connect(tmp_path / "knowledge.db") as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    path = tmp_path / "knowledge.db"
    content = bytearray(path.read_bytes())
    # The first pages hold the schema and the sources; what lies behind them is overwritten.
    content[16 * 4096 :] = os.urandom(len(content) - 16 * 4096)
    path.write_bytes(content)
    library = Library(tmp_path)
    assert sources(await library.search(CURSOR))[0] == "handbook/cursors.md"
    assert str(own) in " ".join(library.notes)


@pytest.mark.parametrize(
    ("found", "garbled"),
    [
        ("CREATE TABLE page", "CREATE TABLE p\udcffge"),
        ("CREATE TABLE page", "CREATE TABLE pxge"),
        ("Otters swim", "Otters\udcffswim"),
        ('"package":"@openfn', '"package";"@openfn'),
    ],
    ids=["a name that is no text", "a table of another name", "a text that is none", "no JSON"],
)
async def test_damage_within_sound_pages_is_no_crash(
    tmp_path: Path, found: str, garbled: str
) -> None:
    (tmp_path / "a.md").write_text("# Otters\n\nOtters swim.")
    library = Library(tmp_path)
    library.add(tmp_path / "a.md")
    docs = AdaptorDocs(package="@openfn/language-otter", version="1.0.0")
    AdaptorShelf(Store(tmp_path)).put(docs, Listing(docs.package, {}, None))
    library.close()
    path = tmp_path / "knowledge.db"
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    content = path.read_bytes()
    assert found.encode() in content
    path.write_bytes(content.replace(found.encode(), garbled.encode("utf-8", "surrogateescape")))
    library = Library(tmp_path)
    await library.search("otters swim")
    assert sources(await library.search(CURSOR))[0] == "handbook/cursors.md"
    await library.adaptor_docs(docs.specifier, "swim")
    assert library.status().sources


async def test_a_damaged_file_that_cannot_be_removed_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "knowledge.db").write_bytes(b"not a database at all" * 500)
    monkeypatch.setattr(Path, "unlink", refuse)
    library = Library(tmp_path)
    assert sources(await library.search(CURSOR))[0] == "handbook/cursors.md"
    assert "cannot be written" in library.notes[0]


async def test_a_database_of_another_version_is_made_anew(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "knowledge.db") as file:
        file.execute("PRAGMA user_version = 999")
        file.execute("CREATE TABLE source (kind TEXT, name TEXT)")
        file.execute("INSERT INTO source VALUES ('folder', '/home/me/docs')")
    file.close()
    library = Library(tmp_path)
    assert await library.search(CURSOR)
    assert "built anew" in library.notes[0] and "/home/me/docs" in library.notes[0]


async def test_a_cache_that_cannot_be_made_costs_nothing_but_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    library = Library(tmp_path / "file" / "cache")
    assert sources(await library.search(CURSOR))[0] == "handbook/cursors.md"
    assert "cannot be written" in library.notes[0]
    assert library.status().path is None


_READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from global_chat.knowledge.library import Library
asyncio.run(Library(None).search("walrus"))  # reads the program's own files as whoever may
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
library = Library(Path(sys.argv[1]))
print(asyncio.run(library.search("walrus protocol"))[0].title)
print(*library.notes)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter; pytest's own are for one user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_read_only_database_is_still_read(open_folder: Path) -> None:
    folder = open_folder / "cache"
    own = open_folder / "walrus.md"
    own.write_text("# Walrus\n\nThe walrus protocol.")
    library = Library(folder)
    library.add(own)
    library.close()
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    command = [sys.executable, "-c", _READ_ONLY, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert done.stdout.splitlines()[0] == "Walrus", done.stderr
    assert "cannot be written" in done.stdout


def test_many_threads_may_search_at_once(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: asyncio.run(library.search(CURSOR)), range(24)))
    assert {sources(passages)[0] for passages in found} == {"handbook/cursors.md"}


def test_several_processes_may_make_the_database_at_once(tmp_path: Path) -> None:
    code = (
        "import asyncio,sys; from pathlib import Path\n"
        "from global_chat.knowledge.library import Library\n"
        "library = Library(Path(sys.argv[1]))\n"
        f"print(asyncio.run(library.search({CURSOR!r}))[0].source, *library.notes)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate()[0].strip() for process in running]
    assert printed == ["handbook/cursors.md"] * 3


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("¿Cómo disparo el flujo cada noche?", "trigger-cron"),
        ("Comment éviter les doublons ?", "duplicates"),
        ("Como evitar registros duplicados?", "duplicates"),
        ("mot de passe du système", "credentials"),
    ],
)
async def test_questions_may_be_in_other_languages(shared: Library, query: str, page: str) -> None:
    assert f"handbook/{page}.md" in sources(await shared.search(query))


@pytest.mark.parametrize(
    "query",
    ["Who painted the Mona Lisa?", "hello", "who are you?", "Quem escreveu Os Lusíadas?"],
)
async def test_what_the_documentation_says_nothing_about_finds_nothing(
    shared: Library, query: str
) -> None:
    assert await shared.search(query) == ()


@settings(max_examples=60, deadline=None)
@given(query=st.text(max_size=200))
def test_any_text_is_a_question(shared: Library, query: str) -> None:
    found = asyncio.run(shared.search(query, limit=3))
    assert len(found) <= 3


@pytest.mark.parametrize(
    "query", ['"', "a AND", "NEAR(", "title:*", "' OR 1=1 --", "\0", "{}[]", "x" * 100_000, "NOT"]
)
async def test_search_syntax_is_only_text(shared: Library, query: str) -> None:
    await shared.search(query)


@pytest.mark.parametrize("query", ["", "   ", "!?!", "—"])
async def test_a_question_without_words_finds_nothing(shared: Library, query: str) -> None:
    assert await shared.search(query) == ()


async def test_a_long_page_does_not_fill_the_result(tmp_path: Path) -> None:
    sections = "".join(f"## Part {n}\n\nZebra crossing number {n}.\n\n" for n in range(20))
    (tmp_path / "zebra.md").write_text(f"# Zebra\n\n{sections}")
    library = Library(None)
    library.add(tmp_path)
    found = await library.search("zebra crossing", limit=5)
    assert sum(passage.source.endswith("zebra.md") for passage in found) == 2


async def test_agents_read_titles_sources_and_texts() -> None:
    reference = Reference(Library(None))
    text = await reference.search(CURSOR)
    assert text.startswith("## cursor, fetching only what is new\nSource: handbook/cursors.md\n\n")
    assert passages_text([]).startswith("Nothing in the documentation answers this.")
    assert "http@7.3.2" in reference.adaptor_lines()
    assert "7.3.2" in reference.adaptor_versions()["@openfn/language-http"]
    long = passages_text([Passage("t", "s", "line\n" * 5_000)])
    assert len(long) < 4_200 and "left out" in long


async def test_passages_for_a_step_fit_its_adaptor(tmp_path: Path) -> None:
    for adaptor in ("kobotoolbox", "salesforce"):
        (tmp_path / f"{adaptor}.md").write_text(
            f"---\nadaptors: [{adaptor}]\n---\n# Walrus fields\n\nA walrus field of {adaptor}."
        )
    library = Library(None)
    library.add(tmp_path)
    reference = Reference(library)
    text = await reference.passages("map the walrus fields", "@openfn/language-salesforce@9.0.0")
    assert "walrus field of salesforce" in text and "kobotoolbox" not in text
    assert any("salesforce.md" in note for note in reference.notes())
    assert len(text) <= 3_500


@pytest.mark.parametrize("request_", ["", "thanks!", "write a poem about the sea", "ok do it"])
async def test_no_passage_is_shown_when_none_fits(shared: Library, request_: str) -> None:
    assert await Reference(shared).passages(request_, "http@7.3.2") == ""


def test_the_cache_is_where_the_variable_says() -> None:
    assert cache_folder({"GLOBAL_CHAT_CACHE": "/data/cache"}) == Path("/data/cache")
    assert cache_folder({}).name == "global-chat"


def test_the_registry_comes_from_the_environment_or_npms_own_file(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert registry_address(home) is None
    (tmp_path / ".npmrc").write_text(
        "; a comment\nregistry=https://one.test/npm/\n"
        "@openfn:registry=https://${WHERE}.test\n//two.test/:_authToken=secret\n"
    )
    assert registry_address({**home, "WHERE": "two"}) == "https://two.test"
    named = {**home, "NPM_CONFIG_REGISTRY": "http://127.0.0.1:4873/"}
    assert registry_address(named) == "http://127.0.0.1:4873"
    named["GLOBAL_CHAT_REGISTRY"] = "https://three.test/"
    assert registry_address(named) == "https://three.test"
    for wrong in ("undefined", "null"):
        assert registry_address({**home, "GLOBAL_CHAT_REGISTRY": wrong}) is None

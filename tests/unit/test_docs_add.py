"""Somebody's own documentation: read by headings, code whole, and again only where it changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from global_chat.cli.docs import docs_app
from global_chat.contract.errors import BadRequest
from global_chat.knowledge import pages
from global_chat.knowledge.library import Library
from global_chat.knowledge.pages import PASSAGE_CHARACTERS, read_page

pytestmark = pytest.mark.unit

MDX = """---
title: "Triggers"
sidebar_label: Start here
keywords: [timer, 'push']
unknown: {a: 1}
---
import Tabs from '@theme/Tabs';
import {
  One,
  Two,
} from './parts';
export const answer = 42;

{/* not for readers */}
<!-- nor this -->

Intro with `Array<string>` and ![a picture](/img/x.png).

## Webhook {#hook}

:::tip Good to know

<Tabs groupId="os">
<TabItem value="cli" label="With the tool">

```js
import x from 'y'; // stays
const page = <Tabs label="code" />;

## not a heading
```

</TabItem>
</Tabs>

:::

### Replies

Answers <b>at once</b>.
"""


def test_a_page_is_cut_by_its_headings_and_each_passage_knows_where_it_stands() -> None:
    page = read_page(MDX, "fallback")
    assert page.title == "Triggers"
    assert [s.title for s in page.sections] == [
        "Triggers",
        "Triggers › Webhook {#hook}",
        "Triggers › Webhook {#hook} › Replies",
    ]
    assert "timer" in page.keywords and "push" in page.keywords and "Start here" in page.keywords


def test_components_go_and_their_words_stay() -> None:
    text = "\n".join(s.text for s in read_page(MDX, "fallback").sections)
    for gone in ("@theme", "answer = 42", "not for readers", "nor this", "<TabItem", ":::", "<b>"):
        assert gone not in text
    for kept in ("`Array<string>`", "a picture", "Good to know", "With the tool", "at once"):
        assert kept in text


def test_code_is_kept_byte_for_byte() -> None:
    code = MDX[MDX.index("```js") : MDX.index("```\n\n</TabItem>") + 3]
    assert any(code in section.text for section in read_page(MDX, "fallback").sections)


def test_long_code_is_never_cut_in_two() -> None:
    code = "```js\n" + "\n".join(f"step({n});" for n in range(400)) + "\n```"
    page = read_page(f"# T\n\n{'word ' * 200}\n\n{code}\n\n{'word ' * 200}", "x")
    assert sum(code in section.text for section in page.sections) == 1


def test_long_prose_is_cut_between_paragraphs() -> None:
    page = read_page("# T\n\n" + "\n\n".join("A sentence of words. " * 20 for _ in range(30)), "x")
    assert len(page.sections) > 5
    assert all(len(s.text) <= PASSAGE_CHARACTERS + 450 for s in page.sections)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# From the heading\n\ntext", "From the heading"),
        ("Setext\n======\n\ntext", "file-name"),
        ("no heading at all", "file-name"),
        ("---\ntitle: 'Quoted: yes'\n---\ntext", "Quoted: yes"),
        ("---\nnot closed\n\ntext", "file-name"),
        ("\r\n# Windows\r\n\r\ntext", "Windows"),
    ],
)
def test_every_page_has_a_title(text: str, title: str) -> None:
    assert read_page(text, "file-name").title == title


@pytest.mark.parametrize("text", ["", "\n\n", "---\ntitle: x\n---\n", "import x from 'y'\n", "***"])
def test_a_page_without_words_has_no_passages(text: str) -> None:
    assert read_page(text, "x").sections == ()


@pytest.mark.parametrize(
    "piece", ["<!--", "{/*", "![", "<a ", "> ", "- ", "[", "*a_", "`", "~~~\n", "---\n", "import "]
)
def test_pages_made_to_be_slow_are_not(piece: str) -> None:
    read_page(piece * 50_000, "x")


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_is_a_page(text: str) -> None:
    read_page(text, "x")


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(
        st.text("abc XYZ.,;()[]{}<>/=\"'*_#-\n", min_size=1, max_size=80), min_size=1, max_size=4
    ),
    body=st.text("abc <>{}()#:'\"=;/*\n", min_size=1, max_size=120),
)
def test_fenced_code_survives_whatever_stands_around_it(words: list[str], body: str) -> None:
    code = f"```js\n{body}\n```"
    page = read_page("# T\n\n" + f"\n\n{code}\n\n".join(["start", *words]), "x")
    assert sum(section.text.count(code) for section in page.sections) >= len(words)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# Alpha\n\nThe alpha page.")
    (folder / "deep" / "b.mdx").write_text("# Beta\n\nThe beta page.")
    (folder / "code.py").write_text("# not Markdown")
    return folder


def test_only_what_changed_is_read_again(docs: Path) -> None:
    library = Library(None)
    first = library.add(docs)
    assert (first.added, first.unchanged, first.passages) == (2, 0, 2)
    (docs / "a.md").write_text("# Alpha\n\nThe alpha page, now with a gamma.")
    (docs / "deep" / "b.mdx").unlink()
    (docs / "c.md").write_text("# Delta\n\nNew.")
    second = library.add(docs)
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 1, 0)
    third = library.add(docs)
    assert (third.added, third.changed, third.removed, third.unchanged) == (0, 0, 0, 2)


async def test_what_was_removed_is_not_found_any_more(docs: Path) -> None:
    library = Library(None)
    library.add(docs)
    found = await library.search("the beta page")
    assert found[0].source == f"{docs}/deep/b.mdx"
    (docs / "deep" / "b.mdx").unlink()
    library.add(docs)
    assert not any("b.mdx" in p.source for p in await library.search("the beta page"))
    library.remove(str(docs))
    assert not any(str(docs) in p.source for p in await library.search("the alpha page"))
    with pytest.raises(BadRequest, match="Nothing was added or synced"):
        library.remove(str(docs))


def test_the_handbook_cannot_be_removed_by_its_name() -> None:
    with pytest.raises(BadRequest, match="neither added nor synced"):
        Library(None).remove("handbook")


def test_files_that_are_no_text_or_too_large_are_left_out_and_said_so(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST_FILE", 1_000)
    (docs / "binary.md").write_bytes(b"abc\0def")
    (docs / "huge.md").write_text("word " * 1_000)
    (docs / "latin.md").write_bytes("# Señal\n\nvacío".encode("latin-1"))
    (docs / "bom.md").write_bytes(b"\xef\xbb\xbf# Marked\n\ntext")
    report = Library(None).add(docs)
    assert report.added == 4
    assert sorted(reason.split(":")[0] for reason in report.skipped) == ["binary.md", "huge.md"]


def test_hidden_folders_and_links_out_of_the_folder_are_not_followed(
    docs: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("# Secret\n\nx")
    (docs / "link.md").symlink_to(outside)
    (docs / "round").symlink_to(docs)
    for hidden in (".git", "node_modules"):
        (docs / hidden).mkdir()
        (docs / hidden / "x.md").write_text("# Hidden\n\nx")
    assert Library(None).add(docs).added == 2


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_nothing_to_read_is_a_mistake_of_the_caller(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRequest):
        Library(None).add(tmp_path / name)


def test_a_folder_that_was_emptied_is_emptied_in_the_library_too(docs: Path) -> None:
    library = Library(None)
    library.add(docs)
    for path in (docs / "a.md", docs / "deep" / "b.mdx"):
        path.unlink()
    report = library.add(docs)
    assert (report.removed, report.passages) == (2, 0)


def test_a_folder_in_which_nothing_was_found_is_not_remembered(tmp_path: Path) -> None:
    library = Library(None)
    with pytest.raises(BadRequest):
        library.add(tmp_path)
    assert not [s for s in library.status().sources if s.kind == "folder"]


def test_one_file_may_be_added_by_itself(docs: Path) -> None:
    assert Library(None).add(docs / "a.md").added == 1


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("GLOBAL_CHAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    for name in ("GLOBAL_CHAT_REGISTRY", "npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    return CliRunner()


def test_the_commands_add_search_list_and_remove(run: CliRunner, docs: Path) -> None:
    added = run.invoke(docs_app, ["add", str(docs)])
    assert added.exit_code == 0 and "2 pages added" in added.output
    found = run.invoke(docs_app, ["search", "the beta page", "--json", "--limit", "1"])
    assert json.loads(found.stdout)[0]["title"] == "Beta"
    assert "The beta page." in run.invoke(docs_app, ["search", "the beta page"]).stdout
    listed = run.invoke(docs_app, ["list"]).stdout
    assert listed.splitlines()[0].endswith(str(docs))
    run.invoke(docs_app, ["add", str(docs / "a.md")])
    assert "  1 page " in run.invoke(docs_app, ["list"]).stdout
    assert run.invoke(docs_app, ["remove", str(docs / "a.md")]).exit_code == 0
    assert "passages:" in run.invoke(docs_app, ["status"]).stdout
    assert run.invoke(docs_app, ["remove", str(docs)]).exit_code == 0
    assert str(docs) not in run.invoke(docs_app, ["list"]).stdout


def test_a_page_that_is_cited_can_be_opened(run: CliRunner, docs: Path) -> None:
    for name in ("handbook/cursors.md", "cursors.md", "cursors"):
        shown = run.invoke(docs_app, ["show", name])
        assert shown.exit_code == 0 and "cursor('now');" in shown.stdout
    run.invoke(docs_app, ["add", str(docs)])
    assert "The beta page." in run.invoke(docs_app, ["show", f"{docs}/deep/b.mdx"]).stdout
    missing = run.invoke(docs_app, ["show", "cursor"])
    assert missing.exit_code == 2 and "Do you mean handbook/cursors.md" in missing.stderr


def test_the_status_says_of_when_and_how_to_refresh(run: CliRunner) -> None:
    shown = run.invoke(docs_app, ["status"]).stdout
    assert "catalogue: 107 adaptors, of 20 August 2026" in shown
    assert "To refresh: `global-chat docs sync`" in shown


def test_the_status_shows_no_login(run: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("https://me:p@ss@registry.test/npm", "https://me:pa/ss@registry.test"):
        monkeypatch.setenv("GLOBAL_CHAT_REGISTRY", address)
        shown = run.invoke(docs_app, ["status"]).stdout
        assert "registry: " in shown and "me:" not in shown and "ss@" not in shown


def test_what_cannot_be_kept_is_not_called_done(
    run: CliRunner, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GLOBAL_CHAT_CACHE", str(tmp_path / "file" / "cache"))
    ended = run.invoke(docs_app, ["add", str(docs)])
    assert ended.exit_code == 1 and "cannot be written" in ended.stderr
    assert run.invoke(docs_app, ["search", "cron"]).exit_code == 0


def test_mistakes_are_sentences_with_exit_code_2(run: CliRunner, docs: Path) -> None:
    (docs / "run.log").write_text("Starting step\n")
    (docs / "binary.md").write_bytes(b"\x7fELF\0")
    for arguments in (
        ["add", "/no/such/place"],
        ["add", str(docs / "run.log")],
        ["add", str(docs / "binary.md")],
        ["remove", "never-added"],
        ["sync", "http"],
    ):
        result = run.invoke(docs_app, arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr.strip().endswith((".", "file."))
        assert "Traceback" not in result.output
    assert "GLOBAL_CHAT_REGISTRY" in run.invoke(docs_app, ["sync", "http"]).stderr


def test_every_command_explains_itself_with_an_example(run: CliRunner) -> None:
    for command in ("add", "search", "show", "list", "remove", "status", "sync"):
        shown = run.invoke(docs_app, [command, "--help"]).output
        assert f"Example: global-chat docs {command}" in " ".join(shown.split()), command


def test_documentation_cannot_steer_the_terminal(run: CliRunner, docs: Path) -> None:
    (docs / "evil.md").write_text("# Evil\n\nclear \x1b[2J and \x07 ring")
    run.invoke(docs_app, ["add", str(docs)])
    printed = run.invoke(docs_app, ["search", "evil clear ring"]).stdout
    assert "ring" in printed and "\x1b" not in printed and "\x07" not in printed

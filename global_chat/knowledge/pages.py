"""Pages cut into passages, and where pages come from: the handbook, the catalogue, a folder.

A Markdown or MDX page is cut by its headings, with code kept whole and components understood.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: A passage grows to about this many characters; one block of code or one table may be longer.
PASSAGE_CHARACTERS = 1_600
_LONGEST_BLOCK = 12_000

SUFFIXES = (".md", ".mdx", ".markdown")
MOST_FILES = 20_000
LARGEST_FILE = 2_000_000  # bytes; a page of documentation is rarely over 100,000

_HANDBOOK = Path(__file__).parent / "handbook"
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})

_KEYWORDS = ("keywords", "tags", "description", "sidebar_label")
_ASKED = ("asked", "fr", "es", "pt")

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([\w-]+):(?:\s+(.*?))?\s*$")
_ITEM = re.compile(r"\s*-\s+(.*)")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_IMPORT = re.compile(r"(?:import|export)\b(?=.*(?:\bfrom\b|['\"{=(]|\bdefault\b))")
_STATEMENT_END = re.compile(r"['\");}][ \t]*;?[ \t]*$")
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"))
_LONGEST_LINE = 5_000  # characters; longer ones are data, and searching them for tags is slow
_TAG = re.compile(r"</?(?:[A-Z][\w.]*|[a-z][a-z0-9]*)(?:\s[^<>]*)?/?>")
_LABEL = re.compile(r"\b(?:label|title|summary)=(?:\{)?[\"']([^\"']+)[\"']")
_ADMONITION = re.compile(r"[ \t]*:{3,}(?:[a-z]+)?[ \t]*(.*)")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a page that can be found and read by itself. `title` is its trail of headings."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is indexed.

    `keywords` are words that a reader may look for it by, and `asked` whole phrases: the front
    matter's `asked` list and its title in other languages. `adaptors` are the short names of those
    that the page is about; none for a page that fits every step.
    """

    title: str
    keywords: str
    sections: tuple[Section, ...]
    asked: tuple[str, ...] = ()
    adaptors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One page to index: its place in its source, a digest of what it is made from, and `read`.

    A page whose digest is the one that is stored is not read.
    """

    path: str
    digest: str
    read: Callable[[], Page]


def digest_of(content: bytes) -> str:
    """The digest by which a page is known to be unchanged."""
    return sha256(content).hexdigest()


@cache
def handbook_files() -> dict[str, bytes]:
    """The pages of the handbook that ships with the program, by file name."""
    return {path.name: path.read_bytes() for path in sorted(_HANDBOOK.glob("*.md"))}


def handbook_documents() -> list[Document]:
    """Every page of the handbook, cut into passages."""
    return [
        Document(name, digest_of(content), partial(read_page, content.decode("utf-8"), name))
        for name, content in handbook_files().items()
    ]


def read_page(text: str, fallback_title: str) -> Page:
    """Cut a page into sections. Any text is accepted; one without words has no sections."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front, body = _front_matter(text)
    body = _without_components(body)
    heading = next((s for s in body.splitlines() if s.startswith("# ")), "")
    title = " ".join(front.get("title", ())) or heading.removeprefix("# ").strip()
    keywords = " ".join(word for name in _KEYWORDS for word in front.get(name, ()))
    asked = tuple(phrase for name in _ASKED for phrase in front.get(name, ()))
    title = title or fallback_title
    adaptors = tuple(front.get("adaptors", ()))
    return Page(title, keywords, tuple(_sections(body, title)), asked, adaptors)


def _front_matter(text: str) -> tuple[dict[str, list[str]], str]:
    """What the front matter says, as texts by key, and the text after it.

    Only plain texts and lists of them are read: no other form is of use here, and a full YAML
    reader would take four fifths of the time that indexing takes.
    """
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    front: dict[str, list[str]] = {}
    values: list[str] = []
    for line in found[1].split("\n"):
        pair = _PAIR.match(line)
        item = _ITEM.match(line)
        if pair:
            values = front.setdefault(pair[1], [])
            flow = re.fullmatch(r"\[(.*)\]", pair[2] or "")
            texts = flow[1].split(",") if flow else [pair[2] or ""]
            values.extend(clean for text in texts if (clean := _unquoted(text)))
        elif item and (clean := _unquoted(item[1])):
            values.append(clean)
    return front, text[found.end() :]


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _without_components(body: str) -> str:
    """The body with MDX statements, components and comments gone, their text and all code kept."""
    pieces = []
    for is_code, block in _by_fences(body):
        pieces.append(block if is_code else _plain(block))
    return "\n".join(pieces)


def _by_fences(body: str) -> Iterator[tuple[bool, str]]:
    """The body in order, as fenced code and everything else."""
    lines: list[str] = []
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark:
            yield False, "\n".join(lines)
            lines, fence = [line], mark[1]
        elif fence and mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            yield True, "\n".join([*lines, line])
            lines, fence = [], ""
        else:
            lines.append(line)
    yield bool(fence), "\n".join(lines)


def _plain(block: str) -> str:
    for start, end in _COMMENTS:
        block = _without_comments(block, start, end)
    kept: list[str] = []
    in_statement = False
    for line in block.split("\n"):
        if in_statement or _IMPORT.match(line):
            in_statement = not _STATEMENT_END.search(line) and bool(line.strip())
            continue
        admonition = _ADMONITION.match(line)
        line = admonition[1] if admonition else line
        kept.append(_without_tags(line))
    return "\n".join(kept)


def _without_comments(text: str, start: str, end: str) -> str:
    pieces, at = [], 0
    while (begin := text.find(start, at)) >= 0 and (close := text.find(end, begin)) >= 0:
        pieces.append(text[at:begin])
        at = close + len(end)
    return "".join([*pieces, text[at:]])


def _without_tags(line: str) -> str:
    """The line without tags and images, outside of inline code; their labels stay as text."""
    if len(line) > _LONGEST_LINE:
        return line
    parts = line.split("`")
    for index in range(0, len(parts), 2):
        text = _IMAGE.sub(r"\1", parts[index])
        parts[index] = _TAG.sub(lambda tag: " ".join(_LABEL.findall(tag[0])), text)
    return "`".join(parts)


@cache
def _parser() -> MarkdownIt:
    # 0.05 s, and only indexing reads Markdown.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    # Only blocks are of interest, and reading what is inside lines takes most of the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _sections(body: str, page_title: str) -> Iterator[Section]:
    lines = body.split("\n")
    trail: list[tuple[int, str]] = []
    blocks: list[str] = []
    size = 0

    def section() -> Section | None:
        text = "\n\n".join(blocks).strip()
        names = [page_title, *(name for _, name in trail if name != page_title)]
        return Section(" › ".join(names), text) if re.search(r"\w", text) else None

    for level, name, block in _blocks(lines):
        full = blocks and size + len(block) > PASSAGE_CHARACTERS
        if level or full:
            if (done := section()) is not None:
                yield done
            blocks, size = [], 0
        if level:
            trail = [item for item in trail if item[0] < level] + [(level, name)]
        else:
            blocks.append(block[:_LONGEST_BLOCK])
            size += len(block)
    if (done := section()) is not None:
        yield done


def _blocks(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Top-level blocks in order: (heading level, its text, "") or (0, "", the block's source)."""
    tokens = _parser().parse("\n".join(lines))
    for index, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        if token.type == "heading_open":
            yield int(token.tag[1]), tokens[index + 1].content, ""
        else:
            yield 0, "", "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")


def folder_documents(root: Path, skipped: list[str]) -> Iterator[Document]:
    """The pages of a folder, or of one file, in the order of their paths.

    Hidden folders and those of package managers are left out, links are not followed. What is left
    out for another reason is told in `skipped`.
    """
    for count, path in enumerate(_files(root)):
        if count == MOST_FILES:
            skipped.append(f"everything after the first {MOST_FILES:,} files")
            return
        name = path.relative_to(root).as_posix() if path != root else path.name
        try:
            size = path.stat().st_size
            content = path.read_bytes() if size <= LARGEST_FILE else b""
        except OSError as error:
            skipped.append(f"{name}: {error.strerror or error}")
            continue
        if size > LARGEST_FILE:
            skipped.append(f"{name}: larger than {LARGEST_FILE:,} bytes")
        elif b"\0" in content:
            skipped.append(f"{name}: not text")
        else:
            text = content.decode("utf-8-sig", errors="replace")
            yield Document(name, digest_of(content), partial(read_page, text, path.stem))


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _LEFT_OUT and f[0] != ".")
        for name in sorted(files):
            path = Path(folder, name)
            if path.suffix.lower() in SUFFIXES and not path.is_symlink():
                yield path

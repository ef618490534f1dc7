"""The handbook that ships with the program, and the catalogue, as pages to index."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .catalogue import CATALOGUE_FILE, Adaptor, Catalogue
from .indexing import Document, digest_of
from .markdown import Page, Section, read_page

_FOLDER = Path(__file__).parent / "handbook"


@cache
def handbook_files() -> dict[str, bytes]:
    """The handbook's pages by file name."""
    return {path.name: path.read_bytes() for path in sorted(_FOLDER.glob("*.md"))}


def handbook_digest() -> str:
    """Changes whenever a page or the catalogue does."""
    return digest_of(b"\0".join([*handbook_files().values(), CATALOGUE_FILE.read_bytes()]))


def handbook_documents() -> list[Document]:
    """Every page, cut into passages."""
    return [
        Document(name, digest_of(content), read_page(content.decode("utf-8"), name))
        for name, content in handbook_files().items()
    ]


def catalogue_documents(catalogue: Catalogue) -> list[Document]:
    """One short page for each adaptor: what system it is for and what it can do."""
    return [_adaptor_document(adaptor) for adaptor in catalogue]


def _adaptor_document(adaptor: Adaptor) -> Document:
    title = f"{adaptor.system or adaptor.name} adaptor"
    lines = [f"Adaptor {adaptor.specifier} connects to {adaptor.system or adaptor.name}."]
    if adaptor.operations:
        lines.append("Operations: " + ", ".join(f"`{name}`" for name in adaptor.operations))
    text = "\n".join(lines)
    page = Page(title, adaptor.name, (Section(title, text),))
    return Document(adaptor.name, digest_of(text.encode()), page)

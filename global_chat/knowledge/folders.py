"""A folder of somebody's own documentation, read as pages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from .indexing import Document, digest_of
from .markdown import read_page

SUFFIXES = (".md", ".mdx", ".markdown")
MOST_FILES = 20_000
LARGEST_FILE = 2_000_000  # bytes; a page of documentation is rarely over 100,000

_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})


class FolderReader:
    """The documents of a folder, or of one file, that are not known by digest yet.

    Hidden folders and those of package managers are left out, links are not followed. `unchanged`
    and `skipped` are complete once `documents` has been read to its end; `skipped` says why.
    """

    def __init__(self, root: Path, known: Mapping[str, str]) -> None:
        self.root = root
        self.unchanged: set[str] = set()
        self.skipped: list[str] = []
        self._known = known

    def documents(self) -> Iterator[Document]:
        """New and changed pages, in the order of their paths."""
        for count, path in enumerate(self._files()):
            if count == MOST_FILES:
                self.skipped.append(f"everything after the first {MOST_FILES:,} files")
                return
            name = path.relative_to(self.root).as_posix() if path != self.root else path.name
            document = self._document(path, name)
            if document is not None:
                yield document

    def _files(self) -> Iterator[Path]:
        if self.root.is_file():
            yield self.root
            return
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in _LEFT_OUT and f[0] != ".")
            for name in sorted(files):
                path = Path(folder, name)
                if path.suffix.lower() in SUFFIXES and not path.is_symlink():
                    yield path

    def _document(self, path: Path, name: str) -> Document | None:
        try:
            size = path.stat().st_size
            content = path.read_bytes() if size <= LARGEST_FILE else b""
        except OSError as error:
            self.skipped.append(f"{name}: {error.strerror or error}")
            return None
        if size > LARGEST_FILE:
            self.skipped.append(f"{name}: larger than {LARGEST_FILE:,} bytes")
            return None
        if b"\0" in content:
            self.skipped.append(f"{name}: not text")
            return None
        digest = digest_of(content)
        if self._known.get(name) == digest:
            self.unchanged.add(name)
            return None
        text = content.decode("utf-8-sig", errors="replace")
        return Document(name, digest, read_page(text, path.stem))

"""`global-chat docs ...`: the documentation that agents can look up, seen and filled by hand."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from global_chat.contract.errors import TurnError
from global_chat.render.text import Stream, clean, counted

from .options import flag

if TYPE_CHECKING:
    from global_chat.knowledge.adaptors import SyncResult
    from global_chat.knowledge.library import Library

docs_app = typer.Typer(
    name="docs",
    help="The documentation that answers are based on: search it, add your own, fetch adaptors'.",
    epilog="Example: global-chat docs search 'page through results'",
    no_args_is_help=True,
)

_NPM_SECONDS = 15.0


@docs_app.command(epilog="Example: global-chat docs add ../docs")
def add(
    path: Annotated[Path, typer.Argument(help="A folder with Markdown or MDX, or one such file.")],
) -> None:
    """Index your own documentation. Run it again after changes: only those are read."""
    with _library(keeps=True) as library:
        report = library.add(path)
    _say(
        f"{report.name}: {counted(report.added, 'page')} added, {report.changed} changed, "
        f"{report.removed} removed, {report.unchanged} not changed; "
        f"{counted(report.passages, 'passage')}."
    )
    for reason in report.skipped:
        _say(f"left out: {reason}", err=True)


@docs_app.command(epilog="Example: global-chat docs search 'fetch only new submissions'")
def search(
    query: Annotated[str, typer.Argument(help="A question or a few words.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="How many.")] = 5,
    as_json: Annotated[bool, flag("--json", help="JSON on standard output.")] = False,
) -> None:
    """Search the handbook, your own documentation and the adaptors' docs."""
    import asyncio  # noqa: PLC0415  as in _library

    with _library() as library:
        found = asyncio.run(library.search(query, limit))
    if as_json:
        passages = [asdict(passage) for passage in found]
        Stream(sys.stdout).json(json.dumps(passages, ensure_ascii=False, indent=2))
        return
    if not found:
        _say("Nothing was found. Try other words.", err=True)
    for number, passage in enumerate(found, start=1):
        _say(f"{number}. {passage.title}\n   {passage.source}\n\n{passage.text}\n")


@docs_app.command("list", epilog="Example: global-chat docs list")
def list_() -> None:
    """List what is indexed, your own folders first."""
    with _library() as library:
        sources = library.status().sources
    for source in sources:
        pages, passages = counted(source.pages, "page"), counted(source.passages, "passage")
        _say(f"{source.kind:<10} {pages:>12} {passages:>15}  {source.name}")


@docs_app.command(epilog="Example: global-chat docs remove ../docs")
def remove(
    name: Annotated[
        str,
        typer.Argument(help="A folder or file that was added, or an adaptor that was synced."),
    ],
) -> None:
    """Forget what was added or synced. Your own files stay as they are."""
    with _library(keeps=True) as library:
        forgotten = library.remove(name)
    _say(f"Removed from the documentation: {forgotten}")


@docs_app.command(epilog="Example: global-chat docs show handbook/cursors.md")
def show(
    page: Annotated[str, typer.Argument(help="A page, as `docs search` names it.")],
) -> None:
    """Print a whole page of the documentation, such as one that an answer cites."""
    with _library() as library:
        text = library.page(page)
    _say(text)


@docs_app.command(epilog="Example: global-chat docs status")
def status() -> None:
    """Say what is known, from where and of when, and how to refresh it."""
    from global_chat.knowledge.adaptor_text import written  # noqa: PLC0415  as in _library
    from global_chat.knowledge.registry import (  # noqa: PLC0415
        HOW_TO_SET,
        registry_address,
        without_login,
    )

    with _library() as library:
        found = library.status()
        catalogue = library.catalogue
    where = f"{found.path} ({found.size / 1e6:.1f} MB)" if found.path else "in memory only"
    _say(f"database: {where}")
    _say(f"passages: {sum(source.passages for source in found.sources):,}")
    _say(f"catalogue: {len(list(catalogue))} adaptors, of {written(catalogue.date)}")
    _say(f"adaptors with docs of their own: {counted(len(found.adaptors), 'version')}")
    for adaptor, day in found.adaptors.items():
        _say(f"  {adaptor}, fetched on {written(day)}")
    configured = registry_address(os.environ)
    if configured:
        _say(f"registry: {without_login(configured)}, as configured")
    elif found.synced:
        synced = f"{found.synced.registry}, which `docs sync` used on {written(found.synced.day)}"
        _say(f"registry: {synced}")
    else:
        _say(f"registry: {HOW_TO_SET}")
    _say(
        "To refresh: `global-chat docs sync` for the adaptors above, `docs sync NAME` for others, "
        "those that the catalogue does not know included."
    )


@docs_app.command(epilog="Example: global-chat docs sync http dhis2@8.2.1")
def sync(
    adaptors: Annotated[
        list[str] | None,
        typer.Argument(help="Adaptors, such as http or @openfn/language-dhis2@8.2.1."),
    ] = None,
    every: Annotated[bool, flag("--all", help="Every adaptor that is known.")] = False,
) -> None:
    """Fetch adaptors' docs from the package registry; without names, renew those fetched before."""
    import asyncio  # noqa: PLC0415  as in _library

    from global_chat.knowledge.registry import registry_address  # noqa: PLC0415

    registry = registry_address(os.environ) or npm_registry()
    with _library(registry, keeps=True) as library:
        names = [a.package for a in library.catalogue] if every else list(adaptors or ())
        results = asyncio.run(library.sync(names, _tell))
    if not results:
        _say("No adaptor's docs were fetched before. Name some: global-chat docs sync http")
    failed = next((r.error for r in results if r.error is not None), None)
    if failed is not None:
        raise typer.Exit(failed.exit_code)


def _tell(result: SyncResult) -> None:
    if result.error is not None:
        _say(f"{result.specifier}: failed. {result.error.message}", err=True)
    else:
        _say(f"{result.specifier}: {result.outcome}, {counted(result.operations, 'operation')}")


@contextmanager
def _library(registry: str | None = None, *, keeps: bool = False) -> Iterator[Library]:
    """The user's library. A failure becomes its message and exit code, a note a line on stderr.

    With `keeps` the command is about what is kept, and fails where nothing can be.
    """
    # Kept off the start-up path of every other command.
    from global_chat.knowledge.library import Library  # noqa: PLC0415
    from global_chat.knowledge.registry import clean_address  # noqa: PLC0415
    from global_chat.knowledge.store import cache_folder  # noqa: PLC0415
    from global_chat.render.wording import error_text  # noqa: PLC0415

    library = Library(cache_folder(os.environ), registry=clean_address(registry))
    try:
        yield library
        if keeps and not library.persistent:
            raise typer.Exit(1)
    except TurnError as error:
        _say(error_text(error), err=True)
        raise typer.Exit(error.exit_code) from None
    finally:
        for note in library.notes:
            _say(note, err=True)
        library.close()


def npm_registry() -> str | None:
    """The registry that an installed npm is set up for; None without npm."""
    import subprocess  # noqa: PLC0415  as in _library

    npm = shutil.which("npm")
    if npm is None:
        return None
    command = [npm, "config", "get", "registry"]
    try:
        # From the home folder, because a project's own .npmrc is not the user's choice.
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_NPM_SECONDS,
            cwd=Path.home(),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _say(text: str, *, err: bool = False) -> None:
    """Print text so that it cannot steer a terminal: it may come from anywhere."""
    Stream(sys.stderr if err else sys.stdout).line(clean(text))
